// Text from a terminal on its way to a model: nothing in it may act, hide or pretend.
//
// Escape sequences and control characters are spelled out or gone, invisible and direction-changing
// characters are shown as <U+202E>, and output travels between two lines with a random number that its writer
// cannot know.
//
// Pure but for the random number.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::mcp::tools {

// Keeps line ends and tabs. Emoji keep their joiners.
std::string visible_text(std::string_view text);
// On one line, at most `most` characters.
std::string visible_line(std::string_view text, size_t most);

// A reason of the daemon's, which begins small and has no full stop, as a sentence of its own.
std::string sentence(std::string text);

class Fence {
 public:
  Fence();
  explicit Fence(std::string mark) : mark_(std::move(mark)) {}
  // "--- output 7f3a… ---", the text, "--- end 7f3a… ---". `what` names it: "output", "screen".
  std::string around(std::string_view what, std::string_view text) const;

 private:
  std::string mark_;
};

}  // namespace ttyward::mcp::tools
