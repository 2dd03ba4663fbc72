// The reference of the protocol, made from wire/types: the tables of docs/protocol/socket.md, and
// docs/protocol/socket.schema.json. The program wire_reference prints both; a test compares them with the
// files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wire/shape.h"

namespace ttyward::wire {

struct CallShape {
  std::string name;
  std::string about;
  std::string role;
  std::string again;  // when it may be sent again, as the end of a sentence; empty: never
  Shape request;
  Shape answer;
};
struct EventShape {
  std::string name;
  std::string about;
  Shape event;
};
struct ProtocolShape {
  std::vector<CallShape> calls;
  std::vector<EventShape> events;
  std::vector<Shape> objects;  // those with a name
};

ProtocolShape protocol_shape();

// `document` with what stands between the marks replaced by the tables. Empty: it has no marks.
std::string reference_markdown(std::string_view document);
std::string reference_schema();

}  // namespace ttyward::wire
