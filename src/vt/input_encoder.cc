// Legacy encodings: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html (PC-style function keys).
// Kitty's: https://sw.kovidgoyal.net/kitty/keyboard-protocol/
#include "vt/input_encoder.h"

#include <fmt/format.h>

#include <cctype>

#include "base/utf8.h"

namespace ttyward::vt {
namespace {

struct NamedKey {
  std::string_view name;  // lower case
  KeyName key;
  char32_t character = 0;
};
constexpr NamedKey kNames[] = {
    {"enter", KeyName::Enter},
    {"return", KeyName::Enter},
    {"tab", KeyName::Tab},
    {"space", KeyName::Character, ' '},
    {"escape", KeyName::Escape},
    {"esc", KeyName::Escape},
    {"backspace", KeyName::Backspace},
    {"bspace", KeyName::Backspace},
    {"delete", KeyName::Delete},
    {"del", KeyName::Delete},
    {"insert", KeyName::Insert},
    {"ins", KeyName::Insert},
    {"up", KeyName::Up},
    {"down", KeyName::Down},
    {"left", KeyName::Left},
    {"right", KeyName::Right},
    {"home", KeyName::Home},
    {"end", KeyName::End},
    {"pageup", KeyName::PageUp},
    {"pgup", KeyName::PageUp},
    {"pagedown", KeyName::PageDown},
    {"pgdn", KeyName::PageDown},
    {"kpenter", KeyName::Keypad, '\r'},
    {"kpplus", KeyName::Keypad, '+'},
    {"kpminus", KeyName::Keypad, '-'},
    {"kpmultiply", KeyName::Keypad, '*'},
    {"kpdivide", KeyName::Keypad, '/'},
    {"kpdecimal", KeyName::Keypad, '.'},
};

struct NamedModifier {
  std::string_view name;
  uint8_t bit;
};
constexpr NamedModifier kModifiers[] = {
    {"c", Key::kControl},   {"ctrl", Key::kControl}, {"control", Key::kControl}, {"m", Key::kAlt},
    {"a", Key::kAlt},       {"alt", Key::kAlt},      {"meta", Key::kAlt},        {"s", Key::kShift},
    {"shift", Key::kShift}, {"super", Key::kSuper},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// What xterm calls the modifier parameter.
int modifier_number(uint8_t modifiers) {
  return 1 + modifiers;
}

// The number of a "CSI number ~" key, or 0.
int tilde_number(const Key& key) {
  switch (key.name) {
    case KeyName::Insert:
      return 2;
    case KeyName::Delete:
      return 3;
    case KeyName::PageUp:
      return 5;
    case KeyName::PageDown:
      return 6;
    case KeyName::Function: {
      constexpr int kNumbers[] = {11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24,
                                  25, 26, 28, 29, 31, 32, 33, 34, 42, 43, 44, 45};
      return kNumbers[key.number - 1];
    }
    default:
      return 0;
  }
}

// The letter of a "CSI 1 ; modifier letter" key, or 0.
char letter(const Key& key) {
  switch (key.name) {
    case KeyName::Up:
      return 'A';
    case KeyName::Down:
      return 'B';
    case KeyName::Right:
      return 'C';
    case KeyName::Left:
      return 'D';
    case KeyName::Home:
      return 'H';
    case KeyName::End:
      return 'F';
    case KeyName::Function:
      return key.number <= 4 ? static_cast<char>('P' + key.number - 1) : '\0';
    default:
      return 0;
  }
}

std::string utf8(char32_t code_point) {
  std::string out;
  base::append_utf8(out, code_point);
  return out;
}

// The control character of a key, or -1 where there is none.
int control_code(char32_t c) {
  if (c >= 'a' && c <= 'z') return static_cast<int>(c - 'a' + 1);
  if (c >= '@' && c <= '_') return static_cast<int>(c - '@');
  switch (c) {
    case ' ':
    case '2':
      return 0;
    case '3':
      return 0x1B;
    case '4':
      return 0x1C;
    case '5':
      return 0x1D;
    case '6':
      return 0x1E;
    case '7':
    case '/':
      return 0x1F;
    case '8':
    case '?':
      return 0x7F;
    default:
      return -1;
  }
}

char32_t shifted(char32_t c) {
  return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}
char32_t unshifted(char32_t c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

// The code point the kitty protocol and modifyOtherKeys name a key by, or 0.
char32_t key_code(const Key& key) {
  switch (key.name) {
    case KeyName::Character:
      return key.character;
    case KeyName::Enter:
      return 13;
    case KeyName::Tab:
      return 9;
    case KeyName::Escape:
      return 27;
    case KeyName::Backspace:
      return 127;
    default:
      return 0;
  }
}

std::string encode_character(const Key& key, const KeyboardState& state) {
  const bool control = (key.modifiers & Key::kControl) != 0;
  const bool alt = (key.modifiers & Key::kAlt) != 0;
  const bool shift = (key.modifiers & Key::kShift) != 0;
  const int code = control ? control_code(unshifted(key.character)) : -1;
  const bool has_legacy = (!control || code >= 0) && (key.modifiers & Key::kSuper) == 0;
  const bool ambiguous = control && shift;  // legacy bytes cannot tell C-S-a from C-a
  const bool wants_other = state.modify_other_keys == 2
                               ? (control || alt || (key.modifiers & Key::kSuper) != 0)
                               : !has_legacy || ambiguous;
  if (state.modify_other_keys > 0 && wants_other) {
    return fmt::format("\033[27;{};{}~", modifier_number(key.modifiers),
                       static_cast<unsigned>(shift ? shifted(key.character) : key.character));
  }
  std::string out = alt ? "\033" : "";
  if (code >= 0) {
    out += static_cast<char>(code);
  } else {
    out += utf8(shift ? shifted(key.character) : key.character);
  }
  return out;
}

std::string encode_keypad(const Key& key, const KeyboardState& state) {
  if (!state.application_keypad) return utf8(key.character);
  if (key.character == '\r') return "\033OM";
  // '*' + , - . / 0…9 sit 0x40 above their codes: j k l m n o p…y
  return fmt::format("\033O{}", static_cast<char>(key.character + 0x40));
}

std::string encode_functional(const Key& key, const KeyboardState& state, bool kitty) {
  const int modifier = modifier_number(key.modifiers);
  if (kitty && key.name == KeyName::Function &&
      key.number == 3) {  // its letter R would read as a cursor report
    return modifier == 1 ? "\033[13~" : fmt::format("\033[13;{}~", modifier);
  }
  if (const char final = letter(key); final != 0) {
    if (modifier != 1) return fmt::format("\033[1;{}{}", modifier, final);
    const bool is_function = key.name == KeyName::Function;
    const bool ss3 = !kitty && (is_function || state.application_cursor_keys);
    return fmt::format("\033{}{}", ss3 ? 'O' : '[', final);
  }
  const int number = tilde_number(key);
  return modifier == 1 ? fmt::format("\033[{}~", number) : fmt::format("\033[{};{}~", number, modifier);
}

std::string encode_control_key(const Key& key, const KeyboardState& state) {
  const bool alt = (key.modifiers & Key::kAlt) != 0;
  const bool shift = (key.modifiers & Key::kShift) != 0;
  const bool control = (key.modifiers & Key::kControl) != 0;
  const std::string escape = alt ? "\033" : "";
  if (state.modify_other_keys > 0 && (shift || control) && !(key.name == KeyName::Tab && shift && !control)) {
    return fmt::format("\033[27;{};{}~", modifier_number(key.modifiers),
                       static_cast<unsigned>(key_code(key)));
  }
  switch (key.name) {
    case KeyName::Enter:
      return escape + (state.line_feed_new_line ? "\r\n" : "\r");
    case KeyName::Tab:
      return escape + (shift ? "\033[Z" : "\t");
    case KeyName::Escape:
      return escape + "\033";
    default:
      break;
  }
  return escape + (state.backspace_sends_bs != control ? "\b" : "\x7f");
}

std::string encode_kitty(const Key& key, uint8_t flags) {
  const char32_t code = unshifted(key_code(key));
  std::string number = fmt::format("{}", static_cast<unsigned>(code));
  const bool is_text = key.name == KeyName::Character;
  const bool shift = (key.modifiers & Key::kShift) != 0;
  uint8_t modifiers = key.modifiers;
  if (is_text && key.character != code) modifiers |= Key::kShift;  // "A" is the shifted a
  const char32_t typed = is_text && (shift || key.character != code) ? shifted(code) : code;
  if ((flags & KittyFlags::kAlternates) != 0 && typed != code)
    number += fmt::format(":{}", static_cast<unsigned>(typed));
  const bool with_text = (flags & KittyFlags::kText) != 0 && (flags & KittyFlags::kAllKeys) != 0 && is_text &&
                         (modifiers & ~Key::kShift) == 0;
  std::string out = "\033[" + number;
  if (modifiers != 0 || with_text)
    out += fmt::format(";{}", modifiers == 0 ? "" : std::to_string(modifier_number(modifiers)));
  if (with_text) out += fmt::format(";{}", static_cast<unsigned>(typed));
  return out + "u";
}

bool kitty_escapes(const Key& key, uint8_t flags) {
  if (key_code(key) == 0) return false;
  if ((flags & KittyFlags::kAllKeys) != 0) return true;
  if ((flags & KittyFlags::kDisambiguate) == 0) return false;
  if (key.name == KeyName::Escape) return true;
  if (key.name == KeyName::Character) return (key.modifiers & ~Key::kShift) != 0;
  return key.modifiers != 0;  // Enter, Tab, Backspace stay as they are when pressed alone
}

}  // namespace

base::Result<Key> parse_key(std::string_view text) {
  const auto unknown = [&] {
    return base::fail(
        base::ErrorCode::InvalidArgument,
        fmt::format("unknown key '{}': use a character, a name such as Enter, Up, F5, PageDown, or one "
                    "with modifiers such as C-c, M-x, S-Tab",
                    text));
  };
  Key key;
  std::string_view rest = text;
  // A modifier is a known word before - or +, with something left after it ("-" and "C--" are keys).
  while (true) {
    const size_t at = rest.find_first_of("-+");
    if (at == std::string_view::npos || at == 0 || at + 1 >= rest.size()) break;
    const std::string word = lower(rest.substr(0, at));
    uint8_t bit = 0;
    for (const NamedModifier& modifier : kModifiers) {
      if (modifier.name == word) bit = modifier.bit;
    }
    if (bit == 0) break;
    key.modifiers |= bit;
    rest.remove_prefix(at + 1);
  }
  if (rest.empty()) return unknown();
  size_t pos = 0;
  const char32_t first = base::decode_utf8(rest, pos);
  if (pos == rest.size()) {
    if (first < 0x20 || first == 0x7F || first == base::kReplacementCharacter) return unknown();
    key.character = first;
    return key;
  }
  const std::string word = lower(rest);
  for (const NamedKey& named : kNames) {
    if (named.name != word) continue;
    key.name = named.key;
    key.character = named.character;
    return key;
  }
  if (word.size() == 3 && word.starts_with("kp") && std::isdigit(static_cast<unsigned char>(word[2])) != 0) {
    key.name = KeyName::Keypad;
    key.character = static_cast<char32_t>(word[2]);
    return key;
  }
  if (word[0] == 'f' && word.size() <= 3) {
    int number = 0;
    for (const char c : word.substr(1)) {
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return unknown();
      number = number * 10 + (c - '0');
    }
    if (number < 1 || number > 24) return unknown();
    key.name = KeyName::Function;
    key.number = number;
    return key;
  }
  return unknown();
}

std::string encode_key(const Key& key, const KeyboardState& state) {
  if (kitty_escapes(key, state.kitty_flags)) return encode_kitty(key, state.kitty_flags);
  switch (key.name) {
    case KeyName::Character:
      return encode_character(key, state);
    case KeyName::Keypad:
      return encode_keypad(key, state);
    case KeyName::Enter:
    case KeyName::Tab:
    case KeyName::Escape:
    case KeyName::Backspace:
      return encode_control_key(key, state);
    default:
      return encode_functional(key, state, state.kitty_flags != 0);
  }
}

base::Result<std::string> encode_keys(std::string_view names, const KeyboardState& state) {
  std::string out;
  while (true) {
    const size_t start = names.find_first_not_of(" \t\n");
    if (start == std::string_view::npos) return out;
    names.remove_prefix(start);
    const std::string_view name = names.substr(0, names.find_first_of(" \t\n"));
    names.remove_prefix(name.size());
    const base::Result<Key> key = parse_key(name);
    if (!key) return tl::unexpected(key.error());
    out += encode_key(*key, state);
  }
}

std::string encode_paste(std::string_view text, const KeyboardState& state) {
  std::string out;
  if (state.bracketed_paste) out += "\033[200~";
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (c == '\n' || c == '\r') {
      out += state.bracketed_paste ? '\n' : '\r';
    } else if (static_cast<unsigned char>(c) >= 0x20 ? c != 0x7F : c == '\t') {
      out += c;
    }
  }
  if (state.bracketed_paste) out += "\033[201~";
  return out;
}

}  // namespace ttyward::vt
