// Tells the tour: headings, commands, claims that held or did not, and time to read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/signal_watch.h"

namespace ttyward::cli::demo {

enum class Pace : uint8_t { Reading, Fast };

struct Claim {
  std::string text;
  bool held = false;
};

class Teller {
 public:
  // `silent`: nothing is printed; only the claims count. Colours and line breaks are for a person's
  // terminal alone.
  Teller(Pace pace, bool silent, SignalWatch& signals);

  void heading(std::string_view text);
  void say(std::string_view text);
  void command(std::string_view who, std::string_view text);
  void output(std::string_view text);  // of a command; made safe to show
  bool claim(bool held, std::string text);
  // Time to read what was told; any key ends it.
  void pause();

  bool interrupted() const { return interrupted_ != 0; }
  int signal() const { return interrupted_; }
  const std::vector<Claim>& claims() const { return claims_; }

 private:
  // `lead` in the colour `sgr`, then the text, broken between words and kept clear of the lead.
  void line(std::string_view lead, const char* sgr, std::string_view text) const;

  Pace pace_;
  bool colours_ = false;
  size_t width_ = 0;  // 0: lines are not broken
  bool silent_;
  SignalWatch& signals_;
  int interrupted_ = 0;
  int scenes_ = 0;
  std::vector<Claim> claims_;
};

}  // namespace ttyward::cli::demo
