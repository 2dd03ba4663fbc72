#include "daemon/engine_application.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <boost/json/array.hpp>

#include "base/secret_file.h"
#include "daemon/attachment.h"
#include "daemon/objects.h"
#include "engine/gate_rule_file.h"
#include "engine/policy_settings.h"
#include "engine/time.h"
#include "io/log.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Terminal;

namespace {

// A daemon may live for months; the history is this much over its limit at most.
constexpr int kRowsBetweenPrunings = 4096;

}  // namespace

EngineApplication::EngineApplication(Process& process, std::string hold_program)
    : process_(process),
      hold_program_(std::move(hold_program)),
      basic_(process, [this] { return reload(); }) {}

EngineApplication::~EngineApplication() {
  *alive_ = false;
  attachments_.clear();
  open_calls_.clear();
}

const std::vector<EngineApplication::Row>& EngineApplication::table() {
  using A = EngineApplication;
  static const std::vector<Row> kRows = {
      {"run", Role::Agent, &A::run},
      {"batch", Role::Agent, &A::batch},
      {"open", Role::Agent, &A::open},
      {"acquire", Role::Agent, &A::acquire},
      {"release", Role::Agent, &A::release},
      {"exec", Role::Agent, &A::exec},
      {"input", Role::Agent, &A::input},
      {"interrupt", Role::Agent, &A::interrupt},
      {"signal", Role::Agent, &A::signal},
      {"kill", Role::Agent, &A::kill},
      {"resize", Role::Agent, &A::resize},
      {"wait", Role::Viewer, &A::wait},
      {"read", Role::Viewer, &A::read},
      {"result", Role::Viewer, &A::result},
      {"screen", Role::Viewer, &A::screen},
      {"list", Role::Viewer, &A::list},
      {"show", Role::Viewer, &A::show},
      {"lend", Role::Person, &A::lend},
      {"person_token", Role::Person, &A::person_token},
      {"resume", Role::Agent, &A::resume},
      {"rename", Role::Agent, &A::rename},
      {"assign", Role::Agent, &A::assign},
      {"associate", Role::Agent, &A::associate},
      {"session_terminals", Role::Viewer, &A::session_terminals},
      {"session_cwd", Role::Viewer, &A::session_cwd},
      {"path_add", Role::Person, &A::path_add},
      {"path_remove", Role::Person, &A::path_remove},
      {"path_list", Role::Viewer, &A::path_list},
      {"environment", Role::Viewer, &A::environment},
      {"attach", Role::Viewer, &A::attach},
      {"attach_input", Role::Person, &A::attach_input},
      {"attach_resize", Role::Viewer, &A::attach_resize},
      {"detach", Role::Viewer, &A::detach},
      {"subscribe", Role::Viewer, &A::subscribe},
      {"unsubscribe", Role::Viewer, &A::unsubscribe},
      {"check", Role::Viewer, &A::check},
      {"approvals", Role::Viewer, &A::approvals},
      {"answer", Role::Person, &A::answer},
      {"withdraw", Role::Agent, &A::withdraw},
      {"rules", Role::Viewer, &A::rules},
      {"rule_add", Role::Person, &A::rule_add},
      {"rule_remove", Role::Person, &A::rule_remove},
      {"rules_unconfirmed", Role::Person, &A::rules_unconfirmed},
      {"rules_confirm", Role::Person, &A::rules_confirm},
      {"mode", Role::Viewer, &A::mode},
      {"history", Role::Viewer, &A::history},
      {"decisions", Role::Viewer, &A::decisions},
  };
  return kRows;
}

void EngineApplication::call(const Caller& caller, const std::string& name, json::object args,
                             Responder responder) {
  if (basic_.call(caller, name, args, responder)) return;
  for (const Row& row : table()) {
    if (name != row.name) continue;
    bool allowed = row.least == Role::Viewer || caller.role == Role::Person ||
                   (row.least == Role::Agent && caller.role == Role::Agent);
    if (caller.role == Role::Dialogue) allowed = row.handler == &EngineApplication::answer;
    if (!allowed) {
      return responder.fail({wire::Code::PermissionDenied,
                             "'" + name + "' is not for " + role_name(caller.role) +
                                 "s: a person does this, with "
                                 "the ttyward command, outside the terminals agents own" +
                                 (caller.why.empty() ? "" : "; this is an agent's, since " + caller.why)});
    }
    Args read(std::move(args));
    return (this->*row.handler)(caller, read, responder);
  }
  responder.fail({wire::Code::InvalidArgument, "there is no call '" + name + "'"});
}

