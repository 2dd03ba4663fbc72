#include "client/typed_call.h"

namespace ttyward::client {

boost::json::object without_defaults(boost::json::object given, const boost::json::object& usual) {
  boost::json::object out;
  for (auto& member : given) {
    const boost::json::value* otherwise = usual.if_contains(member.key());
    if (otherwise == nullptr || *otherwise != member.value()) out[member.key()] = std::move(member.value());
  }
  return out;
}

uint64_t subscription_of(const boost::json::object& event) {
  const boost::json::value* number = event.if_contains("subscription");
  return number != nullptr && number->is_int64() ? static_cast<uint64_t>(number->get_int64()) : 0;
}

}  // namespace ttyward::client
