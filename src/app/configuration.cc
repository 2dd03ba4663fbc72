#include "app/configuration.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "gate/policy_settings.h"
#include "gate/rule_text.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ttyward::app {

Configuration::Configuration(Installation installation, io::Log& log)
    : installation_(std::move(installation)), log_(log), confirmations_(installation_.folders.state) {
  raise_file_limit();
  load();
  confirm_first_start();
  compare_with_last_start();
  for (const config::Problem& problem : loaded_.problems) log_.warning(problem.shown(), "config");
}

std::vector<std::string> Configuration::errors() const {
  std::vector<std::string> errors;
  errors.reserve(loaded_.problems.size());
  for (const config::Problem& problem : loaded_.problems) errors.push_back(problem.shown());
  return errors;
}

void Configuration::load() {
  std::vector<std::string> environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++)
    environment.emplace_back(*entry);
  confirmed_ = gate::load_confirmed(installation_.folders, "/", environment, confirmations_);
  loaded_ = std::move(confirmed_.loaded);
  log_.set_format(settings().log.format == config::LogFormat::Json ? io::Log::Format::Json
                                                                   : io::Log::Format::Text);
}

void Configuration::confirm_first_start() {
  if (confirmations_.standing() != gate::Confirmations::Standing::None) return;
  const auto rules = gate::read_rule_file(installation_.folders.config + "/rules.toml");
  const auto stored =
      confirmations_.store({rules ? *rules : std::string(), confirmed_.file_lines}, "the first start");
  if (!stored) {
    warnings_.push_back("cannot record the rules and settings that loosen policy: " + stored.error().message);
    log_.warning(warnings_.back(), "config");
  }
}

void Configuration::compare_with_last_start() {
  const std::string path = installation_.folders.state + "/policy/last";
  const auto last = gate::read_rule_file(path);
  if (last && !last->empty()) looser_than_last_ = gate::loosened(loaded_, *last);
  for (const gate::LoosenedSetting& each : looser_than_last_)
    log_.warning("looser than at the last start: " + each.in_words(), "config");
  std::ofstream(path, std::ios::trunc) << gate::policy_lines(loaded_.settings);
}

std::vector<std::string> Configuration::notices() const {
  std::vector<std::string> out;
  for (const gate::LoosenedSetting& each : confirmed_.unconfirmed) {
    out.push_back(each.where + " was changed without ttyward: " + each.name + " = " + each.wanted +
                  " is not in effect, " + each.holds + " is; review it with: ttyward rules confirm");
  }
  for (const gate::LoosenedSetting& each : looser_than_last_)
    out.push_back("this daemon was started with looser settings than the last one: " + each.in_words());
  for (const gate::LoosenedSetting& each : confirmed_.from_environment) {
    const bool told = std::any_of(looser_than_last_.begin(), looser_than_last_.end(),
                                  [&](const auto& other) { return other.name == each.name; });
    if (!told) out.push_back("this daemon's environment loosens its settings: " + each.in_words());
  }
  return out;
}

engine::Settings Configuration::engine_settings() const {
  const config::Settings& from = loaded_.settings;
  engine::Settings settings;
  settings.folders = installation_.folders;
  settings.hold_program = installation_.hold_program;
  settings.version = installation_.version;
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
    const bool usable = !shell.empty() && ::access(shell.c_str(), X_OK) == 0;
    if (!usable || shell::attainable_quality(kind) != shell::Quality::Rich) {
      if (::access("/bin/bash", X_OK) == 0) {
        shell = "/bin/bash";
      } else if (!usable) {
        shell = "/bin/sh";
      }
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
  settings.umask = installation_.user_umask;
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
  settings.max_temporary = static_cast<size_t>(from.limits.commands);
  settings.pool = static_cast<size_t>(from.pool.size);
  settings.pool_start_files =
      from.pool.start_files == config::PoolStartFiles::Run     ? engine::PoolStartFiles::Run
      : from.pool.start_files == config::PoolStartFiles::Spare ? engine::PoolStartFiles::Spare
                                                               : engine::PoolStartFiles::Auto;
  settings.pool_limit = static_cast<size_t>(from.pool.limit);
  settings.records = static_cast<size_t>(from.terminal.records);
  settings.hot = from.times.hot;
  settings.hot_compiling = from.times.hot_compiling;
  return settings;
}

gate::GateSettings Configuration::gate_settings() const {
  const config::PolicySettings& from = loaded_.settings.policy;
  gate::GateSettings settings;
  const char* const home = std::getenv("HOME");
  settings.judge = gate::judge_settings(from, home != nullptr ? home : "");
  settings.asking = from.ask == config::PolicyAsk::Never     ? gate::Asking::Never
                    : from.ask == config::PolicyAsk::Present ? gate::Asking::WhenSomebodyIs
                                                             : gate::Asking::Wait;
  settings.approval_expiry = from.approval_expiry;
  settings.rules_file = installation_.folders.config + "/rules.toml";
  return settings;
}

// A terminal costs us a handful of descriptors; what runs in it gets the limit the user has.
void Configuration::raise_file_limit() {
  if (::getrlimit(RLIMIT_NOFILE, &user_files_) != 0) return;
  constexpr rlim_t kEnough = 65536;
  rlimit raised = user_files_;
  raised.rlim_cur = std::max(user_files_.rlim_cur, std::min(user_files_.rlim_max, kEnough));
  ::setrlimit(RLIMIT_NOFILE, &raised);
}

}  // namespace ttyward::app
