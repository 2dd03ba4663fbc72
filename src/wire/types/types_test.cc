// The types of all calls and events: they compile, have distinct names, and their defaults survive the wire.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include <boost/json/parse.hpp>

#include "wire/decoder.h"
#include "wire/encoder.h"
#include "wire/types/all_calls.h"
#include "wire/types/events.h"

namespace ttyward::wire {
namespace {

// Whether `text` is read as a T and written again as it was.
template <class T>
void expect_round_trip(const T& value, std::string_view of) {
  const std::string text = json_text(value);
  const auto parsed = boost::json::parse(text);
  const auto back = decode<T>(parsed.as_object(), Unknown::Ignore);
  ASSERT_TRUE(back) << of << ": " << back.error();
  EXPECT_EQ(json_text(*back), text) << of;
}

// Gives every required field a value.
struct Fill {
  template <class M, class... O>
  void field(std::string_view name, M& member, std::string_view about, O... options) {
    if (!field_of(name, about, options...).required) return;
    if constexpr (std::is_same_v<M, std::string>) {
      member = "x";
    } else if constexpr (std::is_same_v<M, std::optional<NumberOrName>>) {
      member = int64_t{1};
    } else if constexpr (requires { member.emplace(); }) {
      member.emplace();
    }
  }
};

TEST(AllCalls, HaveDistinctNames) {
  std::set<std::string_view> names;
  AllCalls::for_each([&]<class Request>() { names.insert(Request::kCall); });
  EXPECT_EQ(names.size(), AllCalls::kCount);
}

TEST(AllCalls, DefaultsSurviveTheWire) {
  AllCalls::for_each([]<class Request>() {
    Request request;
    Fill fill;
    Request::describe(fill, request);
    expect_round_trip(request, Request::kCall);
  });
}

TEST(AllCalls, AnswersSurviveTheWire) {
  AllCalls::for_each([]<class Request>() {
    if constexpr (Described<typename Request::Answer>)
      expect_round_trip(typename Request::Answer{}, Request::kCall);
  });
}

TEST(Events, SurviveTheWire) {
  [&]<class... E>(std::variant<E...>*) {
    (expect_round_trip(E{}, E::kEvent), ...);
  }(static_cast<AnyEvent*>(nullptr));
}

}  // namespace
}  // namespace ttyward::wire
