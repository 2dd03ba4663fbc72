#include "acp/message_id.h"

#include <cstdint>
#include <utility>

#include "acp/json_edit.h"
#include "rpc/json.h"

namespace ttyward::acp {
namespace {

std::string value_of(const std::string& text) {
  if (const auto unescaped = string_of(text)) return '"' + *unescaped;
  rpc::json::error_code error;
  const rpc::json::value value = rpc::json::parse(text, error);
  const auto whole = error ? 0 : value.to_number<int64_t>(error);
  return error ? text : std::to_string(whole);
}

}  // namespace

MessageId::MessageId(std::string json) : text_(std::move(json)), value_(value_of(text_)) {}

}  // namespace ttyward::acp
