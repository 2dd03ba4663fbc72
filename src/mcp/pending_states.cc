#include "mcp/pending_states.h"

#include "base/hex.h"
#include "base/ids.h"
#include "base/same_secret.h"
#include "base/sha256.h"

namespace ttyward::mcp {
namespace {

// The method and what it was asked, without what changes from one attempt to the next.
std::string what_was_asked(const Request& request) {
  json::object params = request.params;
  for (const char* changing : {"_meta", "inputResponses", "requestState", "task"}) params.erase(changing);
  return request.owner + "\n" + request.method + "\n" + json::serialize(params);
}

std::string in_milliseconds(io::Loop::Clock::time_point time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

}  // namespace

StateSigner::StateSigner() : key_(base::random_nonce() + base::random_nonce()) {}

std::string StateSigner::sign(const std::string& name, const Request& request, const json::object& questions,
                              io::Loop::Clock::time_point until) const {
  // No part can be mistaken for another: the first two have no line feed, and JSON text has none either.
  return base::to_hex(base::hmac_sha256(key_, name + "\n" + in_milliseconds(until) + "\n" +
                                                  json::serialize(questions) + "\n" +
                                                  what_was_asked(request)));
}

StateSigner::Made StateSigner::make(const Request& request, const json::object& questions,
                                    io::Loop::Clock::time_point until) const {
  std::string name = base::random_nonce();
  std::string state = name + "." + in_milliseconds(until) + "." + sign(name, request, questions, until);
  return {std::move(name), std::move(state)};
}

std::string StateSigner::name_in(std::string_view state) {
  const size_t dot = state.find('.');
  return dot == std::string_view::npos ? std::string() : std::string(state.substr(0, dot));
}

bool StateSigner::is_genuine(std::string_view state, const Request& request, const json::object& questions,
                             io::Loop::Clock::time_point until) const {
  const std::string name = name_in(state);
  return base::same_secret(state,
                           name + "." + in_milliseconds(until) + "." + sign(name, request, questions, until));
}

}  // namespace ttyward::mcp
