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
  // `silent`: nothing is printed; only the claims count.
  Teller(Pace pace, bool silent, SignalWatch& signals) : pace_(pace), silent_(silent), signals_(signals) {}

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
  void line(const std::string& text) const;

  Pace pace_;
  bool silent_;
  SignalWatch& signals_;
  int interrupted_ = 0;
  int scenes_ = 0;
  std::vector<Claim> claims_;
};

}  // namespace ttyward::cli::demo
