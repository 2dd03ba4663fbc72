#include "policy/verdict.h"

#include <array>

namespace ttyward::policy {
namespace {

constexpr std::array<std::string_view, 3> kDecisions = {"allow", "ask", "deny"};
constexpr std::array<std::string_view, 4> kRisks = {"low", "medium", "high", "critical"};
constexpr std::array<std::string_view, 12> kEffects = {"read",    "list",    "write",     "delete",
                                                       "network", "process", "privilege", "install",
                                                       "execute", "state",   "secret",    "unknown"};

template <typename Enum, size_t N>
bool parse(const std::array<std::string_view, N>& names, std::string_view name, Enum& value) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      value = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view name_of(Decision decision) {
  return kDecisions[static_cast<size_t>(decision)];
}
std::string_view name_of(Risk risk) {
  return kRisks[static_cast<size_t>(risk)];
}
std::string_view name_of(EffectKind kind) {
  return kEffects[static_cast<size_t>(kind)];
}
bool parse_risk(std::string_view name, Risk& risk) {
  return parse(kRisks, name, risk);
}
bool parse_effect(std::string_view name, EffectKind& kind) {
  return parse(kEffects, name, kind);
}
bool parse_decision(std::string_view name, Decision& decision) {
  return parse(kDecisions, name, decision);
}

}  // namespace ttyward::policy
