// Tools with fixed contents, and those that speak while they work.
#include <utility>

#include "mcp/conformance/fixtures.h"
#include "mcp/content.h"
#include "mcp/error_codes.h"
#include "mcp/request.h"
#include "rpc/message.h"

namespace ttyward::mcp::conformance {
namespace {

constexpr std::chrono::milliseconds kPause{50};

json::object image() {
  return {{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}};
}

json::object resource(const char* uri, const char* type, const char* text) {
  return {{"type", "resource"}, {"resource", json::object{{"uri", uri}, {"mimeType", type}, {"text", text}}}};
}

Detached with_logging(RequestPtr request) {
  request->log("info", "Tool execution started");
  co_await request->sleep(kPause);
  request->log("info", "Tool processing data");
  co_await request->sleep(kPause);
  request->log("info", "Tool execution completed");
  request->reply(text_result("Logged three times."));
}

Detached with_progress(RequestPtr request) {
  request->progress(0, 100, "");
  co_await request->sleep(kPause);
  request->progress(50, 100, "");
  co_await request->sleep(kPause);
  request->progress(100, 100, "");
  request->reply(text_result("Progressed."));
}

Detached with_reconnection(RequestPtr request) {
  co_await request->sleep(kPause);
  request->carrier.pause();
  co_await request->sleep(kPause);
  request->reply(text_result("Reconnection test completed successfully"));
}

json::value schema_2020_12() {
  return json::parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
      "contactMethod": {"type": "string", "enum": ["phone", "email"]},
      "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]}, "else": {"required": ["email"]},
    "additionalProperties": false})");
}

}  // namespace

void Fixtures::add_contents() {
  const auto fixed = [](json::array content) {
    return [content = std::move(content)](const RequestPtr& request, const json::object&) {
      request->reply({{"content", content}});
    };
  };
  add("test_simple_text", "Simple text",
      fixed({text_content("This is a simple text response for testing.")}));
  add("test_image_content", "An image", fixed({image()}));
  add("test_audio_content", "A sound",
      fixed({json::object{{"type", "audio"}, {"data", kWav}, {"mimeType", "audio/wav"}}}));
  add("test_embedded_resource", "A resource",
      fixed({resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")}));
  add("test_multiple_content_types", "Several kinds of content",
      fixed(
          {text_content("Multiple content types test:"), image(),
           resource("test://mixed-content-resource", "application/json", R"({"test":"data","value":123})")}));
  add("test_error_handling", "Always fails", [](const RequestPtr& request, const json::object&) {
    request->reply(error_result("This tool intentionally returns an error for testing"));
  });
  add("test_tool_with_logging", "Logs three times",
      [](const RequestPtr& request, const json::object&) { with_logging(request); });
  add("test_logging_tool", "Logs three times",
      [](const RequestPtr& request, const json::object&) { with_logging(request); });
  add("test_tool_with_progress", "Reports progress",
      [](const RequestPtr& request, const json::object&) { with_progress(request); });
  add("test_reconnection", "Closes its stream before it answers",
      [](const RequestPtr& request, const json::object&) { with_reconnection(request); });
  add("test_trigger_tool_change", "Says that the list of tools changed",
      [this](const RequestPtr& request, const json::object&) {
        notices_.tools_changed();
        request->reply(text_result("Said."));
      });
  add("test_trigger_prompt_change", "Says that the list of prompts changed",
      [this](const RequestPtr& request, const json::object&) {
        notices_.prompts_changed();
        request->reply(text_result("Said."));
      });
  add("test_missing_capability", "Needs a client that can sample",
      [](const RequestPtr& request, const json::object&) {
        if (request->can("sampling")) return request->reply(text_result("The client can sample."));
        request->fail(kMissingCapability, "this tool needs sampling",
                      {{"requiredCapabilities", json::object{{"sampling", json::object()}}}});
      });
  add("test_mirrored_argument", "Has an argument that is repeated as a header",
      [](const RequestPtr& request, const json::object& arguments) {
        request->reply(text_result("Region " + text_or(arguments, "region")));
      },
      {{"region", json::object{{"type", "string"}, {"x-mcp-header", "Region"}}}});
  add("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features",
      [](const RequestPtr& request, const json::object&) { request->reply(text_result("Kept.")); });
  tools_["json_schema_2020_12_tool"].schema = schema_2020_12().get_object();
}

}  // namespace ttyward::mcp::conformance
