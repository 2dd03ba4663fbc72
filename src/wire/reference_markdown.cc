#include <utility>

#include "wire/reference.h"

namespace ttyward::wire {

namespace {

constexpr std::string_view kBegin = "<!-- begin: made from src/wire/types by wire_reference -->\n";
constexpr std::string_view kEnd = "<!-- end -->";

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += "`" + word + "`";
  }
  return out;
}

std::string range_of(const Shape& shape) {
  const bool least = shape.least != kNoLeast;
  const bool most = shape.most != kNoMost;
  if (least && most) return ", " + std::to_string(shape.least) + " to " + std::to_string(shape.most);
  return least ? ", at least " + std::to_string(shape.least) : "";
}

std::string type_of(const Shape& shape);

std::string members_of(const Shape& shape) {
  std::string out;
  for (const ShapeField& field : shape.fields) out += (out.empty() ? "" : ", ") + ("`" + field.name + "`");
  return "{" + out + "}";
}

std::string type_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::Text:
      return shape.words.empty() ? "text" : joined(shape.words, ", ");
    case Shape::Kind::Truth:
      return "true or false";
    case Shape::Kind::Number:
      return "number" + range_of(shape);
    case Shape::Kind::Duration:
      return "milliseconds";
    case Shape::Kind::Moment:
      return "time";
    case Shape::Kind::Base64:
      return "base64";
    case Shape::Kind::Texts:
      return "object of texts";
    case Shape::Kind::Either:
      return "number or text";
    case Shape::Kind::Pair:
      return "two numbers";
    case Shape::Kind::List:
      return "list of " + type_of(shape.items.front());
    case Shape::Kind::Object:
      return shape.name.empty() ? members_of(shape) : "[" + shape.name + "](#" + lower(shape.name) + ")";
  }
  return {};
}

// Cells must not hold the character that separates them.
std::string cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

std::string default_of(const ShapeField& field) {
  if (field.required) return "required";
  if (!field.usual.empty()) return field.usual;
  const bool nothing = field.otherwise == "null" || field.otherwise == "\"\"" || field.otherwise == "[]" ||
                       field.otherwise == "{}";
  return nothing || field.shape.kind == Shape::Kind::Object ? "–" : "`" + field.otherwise + "`";
}

std::string request_table(const Shape& shape) {
  if (shape.fields.empty()) return "No arguments.\n";
  std::string out = "| argument | type | default | meaning |\n|---|---|---|---|\n";
  for (const ShapeField& field : shape.fields) {
    out += "| `" + field.name + "` | " + cell(type_of(field.shape)) + " | " + cell(default_of(field)) +
           " | " + cell(field.about) + " |\n";
  }
  return out;
}

std::string object_table(const Shape& shape) {
  std::string out = "| member | type | meaning |\n|---|---|---|\n";
  for (const ShapeField& field : shape.fields) {
    std::string type = type_of(field.shape);
    if (field.left_out) {
      type += ", or left out";
    } else if (field.nullable) {
      type += ", or null";
    }
    out += "| `" + field.name + "` | " + cell(std::move(type)) + " | " + cell(field.about) + " |\n";
  }
  return out;
}

std::string answer_text(const Shape& answer) {
  if (!answer.name.empty()) return "Answers a " + type_of(answer) + ".\n";
  if (answer.fields.empty()) return "Answers `{}`.\n";
  return "Answers:\n\n" + object_table(answer);
}

std::string tables() {
  const ProtocolShape protocol = protocol_shape();
  std::string out = "\n## Objects\n";
  for (const Shape& object : protocol.objects)
    out += "\n### " + object.name + "\n\n" + object.about + "\n\n" + object_table(object);
  out +=
      "\n## Calls\n\nWho may call: `viewer` means everybody, `agent` agents and persons, `person` persons.\n";
  for (const CallShape& call : protocol.calls) {
    out += "\n### `" + call.name + "`\n\n" + call.about + " For: " + call.role + "." +
           (call.again.empty() ? "" : " May be sent again: " + call.again + ".") + "\n\n" +
           request_table(call.request) + "\n" + answer_text(call.answer);
  }
  out += "\n## Events\n\nEach has `event`, its name, and `subscription`, the number it is sent for.\n";
  for (const EventShape& event : protocol.events)
    out += "\n### `" + event.name + "`\n\n" + event.about + "\n\n" + object_table(event.event);
  return out + "\n";
}

}  // namespace

std::string reference_markdown(std::string_view document) {
  const size_t begin = document.find(kBegin);
  const size_t end = document.find(kEnd, begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string(document.substr(0, begin + kBegin.size())) + tables() +
         std::string(document.substr(end));
}

}  // namespace ttyward::wire
