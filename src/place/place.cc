#include "place/place.h"

namespace ttyward::place {

std::optional<ProcessFacts> process_now(const Place& place, pid_t pid, uint32_t parts) {
  return at_once<std::optional<ProcessFacts>>([&](auto then) { place.process(pid, parts, then); })
      .value_or(std::nullopt);
}

Place::Stats descendants_now(const Place& place, pid_t root) {
  return at_once<std::optional<Place::Stats>>([&](auto then) { place.descendants(root, then); })
      .value_or(std::nullopt)
      .value_or(Place::Stats());
}

Place::Ports ports_now(const Place& place, std::span<const pid_t> pids) {
  return at_once<std::optional<Place::Ports>>([&](auto then) { place.ports(pids, then); })
      .value_or(std::nullopt)
      .value_or(Place::Ports());
}

}  // namespace ttyward::place
