#include "store/rows.h"

#include <array>
#include <utility>

namespace ttyward::store {
namespace {

constexpr std::array<std::pair<Owner, std::string_view>, 3> kOwners = {
    {{Owner::Agent, "agent"}, {Owner::User, "user"}, {Owner::System, "system"}}};

constexpr std::array<std::pair<Decision, std::string_view>, 6> kDecisions = {
    {{Decision::Allow, "allow"},
     {Decision::AskAllow, "ask_allow"},
     {Decision::Deny, "deny"},
     {Decision::Skip, "skip"},
     {Decision::Expired, "expired"},
     {Decision::Withdrawn, "withdrawn"}}};

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [each, name] : table)
    if (each == value) return name;
  return {};
}

template <typename Value, size_t N>
std::optional<Value> value_in(const std::array<std::pair<Value, std::string_view>, N>& table,
                              std::string_view name) {
  for (const auto& [value, each] : table)
    if (each == name) return value;
  return std::nullopt;
}

}  // namespace

std::string_view owner_name(Owner owner) {
  return name_in(kOwners, owner);
}

std::optional<Owner> owner_named(std::string_view name) {
  return value_in(kOwners, name);
}

std::string_view decision_name(Decision decision) {
  return name_in(kDecisions, decision);
}

std::optional<Decision> decision_named(std::string_view name) {
  return value_in(kDecisions, name);
}

}  // namespace ttyward::store
