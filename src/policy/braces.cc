#include "policy/braces.h"

#include <cstdlib>

namespace ttyward::policy {
namespace {

bool live(const WordItem& item, char c) {
  return item.c == c && !item.quoted;
}

struct Group {
  size_t open = 0;
  size_t close = 0;
  std::vector<size_t> commas;  // at the group's own level
};

// The group that begins at `open`, if it is closed.
bool find_group(const WordItems& word, size_t open, Group& group) {
  size_t depth = 0;
  group = {open, 0, {}};
  for (size_t i = open; i < word.size(); ++i) {
    if (live(word[i], '{')) ++depth;
    if (live(word[i], '}') && --depth == 0) {
      group.close = i;
      return true;
    }
    if (depth == 1 && live(word[i], ',')) group.commas.push_back(i);
  }
  return false;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// {1..5}, {a..e}, {1..9..2}. Only constants: anything else stays as it is, as in bash.
bool expand_range(const WordItems& word, const Group& group, std::vector<std::string>& out) {
  std::string body;
  for (size_t i = group.open + 1; i < group.close; ++i) {
    if (word[i].c == 0 || word[i].quoted) return false;
    body.push_back(word[i].c);
  }
  std::vector<std::string> parts;
  for (size_t from = 0;;) {
    const size_t dots = body.find("..", from);
    parts.push_back(body.substr(from, dots == std::string::npos ? dots : dots - from));
    if (dots == std::string::npos) break;
    from = dots + 2;
  }
  if (parts.size() < 2 || parts.size() > 3) return false;
  const auto number = [](const std::string& text, long& value) {
    char* end = nullptr;
    value = std::strtol(text.c_str(), &end, 10);
    return !text.empty() && text.size() < 10 && *end == '\0';
  };
  long first = 0;
  long last = 0;
  long step = 1;
  const bool letters =
      parts[0].size() == 1 && parts[1].size() == 1 && is_letter(parts[0][0]) && is_letter(parts[1][0]);
  if (letters) {
    first = static_cast<unsigned char>(parts[0][0]);
    last = static_cast<unsigned char>(parts[1][0]);
  } else if (!number(parts[0], first) || !number(parts[1], last)) {
    return false;
  }
  if (parts.size() == 3 && (!number(parts[2], step) || step == 0)) return false;
  step = std::labs(step);
  const bool padded = !letters && parts[0].size() > 1 && parts[0][0] == '0';
  for (long value = first; first <= last ? value <= last : value >= last;
       value += first <= last ? step : -step) {
    if (letters) {
      out.emplace_back(1, static_cast<char>(value));
    } else {
      std::string text = std::to_string(value);
      while (padded && text.size() < parts[0].size()) text.insert(0, "0");
      out.push_back(text);
    }
    if (out.size() > kMaxBraceWords) return true;
  }
  return true;
}

}  // namespace

bool expand_braces(const WordItems& word, std::vector<WordItems>& out) {
  if (out.size() > kMaxBraceWords) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (!live(word[i], '{')) continue;
    Group group;
    if (!find_group(word, i, group)) continue;
    std::vector<WordItems> choices;
    if (!group.commas.empty()) {
      size_t from = group.open + 1;
      group.commas.push_back(group.close);
      for (const size_t comma : group.commas) {
        choices.emplace_back(word.begin() + static_cast<long>(from), word.begin() + static_cast<long>(comma));
        from = comma + 1;
      }
    } else {
      std::vector<std::string> range;
      if (!expand_range(word, group, range)) continue;
      for (const std::string& text : range) {
        WordItems items;
        for (const char c : text) items.push_back({c, true, -1});
        choices.push_back(std::move(items));
      }
    }
    if (choices.size() > kMaxBraceWords) return false;
    for (const WordItems& choice : choices) {
      WordItems whole(word.begin(), word.begin() + static_cast<long>(i));
      whole.insert(whole.end(), choice.begin(), choice.end());
      whole.insert(whole.end(), word.begin() + static_cast<long>(group.close) + 1, word.end());
      if (!expand_braces(whole, out)) return false;
    }
    return true;
  }
  out.push_back(word);
  return out.size() <= kMaxBraceWords;
}

}  // namespace ttyward::policy
