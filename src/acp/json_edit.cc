#include "acp/json_edit.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/utf8.h"

namespace ttyward::acp {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Walks over JSON text. Each step returns false where the text is wrong.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  bool done() const { return at_ == text_.size(); }
  void spaces() {
    while (!done() && is_space(text_[at_])) at_++;
  }
  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    at_++;
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    while (!done()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  // Whatever comes next, to its end. `depth` is how many objects and arrays it is inside of.
  bool value(size_t depth) {
    std::string open;  // the brackets that are not closed
    for (;;) {
      spaces();
      if (done()) return false;
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (depth + open.size() >= kDeepest) return false;
        at_++;
        spaces();
        open.push_back(c);
        if (c == '{') {
          if (!done() && text_[at_] != '}') {
            if (!name()) return false;
            continue;
          }
        } else if (!done() && text_[at_] != ']') {
          continue;
        }
      } else if (!scalar(c)) {
        return false;
      }
      if (!close(open)) return false;
      if (open.empty()) return true;
    }
  }

 private:
  bool escape() {
    if (done()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int i = 0; i < 4; i++) {
      if (done() || hex_digit(text_[at_++]) < 0) return false;
    }
    return true;
  }

  bool scalar(char c) {
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    }
    return false;
  }

  bool digits() {
    const size_t begin = at_;
    while (!done() && is_digit(text_[at_])) at_++;
    return at_ > begin;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  // A member's name and the colon behind it.
  bool name() {
    if (!string()) return false;
    spaces();
    return take(':');
  }

  // Behind a value: what is closed, up to where the next value begins.
  bool close(std::string& open) {
    while (!open.empty()) {
      spaces();
      if (take(',')) {
        if (open.back() == '[') return true;
        spaces();
        return name();
      }
      if (!take(open.back() == '{' ? '}' : ']')) return false;
      open.pop_back();
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Outline> Outline::of(std::string_view text) {
  Scanner scanner(text);
  Outline made;
  scanner.spaces();
  if (!scanner.take('{')) return std::nullopt;
  scanner.spaces();
  bool more = !scanner.take('}');
  while (more) {
    scanner.spaces();
    size_t begin = scanner.at();
    if (!scanner.string()) return std::nullopt;
    auto name = string_of(text.substr(begin, scanner.at() - begin));
    if (!name || made.value(*name)) return std::nullopt;
    scanner.spaces();
    if (!scanner.take(':')) return std::nullopt;
    scanner.spaces();
    begin = scanner.at();
    if (!scanner.value(1)) return std::nullopt;
    made.members_.push_back({std::move(*name), text.substr(begin, scanner.at() - begin)});
    scanner.spaces();
    if (scanner.take(',')) continue;
    if (!scanner.take('}')) return std::nullopt;
    more = false;
  }
  scanner.spaces();
  if (!scanner.done()) return std::nullopt;
  return made;
}

std::optional<std::string_view> Outline::value(std::string_view name) const {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [name](const Member& member) { return member.name == name; });
  if (found == members_.end()) return std::nullopt;
  return found->value;
}

std::optional<std::string> Outline::text(std::string_view name) const {
  const auto found = value(name);
  return found ? string_of(*found) : std::nullopt;
}

std::optional<std::string> string_of(std::string_view json) {
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') return std::nullopt;
  std::string out;
  const auto unit = [json](size_t at) -> int {
    if (at + 6 > json.size() || json[at] != '\\' || json[at + 1] != 'u') return -1;
    int value = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
      const int digit = hex_digit(json[i]);
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  };
  for (size_t i = 1; i + 1 < json.size(); i++) {
    if (json[i] == '"') return std::nullopt;
    if (json[i] != '\\') {
      out.push_back(json[i]);
      continue;
    }
    const size_t which = std::string_view("\"\\/bfnrt").find(json[i + 1]);
    if (which != std::string_view::npos) {
      if (i + 2 >= json.size()) return std::nullopt;
      out.push_back("\"\\/\b\f\n\r\t"[which]);
      i++;
      continue;
    }
    const int first = unit(i);
    if (first < 0 || i + 6 >= json.size()) return std::nullopt;
    i += 5;
    auto point = static_cast<char32_t>(first);
    if (first >= 0xD800 && first < 0xDC00) {
      const int second = unit(i + 1);
      if (second >= 0xDC00 && second < 0xE000) {
        point = static_cast<char32_t>(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        i += 6;
      }
    }
    if (point >= 0xD800 && point < 0xE000) point = base::kReplacementCharacter;
    base::append_utf8(out, point);
  }
  return out;
}

std::string quoted(std::string_view text) {
  return base::json_quoted(text);
}

std::optional<std::string> with_value(std::string_view object, std::span<const std::string_view> path,
                                      std::string_view value) {
  if (path.empty()) return std::string(value);
  const auto outline = Outline::of(object);
  if (!outline) return std::nullopt;
  const auto present = outline->value(path.front());
  auto inner = with_value(present.value_or("{}"), path.subspan(1), value);
  if (!inner) inner = with_value("{}", path.subspan(1), value);
  if (!inner) return std::nullopt;
  std::string out;
  if (present) {
    const auto begin = static_cast<size_t>(present->data() - object.data());
    out.append(object.substr(0, begin)).append(*inner).append(object.substr(begin + present->size()));
    return out;
  }
  const size_t end = object.rfind('}');
  out.append(object.substr(0, end));
  if (outline->size() > 0) out += ',';
  out.append(quoted(path.front())).append(":").append(*inner).append(object.substr(end));
  return out;
}

std::optional<std::string> with_value(std::string_view object, std::initializer_list<std::string_view> path,
                                      std::string_view value) {
  return with_value(object, std::span<const std::string_view>(path.begin(), path.size()), value);
}

}  // namespace ttyward::acp
