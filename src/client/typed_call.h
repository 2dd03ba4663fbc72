// Calls as values of wire/types: a request struct in, its answer struct out.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <boost/json/object.hpp>

#include "client/call_result.h"
#include "wire/decoder.h"
#include "wire/encoder.h"
#include "wire/json.h"

namespace ttyward::client {

template <class T>
concept Request = wire::Described<T> && requires {
  { T::kCall } -> std::convertible_to<std::string_view>;
  typename T::Answer;
};

template <Request R>
using AnswerOf = tl::expected<typename R::Answer, CallFailure>;

// Those of `given` that are not as in `usual`.
boost::json::object without_defaults(boost::json::object given, const boost::json::object& usual);

// What the call's line says. What is as in a fresh request is left out: the daemon's defaults hold.
template <Request R>
boost::json::object arguments_of(const R& request) {
  static const boost::json::object usual =
      wire::parse_object(wire::arguments_text(R{})).value_or(boost::json::object());
  return without_defaults(wire::parse_object(wire::arguments_text(request)).value_or(boost::json::object()),
                          usual);
}

template <Request R>
AnswerOf<R> answer_of(CallResult result) {
  if (!result) return tl::unexpected(std::move(result.error()));
  auto answer = wire::decode<typename R::Answer>(*result, wire::Unknown::Ignore);
  if (answer) return std::move(*answer);
  CallFailure failure;
  failure.code = wire::Code::Corrupt;
  failure.message = "the daemon's answer to '" + std::string(R::kCall) +
                    "' cannot be read: " + answer.error() +
                    "; it may be of another version: stop it with ttyward daemon stop, and try again";
  return tl::unexpected(std::move(failure));
}

// Whose it is; 0: it does not say.
uint64_t subscription_of(const boost::json::object& event);

// The event, if it is one of that kind.
template <class E>
std::optional<E> event_of(const boost::json::object& event) {
  const boost::json::value* name = event.if_contains("event");
  if (name == nullptr || !name->is_string() || name->get_string() != E::kEvent) return std::nullopt;
  auto came = wire::decode<E>(event, wire::Unknown::Ignore);
  return came ? std::optional<E>(std::move(*came)) : std::nullopt;
}

}  // namespace ttyward::client
