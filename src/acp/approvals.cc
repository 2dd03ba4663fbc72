#include "acp/approvals.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/types/daemon_calls.h"
#include "wire/types/policy_calls.h"

namespace ttyward::acp {
namespace {

// Of all agents that were looked at, those that mean "this once".
constexpr std::array<std::string_view, 8> kPlain = {
    "allow_once", "allow-once", "proceed_once", "approve_once", "approve-once", "once", "allow", "approved"};

}  // namespace

std::vector<Option> options_of(const json::object& params) {
  std::vector<Option> all;
  if (const json::array* list = rpc::array_at(params, "options")) {
    for (const json::value& each : *list) {
      const json::object* option = each.if_object();
      if (option == nullptr) continue;
      all.push_back({rpc::text_or(*option, "optionId"), rpc::text_or(*option, "kind")});
    }
  }
  return all;
}

std::string plain_allow(const std::vector<Option>& options, const std::vector<std::string>& plain) {
  std::vector<std::string> once;
  for (const Option& option : options) {
    if (option.kind == "allow_once" && !option.id.empty()) once.push_back(option.id);
  }
  if (once.size() == 1) return once.front();
  for (const std::string& id : once) {
    if (std::find(plain.begin(), plain.end(), id) != plain.end()) return id;
  }
  std::vector<std::string> known;
  for (const std::string& id : once) {
    if (std::find(kPlain.begin(), kPlain.end(), id) != kPlain.end()) known.push_back(id);
  }
  return known.size() == 1 ? known.front() : "";
}

std::string some_reject(const std::vector<Option>& options) {
  for (const std::string_view kind : {"reject_once", "reject_always"}) {
    for (const Option& option : options) {
      if (option.kind == kind && !option.id.empty()) return option.id;
    }
  }
  return {};
}

json::array own_options() {
  return {json::object{{"optionId", "allow_once"}, {"name", "Allow once"}, {"kind", "allow_once"}},
          json::object{{"optionId", "reject_once"}, {"name", "Reject"}, {"kind", "reject_once"}}};
}

void Approvals::show(const std::string& approval, json::object params) {
  Shown& shown = shown_[approval];
  shown.options = options_of(params);
  // Whether an answer in the editor counts is the daemon's to say (policy.client_dialogue): it says so when
  // it welcomes the connection.
  const auto ask = [this, alive = alive_, approval, params = std::move(params)](const client::CallResult&) {
    if (!*alive) return;
    const auto found = shown_.find(approval);
    if (found == shown_.end()) return;
    if (person_.welcome().role != "dialogue") {
      return sides_.log("question " + approval +
                        " is not shown in the editor, because its answers do not count here (" +
                        person_.welcome().why + "); answer it with: ttyward approvals");
    }
    found->second.asked =
        sides_.ask_editor("session/request_permission", params, [this, alive, approval](rpc::Answer answer) {
          if (*alive) answered(approval, answer);
        });
  };
  static_cast<client::Caller&>(person_).call(std::string(wire::StatusRequest::kCall), {}, {}, ask);
}

void Approvals::answered(const std::string& approval, const rpc::Answer& answer) {
  const auto found = shown_.find(approval);
  if (found == shown_.end()) return;
  found->second.asked = 0;
  const json::object* const result = answer.object();
  const json::object* const outcome = result != nullptr ? rpc::object_at(*result, "outcome") : nullptr;
  // Only a selected option that allows is a yes. An editor that answers with an error cannot show the
  // question; it can still be answered elsewhere.
  if (outcome == nullptr) {
    return sides_.log("the editor did not show question " + approval + ": " + answer.error +
                      "; answer it with: ttyward approvals");
  }
  const bool selected = rpc::text_or(*outcome, "outcome") == "selected";
  const std::string id = selected ? rpc::text_or(*outcome, "optionId") : "";
  const auto& options = found->second.options;
  const auto option =
      std::find_if(options.begin(), options.end(), [&](const Option& each) { return each.id == id; });
  const bool known = selected && option != options.end();
  if (known) found->second.chosen = id;
  wire::AnswerRequest request;
  request.approval = approval;
  request.decision = known && option->allows() ? wire::AnswerWord::Allow : wire::AnswerWord::Deny;
  if (!selected) request.reason = "the request was cancelled in the editor";
  person_.call<wire::AnswerRequest>(
      request, {}, [this, alive = alive_, approval](client::AnswerOf<wire::AnswerRequest> came) {
        if (*alive && !came)
          sides_.log("the answer in the editor to question " + approval +
                     " did not count: " + came.error().message);
      });
}

std::string Approvals::close(const std::string& approval) {
  const auto found = shown_.find(approval);
  if (found == shown_.end()) return {};
  const Shown shown = std::move(found->second);
  shown_.erase(found);
  if (shown.asked != 0) sides_.withdraw(shown.asked);
  return shown.chosen;
}

void Approvals::withdraw_all() {
  for (const auto& [approval, shown] : std::exchange(shown_, {})) {
    if (shown.asked != 0) sides_.withdraw(shown.asked);
  }
}

}  // namespace ttyward::acp
