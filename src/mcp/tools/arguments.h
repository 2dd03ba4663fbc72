// What a tool takes: one list that makes both the schema clients see and the checks their calls pass.
//
// Schemas are flat and plain (no $ref, no anyOf, no type lists): every client accepts them. They are short,
// because a model reads them each time: no bounds, which the checks tell, and no defaults beyond the words.
// Errors are written for the model that made the call: what is wrong, and what to write instead.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mcp/json.h"
#include "wire/shape.h"

namespace ttyward::mcp::tools {

struct Argument {
  enum class Type { Text, Integer, Flag, TextList };

  const char* name;
  Type type;
  std::string description;
  bool required = false;
  // NOLINTBEGIN(readability-redundant-member-init): what a table leaves out has to have an initializer.
  std::optional<int64_t> fallback{};  // Integer and Flag: what holds otherwise
  int64_t least = 0;
  int64_t most = 0;                    // Integer: 0 is no limit
  std::vector<const char*> choices{};  // Text: one of these
  std::vector<const char*> aliases{};  // other names that are understood, not told
  bool told = true;                    // false: understood, but clients are not told of it
  // NOLINTEND(readability-redundant-member-init)
};

// A field of a call that is an argument under the same name: type, bounds, default and description are those
// of the protocol.
Argument argument_of(const wire::Shape& call, const char* name);
template <class Request>
Argument argument_of(const char* name) {
  return argument_of(wire::shape_of<Request>(), name);
}

json::object input_schema(const std::vector<Argument>& arguments);

// The arguments under their own names, checked; or what to tell the caller.
struct Checked {
  json::object values;
  std::string problem;  // empty: all is well
};
Checked check_arguments(const char* tool, const std::vector<Argument>& arguments, const json::object& given);

}  // namespace ttyward::mcp::tools
