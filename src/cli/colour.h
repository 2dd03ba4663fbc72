// Colour for people: on a terminal that understands it, unless NO_COLOR says no.
//
// A Paint is a value that was decided once; everything that prints takes it, so what a pipe gets
// never holds an escape sequence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::cli {

enum class Colour : uint8_t { Plain, Bold, Dim, Red, Green, Yellow, Blue, Magenta };

class Paint {
 public:
  // Paints nothing.
  Paint() = default;
  explicit Paint(bool on) : on_(on) {}
  // For standard output: a terminal, TERM is not "dumb", and NO_COLOR is not set (or empty).
  static Paint for_stdout();

  bool on() const { return on_; }
  // `text` holds no control characters.
  std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool on_ = false;
};

// The colour of words that mean the same everywhere.
Colour colour_of_risk(std::string_view risk);
Colour colour_of_decision(std::string_view decision);
Colour colour_of_state(std::string_view state);

}  // namespace ttyward::cli
