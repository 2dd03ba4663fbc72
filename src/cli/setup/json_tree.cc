#include "cli/setup/json_tree.h"

#include <algorithm>

#include "base/json_text.h"
#include "cli/setup/edit.h"

namespace ttyward::cli::setup {
namespace json_tree {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kMaxDepth = 200;

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<JsonNode> read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    JsonNode root;
    if (!blanks() || !value(root, 0) || !blanks()) return wrong();
    if (at_ != text_.size()) {
      expected("the end of the file");
      return wrong();
    }
    return root;
  }

 private:
  tl::unexpected<base::Error> wrong() const {
    return fail(ErrorCode::InvalidArgument, place_in(text_, at_) + ": expected " + expected_);
  }
  bool expected(const char* what) {
    expected_ = what;
    return false;
  }
  char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  // Skips blanks and comments.
  bool blanks() {
    for (;;) {
      while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return expected("the end of this comment");
        at_ = end + 2;
      } else {
        return true;
      }
    }
  }

  bool value(JsonNode& node, int depth) {
    if (depth > kMaxDepth) return expected("fewer levels");
    node.begin = at_;
    const char first = now();
    bool good = false;
    if (first == '{' || first == '[') {
      good = members(node, first == '{', depth);
    } else if (first == '"') {
      node.kind = JsonNode::Kind::String;
      good = string(node.text);
    } else {
      good = word(node.text);
    }
    node.end = at_;
    return good;
  }

  bool members(JsonNode& node, bool object, int depth) {
    const char last = object ? '}' : ']';
    node.kind = object ? JsonNode::Kind::Object : JsonNode::Kind::Array;
    ++at_;
    for (;;) {
      if (!blanks()) return false;
      if (now() == last) {
        ++at_;
        return true;
      }
      if (!node.members.empty() && node.members.back().comma == kNone)
        return expected(object ? "',' or '}'" : "',' or ']'");
      JsonMember member;
      member.begin = at_;
      if (object) {
        if (now() != '"') return expected("a name in double quotes, or '}'");
        if (!string(member.key) || !blanks()) return false;
        if (now() != ':') return expected("':'");
        ++at_;
        if (!blanks()) return false;
      }
      if (!value(member.value, depth + 1) || !blanks()) return false;
      if (now() == ',') member.comma = at_++;
      node.members.push_back(std::move(member));
    }
  }

  bool word(std::string& out) {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("+-.").find(text_[at_]) != std::string_view::npos))
      ++at_;
    out = text_.substr(begin, at_ - begin);
    const bool number =
        !out.empty() && (out[0] == '-' || std::isdigit(static_cast<unsigned char>(out[0])) != 0);
    if (number || out == "true" || out == "false" || out == "null") return true;
    at_ = begin;
    return expected("a value");
  }

  bool hex(uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = now();
      const std::string_view digits = "0123456789abcdef";
      const size_t digit = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + ('a' - 'A')) : c);
      if (c == '\0' || digit == std::string_view::npos) return expected("four hexadecimal digits");
      out = out * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  bool escape(std::string& out) {
    const std::string_view names = "\"\\/bfnrt";
    const std::string_view means = "\"\\/\b\f\n\r\t";
    const char c = now();
    ++at_;
    if (c != 'u') {
      const size_t which = names.find(c);
      if (c == '\0' || which == std::string_view::npos) {
        --at_;
        return expected("an escape such as \\n");
      }
      out += means[which];
      return true;
    }
    uint32_t unit = 0;
    if (!hex(unit)) return false;
    if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const size_t back = at_;
      at_ += 2;
      uint32_t low = 0;
      if (!hex(low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = back;
      }
    }
    append_utf8(out, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit);
    return true;
  }

  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return expected("the end of this string");
      ++at_;
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        return false;
      }
    }
    return expected("the end of this string");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string expected_;
};

}  // namespace
}  // namespace json_tree

size_t JsonNode::index_of(std::string_view key) const {
  for (size_t i = members.size(); i-- > 0;) {
    if (members[i].key == key) return i;
  }
  return kNone;
}

const JsonMember* JsonNode::member(std::string_view key) const {
  const size_t index = kind == Kind::Object ? index_of(key) : kNone;
  return index == kNone ? nullptr : &members[index];
}

base::Result<JsonNode> read_json(std::string_view text) {
  return json_tree::Reader(text).read();
}

std::string compact_json(const JsonNode& node) {
  if (node.kind == JsonNode::Kind::String) return base::json_quoted(node.text);
  if (node.kind == JsonNode::Kind::Other) return node.text;
  const bool object = node.kind == JsonNode::Kind::Object;
  std::string out = object ? "{" : "[";
  for (const JsonMember& each : node.members) {
    if (out.size() > 1) out += ',';
    if (object) out += base::json_quoted(each.key) + ':';
    out += compact_json(each.value);
  }
  return out + (object ? '}' : ']');
}

}  // namespace ttyward::cli::setup
