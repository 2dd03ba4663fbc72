#include "wire/reference.h"
#include "wire/types/all_calls.h"
#include "wire/types/events.h"

namespace ttyward::wire {

std::vector<std::string> words_of(std::string_view separated) {
  std::vector<std::string> words;
  while (!separated.empty()) {
    const size_t end = std::min(separated.find('|'), separated.size());
    words.emplace_back(separated.substr(0, end));
    separated.remove_prefix(std::min(end + 1, separated.size()));
  }
  return words;
}

namespace {

template <class Request>
std::string when_repeatable() {
  if constexpr (requires { Request::kRepeatIf; }) {
    return std::string(Request::kRepeatIf);
  } else if constexpr (requires { Request::kRepeat; }) {
    return "always";
  } else {
    return {};
  }
}

}  // namespace

ProtocolShape protocol_shape() {
  ProtocolShape made;
  AllCalls::for_each([&]<class Request>() {
    made.calls.push_back({std::string(Request::kCall), std::string(Request::kAbout),
                          std::string(role_name(Request::kRole)), when_repeatable<Request>(),
                          shape_of<Request>(), shape_of<typename Request::Answer>()});
  });
  [&]<class... E>(std::variant<E...>*) {
    (made.events.push_back({std::string(E::kEvent), std::string(E::kAbout), shape_of<E>()}), ...);
  }(static_cast<AnyEvent*>(nullptr));
  made.objects = {shape_of<CommandResult>(), shape_of<Facts>(),      shape_of<Terminal>(),
                  shape_of<Verdict>(),       shape_of<Approval>(),   shape_of<HistoryRow>(),
                  shape_of<DecisionRow>(),   shape_of<StreamPart>(), shape_of<ScreenDelta>(),
                  shape_of<ScreenRun>(),     shape_of<Changes>(),    shape_of<Change>()};
  return made;
}

}  // namespace ttyward::wire
