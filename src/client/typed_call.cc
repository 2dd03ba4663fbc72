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

}  // namespace ttyward::client
