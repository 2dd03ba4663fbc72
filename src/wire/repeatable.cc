#include "wire/repeatable.h"

#include <boost/json/value.hpp>

#include "base/ids.h"
#include "wire/decoder.h"
#include "wire/types/all_calls.h"

namespace ttyward::wire {
namespace {

template <class Request>
bool may_repeat(const boost::json::object& args) {
  if constexpr (requires { Request::repeatable(Request()); }) {
    // What is wrong with the arguments is the daemon's to say.
    std::string wrong;
    Request request;
    Decoder decoder(args, Unknown::Ignore, {}, wrong);
    Request::describe(decoder, request);
    return Request::repeatable(request);
  } else if constexpr (requires { Request::kRepeat; }) {
    return Request::kRepeat == Repeat::Yes;
  } else {
    return false;
  }
}

template <class Request>
void add_aid(boost::json::object& args) {
  if constexpr (requires { Request::kRepeatAid; }) {
    const RepeatAid aid = Request::kRepeatAid;
    boost::json::value& field = args[boost::json::string_view(aid.field.data(), aid.field.size())];
    if (!field.is_null()) return;
    if (aid.id == 0) {
      field = true;
    } else {
      field = base::random_id(aid.id);
    }
  }
}

}  // namespace

bool repeatable(std::string_view call, const boost::json::object& args) {
  bool may = false;
  AllCalls::for_each([&]<class Request>() {
    if (Request::kCall == call) may = may_repeat<Request>(args);
  });
  return may;
}

void make_repeatable(std::string_view call, boost::json::object& args) {
  AllCalls::for_each([&]<class Request>() {
    if (Request::kCall == call) add_aid<Request>(args);
  });
}

}  // namespace ttyward::wire
