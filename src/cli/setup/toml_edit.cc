// Changing TOML line by line: tables and keys are found by reading statements, without giving up any
// blank or comment. What comes out is parsed again, and must say what was wanted.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "cli/setup/edit.h"
#include "cli/setup/json_tree.h"

namespace ttyward::cli::setup {
namespace toml_edit {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Statement {
  enum class Kind : uint8_t { Blank, Header, ListHeader, Pair };
  Kind kind = Kind::Blank;  // a comment is blank
  size_t begin = 0;
  size_t end = 0;  // behind its line end
  KeyPath path;    // of a header; of a pair, with its header's
  size_t value_begin = 0;
  size_t value_end = 0;
};

bool starts_with(const KeyPath& path, const KeyPath& with) {
  return path.size() >= with.size() && std::equal(with.begin(), with.end(), path.begin());
}

// Reads text that the parser has accepted, so it never has to say what is wrong.
class Statements {
 public:
  explicit Statements(std::string_view text) : text_(text) {}

  std::vector<Statement> read() {
    std::vector<Statement> all;
    KeyPath header;
    while (at_ < text_.size()) {
      Statement one;
      one.begin = at_;
      skip_blanks();
      const char c = now();
      if (c == '[') {
        const bool list = text_.substr(at_).starts_with("[[");
        at_ += list ? 2 : 1;
        one.kind = list ? Statement::Kind::ListHeader : Statement::Kind::Header;
        one.path = header = key();
      } else if (c != '#' && c != '\n' && c != '\r' && c != '\0') {
        one.kind = Statement::Kind::Pair;
        one.path = header;
        const KeyPath own = key();
        one.path.insert(one.path.end(), own.begin(), own.end());
        if (now() == '=') ++at_;
        skip_blanks();
        one.value_begin = at_;
        value();
        one.value_end = at_;
      }
      const size_t newline = text_.find('\n', at_);
      at_ = newline == std::string_view::npos ? text_.size() : newline + 1;
      one.end = at_;
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() {
    while (now() == ' ' || now() == '\t') ++at_;
  }

  KeyPath key() {
    KeyPath path;
    while (at_ < text_.size()) {
      skip_blanks();
      std::string part;
      if (now() == '"' || now() == '\'') {
        const size_t begin = at_;
        string();
        part = decoded(text_.substr(begin, at_ - begin));
      } else {
        while (std::isalnum(static_cast<unsigned char>(now())) != 0 || now() == '_' || now() == '-')
          part += text_[at_++];
      }
      path.push_back(std::move(part));
      skip_blanks();
      if (now() != '.') break;
      ++at_;
    }
    while (now() == ']') ++at_;
    skip_blanks();
    return path;
  }

  static std::string decoded(std::string_view quoted) {
    const auto as_json = read_json(quoted);
    return quoted.starts_with('"') && as_json ? as_json->text
                                              : std::string(quoted.substr(1, quoted.size() - 2));
  }

  void string() {
    const char quote = now();
    const std::string three(3, quote);
    const bool long_one = text_.substr(at_).starts_with(three);
    at_ += long_one ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && now() == '\\') {
        at_ += 2;
      } else if (long_one ? text_.substr(at_).starts_with(three) : now() == quote) {
        at_ += long_one ? 3 : 1;
        while (long_one && now() == quote) ++at_;  // quotes may stand before the closing ones
        return;
      } else {
        ++at_;
      }
    }
  }