void EngineApplication::load_config() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++)
    environment.emplace_back(*entry);
  policy_config_ = engine::load_confirmed(process_.folders(), "/", environment, *confirmations_);
  config_ = std::move(policy_config_.loaded);
}

void EngineApplication::confirm_first_start() {
  if (confirmations_->standing() != engine::Confirmations::Standing::None) return;
  const auto rules = engine::read_rule_file(process_.folders().config + "/rules.toml");
  const auto stored =
      confirmations_->store({rules ? *rules : std::string(), policy_config_.file_lines}, "the first start");
  if (!stored) {
    warnings_.push_back("what loosens policy cannot be recorded: " + stored.error().message);
    process_.log().warning(warnings_.back());
  }
}

void EngineApplication::compare_with_last_start() {
  const std::string path = process_.folders().state + "/policy/last";
  const auto last = engine::read_rule_file(path);
  if (last && !last->empty()) looser_than_last_ = engine::loosened(config_, *last);
  for (const engine::LoosenedSetting& each : looser_than_last_)
    process_.log().warning("looser than at the last start: " + each.in_words());
  std::ofstream(path, std::ios::trunc) << engine::policy_lines(config_.settings);
}

std::vector<std::string> EngineApplication::notices() {
  std::vector<std::string> out;
  if (!gate_) return out;
  if (std::string notice = gate_->unconfirmed_notice(); !notice.empty()) out.push_back(std::move(notice));
  for (const engine::LoosenedSetting& each : policy_config_.unconfirmed) {
    out.push_back(each.where + " was changed without ttyward: " + each.name + " = " + each.wanted +
                  " does not hold, " + each.holds + " does; look at it with: ttyward rules confirm");
  }
  for (const engine::LoosenedSetting& each : looser_than_last_)
    out.push_back("this daemon was started with looser settings than the last one: " + each.in_words());
  for (const engine::LoosenedSetting& each : policy_config_.from_environment) {
    const bool told = std::any_of(looser_than_last_.begin(), looser_than_last_.end(),
                                  [&](const auto& other) { return other.name == each.name; });
    if (!told) out.push_back("this daemon's environment loosens its settings: " + each.in_words());
  }
  return out;
}

engine::Settings EngineApplication::engine_settings() const {
  const config::Settings& from = config_.settings;
  engine::Settings settings;
  settings.folders = process_.folders();
  settings.hold_program = hold_program_;
  settings.version = TTYWARD_VERSION;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    settings.our_environment.emplace_back(*entry);
  }
  std::string shell = from.shell.path;
  if (shell.empty()) {
    // The user's own where we know it well.
    for (const std::string& entry : settings.our_environment) {
      if (entry.starts_with("SHELL=/")) shell = entry.substr(6);
    }
    const auto kind = shell::identify_shell({shell}).kind;
    if (shell.empty() || shell::attainable_quality(kind) != shell::Quality::Rich ||
        ::access(shell.c_str(), X_OK) != 0) {
      shell = "/bin/bash";
    }
  }
  settings.shell = {shell};
  settings.shell_integration = from.shell.integration;
  settings.shell_integration_timeout = from.shell.integration_timeout;
  settings.command_delay = from.shell.command_delay;
  settings.history =
      from.shell.history == config::ShellHistory::Record ? shell::History::Record : shell::History::LeaveOut;
  settings.report_environment =
      from.shell.report_environment ? shell::ReportEnvironment::Yes : shell::ReportEnvironment::No;
  if (from.shell.zsh_clear_eol_mark) settings.extra_shell_environment.emplace_back("PROMPT_EOL_MARK=");
  if (from.shell.zsh_oh_my)
    settings.extra_shell_environment.emplace_back("ITERM_SHELL_INTEGRATION_INSTALLED=Yes");
  if (from.shell.zsh_p10k)
    settings.extra_shell_environment.emplace_back("POWERLEVEL9K_TERM_SHELL_INTEGRATION=true");
  settings.inherit = from.shell.environment == config::ShellEnvironment::Clean ? pty::Inherit::Clean
                                                                               : pty::Inherit::AllowList;
  settings.also_inherit = from.shell.environment_keep;
  settings.never_inherit = from.shell.environment_drop;
  settings.path_first = from.shell.add_to_path;
  settings.set_environment = from.shell.environment_add;
  settings.umask = process_.user_umask();
  settings.limits = {{RLIMIT_NOFILE, user_files_}};
  settings.cols = static_cast<uint16_t>(from.terminal.cols);
  settings.rows = static_cast<uint16_t>(from.terminal.rows);
  settings.journal_quota = static_cast<uint64_t>(from.limits.journal);
  settings.journals_total = static_cast<uint64_t>(from.limits.journal_total);
  settings.overflow = from.limits.overflow == config::Overflow::Pause  ? journal::Overflow::Pause
                      : from.limits.overflow == config::Overflow::Kill ? journal::Overflow::Kill
                                                                       : journal::Overflow::DropMiddle;
  settings.kill_rungs = {{SIGINT, from.times.interrupt_grace},
                         {SIGTERM, from.times.terminate_grace},
                         {SIGKILL, from.times.kill_grace}};
  settings.interrupt_grace = from.times.interrupt_grace;
  settings.drain = from.times.drain;
  settings.max_terminals = static_cast<size_t>(from.limits.terminals);
  settings.pool = static_cast<size_t>(from.pool.size);
  settings.records = static_cast<size_t>(from.terminal.records);
  settings.hot = from.times.hot;
  settings.hot_compiling = from.times.hot_compiling;
  return settings;
}

