// How a terminal comes to life: shell prepared, holder launched, connection made.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <boost/json/array.hpp>

#include "base/ids.h"
#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/masked.h"
#include "engine/terminal.h"
#include "engine/time.h"
#include "shell/mark_nonce.h"
#include "shell/piped.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

// While a shell starts the kernel is asked so often whether it is at its prompt, without our marks.
constexpr int kStartLooks = 1000;

std::optional<std::string> variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

// Where a program's name leads, links followed; empty if nowhere.
std::string real_path_of(const std::string& program, const std::vector<std::string>& environment) {
  const auto resolve = [](const std::string& path) -> std::string {
    char buffer[PATH_MAX];
    return ::access(path.c_str(), X_OK) == 0 && ::realpath(path.c_str(), buffer) != nullptr ? buffer : "";
  };
  if (program.find('/') != std::string::npos) return resolve(program);
  std::string path = variable(environment, "PATH").value_or("/usr/bin:/bin");
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    if (end > at) {
      if (std::string found = resolve(path.substr(at, end - at) + "/" + program); !found.empty())
        return found;
    }
    at = end + 1;
  }
  return {};
}

base::Result<void> write_new_file(const std::string& path, std::string_view content, uint32_t mode) {
  const base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!file) return base::fail_errno(errno, "cannot write " + path);
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = ::write(file.get(), content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot write " + path);
    at += static_cast<size_t>(n);
  }
  return {};
}

constexpr std::chrono::milliseconds kConnectAgain{200};

json::array strings(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

}  // namespace

base::Result<std::unique_ptr<Terminal>> Terminal::open(TerminalHost& host, TerminalSpec spec) {
  if (spec.id.empty()) spec.id = base::random_id('t');
  std::unique_ptr<Terminal> terminal(new Terminal(host, std::move(spec)));
  Terminal& t = *terminal;
  t.created_at_ms_ = unix_ms();
  t.secret_ = base::random_nonce();
  hold::LaunchRequest request;
  request.journals = host.journals;
  request.total_quota = host.settings.journals_total;
  request.sockets = host.sockets;
  hold::HoldSpec& hold = request.hold;
  hold.journal.id = t.spec_.id;
  hold.journal.quota = host.settings.journal_quota;
  hold.journal.overflow = host.settings.overflow;
  hold.survivors = t.spec_.keep_background ? hold::Survivors::Keep : hold::Survivors::Kill;
  if (t.spec_.temporary()) hold.spawn.session = pty::Session::Ours;
  hold.drain_time = host.settings.drain;
  hold.spawn.argv = t.spec_.argv;
  hold.spawn.cwd = t.spec_.cwd;
  hold.spawn.environment = t.spec_.environment;
  hold.spawn.provider = t.spec_.provider;
  hold.spawn.size = t.spec_.size;
  hold.spawn.umask = host.settings.umask;
  hold.spawn.limits = host.settings.limits;
  if (t.spec_.provider == pty::Provider::Pipe && t.spec_.stdin_text) {
    hold.spawn.stdin_kind = pty::StdinKind::Pipe;
  }
  auto log = TerminalLog::create(host.logs, t.spec_.id);
  if (!log) return tl::unexpected(log.error());
  t.log_ = std::move(*log);
  if (!t.spec_.temporary()) {
    if (auto prepared = t.prepare_shell(request); !prepared) {
      std::error_code ignored;
      std::filesystem::remove_all(t.private_folder_, ignored);
      static_cast<void>(TerminalLog::remove(host.logs, t.spec_.id));
      return tl::unexpected(prepared.error());
    }
  }
  if (auto logged = t.log_->append(t.spec_record()); !logged) {
    std::error_code ignored;
    std::filesystem::remove_all(t.private_folder_, ignored);
    static_cast<void>(TerminalLog::remove(host.logs, t.spec_.id));
    return tl::unexpected(logged.error());
  }
  if (!t.spec_.temporary()) t.log_->keep_room();
  if (t.spec_.temporary()) t.start_one_command();
  host.launcher.start(std::move(request), [alive = t.alive_, &t](Launcher::Launched launched) {
    if (*alive) t.launched(std::move(launched));
  });
  return terminal;
}

// A terminal for one command is busy with it from the beginning.
void Terminal::start_one_command() {
  Command& command = add_command(spec_.command_id, spec_.owner, spec_.command);
  command.facts.cwd = spec_.cwd;
  command.facts.verdict_json = spec_.verdict_json;
  command.timeout = spec_.timeout;
  command.idle_timeout = spec_.idle_timeout;
  command.facts.started_at_ms = created_at_ms_;
  command.sent = true;
  command.started_seen = true;
  current_ = &command;
}

