#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "wire/reference.h"

namespace ttyward::wire {

namespace {

namespace json = boost::json;

json::object schema_of(const Shape& shape);

json::object object_schema(const Shape& shape, bool request) {
  json::object properties;
  json::array required;
  for (const ShapeField& field : shape.fields) {
    json::object made = schema_of(field.shape);
    if (field.nullable || (request && !field.required)) {
      // A field that is null counts as left out.
      made = json::object{{"anyOf", json::array{std::move(made), json::object{{"type", "null"}}}}};
    }
    made["description"] = field.about;
    if (request && !field.required && field.otherwise != "null" && field.usual.empty())
      made["default"] = json::parse(field.otherwise);
    if (request ? field.required : !field.left_out) required.push_back(json::string(field.name));
    properties[field.name] = std::move(made);
  }
  json::object out{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) out["required"] = std::move(required);
  // A daemon refuses arguments it does not know; a client has to accept members it does not know.
  if (request) out["additionalProperties"] = false;
  return out;
}

json::object number_schema(const Shape& shape, int64_t least, int64_t most) {
  json::object out{{"type", "integer"}};
  if (const int64_t bound = std::max(least, shape.least); bound != kNoLeast) out["minimum"] = bound;
  if (const int64_t bound = std::min(most, shape.most); bound != kNoMost) out["maximum"] = bound;
  return out;
}

json::object schema_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::Text: {
      json::object out{{"type", "string"}};
      if (shape.words.empty()) return out;
      json::array words;
      for (const std::string& word : shape.words) words.push_back(json::string(word));
      out["enum"] = std::move(words);
      return out;
    }
    case Shape::Kind::Truth:
      return {{"type", "boolean"}};
    case Shape::Kind::Number:
      return number_schema(shape, kNoLeast, kNoMost);
    case Shape::Kind::Duration:
      return number_schema(shape, 0, kLongestMs);
    case Shape::Kind::Moment:
      return {{"type", "string"}, {"format", "date-time"}};
    case Shape::Kind::Base64:
      return {{"type", "string"}, {"contentEncoding", "base64"}};
    case Shape::Kind::Texts:
      return {{"type", "object"}, {"additionalProperties", json::object{{"type", "string"}}}};
    case Shape::Kind::Either:
      return {{"type", json::array{"integer", "string"}}};
    case Shape::Kind::Pair:
      return {{"type", "array"},
              {"items", json::object{{"type", "integer"}, {"minimum", 1}}},
              {"minItems", 2},
              {"maxItems", 2}};
    case Shape::Kind::List:
      return {{"type", "array"}, {"items", schema_of(shape.items.front())}};
    case Shape::Kind::Object:
      if (!shape.name.empty()) return {{"$ref", "#/$defs/" + shape.name}};
      return object_schema(shape, false);
  }
  return {};
}

void write(std::string& out, const json::value& value, size_t depth) {
  const std::string inner(2 * depth + 2, ' ');
  const std::string outer(2 * depth, ' ');
  const auto lines = [&](char open, char close, const auto& list, const auto& each) {
    out += open;
    bool first = true;
    for (const auto& item : list) {
      out += std::exchange(first, false) ? "\n" : ",\n";
      out += inner;
      each(item);
    }
    out += "\n" + outer + close;
  };
  constexpr size_t kOneLine = 100;  // what is shorter is not broken
  if (std::string text = json::serialize(value); text.size() <= kOneLine) {
    out += text;
  } else if (value.is_object() && !value.get_object().empty()) {
    lines('{', '}', value.get_object(), [&](const json::key_value_pair& member) {
      out += json::serialize(json::string(member.key())) + ": ";
      write(out, member.value(), depth + 1);
    });
  } else if (value.is_array() && !value.get_array().empty() && value.get_array().front().is_object()) {
    lines('[', ']', value.get_array(), [&](const json::value& item) { write(out, item, depth + 1); });
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string reference_schema() {
  const ProtocolShape protocol = protocol_shape();
  json::object objects;
  for (const Shape& object : protocol.objects) {
    json::object made = object_schema(object, false);
    made["description"] = object.about;
    objects[object.name] = std::move(made);
  }
  json::object calls;
  for (const CallShape& call : protocol.calls) {
    calls[call.name] = json::object{{"description", call.about},
                                    {"role", call.role},
                                    {"repeatable", call.again},
                                    {"args", object_schema(call.request, true)},
                                    {"ok", schema_of(call.answer)}};
  }
  json::object events;
  for (const EventShape& event : protocol.events) {
    json::object made = object_schema(event.event, false);
    made["description"] = event.about;
    events[event.name] = std::move(made);
  }
  std::string out;
  write(out,
        json::object{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                     {"title", "The socket of ttyward's daemon, protocol 1"},
                     {"$defs", std::move(objects)},
                     {"calls", std::move(calls)},
                     {"events", std::move(events)}},
        0);
  return out + "\n";
}

}  // namespace ttyward::wire
