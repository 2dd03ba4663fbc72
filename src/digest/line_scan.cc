#include "digest/line_scan.h"

#include <array>
#include <cstring>

namespace ttyward::digest {
namespace {

constexpr uint64_t kOffset = 1469598103934665603ULL;
constexpr uint64_t kPrime = 1099511628211ULL;

enum Class : uint8_t { Other, Space, Digit, Letter, Joiner };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = Digit;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = Letter;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<size_t>(c)] = Letter;
  for (size_t c = 0x80; c < 0x100; ++c) table[c] = Letter;
  table[' '] = table['\t'] = Space;
  for (const char c : {'_', '-', '/', '.', '@', '+', '~'}) table[static_cast<uint8_t>(c)] = Joiner;
  return table;
}
constexpr std::array<uint8_t, 256> kClasses = make_classes();

uint8_t class_of(char c) {
  return kClasses[static_cast<uint8_t>(c)];
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

// The first four letters of every word that is looked for.
constexpr std::array<std::string_view, 7> kAlarmStarts = {"erro", "exce", "fail", "fata",
                                                          "pani", "deni", "not "};
constexpr size_t kStart = 4;

// Two characters, in any case, as an index. Different pairs may share one.
constexpr size_t pair_of(char a, char b) {
  return (static_cast<size_t>(a) & 31U) << 5U | (static_cast<size_t>(b) & 31U);
}

// How far the search may go on when these two are the last of the four it looks at. 0: a word may be here.
constexpr std::array<uint8_t, 1024> make_steps() {
  std::array<uint8_t, 1024> table{};
  for (uint8_t& step : table) step = kStart - 1;
  for (const std::string_view start : kAlarmStarts) {
    for (size_t i = 0; i + 1 < kStart; ++i) {
      uint8_t& step = table[pair_of(start[i], start[i + 1])];
      const auto here = static_cast<uint8_t>(kStart - 2 - i);
      if (here < step) step = here;
    }
  }
  return table;
}
constexpr std::array<uint8_t, 1024> kSteps = make_steps();

bool matches(std::string_view line, size_t at, std::string_view word) {
  if (line.size() - at < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (lower(line[at + i]) != word[i]) return false;
  }
  return true;
}

// Of which kinds the characters of a run are.
constexpr uint8_t kHasDigit = 1;
constexpr uint8_t kHasHexLetter = 2;
constexpr uint8_t kHasOtherLetter = 4;

constexpr std::array<uint8_t, 256> make_marks() {
  std::array<uint8_t, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    if (kClasses[c] == Digit) table[c] = kHasDigit;
    if (kClasses[c] == Letter) table[c] = kHasOtherLetter;
  }
  for (size_t c = 0; c < 6; ++c) table['a' + c] = table['A' + c] = kHasHexLetter;
  return table;
}
constexpr std::array<uint8_t, 256> kMarks = make_marks();

struct Hash {
  uint64_t value = kOffset;
  void add(char c) { value = (value ^ static_cast<uint8_t>(c)) * kPrime; }
  // Eight at a time; ends with the length, so that words are told apart from their parts.
  void add(std::string_view word) {
    size_t i = 0;
    for (; i + 8 <= word.size(); i += 8) mix(load(word.substr(i, 8)));
    mix(load(word.substr(i)) ^ uint64_t{word.size()} << 56U);
  }

 private:
  static uint64_t load(std::string_view bytes) {
    uint64_t number = 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }
  void mix(uint64_t number) {
    value = (value ^ number) * 0x9E3779B97F4A7C15ULL;
    value ^= value >> 32U;
  }
};

// One run of letters and digits from `at` on: its end, and whether it is a number or a hash.
struct Run {
  size_t end;
  bool digits;  // has some
  bool number;  // digits only, or hexadecimal with digits and of some length
};
Run run_at(std::string_view line, size_t at) {
  const bool address = line.size() - at > 2 && line[at] == '0' && line[at + 1] == 'x';
  size_t i = address ? at + 2 : at;
  uint8_t seen = address ? kHasDigit : 0;
  for (; i < line.size(); ++i) {
    const uint8_t marks = kMarks[static_cast<uint8_t>(line[i])];
    if (marks == 0) break;
    seen |= marks;
  }
  const bool digits = (seen & kHasDigit) != 0;
  const bool letters = (seen & (kHasHexLetter | kHasOtherLetter)) != 0;
  const bool hex = (seen & kHasOtherLetter) == 0;
  return {i, digits, digits && (!letters || (hex && (i - at >= 6 || address)))};
}

}  // namespace

