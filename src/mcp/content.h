// Pieces of tool results and prompts.
#pragma once

#include <string>
#include <string_view>

#include "mcp/json.h"

namespace ttyward::mcp {

inline json::object text_content(std::string_view text) {
  json::object content;
  content["type"] = "text";
  content["text"] = text;
  return content;
}

inline json::object text_result(std::string_view text) {
  json::object result;
  result["content"] = json::array{text_content(text)};
  return result;
}

inline json::object error_result(std::string_view text) {
  json::object result = text_result(text);
  result["isError"] = true;
  return result;
}

inline json::object prompt_message(json::object content) {
  json::object message;
  message["role"] = "user";
  message["content"] = std::move(content);
  return message;
}

}  // namespace ttyward::mcp
