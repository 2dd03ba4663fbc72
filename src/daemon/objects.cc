#include "daemon/objects.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "base/mask_secrets.h"
#include "pty/exit_status.h"

namespace ttyward::daemon {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object parsed(const std::string& text) {
  boost::system::error_code wrong;
  json::value value = json::parse(text, wrong);
  return !wrong && value.is_object() ? std::move(value.get_object()) : json::object{};
}

engine::Owner owner_of(const Caller& caller) {
  return caller.role == Role::Person ? engine::Owner::User : engine::Owner::Agent;
}

std::string own_session(const Caller& caller) {
  return caller.role == Role::Person ? std::string() : caller.session;
}

json::object result_object(const terminal::CommandResult& result) {
  return parsed(result.to_json());
}

json::object terminal_object(engine::Engine& engine, engine::Terminal& t) {
  const engine::TerminalSpec& spec = t.spec();
  const vt::Screen& screen = t.output().screen();
  json::object object{{"id", t.id()},
                      {"name", text_or_null(spec.name)},
                      {"owner", engine::owner_name(spec.owner)},
                      {"task", text_or_null(spec.task)}};
  json::array sessions;
  for (const auto& one : engine.sessions_of(t)) {
    sessions.push_back(json::object{{"session", one.session}, {"quality", one.quality}});
  }
  object["sessions"] = std::move(sessions);
  object["provider"] = pty::provider_name(t.provider());
  object["fallback_reason"] = text_or_null(t.fallback_reason());
  object["integration"] = shell::quality_name(t.quality());
  object["shell"] =
      spec.temporary() ? json::value(nullptr) : json::value(shell::shell_kind_name(t.shell().kind));
  json::array argv;
  for (const std::string& word : spec.argv) argv.emplace_back(word);
  object["argv"] = std::move(argv);
  object["cwd"] = text_or_null(t.cwd());
  object["cwd_known_by"] = t.cwd_known_by();
  object["state"] = engine::Terminal::state_name(t.state());
  object["busy"] = t.live() && t.busy();
  object["running"] = t.current() != nullptr && !t.current()->over && t.current()->started_seen;
  object["temporary"] = spec.temporary();
  object["pid"] = t.pid() > 0 ? json::value(t.pid()) : json::value(nullptr);
  object["holder_pid"] = t.holder_pid() > 0 ? json::value(t.holder_pid()) : json::value(nullptr);
  object["cols"] = spec.size.columns;
  object["rows"] = spec.size.rows;
  object["title"] = text_or_null(t.title());
  object["alternate"] = screen.is_alternate();
  if (t.progress()) {
    static const char* const kStates[] = {"none", "normal", "error", "indeterminate", "paused"};
    object["progress"] = json::object{{"state", kStates[static_cast<size_t>(t.progress()->state)]},
                                      {"percent", t.progress()->percent}};
  } else {
    object["progress"] = nullptr;
  }
  const engine::Command* current = t.current();
  object["command"] =
      current != nullptr ? json::value(result_object(t.facts(*current))) : json::value(nullptr);
  const engine::Command* last = t.last();
  object["last_command"] = last != nullptr ? json::value(last->facts.command) : json::value(nullptr);
  object["commands"] = t.commands().size();
  object["created_at"] = t.created_at_ms();
  object["last_output_at"] =
      t.last_output_at_ms() > 0 ? json::value(t.last_output_at_ms()) : json::value(nullptr);
  object["hot"] = t.hot();
  if (t.lease()) {
    object["lease"] = json::object{{"by", t.lease()->by}, {"since", t.lease()->since_ms}};
  } else {
    object["lease"] = nullptr;
  }
  if (const engine::Command* queued = t.queued(); queued != nullptr && t.lease()) {
    object["queued"] = json::object{{"command_id", queued->facts.command_id},
                                    {"command", queued->facts.command},
                                    {"by", engine::owner_name(queued->by)}};
  }
  object["session"] = text_or_null(spec.session);
  if (t.loan()) {
    object["lent"] = json::object{{"to", text_or_null(t.loan()->to)},
                                  {"read_only", t.loan()->use == engine::Loan::Use::Read},
                                  {"by", t.loan()->by},
                                  {"since", t.loan()->since_ms}};
  } else {
    object["lent"] = nullptr;
  }
  object["exit_code"] = nullptr;
  object["signal"] = nullptr;
  if (t.exit()) {
    if (t.exit()->kind == journal::EndKind::Exited) object["exit_code"] = t.exit()->code;
    if (t.exit()->kind == journal::EndKind::Signaled) object["signal"] = pty::signal_name(t.exit()->code);
  }
  object["journal"] =
      json::object{{"bytes", t.read_to()}, {"dropped", t.lost_bytes()}, {"paused", t.paused()}};
  json::array typed;
  for (const std::string& line : t.typed_meanwhile()) typed.emplace_back(line);
  object["typed_meanwhile"] = std::move(typed);
  return object;
}

json::object row_object(const store::CommandRow& row) {
  return {{"command_id", row.id},
          {"terminal_id", text_or_null(row.terminal_id)},
          {"terminal_name", text_or_null(row.terminal_name)},
          {"task", text_or_null(row.task)},
          {"owner", std::string(store::owner_name(row.owner))},
          {"command", row.command},
          {"cwd", text_or_null(row.cwd)},
          {"cwd_after", text_or_null(row.cwd_after)},
          {"state", row.state},
          {"exit_code", row.exit_code ? json::value(*row.exit_code) : json::value(nullptr)},
          {"signal", text_or_null(row.signal)},
          {"known_by", text_or_null(row.known_by)},
          {"provider", text_or_null(row.provider)},
          {"integration", text_or_null(row.integration)},
          {"started_at", row.started_at_ms},
          {"duration_ms", row.duration_ms ? json::value(*row.duration_ms) : json::value(nullptr)},
          {"output",
           json::object{{"journal", row.journal_id}, {"begin", row.output_begin}, {"end", row.output_end}}},
          {"total_bytes", row.total_bytes},
          {"total_lines", row.total_lines},
          {"reason", text_or_null(row.note)}};
}

json::object row_object(const store::DecisionRow& row) {
  return {{"id", row.id},
          {"at", row.at_ms},
          {"command_id", text_or_null(row.command_id)},
          {"terminal_id", text_or_null(row.terminal_id)},
          {"action", row.action},
          {"asked_by", row.asked_by},
          {"command", row.command},
          {"cwd", text_or_null(row.cwd)},
          {"decision", std::string(store::decision_name(row.decision))},
          {"decided_by", text_or_null(row.decided_by)},
          {"risk", text_or_null(row.risk)},
          {"effects", text_or_null(row.effects)},
          {"reason", text_or_null(row.reason)},
          {"answered_by", text_or_null(row.answered_by)},
          {"answered_at", row.answered_at_ms ? json::value(*row.answered_at_ms) : json::value(nullptr)}};
}

store::CommandRow row_of(const terminal::CommandResult& facts) {
  store::CommandRow row;
  row.id = facts.command_id;
  row.terminal_id = facts.terminal_id;
  row.command = facts.command;
  row.cwd = facts.cwd;
  row.cwd_after = facts.cwd_after;
  row.state = terminal::command_state_name(facts.state);
  row.exit_code = facts.exit_code;
  row.signal = facts.signal;
  row.known_by = facts.known_by;
  row.provider = facts.provider;
  row.integration = facts.integration;
  row.started_at_ms = facts.started_at_ms;
  row.total_bytes = facts.total_bytes;
  row.total_lines = facts.total_lines;
  row.note = facts.reason;
  return row;
}

store::CommandRow row_of(const engine::Terminal& terminal, const engine::Command& command) {
  store::CommandRow row = row_of(command.facts);
  row.terminal_id = terminal.id();
  row.terminal_name = terminal.spec().name;
  row.task = terminal.spec().task;
  row.owner = row_owner(command.by);
  if (command.over) row.duration_ms = command.facts.duration_ms;
  row.journal_id = terminal.id();
  row.output_begin = command.range.begin;
  row.output_end = command.range.end;
  return row;
}

store::Owner row_owner(engine::Owner owner) {
  return store::owner_named(engine::owner_name(owner)).value_or(store::Owner::Agent);
}

}  // namespace ttyward::daemon
