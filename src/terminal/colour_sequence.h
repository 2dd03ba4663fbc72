// Escape sequences that change how text looks and not what it says: SGR (CSI … m), and "erase to the end of
// the line" (CSI K), which compilers and grep print beside it.
//
// Text that has no other sequences needs no screen to be read: it says what is left without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ttyward::terminal {

struct ColourSequence {
  enum class Kind : uint8_t {
    None,   // something else, or not whole
    Style,  // other colours or attributes from here on
    Reset,  // none from here on
    EraseRight,
  };
  Kind kind = Kind::None;
  size_t length = 0;
};

// What `text` begins with, which is an escape character.
ColourSequence colour_sequence(std::string_view text);

// Whether all escape sequences in it are of this kind.
bool has_only_colours(std::string_view text);

// Takes them out of a text that has no others. Returns its new length.
size_t take_out_colours(std::span<char> text);

}  // namespace ttyward::terminal
