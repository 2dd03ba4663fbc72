// Keys and pasted text to the bytes a program expects, by the modes it has set.
//
// A key is named as people write it: an optional chain of modifiers and a key.
//
//   modifiers  C- M- S- (or A- for M-), ctrl- alt- shift- super-, with - or +
//   keys       one character, or Enter Tab Space Escape Backspace Delete Insert
//              Up Down Left Right Home End PageUp PageDown F1…F24
//              KP0…KP9 KPEnter KPPlus KPMinus KPMultiply KPDivide KPDecimal
//
// "C-c", "M-x", "S-Tab", "ctrl+alt+Delete", "F5", "é".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "vt/keyboard.h"

namespace ttyward::vt {

enum class KeyName : uint8_t {
  Character,
  Enter,
  Tab,
  Escape,
  Backspace,
  Delete,
  Insert,
  Up,
  Down,
  Left,
  Right,
  Home,
  End,
  PageUp,
  PageDown,
  Function,  // number in Key::number
  Keypad,    // character in Key::character: '0'…'9' + - * / . and '\r'
};

struct Key {
  static constexpr uint8_t kShift = 1;
  static constexpr uint8_t kAlt = 2;
  static constexpr uint8_t kControl = 4;
  static constexpr uint8_t kSuper = 8;

  KeyName name = KeyName::Character;
  char32_t character = 0;
  int number = 0;
  uint8_t modifiers = 0;

  bool operator==(const Key&) const = default;
};

base::Result<Key> parse_key(std::string_view name);
std::string encode_key(const Key& key, const KeyboardState& state);
// Keys separated by blanks: "C-x C-s Enter".
base::Result<std::string> encode_keys(std::string_view names, const KeyboardState& state);

// Text as if pasted: bracketed where the program asked for that. Control characters other than tab
// and line ends are dropped, so that nothing in the text can end the paste or act on the terminal.
std::string encode_paste(std::string_view text, const KeyboardState& state);

}  // namespace ttyward::vt
