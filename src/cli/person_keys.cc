#include "cli/person_keys.h"

#include <utility>

namespace ttyward::cli {
namespace {

using Kind = PersonKey::Kind;

constexpr std::pair<std::string_view, Kind> kSequences[] = {
    {"\033[A", Kind::Up},      {"\033OA", Kind::Up},        {"\033[B", Kind::Down}, {"\033OB", Kind::Down},
    {"\033[5~", Kind::PageUp}, {"\033[6~", Kind::PageDown}, {"\033[H", Kind::Home}, {"\033OH", Kind::Home},
    {"\033[1~", Kind::Home},   {"\033[F", Kind::End},       {"\033OF", Kind::End},  {"\033[4~", Kind::End},
};

// The length of a control sequence we do not know; 0: it is none.
size_t unknown_sequence(std::string_view bytes) {
  if (bytes.size() < 3 || (bytes[1] != '[' && bytes[1] != 'O')) return 0;
  for (size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
  }
  return 0;
}

}  // namespace

std::vector<PersonKey> person_keys(std::string_view bytes) {
  std::vector<PersonKey> keys;
  while (!bytes.empty()) {
    size_t length = 1;
    PersonKey key;
    if (bytes.front() == '\033') {
      key.kind = Kind::Escape;
      if (const size_t unknown = unknown_sequence(bytes); unknown > 0) {
        key.kind = Kind::Other;
        length = unknown;
      }
      for (const auto& [sequence, kind] : kSequences) {
        if (bytes.substr(0, sequence.size()) != sequence) continue;
        key.kind = kind;
        length = sequence.size();
      }
    } else if (bytes.front() == '\r' || bytes.front() == '\n') {
      key.kind = Kind::Enter;
    } else if (static_cast<unsigned char>(bytes.front()) < 0x80) {
      key = {Kind::Character, bytes.front()};
    }
    keys.push_back(key);
    bytes.remove_prefix(length);
  }
  return keys;
}

}  // namespace ttyward::cli