engine::GateSettings EngineApplication::gate_settings() const {
  const config::PolicySettings& from = config_.settings.policy;
  engine::GateSettings settings;
  const char* const home = std::getenv("HOME");
  settings.judge = engine::judge_settings(from, home != nullptr ? home : "");
  settings.asking = from.ask == config::PolicyAsk::Never     ? engine::Asking::Never
                    : from.ask == config::PolicyAsk::Present ? engine::Asking::WhenSomebodyIs
                                                             : engine::Asking::Wait;
  settings.approval_expiry = from.approval_expiry;
  settings.rules_file = process_.folders().config + "/rules.toml";
  return settings;
}

// A terminal costs us a handful of descriptors; what runs in it gets the limit the user has.
void EngineApplication::raise_file_limit() {
  if (::getrlimit(RLIMIT_NOFILE, &user_files_) != 0) return;
  constexpr rlim_t kEnough = 65536;
  rlimit raised = user_files_;
  raised.rlim_cur = std::max(user_files_.rlim_cur, std::min(user_files_.rlim_max, kEnough));
  ::setrlimit(RLIMIT_NOFILE, &raised);
}

base::Result<void> EngineApplication::start(io::Loop& loop, Server& server) {
  raise_file_limit();
  loop_ = &loop;
  server_ = &server;
  basic_.serve(server);
  basic_.extend_status([this](json::object& status) { extend_status(status); });
  confirmations_ = std::make_unique<engine::Confirmations>(process_.folders().state);
  load_config();
  confirm_first_start();
  compare_with_last_start();
  for (const config::Problem& problem : config_.problems) process_.log().warning(problem.shown());
  open_store();
  gate_ = std::make_unique<engine::Gate>(loop, gate_settings(), static_cast<engine::AuditSink&>(*this),
                                         confirmations_.get());
  gate_->set_observer(this);
  webhook_.emplace(loop, process_.log());
  auto readers = engine::Readers::open(process_.folders().state + "/readers");
  if (!readers) {
    warnings_.push_back("who has read what is not remembered: " + readers.error().message);
    process_.log().warning(warnings_.back());
  }
  readers_ = readers ? std::move(*readers) : engine::Readers();
  auto sessions = Sessions::open(process_.folders().state + "/sessions");
  if (!sessions) {
    warnings_.push_back("who owns which session is not remembered: " + sessions.error().message);
    process_.log().warning(warnings_.back());
  }
  sessions_ = sessions ? std::move(*sessions) : Sessions();
  if (auto token = base::read_secret_file(process_.folders().person_token()))
    person_token_ = std::move(*token);
  auto made = engine::Engine::create(loop, engine_settings(), *this);
  if (!made) return tl::unexpected(made.error());
  engine_ = std::move(*made);
  recovered_ = engine_->recover();
  for (const std::string& problem : recovered_.problems) process_.log().warning(problem);
  process_.log().info("found " + std::to_string(recovered_.terminals) + " living terminals and " +
                      std::to_string(recovered_.ended) + " that ended, in " +
                      std::to_string(recovered_.took.count()) + " ms");
  watch_idleness();
  return {};
}

bool EngineApplication::idle() const {
  return server_->connections() == 0 && open_calls_.empty() && !engine_->holds_anything();
}

