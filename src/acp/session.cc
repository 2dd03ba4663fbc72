#include "acp/session.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "base/ids.h"
#include "wire/types/daemon_calls.h"
#include "wire/types/events.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::acp {
namespace {

constexpr size_t kMostTold = 1024;
constexpr const char* kClientName = "ttyward acp";

client::Options connection(const base::Folders& folders, const client::OwnSession& own, const char* role) {
  client::Options out;
  out.folders = folders;
  out.role = role;
  out.client = std::string(kClientName) + (std::string_view(role) == "dialogue" ? " (editor)" : "");
  out.reader = "acp-" + own.name;
  out.session = own.name;
  out.secret = own.secret;
  return out;
}

}  // namespace

base::Result<std::unique_ptr<Session>> Session::open(Sides& sides, const base::Folders& folders,
                                                     const SessionOptions& options) {
  // Ours is the secret that owns the session. Our MCP server, which the agent starts, gets one that lets it
  // join, so nothing that the agent can read makes it answer its own questions.
  client::OwnSession own = client::new_session('s');
  own.name = "acp-" + own.name;
  if (auto may_join = client::let_join(folders, own); !may_join) return tl::unexpected(may_join.error());
  return std::unique_ptr<Session>(new Session(sides, folders, std::move(own), options));
}

Session::Session(Sides& sides, const base::Folders& folders, client::OwnSession own,
                 const SessionOptions& options)
    : sides_(sides),
      folders_(folders),
      own_(std::move(own)),
      version_(options.version),
      agent_(sides.loop(), connection(folders, own_, "agent"), client::Client::Presence::AtNeed),
      person_(sides.loop(), connection(folders, own_, "dialogue"), client::Client::Presence::AtNeed),
      approvals_(sides, person_),
      display_(sides, options.view, options.program, [this](const Told& told) { note_told(told); }),
      terminals_(sides, agent_, approvals_, display_, calls_, options.cwd, options.sandbox),
      permissions_(sides, agent_, approvals_, calls_, options.cwd) {
  agent_.on_event([this](const json::object& event) { hear(event); });
  agent_.on_connected([this] {
    wire::SubscribeRequest questions;
    questions.kinds = {std::string(wire::ApprovalOpened::kEvent), std::string(wire::ApprovalClosed::kEvent)};
    agent_.call<wire::SubscribeRequest>(questions, {}, [](const auto&) {});
  });
}

void Session::when_ready(std::function<void()> then) {
  // Whoever uses a name first owns it: that must be us, before anybody can join.
  agent_.call<wire::StatusRequest>(
      wire::StatusRequest{}, {}, [this, then = std::move(then)](const auto& came) {
        if (!came) sides_.log("there is no daemon: " + came.error().message + "; commands will fail");
        then();
      });
}

// Questions about commands of our MCP server: the agent has no place to show them, the editor has.
void Session::hear(const json::object& event) {
  if (const auto closed = client::event_of<wire::ApprovalClosed>(event)) {
    // Of our own calls, the answer says what was decided.
    if (closed->approval.asked_by != kClientName) static_cast<void>(approvals_.close(closed->approval.id));
    return;
  }
  const auto opened = client::event_of<wire::ApprovalOpened>(event);
  if (!opened || opened->approval.asked_by == kClientName || id_.empty()) return;
  const wire::Approval& approval = opened->approval;
  json::object params;
  params["sessionId"] = id_;
  if (version_ >= 2) {
    params["title"] = approval.shown;
    params["subject"] =
        json::object{{"type", "command"}, {"command", approval.command}, {"cwd", approval.cwd}};
  } else {
    params["toolCall"] =
        json::object{{"toolCallId", "ttyward-" + approval.id},
                     {"title", approval.shown},
                     {"kind", "execute"},
                     {"status", "pending"},
                     {"rawInput", json::object{{"command", approval.command}, {"cwd", approval.cwd}}}};
  }
  params["options"] = own_options();
  params["_meta"] = json::object{{"ttyward", json::object{{"approval", approval.id}}}};
  approvals_.show(approval.id, std::move(params));
}

Session::~Session() {
  client::forget_session(folders_, own_.name);
}

void Session::set_id(const std::string& id) {
  id_ = id;
  display_.set_session(id);
  terminals_.set_session(id);
  permissions_.set_session(id);
}

void Session::note_told(const Told& told) {
  wire::ToldRequest request;
  request.command = told.command;
  request.cwd = told.cwd;
  request.task = id_;
  request.description = told.title;
  request.exit_code = told.exit_code;
  request.signal = told.signal;
  request.duration_ms = told.duration_ms;
  request.bytes = static_cast<int64_t>(told.bytes);
  request.lines = static_cast<int64_t>(told.lines);
  agent_.call<wire::ToldRequest>(request, {}, [](const auto&) {});
}

std::string Session::pass_update(std::string line, const json::object& update) {
  const std::string kind = rpc::text_or(update, "sessionUpdate");
  if (kind == "tool_call" || kind == "tool_call_update")
    return display_.pass(std::move(line), update, calls_);
  if (kind == "terminal_update" || kind == "terminal_output_chunk") hear_terminal(kind, update);
  return line;
}

void Session::hear_terminal(const std::string& kind, const json::object& update) {
  const auto id = rpc::text_at(update, "terminalId");
  if (!id || (told_.size() >= kMostTold && !told_.contains(*id))) return;
  Told& told = told_[*id];
  const auto add = [&told](const std::string& encoded) {
    const std::string bytes = base::from_base64(encoded).value_or(std::string());
    told.bytes += bytes.size();
    told.lines += static_cast<uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  };
  if (kind == "terminal_output_chunk") return add(rpc::text_or(update, "data"));
  if (auto command = rpc::text_at(update, "command")) told.command = std::move(*command);
  if (auto cwd = rpc::text_at(update, "cwd")) told.cwd = std::move(*cwd);
  if (const json::object* output = rpc::object_at(update, "output")) {
    told.bytes = told.lines = 0;  // it replaces what was shown before
    add(rpc::text_or(*output, "data"));
  }
  const json::object* const exit = rpc::object_at(update, "exitStatus");
  if (exit == nullptr) return;
  told.exit_code = rpc::integer_at(*exit, "exitCode");
  told.signal = rpc::text_or(*exit, "signal");
  if (told.command.empty()) told.command = *id;
  note_told(told);
  told_.erase(*id);
}

bool Session::cancel(const AgentId& id) {
  return terminals_.cancel(id) || permissions_.cancel(id);
}

void Session::cancel_turn() {
  permissions_.cancel_all();
  terminals_.cancel_questions();
}

void Session::release_all(const std::shared_ptr<void>& done) {
  permissions_.cancel_all();
  terminals_.release_all(done);
  approvals_.withdraw_all();
}

}  // namespace ttyward::acp