base::Result<void> Terminal::prepare_shell(hold::LaunchRequest& request) {
  std::vector<std::string>& environment = request.hold.spawn.environment;
  shell::ShellSpec spec;
  spec.argv = spec_.argv;
  spec.real_path = spec_.argv.empty() ? "" : real_path_of(spec_.argv.front(), environment);
  spec.login = spec_.login;
  spec.private_folder = private_folder_;
  spec.nonce = shell::mark_nonce(secret_, 0);
  spec.user_zdotdir = variable(environment, "ZDOTDIR");
  spec.user_env = variable(environment, "ENV");
  spec.history = host_.settings.history;
  spec.report_environment = host_.settings.report_environment;
  identity_ = shell::identify_shell(spec.argv, spec.real_path);
  if (::mkdir(private_folder_.c_str(), 0700) != 0) {
    return base::fail_errno(errno, "cannot make the folder " + private_folder_);
  }
  if (spec_.provider == pty::Provider::Pipe) return prepare_pipes(request);
  if (spec_.integrate) {
    shell::LaunchPlan plan = shell::prepare(spec);
    identity_ = plan.identity;
    expected_ = plan.expected;
    remove_when_ready_ = std::move(plan.remove_when_ready);
    for (const shell::PlannedFile& file : plan.files) {
      std::error_code ignored;
      std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(), ignored);
      if (auto written = write_new_file(file.path, file.content, file.mode); !written) return written;
    }
    if (auto opened = open_nonce_file(); !opened) return opened;
    for (const auto& [name, value] : plan.environment) set_variable(environment, name, value);
    request.hold.spawn.argv = std::move(plan.argv);
  }
  tracker_.emplace(shell::TrackerOptions{expected_ == shell::Quality::None ? "" : secret_, expected_,
                                         spec_.cwd, false, identity_.kind});
  return {};
}

base::Result<void> Terminal::prepare_pipes(hold::LaunchRequest& request) {
  if (!shell::reads_from_pipes(identity_.kind) || identity_.runs_command) {
    return base::fail(
        base::ErrorCode::Unsupported,
        spec_.argv.front() +
            " does not run commands from a pipe one by one: use bash, dash, zsh, ksh or busybox "
            "ash there, or the provider pty");
  }
  request.hold.spawn.argv = shell::piped_argv(spec_.argv, spec_.login);
  request.hold.spawn.stdin_kind = pty::StdinKind::Pipe;
  tracker_.emplace(shell::TrackerOptions{"", shell::Quality::None, spec_.cwd, true, identity_.kind});
  return {};
}

void Terminal::launched(Launcher::Launched launched) {
  if (!launched) {
    start_error_ = launched.error();
    if (current_ != nullptr) {
      Command& command = *current_;
      command.facts.state = terminal::CommandState::FailedToStart;
      command.facts.reason = start_error_->error.message;
      command.facts.start_failure_code = start_error_->shell_code();
      command.facts.known_by.clear();
      finish(command);
    }
    ready_ = true;
    return close(State::Finished);
  }
  holder_pid_ = launched->holder;
  child_pid_ = launched->child;
  provider_ = launched->provider;
  fallback_reason_ = launched->fallback_reason;
  auto reader = journal::Reader::open_at(host_.journals_fd, spec_.id, host_.journals + "/" + spec_.id);
  if (!reader) return cannot_follow(reader.error());
  reader_ = std::move(*reader);
  const bool shell = !spec_.temporary();
  if (provider_ != spec_.provider) begin_output();
  last_output_ = Clock::now();
  if (current_ != nullptr) {
    current_->started = current_->last_output = last_output_;
    arm_times();
  }
  if (!shell || expected_ == shell::Quality::None) {
    became_ready();
  } else {
    start_timer_ = host_.loop.after(host_.settings.shell_integration_timeout, [this] {
      start_timer_ = 0;
      integration_timed_out();
    });
    look_for_prompt(kStartLooks);
  }
  connect();
  if (on_pipes() && link_) send_bytes(shell::kPipedStart, {});
  if (killing_) kill();
}