  // Up to the end of the value: before a comment, or the line end outside all brackets.
  void value() {
    int depth = 0;
    size_t last = at_;
    while (at_ < text_.size()) {
      const char c = now();
      if (c == '"' || c == '\'') {
        string();
        last = at_;
        continue;
      }
      if (c == '#') {
        if (depth == 0) break;
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '\n' && depth == 0) break;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      ++at_;
      if (c != ' ' && c != '\t' && c != '\r' && c != '\n') last = at_;
    }
    at_ = last;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string bare_or_quoted(const std::string& key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return bare ? key : base::json_quoted(key);
}

std::string header_of(const KeyPath& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + bare_or_quoted(part);
  return "[" + out + "]";
}

// A JSON value as TOML, in one line.
std::string inline_value(const JsonNode& node) {
  if (node.kind == JsonNode::Kind::String || node.kind == JsonNode::Kind::Other) return compact_json(node);
  const bool object = node.kind == JsonNode::Kind::Object;
  std::string out;
  for (const JsonMember& each : node.members) {
    out += out.empty() ? "" : ", ";
    if (object) out += bare_or_quoted(each.key) + " = ";
    out += inline_value(each.value);
  }
  if (!object) return "[" + out + "]";
  return out.empty() ? "{}" : "{ " + out + " }";
}

std::string section_of(const KeyPath& path, const JsonNode& table, const std::string& newline) {
  std::string out = header_of(path) + newline;
  for (const JsonMember& each : table.members)
    out += bare_or_quoted(each.key) + " = " + inline_value(each.value) + newline;
  return out;
}

std::string to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) return base::json_quoted(text->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* list = node.as_array()) {
    std::string out;
    for (const toml::node& each : *list) out += (out.empty() ? "" : ",") + to_json(each);
    return "[" + out + "]";
  }
  if (const auto* table = node.as_table()) {
    base::JsonObject out;
    for (const auto& [key, value] : *table) out.raw(key.str(), to_json(value));
    return out.str();
  }
  return "null";
}

// Members in one order, so that two values can be compared.
std::string in_order(const std::string& json) {
  auto node = read_json(json);
  if (!node) return json;
  const auto sort = [](const auto& self, JsonNode& each) -> void {
    if (each.kind == JsonNode::Kind::Object)
      std::ranges::sort(each.members, {}, [](const JsonMember& m) { return m.key; });
    for (JsonMember& member : each.members) self(self, member.value);
  };
  sort(sort, *node);
  return compact_json(*node);
}

Result<toml::table> parsed(const std::string& text) {
  toml::parse_result result = toml::parse(text);
  if (result) return std::move(result).table();
  const auto where = result.error().source().begin;
  return fail(ErrorCode::InvalidArgument, "line " + std::to_string(where.line) + ", column " +
                                              std::to_string(where.column) + ": " +
                                              std::string(result.error().description()));
}

class TomlEditor final : public Editor {
 public:
  Result<Edited> apply(std::string text, const std::vector<Edit>& edits) const override {
    Edited done;
    for (const Edit& edit : edits) {
      auto before = at(text, edit.path);
      if (!before) return tl::unexpected(before.error());
      if (*before && in_order(**before) == in_order(edit.value)) continue;
      if (edit.kind != Edit::Kind::Set)
        return fail(ErrorCode::Unsupported, joined(edit.path) + " is a list in a TOML file");
      Revert revert{edit, std::nullopt, 0};
      if (auto set = set_one(text, revert); !set) return tl::unexpected(set.error());
      auto after = at(text, edit.path);
      if (!after || !*after || in_order(**after) != in_order(edit.value)) {
        return fail(ErrorCode::Unsupported,
                    joined(edit.path) + " is written in a way that cannot be changed here; set it to " +
                        edit.value + " by hand");
      }
      done.reverts.push_back(std::move(revert));
    }
    done.text = std::move(text);
    return done;
  }

  Result<std::string> revert(std::string text, const std::vector<Revert>& reverts) const override {
    for (size_t i = reverts.size(); i-- > 0;) {
      const KeyPath& path = reverts[i].edit.path;
      auto now = at(text, path);
      if (!now) return tl::unexpected(now.error());
      if (!*now) continue;
      if (in_order(**now) != in_order(reverts[i].edit.value) && path.back() != kOurName) continue;
      take_out(text, reverts[i]);
      auto left = at(text, path);
      if (!left) return tl::unexpected(left.error());
      if (!reverts[i].previous && *left) {
        return fail(ErrorCode::Unsupported,
                    joined(path) + " is written in a way that cannot be changed here; take it out by hand");
      }
    }
    return text;
  }

  Result<std::optional<std::string>> at(const std::string& text, const KeyPath& path) const override {
    auto root = parsed(text);
    if (!root) return tl::unexpected(root.error());
    const toml::node* node = &*root;
    for (const std::string& key : path) {
      const toml::table* table = node->as_table();
      node = table == nullptr ? nullptr : table->get(key);
      if (node == nullptr) return std::nullopt;
    }
    return to_json(*node);
  }

  bool is_empty(const std::string& text) const override {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  }

 private:
  static std::string newline_of(const std::string& text) {
    return text.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  }

  static void append(std::string& text, const std::string& section) {
    const std::string newline = newline_of(text);
    if (!text.empty() && !text.ends_with('\n')) text += newline;
    if (!text.empty()) text += newline;
    text += section;
  }

