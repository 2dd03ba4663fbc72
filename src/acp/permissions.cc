#include "acp/permissions.h"

#include <algorithm>
#include <utility>

#include "client/typed_call.h"
#include "rpc/message.h"
#include "wire/types/policy_calls.h"

namespace ttyward::acp {
namespace {

constexpr size_t kMostOpen = 256;

// What the request is about: the tool call of v1, or the subject of the second protocol version.
const json::object* tool_of(const json::object& params) {
  if (const json::object* call = rpc::object_at(params, "toolCall")) return call;
  const json::object* const subject = rpc::object_at(params, "subject");
  return subject != nullptr ? rpc::object_at(*subject, "toolCall") : nullptr;
}

}  // namespace

Permissions::Open* Permissions::find(const AgentId& id, uint64_t number) {
  const auto found = open_.find(id);
  return found != open_.end() && found->second.number == number ? &found->second : nullptr;
}

void Permissions::request(const AgentId& id, json::object params, const Profile* profile, Governed governed) {
  if (open_.contains(id))
    return sides_.refuse_agent(id, rpc::kInvalidRequest,
                               "this id belongs to a request that is not answered yet");
  if (open_.size() >= kMostOpen)
    return sides_.refuse_agent(id, rpc::kInternalError,
                               "too many permission requests at once: wait for answers");
  ToolCall call;
  if (const json::object* tool = tool_of(params)) {
    if (const ToolCall* joined = calls_.note(*tool)) call = *joined;
  }
  if (const json::object* subject = rpc::object_at(params, "subject");
      subject != nullptr && rpc::text_or(*subject, "type") == "command") {
    call.command = rpc::text_or(*subject, "command");
    call.cwd = rpc::text_or(*subject, "cwd");
    call.kind = "execute";
  }
  Open open;
  open.options = options_of(params);
  if (profile != nullptr) open.plain = profile->allow_options;
  open.params = std::move(params);
  open.number = ++last_;
  const uint64_t number = open.number;
  const std::string plain = plain_allow(open.options, open.plain);
  open_[id] = std::move(open);
  const bool judged_later =
      (governed.our_tools && call.calls_us(profile)) || (governed.terminals && call.kind == "execute");
  if (judged_later && !plain.empty()) return select(id, plain);
  if (judged_later) return forward(id, number);
  if (call.is_command()) return judge(id, number, call);
  if (call.kind == "execute" && !call.title.empty()) return judge_title(id, number, call.title);
  forward(id, number);
}

void Permissions::judge(const AgentId& id, uint64_t number, const ToolCall& call) {
  wire::PermitRequest permit;
  permit.command = call.command;
  permit.argv = call.argv;
  permit.cwd = call.cwd.empty() ? cwd_ : call.cwd;
  permit.task = session_;
  permit.stream = true;
  const auto asked = [this, alive = alive_, id, number](const json::object& part) {
    Open* const open = *alive ? find(id, number) : nullptr;
    const auto approval = rpc::text_at(part, "approval");
    if (open == nullptr || !approval || approval->empty()) return;
    open->approval = *approval;
    json::object params = open->params;
    json::value& meta = params["_meta"];
    if (!meta.is_object()) meta = json::object();
    meta.get_object()["ttyward"] = json::object{{"approval", *approval}};
    approvals_.show(*approval, std::move(params));
  };
  const uint64_t made =
      daemon_.call(std::string(wire::PermitRequest::kCall), client::arguments_of(permit), asked,
                   [this, alive = alive_, id, number](const client::CallResult& came) {
                     if (*alive) permitted(id, number, came);
                   });
  if (Open* open = find(id, number)) open->permit = made;
}

void Permissions::permitted(const AgentId& id, uint64_t number, const client::CallResult& came) {
  Open* const open = find(id, number);
  if (open == nullptr) return;
  open->permit = 0;
  const std::string chosen = open->approval.empty() ? "" : approvals_.close(open->approval);
  open->approval.clear();
  if (!came) {
    // No daemon, no decision of policy. A person still can.
    sides_.log("policy could not be asked: " + came.error().message + "; the editor decides");
    return came.error().connection_lost() ? forward(id, number) : reject(id, came.error().message);
  }
  const bool allowed = rpc::text_or(*came, "decision") == "allow";
  const auto option = std::find_if(open->options.begin(), open->options.end(),
                                   [&](const Option& each) { return each.id == chosen; });
  // What a person chose in the editor is passed on as they chose it, if that is what was decided.
  if (option != open->options.end() && option->allows() == allowed) return select(id, chosen);
  if (!allowed) return reject(id, rpc::text_or(*came, "reason"));
  const std::string plain = plain_allow(open->options, open->plain);
  plain.empty() ? forward(id, number) : select(id, plain);
}

void Permissions::judge_title(const AgentId& id, uint64_t number, const std::string& title) {
  wire::CheckRequest check;
  check.command = title;
  check.cwd = cwd_;
  daemon_.call(std::string(wire::CheckRequest::kCall), client::arguments_of(check), {},
               [this, alive = alive_, id, number](const client::CallResult& came) {
                 if (!*alive || find(id, number) == nullptr) return;
                 const bool denied = came && rpc::text_or(*came, "decision") == "deny";
                 denied ? reject(id, "policy denies what its title says") : forward(id, number);
               });
}

void Permissions::forward(const AgentId& id, uint64_t number) {
  Open* const open = find(id, number);
  const auto answered = [this, alive = alive_, id, number](const rpc::Answer& answer) {
    Open* const still = *alive ? find(id, number) : nullptr;
    if (still == nullptr) return;
    still->asked = 0;
    const json::object* const result = answer.object();
    const json::object* const outcome = result != nullptr ? rpc::object_at(*result, "outcome") : nullptr;
    if (outcome != nullptr) return finish(id, *outcome);
    open_.erase(id);
    sides_.refuse_agent(id, answer.code != 0 ? answer.code : rpc::kInternalError, answer.error);
  };
  open->asked = sides_.ask_editor("session/request_permission", open->params, answered);
}

void Permissions::select(const AgentId& id, const std::string& option) {
  finish(id, {{"outcome", "selected"}, {"optionId", option}});
}

void Permissions::reject(const AgentId& id, const std::string& why) {
  const std::string option = some_reject(open_.at(id).options);
  sides_.log("a tool call was rejected: " + why);
  option.empty() ? finish(id, {{"outcome", "cancelled"}}) : select(id, option);
}

void Permissions::finish(const AgentId& id, json::object outcome) {
  open_.erase(id);
  sides_.answer_agent(id, json::object{{"outcome", std::move(outcome)}});
}

void Permissions::withdraw(Open& open) {
  if (open.asked != 0) sides_.withdraw(std::exchange(open.asked, 0));
  if (!open.approval.empty()) approvals_.close(open.approval);
  // The daemon withdraws the question of a call that is taken back.
  if (open.permit != 0) daemon_.cancel(std::exchange(open.permit, 0));
}

bool Permissions::cancel(const AgentId& id) {
  const auto found = open_.find(id);
  if (found == open_.end()) return false;
  Open open = std::move(found->second);
  open_.erase(found);
  withdraw(open);
  sides_.refuse_agent(id, rpc::kRequestCancelled, "the request was cancelled");
  return true;
}

void Permissions::cancel_all() {
  for (auto& [id, open] : std::exchange(open_, {})) {
    withdraw(open);
    sides_.answer_agent(id, json::object{{"outcome", json::object{{"outcome", "cancelled"}}}});
  }
}

}  // namespace ttyward::acp
