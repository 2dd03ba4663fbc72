#include "policy/word_expander.h"

#include <cctype>

namespace ttyward::policy {
namespace {

using syntax::ParameterOp;
using syntax::Part;
using syntax::PartKind;
using syntax::Quoting;

constexpr std::string_view kMarks = "\x01\x02\x03\x04\x05\x06";

std::string unknown() {
  return std::string(1, kAny);
}

// The bytes of a value that ${x:offset:length} takes, if the bounds are within what is known.
std::string substring(const std::string& held, bool known, long offset, long length) {
  const size_t mark = held.find_first_of(kMarks);
  const size_t limit = known ? held.size() : mark == std::string::npos ? 0 : mark;
  if (offset < 0 || (length < 0 && !known)) return unknown();
  const auto from = static_cast<size_t>(offset);
  if (length < 0) return from > held.size() ? std::string() : held.substr(from);
  if (!known && from + static_cast<size_t>(length) > limit) return unknown();
  return from > held.size() ? std::string() : held.substr(from, static_cast<size_t>(length));
}

}  // namespace

bool is_name_start(char c) {
  return syntax::is_name_start(c);
}

bool is_name_char(char c) {
  return syntax::is_name_char(c);
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || !is_name_start(text[0])) return false;
  for (const char c : text) {
    if (!is_name_char(c)) return false;
  }
  return true;
}

void WordExpander::put(Expanded value, bool is_quoted) {
  items.push_back({0, is_quoted, static_cast<int>(expansions.size())});
  expansions.push_back(std::move(value));
}

void WordExpander::run(const std::vector<Part>& parts) {
  note_disguise(parts);
  for (const Part& part : parts) {
    quoted |= part.quoted();
    expanded |= part.kind != PartKind::Text;
    switch (part.kind) {
      case PartKind::Text:
        text(part);
        break;
      case PartKind::Parameter:
        parameter(part);
        break;
      case PartKind::Command: {
        Printed printed = host_.substitution(*part.expansion->list);
        from_network |= printed.from_network;
        put({{std::move(printed.text)}, "", false}, part.quoted());
        break;
      }
      case PartKind::Process: {
        const Printed printed = host_.process(*part.expansion->list);
        from_network |= printed.from_network;
        for (const char c : printed.text) items.push_back({c, true, -1});
        break;
      }
      case PartKind::Arithmetic:
        reader_.check_arithmetic(part.expansion->expression, part.expansion->expression_span);
        put({{std::string(1, kDigits)}, "", false}, part.quoted());
        break;
    }
  }
}

// A name that is cut into pieces by quotes, escapes a letter or is spelled in numbers is not meant to be
// read.
void WordExpander::note_disguise(const std::vector<Part>& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    if (part.quoting == Quoting::AnsiC) disguised = true;
    if (part.quoting == Quoting::Backslash && i > 0 && part.text.size() == 1 &&
        std::isalnum(static_cast<unsigned char>(part.text[0])) != 0)
      disguised = true;
    const bool strings = part.quoting == Quoting::Single || part.quoting == Quoting::Double;
    if (!strings || i + 1 >= parts.size()) {
      if (strings && i > 0 && parts[i - 1].quoting != part.quoting) disguised = true;
      continue;
    }
    const Part& next = parts[i + 1];
    const bool two_strings = part.kind == PartKind::Text && next.kind == PartKind::Text;
    if (next.quoting != part.quoting || two_strings) disguised = true;
    if (i > 0 && parts[i - 1].quoting != part.quoting) disguised = true;
  }
}

void WordExpander::text(const Part& part) {
  if (part.text.empty()) return put({{""}, "", false}, true);  // keeps an empty argument alive
  for (const char c : part.text) items.push_back({c, part.quoted(), -1});
}

WordExpander::Expanded WordExpander::plain_value(std::string_view name) {
  const Value* value = host_.variable(name);
  Expanded result;
  result.values = value == nullptr ? Value{unknown()} : value->empty() ? Value{""} : Value{value->front()};
  if (result.values.front().find(kAny) != std::string::npos) result.other = host_.possible_value(name);
  return result;
}

