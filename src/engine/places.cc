#include "engine/places.h"

#include <utility>

namespace ttyward::engine {

relay::FarPlace* Places::find(const std::string& name) {
  auto& place = places_[name];
  if (place == nullptr) {
    const auto parsed = relay::PlaceName::parse(name);
    place =
        std::make_unique<relay::FarPlace>(loop_.poller(), folders_, parsed ? *parsed : relay::PlaceName());
  }
  return place.get();
}

const relay::WelcomeMessage* Places::facts(const std::string& name) {
  const relay::LinkState& state = find(name)->state();
  return state.welcome ? &*state.welcome : nullptr;
}

void Places::reach(const std::string& name, Reached then) {
  if (const auto parsed = relay::PlaceName::parse(name); !parsed) {
    loop_.post([then = std::move(then), error = parsed.error()] { then(tl::unexpected(error)); });
    return;
  }
  relay::FarPlace* const place = find(name);
  if (auto there = place->begin(); !there) {
    loop_.post([then = std::move(then), error = there.error()] { then(tl::unexpected(error)); });
    return;
  }
  place->reach([place, then = std::move(then)](const relay::LinkState& state) {
    if (state.kind == relay::LinkState::Kind::Linked) return then(place);
    const bool never = state.problem == relay::ConnectProblem::Kind::Unsupported;
    then(base::fail(never ? base::ErrorCode::Unsupported : base::ErrorCode::Unavailable, state.why));
  });
}

}  // namespace ttyward::engine
