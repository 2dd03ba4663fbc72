// Changing JSON as a person would: a new member goes behind the last one, in the file's own indentation.
#include <algorithm>
#include <utility>

#include "base/json_text.h"
#include "cli/setup/edit.h"
#include "cli/setup/json_tree.h"

namespace ttyward::cli::setup {
namespace json_edit {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kBlanks = " \t\r\n";

// The blanks at the beginning of the line that holds this offset.
std::string indent_at(std::string_view text, size_t offset) {
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find_first_not_of(" \t", begin), text.size());
  return std::string(text.substr(begin, std::max(begin, end) - begin));
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

// How this file is written: by its first line that is indented, and its first line end.
struct Style {
  std::string unit = "  ";
  std::string newline = "\n";

  explicit Style(std::string_view text) {
    const size_t first = text.find('\n');
    if (first != std::string_view::npos && first > 0 && text[first - 1] == '\r') newline = "\r\n";
    for (size_t at = first; at != std::string_view::npos; at = text.find('\n', at + 1)) {
      const size_t end = text.find_first_not_of(" \t", at + 1);
      if (end == std::string_view::npos) break;
      if (end > at + 1 && text[end] != '\n' && text[end] != '\r' && text[end] != '*') {
        unit = text.substr(at + 1, end - at - 1);
        break;
      }
    }
  }
};

// A value as the file would have it: objects over several lines, lists of plain values in one.
std::string written(const JsonNode& node, const Style& style, const std::string& indent) {
  const auto plain = [](const JsonMember& each) {
    return each.value.kind == JsonNode::Kind::String || each.value.kind == JsonNode::Kind::Other;
  };
  const bool object = node.kind == JsonNode::Kind::Object;
  if (node.members.empty() || (!object && std::ranges::all_of(node.members, plain))) {
    std::string out = compact_json(node);
    if (object || node.kind != JsonNode::Kind::Array) return out;
    out = "[";
    for (const JsonMember& each : node.members)
      out += (out.size() > 1 ? ", " : "") + compact_json(each.value);
    return out + "]";
  }
  const std::string inner = indent + style.unit;
  std::string out = object ? "{" : "[";
  for (const JsonMember& each : node.members) {
    out += (out.size() > 1 ? "," : "") + style.newline + inner;
    if (object) out += base::json_quoted(each.key) + ": ";
    out += written(each.value, style, inner);
  }
  return out + style.newline + indent + (object ? "}" : "]");
}

// The same in one line, for where the file has it in one line.
std::string in_one_line(const JsonNode& node) {
  if (node.kind != JsonNode::Kind::Object && node.kind != JsonNode::Kind::Array) return compact_json(node);
  const bool object = node.kind == JsonNode::Kind::Object;
  std::string out = object ? "{" : "[";
  for (const JsonMember& each : node.members) {
    if (out.size() > 1) out += ", ";
    if (object) out += base::json_quoted(each.key) + ": ";
    out += in_one_line(each.value);
  }
  return out + (object ? "}" : "]");
}

// {"b":{"c":VALUE}} for the path a.b.c from its second part.
std::string nested(const KeyPath& path, size_t from, const std::string& value) {
  std::string out = value;
  for (size_t i = path.size(); i-- > from;) out = "{" + base::json_quoted(path[i]) + ":" + out + "}";
  return out;
}

// One more member behind the last. `key` is empty in an array.
void insert(std::string& text, const JsonNode& into, std::string_view key, const JsonNode& value) {
  const Style style(text);
  const std::string label = into.kind == JsonNode::Kind::Object ? base::json_quoted(key) + ": " : "";
  const std::string own_indent = indent_at(text, into.begin);
  const size_t closing = into.end - 1;
  const std::string_view inside(text.data() + into.begin + 1, closing - into.begin - 1);
  // Behind the last thing inside, which may be a comment.
  const size_t last_thing = inside.find_last_not_of(kBlanks);
  const size_t tail = into.begin + 1 + (last_thing == std::string_view::npos ? 0 : last_thing + 1);
  const bool one_line = inside.find('\n') == std::string_view::npos;

  if (into.members.empty()) {
    const std::string indent = own_indent + style.unit;
    std::string added = style.newline + indent + label + written(value, style, indent);
    if (one_line) added += style.newline + own_indent;
    if (one_line) text.erase(tail, closing - tail);
    text.insert(tail, added);
    return;
  }
  const JsonMember& last = into.members.back();
  if (one_line) {
    const std::string added =
        (last.comma == kNone ? ", " : " ") + label + in_one_line(value) + (last.comma == kNone ? "" : ",");
    text.insert(last.comma == kNone ? last.value.end : last.comma + 1, added);
    return;
  }
  const std::string line_start = indent_at(text, last.begin);
  const size_t line_begin = text.rfind('\n', last.begin) + 1;
  const bool first_on_line = is_blank(std::string_view(text).substr(line_begin, last.begin - line_begin));
  const std::string indent = first_on_line ? line_start : own_indent + style.unit;
  std::string added = style.newline + indent + label + written(value, style, indent);
  if (last.comma != kNone) added += ",";
  text.insert(tail, added);
  if (last.comma == kNone) text.insert(last.value.end, ",");
}

void replace(std::string& text, const JsonNode& old, const JsonNode& value) {
  const bool one_line =
      old.kind != JsonNode::Kind::Other && old.kind != JsonNode::Kind::String &&
      std::string_view(text).substr(old.begin, old.end - old.begin).find('\n') == std::string_view::npos;
  const Style style(text);
  const std::string now = one_line && !old.members.empty()
                              ? in_one_line(value)
                              : written(value, style, indent_at(text, old.begin));
  text.replace(old.begin, old.end - old.begin, now);
}

// Takes a member out, with its line if it has one to itself.
void remove(std::string& text, const JsonNode& from, size_t index) {
  const JsonMember& gone = from.members[index];
  size_t begin = gone.begin;
  size_t end = gone.comma == kNone ? gone.value.end : gone.comma + 1;
  const size_t newline = begin == 0 ? std::string::npos : text.rfind('\n', begin - 1);
  const size_t line_begin = newline == std::string::npos ? 0 : newline + 1;
  const size_t line_end = std::min(text.find_first_not_of(" \t\r", end), text.size());
  const bool line_to_itself = is_blank(std::string_view(text).substr(line_begin, begin - line_begin)) &&
                              newline != std::string::npos && line_end < text.size() &&
                              text[line_end] == '\n';
  if (line_to_itself) {
    begin = line_begin;
    end = line_end + 1;
  } else if (index + 1 < from.members.size()) {
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  } else {
    while (begin > from.begin + 1 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  }
  text.erase(begin, end - begin);
  if (gone.comma == kNone && index > 0) text.erase(from.members[index - 1].comma, 1);
  if (from.members.size() == 1) {
    // Nothing is left in it: {} again, unless there is a comment.
    const size_t closing = from.end - 1 - (end - begin);
    const size_t inner = from.begin + 1;
    if (is_blank(std::string_view(text).substr(inner, closing - inner))) text.erase(inner, closing - inner);
  }
}

// The nodes on the way to a path, as far as they are there: first the root.
Result<std::vector<const JsonNode*>> way_to(const JsonNode& root, const KeyPath& path) {
  std::vector<const JsonNode*> way = {&root};
  for (size_t i = 0; i < path.size(); ++i) {
    if (way.back()->kind != JsonNode::Kind::Object) {
      const KeyPath upper(path.begin(), path.begin() + static_cast<ptrdiff_t>(i));
      return fail(ErrorCode::InvalidArgument, (i == 0 ? "the file" : joined(upper)) +
                                                  " is not an object, so " + joined(path) + " cannot be set");
    }
    const JsonMember* next = way.back()->member(path[i]);
    if (next == nullptr) break;
    way.push_back(&next->value);
  }
  return way;
}

class JsonEditor final : public Editor {
 public:
  Result<Edited> apply(std::string text, const std::vector<Edit>& edits) const override {
    Edited done;
    if (is_blank(text)) text = "{}\n";
    for (const Edit& edit : edits) {
      auto revert = apply_one(text, edit);
      if (!revert) return tl::unexpected(revert.error());
      if (*revert) done.reverts.push_back(std::move(**revert));
      auto now = at(text, edit.path);
      if (!now) return tl::unexpected(now.error());
    }
    done.text = std::move(text);
    return done;
  }

  Result<std::string> revert(std::string text, const std::vector<Revert>& reverts) const override {
    for (size_t i = reverts.size(); i-- > 0;) {
      if (auto done = revert_one(text, reverts[i]); !done) return tl::unexpected(done.error());
    }
    return text;
  }

  Result<std::optional<std::string>> at(const std::string& text, const KeyPath& path) const override {
    if (is_blank(text)) return std::nullopt;
    const auto root = read_json(text);
    if (!root) return tl::unexpected(root.error());
    const JsonNode* node = &*root;
    for (const std::string& key : path) {
      const JsonMember* next = node->member(key);
      if (next == nullptr) return std::nullopt;
      node = &next->value;
    }
    return compact_json(*node);
  }

  bool is_empty(const std::string& text) const override {
    std::string rest;
    std::ranges::copy_if(text, std::back_inserter(rest),
                         [](char c) { return kBlanks.find(c) == std::string_view::npos; });
    return rest.empty() || rest == "{}";
  }

 private:
  // Nothing: it was so already.
  static Result<std::optional<Revert>> apply_one(std::string& text, const Edit& edit) {
    const auto root = read_json(text);
    if (!root) return tl::unexpected(root.error());
    const auto value = read_json(edit.value);
    if (!value) return tl::unexpected(value.error());
    const auto way = way_to(*root, edit.path);
    if (!way) return tl::unexpected(way.error());
    const size_t there = way->size() - 1;
    const JsonNode& last = *way->back();
    Revert revert{edit, std::nullopt, there};
    if (there < edit.path.size()) {
      const std::string whole = edit.kind == Edit::Kind::Add ? "[" + edit.value + "]" : edit.value;
      const std::string added = nested(edit.path, there + 1, whole);
      insert(text, last, edit.path[there], *read_json(added));
      return revert;
    }
    if (edit.kind == Edit::Kind::Add) {
      if (last.kind != JsonNode::Kind::Array)
        return fail(ErrorCode::InvalidArgument, joined(edit.path) + " is not a list");
      if (element(last, *value) != kNone) return std::nullopt;
      insert(text, last, "", *value);
      return revert;
    }
    if (compact_json(last) == compact_json(*value)) return std::nullopt;
    revert.previous = text.substr(last.begin, last.end - last.begin);
    replace(text, last, *value);
    return revert;
  }

  static size_t element(const JsonNode& list, const JsonNode& value) {
    const std::string wanted = compact_json(value);
    for (size_t i = 0; i < list.members.size(); ++i) {
      if (compact_json(list.members[i].value) == wanted) return i;
    }
    return kNone;
  }

  static Result<void> revert_one(std::string& text, const Revert& revert) {
    if (is_blank(text)) return {};
    const auto root = read_json(text);
    if (!root) return tl::unexpected(root.error());
    const auto value = read_json(revert.edit.value);
    if (!value) return tl::unexpected(value.error());
    const KeyPath& path = revert.edit.path;
    const auto way = way_to(*root, path);
    if (!way || way->size() != path.size() + 1) return {};  // somebody took it out
    const JsonNode& last = *way->back();
    if (revert.edit.kind == Edit::Kind::Add) {
      const size_t index = last.kind == JsonNode::Kind::Array ? element(last, *value) : kNone;
      if (index == kNone) return {};
      remove(text, last, index);
    } else {
      const bool as_we_left_it = compact_json(last) == compact_json(*value);
      if (!as_we_left_it && path.back() != kOurName) return {};
      if (revert.previous) {
        text.replace(last.begin, last.end - last.begin, *revert.previous);
        return {};
      }
      const JsonNode& parent = *(*way)[path.size() - 1];
      remove(text, parent, parent.index_of(path.back()));
    }
    return remove_what_is_empty(text, revert);
  }

  // The objects and lists on the way that we made, if nothing else came into them.
  static Result<void> remove_what_is_empty(std::string& text, const Revert& revert) {
    const KeyPath& path = revert.edit.path;
    for (size_t depth = path.size(); depth > revert.kept; --depth) {
      const auto root = read_json(text);
      if (!root) return tl::unexpected(root.error());
      const auto way = way_to(*root, KeyPath(path.begin(), path.begin() + static_cast<ptrdiff_t>(depth)));
      if (!way || way->size() != depth + 1) continue;
      const JsonNode& node = *way->back();
      const std::string_view inside(text.data() + node.begin + 1, node.end - node.begin - 2);
      const bool container = node.kind == JsonNode::Kind::Object || node.kind == JsonNode::Kind::Array;
      if (!container || !node.members.empty() || !is_blank(inside)) return {};
      const JsonNode& parent = *(*way)[depth - 1];
      remove(text, parent, parent.index_of(path[depth - 1]));
    }
    return {};
  }
};

}  // namespace
}  // namespace json_edit

const Editor& json_editor() {
  static const json_edit::JsonEditor editor;
  return editor;
}

std::string place_in(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string joined(const KeyPath& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + part;
  return out;
}

}  // namespace ttyward::cli::setup