// $@ $* $# $? $- $$ $! $0 $1 …
WordExpander::Expanded WordExpander::special_value(const syntax::Expansion& expansion) {
  const std::string& name = expansion.name;
  if (name == "?" || name == "$" || name == "#" || name == "!") return {{std::string(1, kDigits)}, "", false};
  const Value* value = host_.variable(name);
  if (value != nullptr && *value == Value{unknown()}) return {*value, host_.possible_value(name), false};
  if (value != nullptr) return {*value, "", name == "@"};
  if (name == "@") return {{std::string(1, kAnyFields)}, "", false};
  return {{unknown()}, host_.possible_value(name), false};
}

void WordExpander::parameter(const Part& part) {
  const syntax::Expansion& expansion = *part.expansion;
  const bool named = is_name_start(expansion.name[0]);
  if (expansion.op == ParameterOp::Length && named)
    host_.variable(expansion.name);  // for what it says of the name
  if (expansion.op == ParameterOp::Length) return put({{std::string(1, kDigits)}, "", false}, part.quoted());
  if (!named) {
    if (expansion.op == ParameterOp::None) return put(special_value(expansion), part.quoted());
    reader_.read_parts(expansion.argument);  // for the commands inside
    reader_.read_parts(expansion.replacement);
    const bool all = expansion.name == "@" || expansion.name == "*";
    return put({{std::string(1, all ? kAnyFields : kAny)}, "", false}, part.quoted());
  }
  const Value* value = host_.variable(expansion.name);
  if (!expansion.subscript.empty()) {
    const bool all = expansion.subscript == "@" || expansion.subscript == "*";
    if (expansion.op != ParameterOp::None) {
      reader_.read_parts(expansion.argument);
      reader_.read_parts(expansion.replacement);
    }
    if (!all) {
      // Which element it is matters only if one of them would be a catastrophe.
      Expanded one{{unknown()}, "", false};
      const bool number =
          expansion.subscript.size() == 1 && expansion.subscript[0] >= '0' && expansion.subscript[0] <= '9';
      const size_t index = number ? static_cast<size_t>(expansion.subscript[0] - '0') : 0;
      if (number && value != nullptr && index < value->size()) one.other = (*value)[index];
      if (one.other.empty() || one.other == unknown()) one.other = host_.possible_value(expansion.name);
      return put(std::move(one), part.quoted());
    }
    if (expansion.op != ParameterOp::None || value == nullptr)
      return put({{std::string(1, kAnyFields)}, "", false}, part.quoted());
    const bool uncertain = value->size() == 1 && value->front() == unknown();
    return put({*value, uncertain ? host_.possible_value(expansion.name) : "", true}, part.quoted());
  }
  if (expansion.op == ParameterOp::None) return put(plain_value(expansion.name), part.quoted());
  const Value held = value != nullptr ? *value : Value{};
  put(operate(expansion, value != nullptr ? &held : nullptr), part.quoted());
}

// ${name OPERATOR word}: constants are worked out, the rest is unknown text.
WordExpander::Expanded WordExpander::operate(const syntax::Expansion& expansion, const Value* value) {
  Expanded result;
  result.values = {unknown()};
  const std::string held = value != nullptr && !value->empty() ? value->front() : std::string();
  const bool known = value != nullptr && !value->empty() && held.find_first_of(kMarks) == std::string::npos;
  const std::string argument = reader_.read_parts(expansion.argument);
  switch (expansion.op) {
    case ParameterOp::Default:
    case ParameterOp::Assign:
    case ParameterOp::Error:
    case ParameterOp::Alternative: {
      const bool set = known && !(expansion.colon && held.empty());
      if (set) result.values = {expansion.op == ParameterOp::Alternative ? argument : held};
      if (!set) result.other = argument;
      if (expansion.op == ParameterOp::Assign && !set) host_.assign(expansion.name, {unknown()});
      return result;
    }
    case ParameterOp::Substring:
      if (value != nullptr) result.values = {substring(held, known, expansion.offset, expansion.length)};
      return result;
    case ParameterOp::RemovePrefix:
    case ParameterOp::RemoveSuffix: {
      const bool plain = argument.find_first_of("*?[\x01\x02\x03\x04\x05\x06") == std::string::npos;
      if (!known || !plain) return result;
      const bool prefix = expansion.op == ParameterOp::RemovePrefix;
      const bool fits = prefix ? held.starts_with(argument) : held.ends_with(argument);
      result.values = {!fits    ? held
                       : prefix ? held.substr(argument.size())
                                : held.substr(0, held.size() - argument.size())};
      return result;
    }
    default:
      reader_.read_parts(expansion.replacement);
      return result;
  }
}

}  // namespace ttyward::policy