  static Result<void> set_one(std::string& text, Revert& revert) {
    const KeyPath& path = revert.edit.path;
    const auto value = read_json(revert.edit.value);
    if (!value) return tl::unexpected(value.error());
    const std::vector<Statement> all = Statements(text).read();
    for (const Statement& one : all) {
      if (one.kind == Statement::Kind::Pair && one.path == path) {
        revert.kept = path.size();
        revert.previous = text.substr(one.value_begin, one.value_end - one.value_begin);
        text.replace(one.value_begin, one.value_end - one.value_begin, inline_value(*value));
        return {};
      }
    }
    const std::string newline = newline_of(text);
    if (value->kind == JsonNode::Kind::Object) {
      std::string previous;
      const size_t place = cut_sections(text, path, &previous);
      if (place != kNone) {
        revert.kept = path.size();
        revert.previous = previous;
        text.insert(place, section_of(path, *value, newline));
      } else {
        append(text, section_of(path, *value, newline));
      }
      return {};
    }
    const KeyPath parent(path.begin(), path.end() - 1);
    const std::string line = bare_or_quoted(path.back()) + " = " + inline_value(*value);
    for (const Statement& one : all) {
      if (one.kind != Statement::Kind::Pair || one.path != parent) continue;
      const std::string_view table(text.data() + one.value_begin, one.value_end - one.value_begin);
      if (!table.ends_with('}')) break;
      const size_t last = table.find_last_not_of(" \t", table.size() - 2);
      revert.kept = parent.size();
      text.insert(one.value_begin + last + 1, (table[last] == '{' ? " " : ", ") + line);
      return {};
    }
    size_t place = parent.empty() ? 0 : kNone;
    bool inside = parent.empty();
    for (const Statement& one : all) {
      if (one.kind == Statement::Kind::Header || one.kind == Statement::Kind::ListHeader)
        inside = one.kind == Statement::Kind::Header && one.path == parent;
      if (inside && one.kind != Statement::Kind::Blank) place = one.end;
    }
    if (place == kNone) {
      append(text, header_of(parent) + newline + line + newline);
      return {};
    }
    revert.kept = parent.size();
    const bool line_ended = place == 0 || text[place - 1] == '\n';
    text.insert(place, (line_ended ? "" : newline) + line + newline);
    return {};
  }

  // Cuts the table and the tables below it out; returns where the first of them began.
  static size_t cut_sections(std::string& text, const KeyPath& path, std::string* cut) {
    const std::vector<Statement> all = Statements(text).read();
    size_t first = kNone;
    std::vector<std::pair<size_t, size_t>> ranges;
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != Statement::Kind::Header && all[i].kind != Statement::Kind::ListHeader) continue;
      if (!starts_with(all[i].path, path)) continue;
      // Up to its last key: the blanks and comments after that belong to what follows.
      size_t end = all[i].end;
      for (size_t k = i + 1; k < all.size(); ++k) {
        if (all[k].kind == Statement::Kind::Header || all[k].kind == Statement::Kind::ListHeader) break;
        if (all[k].kind == Statement::Kind::Pair) end = all[k].end;
      }
      if (first == kNone) first = all[i].begin;
      ranges.emplace_back(all[i].begin, end);
    }
    for (size_t i = ranges.size(); i-- > 0;) {
      if (cut != nullptr) *cut = text.substr(ranges[i].first, ranges[i].second - ranges[i].first) + *cut;
      text.erase(ranges[i].first, ranges[i].second - ranges[i].first);
    }
    return first;
  }

  static void erase_blank_line_before(std::string& text, size_t place) {
    if (place == 0 || place > text.size()) return;
    const size_t newline = place >= 2 ? text.rfind('\n', place - 2) : std::string::npos;
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (text.substr(begin, place - begin).find_first_not_of(" \t\r\n") == std::string::npos)
      text.erase(begin, place - begin);
  }

  static void take_out(std::string& text, const Revert& revert) {
    const KeyPath& path = revert.edit.path;
    for (const Statement& one : Statements(text).read()) {
      if (one.kind != Statement::Kind::Pair || one.path != path) continue;
      if (revert.previous) {
        text.replace(one.value_begin, one.value_end - one.value_begin, *revert.previous);
        return;
      }
      text.erase(one.begin, one.end - one.begin);
      const KeyPath parent(path.begin(), path.end() - 1);
      if (revert.kept < parent.size()) remove_empty_section(text, parent);
      return;
    }
    const size_t place = cut_sections(text, path, nullptr);
    if (place == kNone) return;
    if (revert.previous) {
      text.insert(place, *revert.previous);
    } else {
      erase_blank_line_before(text, place);
    }
  }

  static void remove_empty_section(std::string& text, const KeyPath& path) {
    const std::vector<Statement> all = Statements(text).read();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].kind != Statement::Kind::Header || all[i].path != path) continue;
      for (size_t k = i + 1; k < all.size() && all[k].kind != Statement::Kind::Header &&
                             all[k].kind != Statement::Kind::ListHeader;
           ++k) {
        if (all[k].kind == Statement::Kind::Pair) return;
      }
      text.erase(all[i].begin, all[i].end - all[i].begin);
      erase_blank_line_before(text, all[i].begin);
      return;
    }
  }
};

}  // namespace
}  // namespace toml_edit

const Editor& toml_editor() {
  static const toml_edit::TomlEditor editor;
  return editor;
}

}  // namespace ttyward::cli::setup
