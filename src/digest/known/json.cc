// JSON: the shape, with the first item of a long array, what all items share, and the items that differ.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

struct Member;
struct Value {
  char kind = 'n';  // o, a, s (with quotes), n (numbers and words)
  std::string_view text;
  std::vector<Member> members;
};

struct Member {
  std::string_view first;  // the name, with its quotes; empty in an array
  Value second;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  std::optional<Value> read() {
    Value value;
    if (!read(value, 0)) return std::nullopt;
    skip();
    if (at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool eat(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool read_string(std::string_view& out) {
    skip();
    const size_t begin = at_;
    if (!eat('"')) return false;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) return false;
    ++at_;
    out = text_.substr(begin, at_ - begin);
    return true;
  }
  bool read(Value& value, int depth) {
    skip();
    if (at_ >= text_.size() || depth > 40) return false;
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      const char end = c == '{' ? '}' : ']';
      value.kind = c == '{' ? 'o' : 'a';
      const size_t begin = at_++;
      if (!eat(end)) {
        do {
          value.members.emplace_back();
          if (c == '{' && (!read_string(value.members.back().first) || !eat(':'))) return false;
          if (!read(value.members.back().second, depth + 1)) return false;
        } while (eat(','));
        if (!eat(end)) return false;
      }
      value.text = text_.substr(begin, at_ - begin);
      return true;
    }
    if (c == '"') {
      value.kind = 's';
      return read_string(value.text);
    }
    const size_t begin = at_;
    while (at_ < text_.size() && text_.substr(at_, 1).find_first_of(",]} \n\t\r") == std::string_view::npos)
      ++at_;
    value.text = text_.substr(begin, at_ - begin);
    const bool word = value.text == "true" || value.text == "false" || value.text == "null";
    return word ||
           (!value.text.empty() && value.text.find_first_not_of("0123456789+-.eE") == std::string_view::npos);
  }

  std::string_view text_;
  size_t at_ = 0;
};

using Fields = std::vector<std::pair<std::string, std::string>>;

void flatten(const Value& value, const std::string& path, Fields& out) {
  if (value.kind == 'o') {
    for (const auto& [name, member] : value.members) {
      const std::string bare(name.substr(1, name.size() - 2));
      flatten(member, path.empty() ? bare : path + "." + bare, out);
    }
  } else {
    out.emplace_back(path, value.kind == 'a' && value.text.size() > 60
                               ? fmt::format("[{} items]", value.members.size())
                               : std::string(value.text));
  }
}

void write(const Value& value, std::string& out, int depth);

constexpr size_t kFewItems = 5;  // of which one alone may differ

// What differs from what nearly all items have.
std::string odd_items(const Value& array) {
  const size_t n = array.members.size();
  std::map<std::string, std::map<std::string, size_t>> columns;
  std::vector<Fields> rows(n);
  for (size_t i = 0; i < n; ++i) {
    flatten(array.members[i].second, "", rows[i]);
    for (const auto& [name, value] : rows[i]) {
      auto& values = columns[name];
      if (values.size() <= 12) ++values[value];
    }
  }
  std::string shared;
  std::string spread;
  for (const auto& [name, values] : columns) {
    if (values.size() == 1 && values.begin()->second == n) {
      shared += fmt::format("{}{}={}", shared.empty() ? "" : ", ", name, head_of(values.begin()->first, 60));
    } else if (values.size() <= 6 && values.size() >= 2) {
      std::string counts;
      for (const auto& [value, count] : values)
        counts += fmt::format("{}{}×{}", counts.empty() ? "" : " ", head_of(value, 40), count);
      spread += fmt::format("; {}: {}", name, counts);
    }
  }
  std::string odd;
  size_t listed = 0;
  for (size_t i = 0; i < n && listed < 12; ++i) {
    std::string why;
    for (const auto& [name, value] : rows[i]) {
      const auto& values = columns[name];
      size_t total = 0;
      for (const auto& [v, count] : values) total += count;
      const bool rare_field = total * 10 <= n;
      const auto found = values.find(value);
      const bool rare_value = values.size() <= 6 && found != values.end() && total > 2 &&
                              (found->second * 12 <= n || (found->second <= 3 && found->second * 4 <= n) ||
                               (found->second == 1 && values.size() == 2 && n >= kFewItems));
      if (rare_field || rare_value || is_alarm(value))
        why += fmt::format("{}{}={}", why.empty() ? "" : ", ", name, head_of(value, 120));
    }
    if (why.empty()) continue;
    const auto& first = rows[i].empty() ? std::pair<std::string, std::string>() : rows[i].front();
    // Which one it is: its first field, and its name.
    const auto named = std::find_if(rows[i].begin(), rows[i].end(), [](const auto& field) {
      return field.first == "name" || field.first == "metadata.name" || field.first == "title";
    });
    const std::string name = named == rows[i].end() || named == rows[i].begin()
                                 ? std::string()
                                 : fmt::format(" {}={}", named->first, head_of(named->second, 40));
    odd += fmt::format("\n  [{}] {}={}{}: {}", i, first.first, head_of(first.second, 40), name, why);
    ++listed;
  }
  return (shared.empty() ? "" : "\n  all: " + shared) + (spread.empty() ? "" : "\n  counts" + spread) + odd;
}

void write_array(const Value& value, std::string& out, int depth) {
  const size_t n = value.members.size();
  if (n <= 6 || value.text.size() <= 200) {
    out += '[';
    for (size_t i = 0; i < n; ++i) {
      out += i > 0 ? ", " : "";
      write(value.members[i].second, out, depth + 1);
    }
    out += ']';
    return;
  }
  const bool objects = std::all_of(value.members.begin(), value.members.end(),
                                   [](const auto& m) { return m.second.kind == 'o'; });
  out += '[';
  const size_t shown = objects ? 1 : 4;
  for (size_t i = 0; i < shown; ++i) {
    out += i > 0 ? ", " : "";
    write(value.members[i].second, out, depth + 1);
  }
  out += fmt::format(", … {} items", n);
  if (objects) out += odd_items(value);
  out += ']';
}

void write(const Value& value, std::string& out, int depth) {
  if (value.kind == 'a') {
    write_array(value, out, depth);
  } else if (value.kind == 'o') {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : value.members) {
      if (!first) out += depth == 0 ? ",\n " : ", ";
      first = false;
      out += name;
      out += ": ";
      write(member, out, depth + 1);
    }
    out += '}';
  } else if (value.text.size() > 300) {
    out += fmt::format("{}…[+{} chars]\"", head_of(value.text, 200), value.text.size() - 200);
  } else {
    out += value.text;
  }
}

}  // namespace

void know_json(Page& page) {
  std::string text;
  for (const Line& line : page.lines) {
    if (line.repeat > 1 || line.lost || line.fold >= 0 || line.whole_bytes > line.text.size() + 64) return;
    if (text.empty() && !line.blank && line.text[0] != '{' && line.text[0] != '[') return;
    text += line.text;
    text += '\n';
    if (text.size() > (4 << 20)) return;
  }
  const std::optional<Value> value = Reader(text).read();
  if (!value || (value->kind != 'o' && value->kind != 'a')) return;
  std::string out;
  write(*value, out, 0);
  // Every line that tells of trouble must still be there.
  for (const Line& line : page.lines) {
    if (!line.alarm) continue;
    const size_t alarm = find_alarm(line.text);
    const size_t end = std::min(line.text.find_first_of(",\n", alarm), line.text.size());
    if (out.find(line.text.substr(alarm, std::min<size_t>(end - alarm, 40))) == std::string::npos) return;
  }
  if (out.size() * 10 > text.size() * 8 || out.size() > page.options.max_chars) return;
  page.replacement = std::move(out);
}

}  // namespace ttyward::digest