void EngineApplication::watch_idleness() {
  using std::chrono::milliseconds;
  loop_->cancel(idle_timer_);
  const milliseconds limit = config_.settings.daemon.idle_exit;
  if (limit.count() == 0) return;
  idle_timer_ = loop_->after(std::clamp(limit / 4, milliseconds(100), milliseconds(60'000)), [this, limit] {
    idle_timer_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (!idle()) {
      idle_since_.reset();
    } else if (!idle_since_) {
      idle_since_ = now;
    } else if (now - *idle_since_ >= limit) {
      process_.log().info("nobody has needed the daemon for a while: it ends");
      // What is left are shells that were started ahead.
      return process_.request_stop(Terminals::Kill);
    }
    watch_idleness();
  });
}

// History is worth having, but no reason not to run commands, nor to make the first one wait: a new database
// takes longer than all the rest of the start.
void EngineApplication::open_store() {
  const auto warn = [this, alive = alive_](std::string message) {
    loop_->post([this, alive, message = std::move(message)] {
      if (!*alive) return;
      warnings_.push_back(message);
      process_.log().warning(message);
    });
  };
  const std::string path = process_.folders().history();
  const auto look = [this, alive = alive_, path] {
    if (*alive && !recorded_) recorded_.emplace(path);
  };
  if (::access(path.c_str(), F_OK) == 0) look();
  store_ = std::make_unique<store::Worker>([this, path, warn, look] {
    auto opened = store::Store::open(path);
    if (!opened) {
      warn("no history is kept: " + opened.error().message);
    } else {
      for (const std::string& notice : opened->take_notices()) warn(notice);
      loop_->post(look);
    }
    return opened;
  });
  prune_history();
  // What people allowed for a session holds as long as the session, not as long as a daemon.
  keep([this, alive = alive_](store::Store& store) {
    auto rules = store.session_rules(std::nullopt);
    if (!rules || rules->empty()) return;
    loop_->post([this, alive, rules = std::move(*rules)] {
      if (!*alive) return;
      for (const store::SessionRule& rule : rules)
        static_cast<void>(gate_->restore_session_rule(rule.scope, rule.rule));
    });
  });
}

void EngineApplication::prune_history() {
  const config::LimitSettings& limits = config_.settings.limits;
  const int64_t oldest =
      limits.history_days == 0 ? 0 : engine::unix_ms() - limits.history_days * 24 * 3600 * 1000;
  keep([rows = limits.history_rows, oldest](store::Store& store) {
    static_cast<void>(store.prune(rows, oldest));
  });
}

void EngineApplication::keep(std::function<void(store::Store&)> work) {
  if (!store_->post(std::move(work))) not_recorded_++;
}

std::vector<std::string> EngineApplication::reload() {
  load_config();
  if (engine_) {
    engine_->set_settings(engine_settings());
    watch_idleness();
  }
  if (gate_) gate_->set_settings(gate_settings());
  std::vector<std::string> errors;
  errors.reserve(config_.problems.size());
  for (const config::Problem& problem : config_.problems) errors.push_back(problem.shown());
  return errors;
}

void EngineApplication::stop(bool kill_terminals, std::function<void()> done) {
  open_calls_.clear();
  if (!engine_) return done();
  kill_terminals ? engine_->kill_all(std::move(done)) : engine_->end_pool(std::move(done));
}

void EngineApplication::extend_status(json::object& status) {
  status["terminals"] = engine_->live_terminals();
  // Whatever runs, in a terminal that stays or on its own.
  const std::vector<engine::Terminal*> all = engine_->terminals();
  status["commands"] = std::count_if(all.begin(), all.end(), [](engine::Terminal* t) {
    return t->live() && t->current() != nullptr && !t->current()->over && t->current()->started_seen;
  });
  status["approvals"] = gate_->list(false).size();
  status["journals"] =
      json::object{{"bytes", engine_->journal_bytes()}, {"quota", engine_->settings().journals_total}};
  status["recovered"] = json::object{
      {"terminals", recovered_.terminals}, {"ended", recovered_.ended}, {"ms", recovered_.took.count()}};
  json::array warnings;
  for (const std::string& warning : warnings_) warnings.emplace_back(warning);
  for (const std::string& problem : recovered_.problems) warnings.emplace_back(problem);
  for (const std::string& notice : notices()) warnings.emplace_back(notice);
  if (not_recorded_ > 0) {
    warnings.emplace_back(std::to_string(not_recorded_) +
                          " history rows were not written: the disk is too slow");
  }
  if (webhook_ && !webhook_->problem().empty()) warnings.emplace_back(webhook_->problem());
  status["warnings"] = std::move(warnings);
  json::array errors;
  for (const config::Problem& problem : config_.problems) errors.emplace_back(problem.shown());
  status["config"] = json::object{{"path", config_.file}, {"errors", std::move(errors)}};
}

uint64_t EngineApplication::add_call(const Caller& caller, const Responder& responder,
                                     std::function<void()> cancelled) {
  const uint64_t key = ++last_key_;
  auto call = std::make_unique<OpenCall>();
  call->connection = caller.connection;
  open_calls_.emplace(key, std::move(call));
  responder.on_cancel([this, alive = alive_, key, cancelled = std::move(cancelled)] {
    if (!*alive) return;
    if (cancelled) cancelled();
    end_call(key);
  });
  return key;
}

EngineApplication::OpenCall* EngineApplication::open_call(uint64_t key) {
  const auto found = open_calls_.find(key);
  return found != open_calls_.end() ? found->second.get() : nullptr;
}

// Later: it is often one of its own parts that says that it is over.
void EngineApplication::end_call(uint64_t key) {
  const auto found = open_calls_.find(key);
  if (found == open_calls_.end()) return;
  loop_->cancel(found->second->timer);
  std::shared_ptr<OpenCall> gone = std::move(found->second);
  open_calls_.erase(found);
  loop_->post([gone] {});
}

void EngineApplication::connection_closed(uint64_t connection) {
  gate_->connection_closed(connection);
  std::vector<uint64_t> gone;
  for (const auto& [key, attachment] : attachments_) {
    if (attachment->connection == connection) gone.push_back(key);
  }
  for (const uint64_t key : gone) end_attachment(key, "");
  std::erase_if(subscriptions_,
                [&](const auto& entry) { return entry.second->caller.connection == connection; });
  count_listeners();
}

void EngineApplication::on_terminal_opened(Terminal& terminal) {
  tell("terminal_opened", terminal.id(), {{"terminal", terminal_object(*engine_, terminal)}});
}

void EngineApplication::on_terminal_change(Terminal& terminal, uint32_t changes) {
  if (terminal.spec().pooled) return;
  if (subscriptions_.empty()) return;
  if ((changes & (engine::kMeta | engine::kReady)) != 0 && (changes & engine::kClosed) == 0) {
    tell("terminal_changed", terminal.id(), {{"terminal", terminal_object(*engine_, terminal)}});
  }
  if ((changes & engine::kCommandStarted) != 0 && terminal.current() != nullptr) {
    tell("command_started", terminal.id(), {{"result", result_object(terminal.facts(*terminal.current()))}});
  }
  if ((changes & engine::kCommandState) != 0 && terminal.current() != nullptr) {
    const json::object facts = result_object(terminal.facts(*terminal.current()));
    tell("command_state", terminal.id(),
         {{"command_id", facts.at("command_id")},
          {"state", facts.at("state")},
          {"waiting", facts.at("waiting")}});
  }
  if ((changes & engine::kCommandFinished) != 0 && terminal.last() != nullptr) {
    tell("command_finished", terminal.id(), {{"result", result_object(terminal.facts(*terminal.last()))}});
  }
  if ((changes & engine::kOutput) != 0) {
    tell("output", terminal.id(), {{"id", terminal.id()}, {"lines", terminal.output().transcript().size()}});
  }
  if ((changes & engine::kClosed) != 0) {
    const json::object object = terminal_object(*engine_, terminal);
    tell("terminal_closed", terminal.id(),
         {{"id", terminal.id()}, {"exit_code", object.at("exit_code")}, {"signal", object.at("signal")}});
  }
}

void EngineApplication::on_record(const Terminal& terminal, const engine::Command& command) {
  keep([row = row_of(terminal, command)](store::Store& store) { static_cast<void>(store.put_command(row)); });
  if (++recorded_since_pruning_ < kRowsBetweenPrunings) return;
  recorded_since_pruning_ = 0;
  prune_history();
}

void EngineApplication::on_quality(const Terminal& terminal, shell::Quality from, shell::Quality to,
                                   const std::string& reason) {
  if (terminal.spec().pooled) return;
  tell("integration_changed", terminal.id(),
       {{"id", terminal.id()},
        {"from", shell::quality_name(from)},
        {"to", shell::quality_name(to)},
        {"reason", reason}});
}

void EngineApplication::on_terminal_forgotten(const Terminal& terminal) {
  const std::string& id = terminal.id();
  readers_->forget(id);
  for (const auto& command : terminal.commands()) readers_->forget(command->facts.command_id);
  std::vector<uint64_t> gone;
  for (const auto& [key, attachment] : attachments_) {
    if (attachment->terminal == id) gone.push_back(key);
  }
  for (const uint64_t key : gone) end_attachment(key, "the terminal has ended");
}

}  // namespace ttyward::daemon
