// What of a terminal's output changes what is seen, and nothing else.
//
// Left out are questions to the terminal, modes of keyboard and mouse, shell marks, clipboard, notifications,
// bells, device controls and whatever is not known: played on a real terminal a recording must neither make
// it answer nor change anything but its picture. Ill-formed UTF-8 becomes U+FFFD, as the emulator reads it.
// Sequences come out in one spelling and whole, so that a text can be cut between any two calls.
//
// Thread rule: one thread per object.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "record/recording.h"
#include "vt/parser.h"
#include "vt/sequence.h"

namespace ttyward::record {

class Visible {
 public:
  explicit Visible(LineFeeds line_feeds) : line_feeds_(line_feeds) {}

  // Adds what is complete to `out`. `fresh_line` is called where a mark of a prompt asks for a line of its
  // own: whoever knows where the cursor is after `out` adds what it takes.
  void feed(std::string_view bytes, std::string& out, const std::function<void()>& fresh_line = {});
  // What had begun is over.
  void cut() { parser_ = {}; }

 private:
  friend class VisibleHandler;
  vt::Parser parser_;
  LineFeeds line_feeds_;
  bool left_out_ = true;  // no character was the last thing that came
};

// Takes a text that Visible made apart. Handler has
//   text(std::string_view characters)                  printable, UTF-8
//   control(char c)                                    C0
//   sequence(std::string_view all, char final)         ESC … and CSI …; final: of CSI, else 0
//   string(std::string_view all)                       OSC …
template <typename Handler>
void for_each_token(std::string_view text, Handler& handler) {
  size_t at = 0;
  while (at < text.size()) {
    const auto c = static_cast<unsigned char>(text[at]);
    size_t end = at + 1;
    if (c >= 0x20) {
      while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x20) end++;
      handler.text(text.substr(at, end - at));
    } else if (c != 0x1B) {
      handler.control(text[at]);
    } else if (end < text.size() && text[end] == '[') {
      end++;
      while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x40) end++;
      end = end < text.size() ? end + 1 : end;
      handler.sequence(text.substr(at, end - at), text[end - 1]);
    } else if (end < text.size() && text[end] == ']') {
      const size_t st = text.find("\033\\", end);
      end = st == std::string_view::npos ? text.size() : st + 2;
      handler.string(text.substr(at, end - at));
    } else {
      while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x30) end++;
      end = end < text.size() ? end + 1 : end;
      handler.sequence(text.substr(at, end - at), '\0');
    }
    at = end;
  }
}

}  // namespace ttyward::record
