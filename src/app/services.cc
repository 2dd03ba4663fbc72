#include "app/services.h"

#include <algorithm>
#include <utility>

#include "app/objects.h"

namespace ttyward::app {

using engine::Terminal;

Services::Services(io::Loop& loop, io::Log& log, Installation installation, EventSink& sink)
    : core_(loop, log, std::move(installation)),
      warnings_(core_.configuration.warnings()),
      history_(core_, [this](const std::string& message) { warn(message); }),
      gatekeeper_(core_,
                  [this](store::CommandRow row) {
                    telemetry_.command_ended(row);
                    history_.put(std::move(row));
                  }),
      environment_(core_),
      change_sets_(core_),
      proxies_(loop, core_.configuration.folders()),
      watching_(core_, gatekeeper_, sink),
      terminals_(core_, gatekeeper_, history_, environment_, proxies_,
                 [this](const wire::AnyEvent& event, const std::string& id) { watching_.tell(event, id); }),
      commands_(core_, gatekeeper_, history_, environment_, watching_, change_sets_, proxies_),
      approvals_(core_, gatekeeper_, [this] { static_cast<void>(reload()); }),
      setting_changes_(core_, [this] { static_cast<void>(reload()); }),
      agents_(core_, history_),
      webhook_(loop, log),
      telemetry_(core_, [this] { return gauges(); }) {
  history_.on_decision([this](const gate::AuditRow& row) { telemetry_.decided(row); });
  core_.gate = std::make_unique<gate::Gate>(loop, core_.configuration.gate_settings(), history_,
                                            &core_.configuration.confirmations());
  core_.gate->set_observer(this);
  watching_.complete_results([this](wire::CommandResult& result) {
    if (auto changes = change_sets_.known(result.command_id)) result.changes = std::move(*changes);
    if (!result.sandbox) return;
    for (const std::string& id : {result.command_id, result.terminal_id})
      for (std::string& refused : proxies_.refused(id)) result.sandbox->denied.push_back(std::move(refused));
  });
  history_.restore_session_rules();
  auto readers = engine::Readers::open(core_.configuration.folders().state + "/readers");
  if (!readers) warn("cannot remember what each reader has read: " + readers.error().message);
  if (readers) core_.readers = std::move(*readers);
}

base::Result<std::unique_ptr<Services>> Services::start(io::Loop& loop, io::Log& log,
                                                        Installation installation, EventSink& sink) {
  std::unique_ptr<Services> made(new Services(loop, log, std::move(installation), sink));
  Core& core = made->core_;
  auto engine = engine::Engine::create(loop, core.configuration.engine_settings(), *made);
  if (!engine) return tl::unexpected(engine.error());
  core.engine = std::move(*engine);
  made->telemetry_.follow_settings();  // before: commands may have ended while no daemon was there
  made->recovered_ = core.engine->recover();
  made->change_sets_.find_again([&core](const std::string& id) {
    const auto found = core.engine->find_command(id);
    return found && !found->command->over();
  });
  for (const std::string& problem : made->recovered_.problems) log.warning(problem, "engine");
  log.info("found " + std::to_string(made->recovered_.terminals) + " living terminals and " +
               std::to_string(made->recovered_.ended) + " that ended, in " +
               std::to_string(made->recovered_.took.count()) + " ms",
           "engine",
           {{"terminals", made->recovered_.terminals},
            {"ended", made->recovered_.ended},
            {"ms", made->recovered_.took.count()}});
  return made;
}

// What refers to terminals goes before them, and they go before the history they write to.
Services::~Services() {
  *core_.alive = false;
  telemetry_.end();
  watching_.end_all();
  core_.calls.clear();
  core_.gate.reset();
  core_.engine.reset();
}

void Services::warn(const std::string& message) {
  warnings_.push_back(message);
  core_.log.warning(message);
}

std::vector<std::string> Services::reload() {
  core_.configuration.load();
  core_.engine->set_settings(core_.configuration.engine_settings());
  core_.gate->set_settings(core_.configuration.gate_settings());
  telemetry_.follow_settings();
  return core_.configuration.errors();
}

void Services::stop(bool kill_terminals, std::function<void()> done) {
  core_.calls.clear();
  kill_terminals ? core_.engine->kill_all(std::move(done)) : core_.engine->end_pool(std::move(done));
}

void Services::connection_closed(uint64_t connection) {
  core_.gate->connection_closed(connection);
  watching_.connection_closed(connection);
  agents_.connection_closed(connection);
}

std::vector<std::string> Services::notices() {
  std::vector<std::string> out;
  if (std::string notice = core_.gate->unconfirmed_notice(); !notice.empty())
    out.push_back(std::move(notice));
  for (std::string& notice : core_.configuration.notices()) out.push_back(std::move(notice));
  return out;
}

telemetry::Gauges Services::gauges() const {
  const engine::Engine& engine = *core_.engine;
  telemetry::Gauges now;
  // Shells of the pool are not counted: nobody opened them.
  now.terminals = engine.live_terminals();
  // Whatever runs, in a terminal that stays or on its own.
  const std::vector<Terminal*> all = engine.terminals();
  now.running = static_cast<uint64_t>(std::count_if(all.begin(), all.end(), [](const Terminal* each) {
    return each->live() && each->current() != nullptr && !each->current()->over() &&
           each->current()->started_seen;
  }));
  now.questions = core_.gate->list(false).size();
  now.journal_bytes = engine.journal_bytes();
  return now;
}

void Services::describe(wire::DaemonStatus& status) {
  const telemetry::Gauges now = gauges();
  status.terminals = now.terminals;
  status.commands = now.running;
  status.approvals = now.questions;
  status.journals = wire::JournalTotals{now.journal_bytes, core_.engine->settings().journals_total};
  status.recovered =
      wire::RecoveredTerminals{recovered_.terminals, recovered_.ended, recovered_.took.count()};
  status.agents = agents_.list();
  status.warnings = warnings_;
  for (const std::string& problem : recovered_.problems) status.warnings.push_back(problem);
  for (const std::string& notice : notices()) status.warnings.push_back(notice);
  if (history_.not_recorded() > 0) {
    status.warnings.push_back(std::to_string(history_.not_recorded()) +
                              " history rows were not written: the disk is too slow");
  }
  if (!webhook_.problem().empty()) status.warnings.push_back(webhook_.problem());
  for (std::string& problem : telemetry_.problems()) status.warnings.push_back(std::move(problem));
  status.config = wire::ConfigState{core_.configuration.loaded().file, core_.configuration.errors()};
}

void Services::on_terminal_opened(Terminal& terminal) {
  if (watching_.anybody())
    watching_.tell(wire::TerminalOpened{terminal_object(*core_.engine, terminal)}, terminal.id());
}

void Services::on_terminal_change(Terminal& terminal, uint32_t changes) {
  if (terminal.spec().pooled) return;
  if (terminal.spec().temporary()) change_sets_.started(terminal.spec().command_id, terminal.pid());
  watching_.terminal_changed(terminal, changes);
  if ((changes & (engine::kPrompt | engine::kCommandFinished | engine::kClosed | engine::kMeta)) != 0)
    terminals_.terminal_changed();
}

void Services::on_record(const Terminal& terminal, const engine::Command& command) {
  store::CommandRow row = row_of(terminal, command);
  if (terminal.was_recovered()) {
    history_.put_once(std::move(row),
                      [this](const store::CommandRow& ended) { telemetry_.command_ended(ended); });
  } else {
    telemetry_.command_ended(row);
    history_.put(std::move(row));
  }
  if (!terminal.spec().temporary()) return;
  change_sets_.ended(command.facts.command_id);
  proxies_.end(command.facts.command_id);
}

void Services::on_quality(const Terminal& terminal, shell::Quality from, shell::Quality to,
                          const std::string& reason) {
  if (terminal.spec().pooled) return;
  watching_.tell(
      wire::IntegrationChanged{terminal.id(), shell::quality_name(from), shell::quality_name(to), reason},
      terminal.id());
}

void Services::on_terminal_forgotten(const Terminal& terminal) {
  watching_.terminal_forgotten(terminal);
  proxies_.end(terminal.id());
}

void Services::on_opened(const gate::Approval& approval) {
  if (const std::string& url = core_.settings().notify.webhook; !url.empty())
    webhook_.send(url, webhook_body(approval));
  watching_.tell(wire::ApprovalOpened{approval_object(approval)}, approval.terminal_id);
}

void Services::on_closed(const gate::Approval& approval) {
  telemetry_.question_closed(approval);
  watching_.tell(wire::ApprovalClosed{approval_object(approval)}, approval.terminal_id);
}

void Services::on_unconfirmed_changed(const std::string& notice) {
  if (notice.empty()) return;
  core_.log.warning(notice, "policy");
  watching_.tell(wire::Notice{notice}, "");
}

}  // namespace ttyward::app
