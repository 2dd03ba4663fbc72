#include "gate/audit.h"

#include <array>

namespace ttyward::gate {
namespace {

constexpr std::array<std::string_view, 6> kOutcomes = {"allow", "ask_allow", "deny",
                                                       "skip",  "expired",   "withdrawn"};

}  // namespace

std::string_view name_of(Outcome outcome) {
  return kOutcomes[static_cast<size_t>(outcome)];
}

}  // namespace ttyward::gate