size_t find_alarm(std::string_view line) {
  for (size_t end = kStart; end <= line.size();) {
    const uint8_t step = kSteps[pair_of(line[end - 2], line[end - 1])];
    if (step > 0) {
      end += step;
      continue;
    }
    const size_t i = end - kStart;
    switch (lower(line[i])) {
      case 'e':
        if (matches(line, i, "error") || matches(line, i, "exception")) return i;
        break;
      case 'f':
        if (matches(line, i, "fail") || matches(line, i, "fatal")) return i;
        break;
      case 'p':
        if (matches(line, i, "panic")) return i;
        break;
      case 'd':
        if (matches(line, i, "denied")) return i;
        break;
      case 'n':
        if (matches(line, i, "not found")) return i;
        break;
      default:
        break;
    }
    ++end;
  }
  return std::string_view::npos;
}

uint64_t hash_of(std::string_view text) {
  Hash hash;
  hash.add(text);
  return hash.value;
}

uint64_t shape_of(std::string_view line) {
  Hash hash;
  for (size_t i = 0; i < line.size();) {
    const char c = line[i];
    const uint8_t kind = class_of(c);
    if (kind == Digit || kind == Letter) {
      const Run run = run_at(line, i);
      if (run.number) {
        size_t end = run.end;
        // 12:30:01.250, 1,024, 10.0.4.17: one number.
        while (end + 1 < line.size() && (line[end] == '.' || line[end] == ':' || line[end] == ',') &&
               class_of(line[end + 1]) == Digit) {
          end = run_at(line, end + 1).end;
        }
        hash.add('0');
        i = end;
        continue;
      }
      if (!run.digits) {
        hash.add(line.substr(i, run.end - i));
        i = run.end;
        continue;
      }
      bool in_digits = false;
      for (; i < run.end; ++i) {
        const bool digit = class_of(line[i]) == Digit;
        if (!digit) hash.add(line[i]);
        if (digit && !in_digits) hash.add('0');
        in_digits = digit;
      }
      continue;
    }
    if (kind == Space) {
      while (i < line.size() && class_of(line[i]) == Space) ++i;
      hash.add(' ');
      continue;
    }
    hash.add(c);
    size_t j = i + 1;
    while (j < line.size() && line[j] == c) ++j;  // rulers and dotted leaders differ in length
    i = j;
  }
  return hash.value;
}

uint64_t skeleton_of(std::string_view line) {
  Hash hash;
  size_t i = 0;
  bool first = true;
  while (i < line.size()) {
    const char c = line[i];
    const uint8_t kind = class_of(c);
    if (kind == Space) {
      while (i < line.size() && class_of(line[i]) == Space) ++i;
      hash.add(' ');
      continue;
    }
    if (kind == Other) {
      hash.add(c);
      size_t j = i + 1;
      while (j < line.size() && line[j] == c) ++j;
      i = j;
      continue;
    }
    size_t j = i;
    bool in_digits = false;
    while (j < line.size() && class_of(line[j]) >= Digit) {
      const bool digit = class_of(line[j]) == Digit;
      if (first && !digit) hash.add(line[j]);
      if (first && digit && !in_digits) hash.add('0');
      in_digits = digit;
      ++j;
    }
    if (!first) hash.add('w');
    first = false;
    i = j;
  }
  return hash.value;
}

uint64_t unquoted_shape_of(std::string_view line) {
  std::string bare;
  for (size_t i = 0; i < line.size(); ++i) {
    bare += line[i];
    if (line[i] != '\'' && line[i] != '"' && line[i] != '`') continue;
    const size_t end = line.find_first_of(line[i] == '"' ? "\"" : "'`", i + 1);
    if (end == std::string_view::npos || end - i > 80) continue;
    bare += line[end];
    i = end;
  }
  return shape_of(bare);
}

bool is_blank(std::string_view line) {
  if (line.starts_with("==") && line.size() < 16 && line.ends_with("==")) {  // valgrind prefixes empty lines
    return line.find_first_not_of("=0123456789") == std::string_view::npos && line.size() > 5;
  }
  return line.find_first_not_of(" \t\r\xC2\xA0") == std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view line, size_t most) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < line.size() && words.size() < most;) {
    while (i < line.size() && class_of(line[i]) == Space) ++i;
    const size_t begin = i;
    while (i < line.size() && class_of(line[i]) != Space) ++i;
    if (i > begin) words.push_back(line.substr(begin, i - begin));
  }
  return words;
}

std::string_view head_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string_view tail_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t begin = text.size() - most;
  while (begin < text.size() && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) ++begin;
  return text.substr(begin);
}

size_t characters(std::string_view text) {
  size_t n = 0;
  for (const char c : text) n += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return n;
}

bool contains_word(std::string_view line, std::string_view lower_case_word) {
  for (size_t i = 0; i + lower_case_word.size() <= line.size(); ++i) {
    if (lower(line[i]) != lower_case_word[0] || !matches(line, i, lower_case_word)) continue;
    const size_t end = i + lower_case_word.size();
    const bool begins = i == 0 || class_of(line[i - 1]) != Letter;
    if (begins && (end == line.size() || class_of(line[end]) != Letter)) return true;
  }
  return false;
}

}  // namespace ttyward::digest
