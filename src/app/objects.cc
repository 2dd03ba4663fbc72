#include "app/objects.h"

#include <array>
#include <tuple>
#include <utility>

#include "digest/digest.h"
#include "policy/escaped_view.h"
#include "policy/verdict_json.h"
#include "pty/exit_status.h"

namespace ttyward::app {

namespace {

std::vector<wire::Process> processes(const std::vector<terminal::BackgroundProcess>& list) {
  std::vector<wire::Process> made;
  made.reserve(list.size());
  for (const auto& each : list) made.push_back({each.pid, std::nullopt, each.command});
  return made;
}

// The history keeps a folder of another place as PLACE:FOLDER.
std::pair<std::string, std::string> place_and_folder(const std::string& kept) {
  const size_t at = kept.starts_with('/') ? std::string::npos : kept.find(":/");
  if (at == std::string::npos) return {"", kept};
  return {kept.substr(0, at), kept.substr(at + 1)};
}

std::optional<int64_t> pid_or_none(pid_t pid) {
  return pid > 0 ? std::optional<int64_t>(pid) : std::nullopt;
}

// Text of somebody else's, as people see it.
std::vector<std::string> escaped(const std::vector<std::string>& texts, bool multiline) {
  std::vector<std::string> made;
  made.reserve(texts.size());
  for (const std::string& text : texts) made.push_back(policy::escape_text(text, multiline));
  return made;
}

std::optional<wire::Progress> progress_of(const engine::Terminal& terminal) {
  if (!terminal.progress()) return std::nullopt;
  constexpr std::array<const char*, 5> kStates = {"none", "normal", "error", "indeterminate", "paused"};
  return wire::Progress{kStates[static_cast<size_t>(terminal.progress()->state)],
                        terminal.progress()->percent};
}

wire::Facts facts_object(const digest::Facts& from) {
  wire::Facts made;
  for (const auto& d : from.diagnostics)
    made.diagnostics.push_back({d.file, d.line, d.column, d.severity, d.code, d.message, d.at});
  for (const auto& t : from.tests) made.tests.push_back({t.name, t.outcome, t.message, t.at});
  for (const auto& e : from.entries) made.files.push_back({e.name, e.state, e.size, e.added, e.removed});
  for (const auto& c : from.commits) made.commits.push_back({c.hash, c.author, c.date, c.subject});
  return made;
}

}  // namespace

engine::Owner owner_of(const Caller& caller) {
  return caller.role == Role::Person ? engine::Owner::User : engine::Owner::Agent;
}

std::string own_session(const Caller& caller) {
  return caller.role == Role::Person ? std::string() : caller.session;
}

wire::Waiting waiting_object(const terminal::WaitingFor& waiting) {
  return {waiting.kind, waiting.prompt, waiting.program, waiting.pid, waiting.evidence};
}

wire::Omitted omitted_object(const terminal::Omitted& omitted) {
  return {omitted.bytes, omitted.lines, omitted.first_line, omitted.last_line};
}

wire::CommandResult result_object(const terminal::CommandResult& from) {
  wire::CommandResult made;
  made.command_id = from.command_id;
  made.terminal_id = from.terminal_id;
  made.command = from.command;
  made.description = from.description;
  made.cwd = from.cwd;
  made.cwd_after = from.cwd_after;
  made.state = terminal::command_state_name(from.state);
  made.exit_code = from.exit_code;
  made.signal = from.signal;
  made.core_dumped = from.core_dumped;
  made.known_by = from.known_by;
  made.pipeline.assign(from.pipeline.begin(), from.pipeline.end());
  made.reason = from.reason;
  if (from.waiting) made.waiting = waiting_object(*from.waiting);
  made.output = from.output.text;
  if (from.output.omitted) made.omitted = omitted_object(*from.output.omitted);
  made.total_bytes = from.total_bytes;
  made.total_lines = from.total_lines;
  made.lost_bytes = from.lost_bytes;
  made.binary = from.binary;
  made.no_newline = from.no_newline;
  made.encoding = from.encoding;
  made.started_at = wire::time_or_none(from.started_at_ms);
  made.duration_ms = from.duration_ms;
  made.time_left_ms = from.time_left_ms;
  made.idle_left_ms = from.idle_left_ms;
  made.pid = from.pid;
  made.process_group = from.process_group;
  made.cpu_ms = from.cpu_ms;
  made.max_rss_kib = from.max_rss_kib;
  made.background = processes(from.background);
  made.ended_background = processes(from.ended_background);
  for (const auto& port : from.ports) made.ports.push_back({port.port, port.pid});
  made.place = from.place;
  made.provider = from.provider;
  made.fallback_reason = from.fallback_reason;
  made.integration = from.integration;
  made.verdict.json = from.verdict_json;
  made.approval = from.approval;
  if (from.sandbox) {
    made.sandbox = wire::SandboxState{from.sandbox->profile, from.sandbox->workspace, from.sandbox->layers,
                                      from.sandbox->denied, from.sandbox->notes};
  }
  const digest::Facts& facts = from.output.facts;
  if (!facts.diagnostics.empty() || !facts.tests.empty() || !facts.entries.empty() || !facts.commits.empty())
    made.facts = facts_object(facts);
  made.suggestions = facts.suggestions;
  return made;
}

wire::Terminal terminal_object(engine::Engine& engine, engine::Terminal& t) {
  const engine::TerminalSpec& spec = t.spec();
  wire::Terminal made;
  made.id = t.id();
  made.name = spec.name;
  made.owner = engine::owner_name(spec.owner);
  made.task = spec.task;
  for (const auto& one : engine.sessions_of(t)) made.sessions.push_back({one.session, one.quality});
  made.place = spec.place;
  made.link_lost = t.link_lost();
  made.provider = pty::provider_name(t.provider());
  made.fallback_reason = t.fallback_reason();
  made.integration = shell::quality_name(t.quality());
  made.sandbox = spec.sandbox.profile;
  if (!spec.temporary()) made.shell = shell::shell_kind_name(t.shell().kind);
  made.argv = spec.argv;
  made.cwd = t.cwd();
  made.cwd_known_by = t.cwd_known_by();
  made.state = engine::Terminal::state_name(t.state());
  made.busy = t.live() && t.busy();
  const engine::Command* current = t.current();
  made.running = current != nullptr && !current->over() && current->started_seen;
  made.temporary = spec.temporary();
  made.pid = pid_or_none(t.pid());
  made.holder_pid = pid_or_none(t.holder_pid());
  made.cols = spec.size.columns;
  made.rows = spec.size.rows;
  made.title = t.title();
  made.alternate = t.output().screen().is_alternate();
  made.progress = progress_of(t);
  if (current != nullptr) made.command = result_object(t.facts(*current));
  if (const engine::Command* last = t.last()) made.last_command = last->facts.command;
  made.commands = t.commands().size();
  made.created_at = {t.created_at_ms()};
  made.last_output_at = wire::time_or_none(t.last_output_at_ms());
  made.hot = t.hot();
  if (t.lease()) made.lease = wire::Lease{t.lease()->by, {t.lease()->since_ms}};
  if (const engine::Command* queued = t.queued(); queued != nullptr && t.lease()) {
    made.queued =
        wire::QueuedCommand{queued->facts.command_id, queued->facts.command, engine::owner_name(queued->by)};
  }
  made.session = spec.session;
  if (t.loan()) {
    made.lent = wire::Loan{
        t.loan()->to, t.loan()->use == engine::Loan::Use::Read, t.loan()->by, {t.loan()->since_ms}};
  }
  if (t.exit() && t.exit()->kind == journal::EndKind::Exited) made.exit_code = t.exit()->code;
  if (t.exit() && t.exit()->kind == journal::EndKind::Signaled)
    made.signal = pty::signal_name(t.exit()->code);
  made.journal = {t.read_to(), t.lost_bytes(), t.paused()};
  made.typed_meanwhile = t.typed_meanwhile();
  return made;
}

wire::Approval approval_object(const gate::Approval& from) {
  const auto escape = [](const std::string& text) { return policy::escape_text(text); };
  wire::Approval made;
  made.id = from.id;
  made.command = from.command;
  made.shown = from.shown;
  made.cwd = from.cwd;
  made.environment = escaped(from.environment_changes, false);
  made.command_id = escape(from.command_id);
  made.terminal_id = escape(from.terminal_id);
  made.task = escape(from.task);
  made.session = escape(from.session);
  made.asked_by = escape(from.asked_by);
  made.verdict.json = policy::to_json(from.verdict);
  made.created_at = {from.created_at_ms};
  made.expires_at = wire::time_or_none(from.expires_at_ms);
  made.state = gate::name_of(from.state);
  made.answered_by = escape(from.answered_by);
  made.answered_at = wire::time_or_none(from.answered_at_ms);
  made.reason = escape(from.reason);
  made.always = escaped(from.always.texts, true);
  made.always_words = escaped(from.always.words, false);
  made.wider = escaped(from.wider.texts, true);
  made.wider_words = escaped(from.wider.words, false);
  if (!from.always.texts.empty()) made.always_scope = from.session_only ? "session" : "global";
  return made;
}

wire::HistoryRow row_object(const store::CommandRow& row) {
  wire::HistoryRow made;
  made.command_id = row.id;
  made.terminal_id = row.terminal_id;
  made.terminal_name = row.terminal_name;
  made.task = row.task;
  made.owner = store::owner_name(row.owner);
  made.command = row.command;
  made.description = row.description;
  std::tie(made.place, made.cwd) = place_and_folder(row.cwd);
  made.cwd_after = row.cwd_after;
  made.state = row.state;
  made.exit_code = row.exit_code;
  made.signal = row.signal;
  made.known_by = row.known_by;
  made.provider = row.provider;
  made.integration = row.integration;
  made.started_at = {row.started_at_ms};
  made.duration_ms = row.duration_ms;
  made.output = {row.journal_id, row.output_begin, row.output_end};
  made.total_bytes = row.total_bytes;
  made.total_lines = row.total_lines;
  made.reason = row.note;
  return made;
}

wire::DecisionRow row_object(const store::DecisionRow& row) {
  wire::DecisionRow made;
  made.id = row.id;
  made.at = {row.at_ms};
  made.command_id = row.command_id;
  made.terminal_id = row.terminal_id;
  made.action = row.action;
  made.asked_by = row.asked_by;
  made.command = row.command;
  made.cwd = row.cwd;
  made.decision = store::decision_name(row.decision);
  made.decided_by = row.decided_by;
  made.risk = row.risk;
  made.effects = row.effects;
  made.reason = row.reason;
  made.answered_by = row.answered_by;
  if (row.answered_at_ms) made.answered_at = wire::Time{*row.answered_at_ms};
  return made;
}

store::CommandRow row_of(const terminal::CommandResult& facts) {
  store::CommandRow row;
  row.id = facts.command_id;
  row.terminal_id = facts.terminal_id;
  row.command = facts.command;
  row.description = facts.description;
  row.cwd = facts.place.empty() ? facts.cwd : facts.place + ":" + facts.cwd;
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
  if (command.over()) row.duration_ms = command.facts.duration_ms;
  row.journal_id = terminal.id();
  row.output_begin = command.range().begin;
  row.output_end = command.range().end;
  return row;
}

store::Owner row_owner(engine::Owner owner) {
  return store::owner_named(engine::owner_name(owner)).value_or(store::Owner::Agent);
}

}  // namespace ttyward::app
