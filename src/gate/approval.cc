#include "gate/approval.h"

#include <array>

namespace ttyward::gate {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"open",    "allowed", "denied",
                                                     "skipped", "expired", "withdrawn"};

}  // namespace

std::string_view name_of(ApprovalState state) {
  return kStates[static_cast<size_t>(state)];
}

}  // namespace ttyward::gate
