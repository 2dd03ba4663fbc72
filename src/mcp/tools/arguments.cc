#include "mcp/tools/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "mcp/tools/visible_text.h"

namespace ttyward::mcp::tools {
namespace {

constexpr size_t kMaxList = 100;  // entries of a list

std::string quoted_choices(const Argument& argument) {
  std::string out;
  for (const char* choice : argument.choices)
    out += (out.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  return out;
}

std::string wanted(const Argument& argument) {
  switch (argument.type) {
    case Argument::Type::Text:
      return argument.choices.empty() ? "a string" : "one of " + quoted_choices(argument);
    case Argument::Type::Integer:
      return argument.most > 0 ? fmt::format("a whole number from {} to {}", argument.least, argument.most)
                               : fmt::format("a whole number, {} or more", argument.least);
    case Argument::Type::Flag:
      return "true or false";
    case Argument::Type::TextList:
      return fmt::format("a list of 1 to {} strings", kMaxList);
  }
  return "";
}

bool fits(const Argument& argument, const json::object& values) {
  const json::value* value = member(values, argument.name);
  switch (argument.type) {
    case Argument::Type::Text:
      if (!value->is_string()) return false;
      return argument.choices.empty() ||
             std::any_of(argument.choices.begin(), argument.choices.end(),
                         [&](const char* choice) { return view(value->get_string()) == choice; });
    case Argument::Type::Integer: {
      const auto number = integer_at(values, argument.name);
      return number && *number >= argument.least && (argument.most == 0 || *number <= argument.most);
    }
    case Argument::Type::Flag:
      return value->is_bool();
    case Argument::Type::TextList: {
      const json::array* list = value->if_array();
      return list != nullptr && !list->empty() && list->size() <= kMaxList &&
             std::all_of(list->begin(), list->end(),
                         [](const json::value& item) { return item.is_string(); });
    }
  }
  return false;
}

const Argument* named(const std::vector<Argument>& arguments, std::string_view name) {
  for (const Argument& argument : arguments) {
    if (name == argument.name) return &argument;
    for (const char* alias : argument.aliases) {
      if (name == alias) return &argument;
    }
  }
  return nullptr;
}

std::string names_of(const std::vector<Argument>& arguments) {
  std::string out;
  for (const Argument& argument : arguments) {
    if (argument.told) out += (out.empty() ? "`" : ", `") + std::string(argument.name) + "`";
  }
  return out.empty() ? "none" : out;
}

}  // namespace

Argument argument_of(const wire::Shape& call, const char* name) {
  using Kind = wire::Shape::Kind;
  const auto field = std::find_if(call.fields.begin(), call.fields.end(),
                                  [&](const wire::ShapeField& each) { return each.name == name; });
  TTYWARD_CHECK(field != call.fields.end());
  Argument made{.name = name, .type = Argument::Type::Text, .description = sentence(field->about)};
  made.description.pop_back();  // one phrase needs no full stop
  made.required = field->required;
  switch (field->shape.kind) {
    case Kind::Text:
      break;
    case Kind::Truth:
      made.type = Argument::Type::Flag;
      made.fallback = field->otherwise == "true" ? 1 : 0;
      break;
    case Kind::Number:
    case Kind::Duration:
      made.type = Argument::Type::Integer;
      made.least = std::max<int64_t>(field->shape.least, 0);
      made.most = field->shape.most == wire::kNoMost ? 0 : field->shape.most;
      break;
    default:
      TTYWARD_CHECK(false);  // no argument is of such a kind
  }
  return made;
}

json::object input_schema(const std::vector<Argument>& arguments) {
  json::object properties;
  json::array required;
  for (const Argument& argument : arguments) {
    if (!argument.told) continue;
    json::object property;
    switch (argument.type) {
      case Argument::Type::Text:
        property["type"] = "string";
        break;
      case Argument::Type::Integer:
        property["type"] = "integer";
        break;
      case Argument::Type::Flag:
        property["type"] = "boolean";
        break;
      case Argument::Type::TextList:
        property["type"] = "array";
        break;
    }
    if (!argument.description.empty()) property["description"] = argument.description;
    if (argument.type == Argument::Type::TextList) property["items"] = json::object{{"type", "string"}};
    if (!argument.choices.empty()) {
      json::array choices;
      for (const char* choice : argument.choices) choices.emplace_back(choice);
      property["enum"] = std::move(choices);
    }
    properties[argument.name] = std::move(property);
    if (argument.required) required.emplace_back(argument.name);
  }
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Checked check_arguments(const char* tool, const std::vector<Argument>& arguments, const json::object& given) {
  Checked checked;
  for (const auto& [key, value] : given) {
    const std::string name(key.data(), key.size());
    const Argument* argument = named(arguments, name);
    if (argument == nullptr) {
      checked.problem = fmt::format("{} has no argument `{}`; it takes {}.", tool, visible_line(name, 60),
                                    names_of(arguments));
      return checked;
    }
    if (!value.is_null()) checked.values[argument->name] = value;
  }
  for (const Argument& argument : arguments) {
    if (!checked.values.contains(argument.name)) {
      if (argument.required)
        checked.problem = fmt::format("{} needs `{}`: {}.", tool, argument.name, wanted(argument));
    } else if (!fits(argument, checked.values)) {
      const std::string bad = json::serialize(checked.values.at(argument.name));
      checked.problem =
          fmt::format("`{}` must be {}; it was {}.", argument.name, wanted(argument), visible_line(bad, 80));
    }
    if (!checked.problem.empty()) return checked;
  }
  return checked;
}

}  // namespace ttyward::mcp::tools