// It runs, and nobody can see what it does (no descriptors are left): it must not run on behind our back.
void Terminal::cannot_follow(const base::Error& error) {
  if (holder_pid_ > 1) ::kill(holder_pid_, SIGTERM);  // it ends all it holds
  start_error_ = pty::SpawnError{pty::SpawnFailure::Setup, error};
  if (current_ != nullptr && !current_->over) {
    current_->facts.state = terminal::CommandState::Lost;
    current_->facts.reason = "it was started and could not be followed, so it was ended: " + error.message;
    finish(*current_);
  }
  close(State::Lost);
}

void Terminal::connect() {
  auto link = HolderLink::connect(host_.loop.poller(), host_.sockets, spec_.id, *this);
  const bool no_descriptor = !link && (link.error().sys_errno == EMFILE || link.error().sys_errno == ENFILE);
  if (no_descriptor && !recovered_) return cannot_follow(link.error());
  if (no_descriptor) {
    // It was there before us and goes on: somebody will close something.
    host_.loop.after(kConnectAgain, [this, alive = alive_] {
      if (*alive) connect();
    });
    return;
  }
  if (!link) return on_gone();  // ended already: the journal has it all
  link_ = std::move(*link);
  if (interrupt_due_) send_interrupt();
  if (spec_.stdin_text && !replaying_) {
    link_->input(*spec_.stdin_text);
    link_->close_input();
  }
}

void Terminal::integration_timed_out() {
  if (ready_ || closed_) return;
  integration_failed_ = true;
  log({{"k", "no_integration"}, {"at", read_to_}});
  tracker_->integration_timed_out();
  for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
  remove_start_files();
  became_ready();
}

void Terminal::remove_start_files() {
  for (const std::string& path : std::exchange(remove_when_ready_, {})) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

void Terminal::became_ready() {
  if (ready_) return;
  ready_ = true;
  host_.loop.cancel(start_timer_);
  changed(kReady | kMeta);
}

json::object Terminal::spec_record() const {
  json::object record{{"k", "spec"},
                      {"version", 1},
                      {"id", spec_.id},
                      {"name", spec_.name},
                      {"owner", owner_name(spec_.owner)},
                      {"session", spec_.session},
                      {"task", spec_.task},
                      {"cwd", spec_.cwd},
                      {"argv", strings(masked(spec_.argv))},
                      {"cols", spec_.size.columns},
                      {"rows", spec_.size.rows},
                      {"provider", pty::provider_name(spec_.provider)},
                      {"login", spec_.login},
                      {"integrate", spec_.integrate},
                      {"pooled", spec_.pooled},
                      {"request", spec_.request},
                      {"created_at", created_at_ms_},
                      {"secret", secret_},
                      {"expected", shell::quality_name(expected_)},
                      {"remove", strings(remove_when_ready_)}};
  if (spec_.temporary()) {
    record["command_id"] = spec_.command_id;
    record["command"] = base::mask_secrets(spec_.command);
    record["timeout_ms"] = spec_.timeout.count();
    record["idle_timeout_ms"] = spec_.idle_timeout.count();
    record["verdict"] = masked_json(spec_.verdict_json);
    record["keep_background"] = spec_.keep_background;
  }
  return record;
}

TerminalSpec Terminal::spec_from(const json::object& record) {
  TerminalSpec spec;
  spec.id = text_of(record, "id");
  spec.name = text_of(record, "name");
  spec.request = text_of(record, "request");
  spec.owner = owner_named(text_of(record, "owner")).value_or(Owner::Agent);
  spec.session = text_of(record, "session");
  spec.task = text_of(record, "task");
  spec.cwd = text_of(record, "cwd");
  spec.argv = strings_of(record, "argv");
  spec.size.columns = static_cast<uint16_t>(number_or(record, "cols", 80));
  spec.size.rows = static_cast<uint16_t>(number_or(record, "rows", 24));
  spec.provider = text_of(record, "provider") == "pipe" ? pty::Provider::Pipe : pty::Provider::Pty;
  spec.login = truth_of(record, "login");
  spec.integrate = truth_of(record, "integrate", true);
  spec.pooled = truth_of(record, "pooled");
  spec.command_id = text_of(record, "command_id");
  spec.command = text_of(record, "command");
  spec.timeout = std::chrono::milliseconds(number_or(record, "timeout_ms", 0));
  spec.idle_timeout = std::chrono::milliseconds(number_or(record, "idle_timeout_ms", 0));
  spec.verdict_json = text_of(record, "verdict");
  spec.keep_background = truth_of(record, "keep_background", true);
  return spec;
}

}  // namespace ttyward::engine
