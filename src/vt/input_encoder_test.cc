#include "vt/input_encoder.h"

#include <gtest/gtest.h>

#include <string>

#include "vt/screen.h"

namespace ttyward::vt {
namespace {

std::string keys(std::string_view names, const KeyboardState& state = {}) {
  const auto encoded = encode_keys(names, state);
  return encoded ? *encoded : "error: " + encoded.error().message;
}

// The state a program leaves the keyboard in after printing `bytes`.
KeyboardState after(std::string_view bytes) {
  Screen screen;
  screen.feed(bytes);
  return screen.keyboard();
}

TEST(InputEncoder, plain_characters_and_names) {
  EXPECT_EQ(keys("a"), "a");
  EXPECT_EQ(keys("é"), "é");
  EXPECT_EQ(keys("Space"), " ");
  EXPECT_EQ(keys("Enter Tab Escape Backspace"), "\r\t\033\x7f");
  EXPECT_EQ(keys("-"), "-");
}

TEST(InputEncoder, control_alt_and_shift) {
  EXPECT_EQ(keys("C-c"), "\x03");
  EXPECT_EQ(keys("ctrl+c"), "\x03");
  EXPECT_EQ(keys("C-Space"), std::string(1, '\0'));
  EXPECT_EQ(keys("C-["), "\033");
  EXPECT_EQ(keys("C-?"), "\x7f");
  EXPECT_EQ(keys("M-x"), "\033x");
  EXPECT_EQ(keys("C-M-a"), "\033\x01");
  EXPECT_EQ(keys("S-a"), "A");
  EXPECT_EQ(keys("S-Tab"), "\033[Z");
  EXPECT_EQ(keys("C--"), "-");
  EXPECT_EQ(keys("M-Enter"), "\033\r");
}

TEST(InputEncoder, cursor_keys_follow_their_mode) {
  EXPECT_EQ(keys("Up Home"), "\033[A\033[H");
  EXPECT_EQ(keys("Up Home", after("\033[?1h")), "\033OA\033OH");
  EXPECT_EQ(keys("C-Right", after("\033[?1h")), "\033[1;5C");
  EXPECT_EQ(keys("S-M-Left"), "\033[1;4D");
}

TEST(InputEncoder, function_and_editing_keys) {
  EXPECT_EQ(keys("F1 F4 F5 F12 F24"), "\033OP\033OS\033[15~\033[24~\033[45~");
  EXPECT_EQ(keys("S-F1 C-F5"), "\033[1;2P\033[15;5~");
  EXPECT_EQ(keys("Insert Delete PageUp PageDown End"), "\033[2~\033[3~\033[5~\033[6~\033[F");
}

TEST(InputEncoder, keypad_in_both_modes) {
  EXPECT_EQ(keys("KP5 KPEnter KPPlus"), "5\r+");
  EXPECT_EQ(keys("KP5 KPEnter KPPlus", after("\033=")), "\033Ou\033OM\033Ok");
}

TEST(InputEncoder, backspace_and_return_modes) {
  EXPECT_EQ(keys("Backspace C-Backspace", after("\033[?67h")), "\b\x7f");
  EXPECT_EQ(keys("Enter", after("\033[20h")), "\r\n");
}

TEST(InputEncoder, modify_other_keys) {
  EXPECT_EQ(keys("C-a", after("\033[>4;1m")), "\x01");
  EXPECT_EQ(keys("C-S-a", after("\033[>4;1m")), "\033[27;6;65~");
  EXPECT_EQ(keys("C-a", after("\033[>4;2m")), "\033[27;5;97~");
  EXPECT_EQ(keys("S-Enter", after("\033[>4;1m")), "\033[27;2;13~");
}

TEST(InputEncoder, kitty_disambiguates_escape_and_control) {
  const KeyboardState state = after("\033[>1u");
  EXPECT_EQ(keys("C-c", state), "\033[99;5u");
  EXPECT_EQ(keys("Escape", state), "\033[27u");
  EXPECT_EQ(keys("a A", state), "aA");
  EXPECT_EQ(keys("Enter Tab Backspace", state), "\r\t\x7f");
  EXPECT_EQ(keys("C-Enter", state), "\033[13;5u");
  EXPECT_EQ(keys("Up", state), "\033[A");
  EXPECT_EQ(keys("F3", state), "\033[13~");
}

TEST(InputEncoder, kitty_all_keys_as_escapes_with_text) {
  EXPECT_EQ(keys("a Enter", after("\033[=8u")), "\033[97u\033[13u");
  EXPECT_EQ(keys("A", after("\033[=28u")), "\033[97:65;2;65u");
  EXPECT_EQ(keys("a", after("\033[=24u")), "\033[97;;97u");
}

TEST(InputEncoder, unknown_keys_say_what_to_write) {
  for (const char* name : {"Foo", "C-Foo", "F25", "F0", "KPx", "Ctrl-", "\x01"}) {
    const auto key = parse_key(name);
    ASSERT_FALSE(key) << name;
    EXPECT_NE(key.error().message.find("C-c"), std::string::npos);
  }
}

TEST(InputEncoder, paste_is_bracketed_where_asked_and_cannot_break_out) {
  EXPECT_EQ(encode_paste("a\nb\r\nc", {}), "a\rb\rc");
  const KeyboardState state = after("\033[?2004h");
  EXPECT_EQ(encode_paste("a\n\tb", state), "\033[200~a\n\tb\033[201~");
  EXPECT_EQ(encode_paste("x\033[201~rm\x03\x7f", state), "\033[200~x[201~rm\033[201~");
}

}  // namespace
}  // namespace ttyward::vt
