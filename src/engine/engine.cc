#include "engine/engine.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/ids.h"
#include "base/path.h"
#include "base/thread.h"
#include "base/unix_time.h"
#include "command/shell_choice.h"
#include "engine/start_files.h"
#include "hold/server.h"
#include "place/local.h"
#include "pty/environment.h"
#include "shell/command_line.h"

namespace ttyward::engine {

using base::ErrorCode;
using base::fail;

namespace {
// Ids of commands long over: a caller who lost touch for a moment must not run one of them again.
constexpr size_t kForgottenKept = 4096;
// Forgetting deletes files: off the way of those who wait for an answer, and never long at a time.
constexpr std::chrono::milliseconds kForgetPause{20};
constexpr ptrdiff_t kForgetAtOnce = 16;
}  // namespace

base::Result<std::unique_ptr<Engine>> Engine::create(io::Loop& loop, Settings settings,
                                                     EngineObserver& observer) {
  auto journals = journal::Folder::open(settings.folders.journals(), settings.journals_total);
  if (!journals) return tl::unexpected(journals.error());
  const std::string logs_path = settings.folders.state + "/terminals";
  auto logs = base::open_private_folder(logs_path, base::IfMissing::Create);
  if (!logs) return tl::unexpected(logs.error());
  const std::string sockets = settings.folders.holders();
  if (auto made = base::open_private_folder(sockets, base::IfMissing::Create); !made) {
    return tl::unexpected(made.error());
  }
  return std::unique_ptr<Engine>(new Engine(loop, std::move(settings), observer, std::move(*journals),
                                            std::move(*logs), logs_path, sockets));
}

Engine::Engine(io::Loop& loop, Settings settings, EngineObserver& observer,
               std::shared_ptr<journal::Folder> journals, base::UniqueFd logs, std::string logs_path,
               std::string sockets)
    : loop_(loop),
      settings_(std::move(settings)),
      observer_(observer),
      journals_(std::move(journals)),
      logs_(std::move(logs)),
      ready_logs_(logs_.get()),
      launcher_(loop, settings_.hold_program, 2),
      slices_(loop),
      host_{loop,
            slices_,
            launcher_,
            place::local(),
            settings_,
            logs_.get(),
            std::move(logs_path),
            std::move(sockets),
            journals_->path(),
            journals_->fd(),
            {},
            {},
            {}} {
  host_.on_record = [this](const Terminal& terminal, const Command& command) {
    observer_.on_record(terminal, command);
  };
  host_.on_quality = [this](const Terminal& terminal, shell::Quality from, shell::Quality to,
                            const std::string& reason) { observer_.on_quality(terminal, from, to, reason); };
  host_.on_command_forgotten = [this](const std::string& id) { note_forgotten(id); };
  hold::remove_prepared_sockets(host_.sockets);
  launcher_.prepare_for(holder_folders());
}

hold::HolderFolders Engine::holder_folders() const {
  return {host_.journals, settings_.journals_total, host_.sockets};
}

Engine::~Engine() {
  *alive_ = false;
}

void Engine::set_settings(Settings settings) {
  const bool more_journal = settings.journal_quota > settings_.journal_quota;
  settings_ = std::move(settings);
  pool_model_.reset();
  launcher_.prepare_for(holder_folders());
  if (!more_journal) return;
  for (const auto& terminal : terminals_) terminal->raise_quota(settings_.journal_quota);
}

// Reading journals back is work for all processors; what it needs of us is not changed meanwhile.
std::vector<base::Result<std::unique_ptr<Terminal>>> Engine::read_back(const std::vector<std::string>& ids) {
  std::vector<base::Result<std::unique_ptr<Terminal>>> found(ids.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < ids.size(); i = next++) found[i] = Terminal::recover(host_, ids[i]);
  };
  std::vector<std::thread> others;
  const size_t most = std::min<size_t>(std::thread::hardware_concurrency(), ids.size());
  for (size_t i = 1; i < most; i++) {
    auto other = base::start_thread(work);
    if (!other) break;  // those there are do it all
    others.push_back(std::move(*other));
  }
  work();
  for (std::thread& other : others) other.join();
  return found;
}

Recovered Engine::recover() {
  const auto start = io::Loop::Clock::now();
  Recovered recovered;
  load_registry();
  auto ids = TerminalLog::list(logs_.get());
  if (!ids) {
    recovered.problems.push_back(ids.error().message);
    return recovered;
  }
  for (auto& terminal : read_back(*ids)) {
    if (!terminal) {
      recovered.problems.push_back(terminal.error().message);
      continue;
    }
    Terminal& t = *add(std::move(*terminal));
    t.settle();
    if (t.spec().pooled) {
      t.kill();  // it has no owner, and how it was started is no longer known
      continue;
    }
    t.live() ? recovered.terminals++ : recovered.ended++;
  }
  std::sort(terminals_.begin(), terminals_.end(),
            [](const auto& a, const auto& b) { return a->created_at_ms() < b->created_at_ms(); });
  forget_old();
  recovered.took = std::chrono::duration_cast<std::chrono::milliseconds>(io::Loop::Clock::now() - start);
  return recovered;
}

Terminal* Engine::add(std::unique_ptr<Terminal> terminal) {
  terminal->watch(*this);
  terminals_.push_back(std::move(terminal));
  return terminals_.back().get();
}

base::Result<std::string> Engine::checked_cwd(const std::string& cwd) const {
  if (cwd.empty()) {
    for (const std::string& entry : settings_.our_environment) {
      if (entry.starts_with("HOME=")) return entry.substr(5);
    }
    return std::string("/");
  }
  if (cwd.front() != '/') {
    return fail(ErrorCode::InvalidArgument, "cwd must be an absolute path, not '" + cwd + "'");
  }
  const auto found =
      place::at_once<base::Result<place::FileKind>>([&](auto then) { host_.place.file(cwd, then); });
  // A far place answers later, or by failing to start.
  if (found && !*found) return fail(found->error().code, "cannot run in " + found->error().message);
  if (found && **found != place::FileKind::Folder)
    return fail(ErrorCode::InvalidArgument, cwd + " is not a directory");
  return base::normalize_path(cwd);
}

base::Result<std::vector<std::string>> Engine::environment(const std::vector<std::string>& requested,
                                                           const std::vector<std::string>& callers,
                                                           Owner owner, pty::Provider provider) const {
  pty::EnvironmentRequest request;
  request.ours = callers.empty() ? settings_.our_environment : callers;
  request.inherit = settings_.inherit;
  request.recipient = owner == Owner::Agent ? pty::Recipient::Agent : pty::Recipient::Person;
  request.requested = settings_.set_environment;
  request.requested.insert(request.requested.end(), requested.begin(), requested.end());
  request.also_inherit = settings_.also_inherit;
  request.never_inherit = settings_.never_inherit;
  request.path_first = settings_.path_first;
  request.terminal =
      provider == pty::Provider::Pty ? pty::TerminalProfile::Colour : pty::TerminalProfile::Dumb;
  request.version = settings_.version;
  pty::Environment made = pty::build_environment(request);
  if (!made.refused.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "variable " + made.refused.front().name + " is refused: " + made.refused.front().reason);
  }
  for (std::string& entry : made.variables) {
    if (!entry.starts_with("PATH=")) continue;
    for (const PathContribution& path : paths_) {
      entry = path.prepend ? "PATH=" + path.path + ":" + entry.substr(5) : entry + ":" + path.path;
    }
  }
  return std::move(made.variables);
}

base::Result<void> Engine::check_name(const std::string& name, const Terminal* of) const {
  if (name.empty()) return {};
  if (name.size() > 64 ||
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c == 127; })) {
    return fail(ErrorCode::InvalidArgument, "a name must have at most 64 characters and no blanks");
  }
  for (const auto& known : terminals_) {
    if (known.get() != of && known->live() && known->spec().name == name) {
      return fail(ErrorCode::AlreadyExists, "terminal " + known->id() + " is called '" + name +
                                                "' already: take another name, or rename that one first");
    }
  }
  return {};
}

base::Result<void> Engine::rename(Terminal& terminal, const std::string& name) {
  if (auto checked = check_name(name, &terminal); !checked) return checked;
  terminal.set_name(name);
  return {};
}

Terminal* Engine::opened_for(const std::string& request) const {
  if (request.empty()) return nullptr;
  for (const auto& terminal : terminals_) {
    if (terminal->spec().request == request) return terminal.get();
  }
  return nullptr;
}

base::Result<Terminal*> Engine::open(OpenRequest request) {
  if (Terminal* known = opened_for(request.request)) return known;
  TerminalSpec spec;
  spec.request = request.request;
  spec.name = request.name;
  spec.owner = request.owner;
  spec.session = request.session;
  spec.task = request.task;
  auto cwd = checked_cwd(request.cwd);
  if (!cwd) return tl::unexpected(cwd.error());
  spec.cwd = std::move(*cwd);
  spec.argv = request.shell.empty() ? settings_.shell : std::move(request.shell);
  spec.login = request.login;
  spec.provider = request.provider;
  spec.size = request.size.value_or(pty::WindowSize{settings_.cols, settings_.rows, 0, 0});
  const bool on_pipes = spec.provider == pty::Provider::Pipe;
  spec.integrate = settings_.shell_integration && !on_pipes;
  if (auto checked = check_name(spec.name, nullptr); !checked) return tl::unexpected(checked.error());
  auto variables = environment(request.environment, request.callers, request.owner, request.provider);
  if (!variables) return tl::unexpected(variables.error());
  spec.environment = std::move(*variables);
  spec.environment.insert(spec.environment.end(), settings_.extra_shell_environment.begin(),
                          settings_.extra_shell_environment.end());
  if (live_terminals() >= settings_.max_terminals) {
    return fail(ErrorCode::Exhausted,
                "there are " + std::to_string(settings_.max_terminals) +
                    " terminals, which is the limit: end one (ttyward kill) or raise limits.terminals");
  }
  if (Terminal* pooled = on_pipes ? nullptr : take_from_pool(spec)) {
    pooled->assign_from_pool(spec);
    observer_.on_terminal_opened(*pooled);
    fill_pool();
    return pooled;
  }
  auto opened = start_shell(spec);
  if (!opened) return opened;
  observer_.on_terminal_opened(**opened);
  if (on_pipes) return opened;  // starts at once; there is nothing to do ahead
  // Whoever opens one often opens another like it.
  spec.request.clear();
  spec.name.clear();
  spec.task.clear();
  spec.session.clear();
  spec.owner = Owner::System;
  spec.pooled = true;
  if (may_start_ahead(spec)) {
    pool_model_ = std::move(spec);
    fill_pool();
  }
  return opened;
}

base::Result<Terminal*> Engine::start_shell(TerminalSpec spec) {
  spec.id = base::random_id('t');
  auto opened = Terminal::open(host_, std::move(spec));
  if (!opened) return tl::unexpected(opened.error());
  return add(std::move(*opened));
}

Terminal* Engine::take_from_pool(const TerminalSpec& spec) {
  for (const auto& terminal : terminals_) {
    const TerminalSpec& have = terminal->spec();
    if (have.pooled && terminal->live() && terminal->ready() && !terminal->busy() && have.cwd == spec.cwd &&
        terminal->cwd() == spec.cwd && have.argv == spec.argv && have.login == spec.login &&
        have.size == spec.size && have.environment == spec.environment) {
      return terminal.get();
    }
  }
  return nullptr;
}

// It would run a person's start-up files at a moment nobody chose.
bool Engine::may_start_ahead(const TerminalSpec& spec) const {
  if (settings_.pool == 0 || settings_.pool_start_files == PoolStartFiles::Spare) return false;
  return settings_.pool_start_files == PoolStartFiles::Run ||
         !start_files_take_locks(spec.argv, spec.environment);
}

// One at a time, when the loop has nothing better to do.
void Engine::fill_pool() {
  if (pool_due_ || !pool_model_ || settings_.pool == 0 || ending_) return;
  pool_due_ = true;
  loop_.after(std::chrono::milliseconds(50), [this, alive = alive_] {
    if (!*alive) return;
    pool_due_ = false;
    if (!pool_model_ || ending_) return;
    // A user's start-up files may take long, or lock each other out: never two at once.
    if (std::any_of(terminals_.begin(), terminals_.end(),
                    [](const auto& terminal) { return terminal->live() && !terminal->ready(); })) {
      return fill_pool();
    }
    size_t have = 0;
    for (const auto& terminal : terminals_) {
      const TerminalSpec& spec = terminal->spec();
      if (!spec.pooled || !terminal->live()) continue;
      if (spec.cwd == pool_model_->cwd && spec.argv == pool_model_->argv &&
          spec.environment == pool_model_->environment) {
        have++;
      } else {
        terminal->kill();  // of a directory nobody opens terminals in any more
      }
    }
    if (have >= settings_.pool) return;
    if (start_shell(*pool_model_)) fill_pool();
  });
}

base::Result<Engine::Acquired> Engine::acquire(const std::string& cwd, const std::string& task, Owner owner,
                                               const std::string& session, pty::Provider provider,
                                               std::vector<std::string> callers) {
  auto wanted = checked_cwd(cwd);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto usable = [&](const Terminal& terminal) {
    return terminal.live() && !terminal.busy() && !terminal.spec().temporary() && !terminal.spec().pooled &&
           terminal.spec().owner == owner && terminal.spec().session == session && !terminal.loan() &&
           terminal.spec().provider == provider && !terminal.lease() && !terminal.cwd().empty() &&
           base::same_path(terminal.cwd(), *wanted);
  };
  Terminal* found = nullptr;
  for (const auto& terminal : terminals_) {
    if (!usable(*terminal)) continue;
    if (!task.empty() && terminal->spec().task == task) {
      found = terminal.get();
      break;
    }
    if (found == nullptr && !terminal->promised()) found = terminal.get();
  }
  if (found != nullptr) {
    found->set_task(task);
    found->promise();
    return Acquired{found, false};
  }
  const auto of_caller = std::count_if(terminals_.begin(), terminals_.end(), [&](const auto& terminal) {
    return terminal->live() && !terminal->spec().temporary() && !terminal->spec().pooled &&
           terminal->spec().owner == owner && terminal->spec().session == session;
  });
  if (settings_.pool_limit > 0 && static_cast<size_t>(of_caller) >= settings_.pool_limit) {
    return fail(ErrorCode::Exhausted, "there are " + std::to_string(of_caller) +
                                          " terminals already, and none is free in " + *wanted +
                                          ": end one (ttyward kill) or raise pool.limit");
  }
  OpenRequest request;
  request.cwd = *wanted;
  request.task = task;
  request.owner = owner;
  request.session = session;
  request.provider = provider;
  request.callers = std::move(callers);
  auto opened = open(std::move(request));
  if (!opened) return tl::unexpected(opened.error());
  (*opened)->promise();
  return Acquired{*opened, true};
}

std::vector<Terminal*> Engine::release(const std::string& task,
                                       const std::function<bool(const Terminal&)>& may) {
  std::vector<Terminal*> released;
  if (task.empty()) return released;
  for (const auto& terminal : terminals_) {
    if (terminal->spec().task != task || !may(*terminal)) continue;
    terminal->set_task("");
    terminal->release_promise();
    released.push_back(terminal.get());
  }
  return released;
}

base::Result<Terminal*> Engine::run(RunRequest request) {
  if (live_commands() >= settings_.max_temporary) {
    return fail(ErrorCode::Exhausted,
                std::to_string(settings_.max_temporary) +
                    " commands are running already, as many as limits.commands allows: wait for "
                    "some of them, or raise it");
  }
  TerminalSpec spec;
  spec.id = base::random_id('t');
  spec.owner = request.owner;
  spec.session = request.session;
  spec.task = request.task;
  auto cwd = checked_cwd(request.cwd);
  if (!cwd) return tl::unexpected(cwd.error());
  spec.cwd = std::move(*cwd);
  spec.provider = request.provider;
  spec.size = request.size.value_or(pty::WindowSize{settings_.cols, settings_.rows, 0, 0});
  spec.command_id = request.id.empty() ? base::random_id('c') : std::move(request.id);
  spec.command = request.command;
  spec.description = std::move(request.description);
  spec.timeout = request.timeout;
  spec.idle_timeout = request.idle_timeout;
  spec.stdin_text = std::move(request.stdin_text);
  spec.keep_background = request.keep_background;
  spec.verdict_json = std::move(request.verdict_json);
  spec.argv = std::move(request.argv);
  if (spec.argv.empty()) {
    if (auto checked = shell::check_command_text(request.command); !checked) {
      return tl::unexpected(checked.error());
    }
    auto shell = command::choose_shell();
    if (!shell) return tl::unexpected(shell.error());
    spec.argv = pty::shell_argv(std::move(*shell), request.command);
  } else if (spec.command.empty()) {
    for (const std::string& word : spec.argv) spec.command += (spec.command.empty() ? "" : " ") + word;
  }
  auto variables = environment(request.environment, request.callers, request.owner, request.provider);
  if (!variables) return tl::unexpected(variables.error());
  spec.environment = std::move(*variables);
  auto opened = Terminal::open(host_, std::move(spec), ready_logs_.take());
  if (!opened) return tl::unexpected(opened.error());
  Terminal* terminal = add(std::move(*opened));
  sweeper_.later([this] { ready_logs_.fill(); });
  observer_.on_terminal_opened(*terminal);
  return terminal;
}

base::Result<Engine::Submitted> Engine::submit(Terminal& terminal, CommandRequest request) {
  const CommandRequest kept = request;
  auto submitted = terminal.submit(std::move(request));
  if (submitted) return Submitted{&terminal, *submitted};
  if (submitted.error().code != ErrorCode::Unsupported) return tl::unexpected(submitted.error());
  // The light way: no state of the shell, but a true exit code.
  RunRequest light;
  light.id = kept.id;
  light.command = kept.text;
  light.description = kept.description;
  light.cwd = kept.cwd.empty() ? terminal.cwd() : kept.cwd;
  light.callers = terminal.spec().environment;
  light.provider = pty::Provider::Pipe;
  light.timeout = kept.timeout;
  light.idle_timeout = kept.idle_timeout;
  light.task = terminal.spec().task;
  light.owner = kept.by;
  light.session = kept.session;
  light.verdict_json = kept.verdict_json;
  auto ran = run(std::move(light));
  if (!ran) return tl::unexpected(ran.error());
  Command* command = (*ran)->commands().back().get();
  command->facts.reason =
      submitted.error().message + "; the command ran on its own instead, in the same folder";
  return Submitted{*ran, command};
}

base::Result<Terminal*> Engine::find(std::string_view name) {
  Terminal* found = nullptr;
  bool several = false;
  for (const auto& terminal : terminals_) {
    if (terminal->id() == name) return terminal.get();
  }
  // Names are unique, but after a restart two terminals may have the same one: then neither is chosen.
  for (const auto& terminal : terminals_) {
    if (!terminal->live() || terminal->spec().name.empty() || terminal->spec().name != name) continue;
    if (found != nullptr) {
      return fail(ErrorCode::InvalidArgument, "terminals " + found->id() + " and " + terminal->id() +
                                                  " are both called '" + std::string(name) +
                                                  "': use the id of one, or rename one of them");
    }
    found = terminal.get();
  }
  if (found != nullptr) return found;
  for (const auto& terminal : terminals_) {
    if (name.size() < 2 || terminal->spec().pooled || !terminal->id().starts_with(name)) continue;
    several = found != nullptr;
    found = terminal.get();
  }
  if (several) {
    return fail(ErrorCode::InvalidArgument,
                "several terminals begin with '" + std::string(name) + "': write more of the id");
  }
  if (found != nullptr) return found;
  return fail(ErrorCode::NotFound, "Terminal with ID " + std::string(name) +
                                       " not found: list the terminals with ttyward ls, or open one");
}

base::Result<Engine::Submitted> Engine::find_command(std::string_view id) {
  for (const auto& terminal : terminals_) {
    if (Command* command = terminal->find(id)) return Submitted{terminal.get(), command};
  }
  return fail(ErrorCode::NotFound,
              "Command with ID " + std::string(id) + " not found: it ended too long ago, or never existed");
}

bool Engine::forgot_command(std::string_view id) const {
  return std::find(forgotten_commands_.begin(), forgotten_commands_.end(), id) != forgotten_commands_.end();
}

void Engine::note_forgotten(const std::string& command_id) {
  forgotten_commands_.push_back(command_id);
  if (forgotten_commands_.size() > kForgottenKept) forgotten_commands_.pop_front();
}

std::vector<Terminal*> Engine::terminals() const {
  std::vector<Terminal*> list;
  for (const auto& terminal : terminals_) {
    if (!terminal->spec().pooled) list.push_back(terminal.get());
  }
  return list;
}

size_t Engine::live_terminals() const {
  return static_cast<size_t>(std::count_if(terminals_.begin(), terminals_.end(), [](const auto& terminal) {
    return terminal->live() && !terminal->spec().temporary() && !terminal->spec().pooled;
  }));
}

size_t Engine::live_commands() const {
  return static_cast<size_t>(std::count_if(terminals_.begin(), terminals_.end(), [](const auto& terminal) {
    return terminal->live() && terminal->spec().temporary();
  }));
}

bool Engine::holds_anything() const {
  return std::any_of(terminals_.begin(), terminals_.end(), [](const auto& terminal) {
    return !terminal->spec().pooled && (terminal->live() || terminal->holder_alive());
  });
}

size_t Engine::pooled() const {
  return static_cast<size_t>(std::count_if(terminals_.begin(), terminals_.end(), [](const auto& terminal) {
    return terminal->spec().pooled && terminal->live() && terminal->ready();
  }));
}

void Engine::contribute_path(PathContribution contribution) {
  remove_path(contribution.contributor);
  paths_.push_back(std::move(contribution));
  pool_model_.reset();
  save_registry();
}

bool Engine::remove_path(const std::string& contributor) {
  pool_model_.reset();
  const bool removed = std::erase_if(paths_, [&](const PathContribution& path) {
                         return path.contributor == contributor;
                       }) > 0;
  if (removed) save_registry();
  return removed;
}

base::Result<void> Engine::associate(Terminal& terminal, const std::string& session,
                                     const std::string& quality) {
  if (quality != "none" && quality != "basic" && quality != "rich") {
    return fail(ErrorCode::InvalidArgument, "quality is none, basic or rich, not '" + quality + "'");
  }
  const auto [begin, end] = associations_.equal_range(terminal.id());
  for (auto at = begin; at != end; ++at) {
    if (at->second.session == session) {
      at->second.quality = quality;
      save_registry();
      return {};
    }
  }
  associations_.emplace(terminal.id(), Association{session, quality});
  save_registry();
  return {};
}

std::vector<Engine::Association> Engine::sessions_of(const Terminal& terminal) const {
  std::vector<Association> list;
  const auto [begin, end] = associations_.equal_range(terminal.id());
  for (auto at = begin; at != end; ++at) list.push_back(at->second);
  return list;
}

std::vector<Terminal*> Engine::of_session(const std::string& session) const {
  std::vector<Terminal*> list;
  for (const auto& terminal : terminals_) {
    const bool task = terminal->spec().task == session && !session.empty();
    const auto sessions = sessions_of(*terminal);
    if (task || std::any_of(sessions.begin(), sessions.end(),
                            [&](const Association& one) { return one.session == session; })) {
      list.push_back(terminal.get());
    }
  }
  return list;
}

// A holder outlives its terminal as long as something of it runs. A number may have been given away by then:
// whoever trusts a terminal because of this has to ask whether it lives.
const Terminal* Engine::terminal_led_by(pid_t pid) const {
  for (const auto& terminal : terminals_) {
    if (terminal->holder_pid() == pid || terminal->pid() == pid) return terminal.get();
  }
  return nullptr;
}

const Terminal* Engine::terminal_of_process(pid_t pid) const {
  constexpr int kDeepest = 256;
  for (int i = 0; i < kDeepest && pid > 1; i++) {
    if (const Terminal* led = terminal_led_by(pid)) return led;
    // Whoever calls us is a process of this machine.
    const auto process = place::process_now(place::local(), pid);
    if (!process) return nullptr;
    pid = process->stat.parent;
  }
  return nullptr;
}

void Engine::on_change(Terminal& terminal, uint32_t changes) {
  observer_.on_terminal_change(terminal, changes);
  if ((changes & kClosed) != 0 && associations_.erase(terminal.id()) > 0) save_registry();
  if (!terminal.live()) forget_soon();
  if ((changes & (kCommandFinished | kClosed)) != 0) trim_soon();
}

// Results of a burst are gone, and the allocator keeps their memory for more of them: it goes back to the
// system once there was a pause to do it in.
void Engine::trim_soon() {
  constexpr std::chrono::seconds kTrimPause{2};
  if (std::exchange(trim_due_, true)) return;
  loop_.after(kTrimPause, [this, alive = alive_] {
    if (!*alive) return;
    trim_due_ = false;
    ::malloc_trim(0);
  });
}

void Engine::forget_soon() {
  if (std::exchange(forget_due_, true)) return;
  loop_.after(kForgetPause, [this, alive = alive_] {
    if (!*alive) return;
    forget_due_ = false;
    forget_old();
  });
}

// Those that ended longest ago go; one whose background processes live stays, and one of whose end somebody
// is still to be told.
void Engine::forget_old() {
  std::vector<const Terminal*> ended;
  for (const auto& terminal : terminals_) {
    if (!terminal->live() && !terminal->holder_alive()) ended.push_back(terminal.get());
  }
  std::stable_sort(ended.begin(), ended.end(), [](const Terminal* a, const Terminal* b) {
    return a->closed_at_ms() < b->closed_at_ms();
  });
  std::vector<std::string> old;
  size_t kept = 0;
  for (auto at = ended.rbegin(); at != ended.rend(); ++at) {
    const Terminal& terminal = **at;
    const bool too_many = terminal.spec().pooled || ++kept > settings_.finished_kept;
    if (too_many && !terminal.watched_beside(*this)) old.push_back(terminal.id());
  }
  if (std::ssize(old) > kForgetAtOnce) {
    old.erase(old.begin(), old.end() - kForgetAtOnce);  // those that ended first
    forget_soon();
  }
  for (const std::string& id : old) forget(id);
}

void Engine::forget(const std::string& id) {
  const auto at = std::find_if(terminals_.begin(), terminals_.end(),
                               [&](const auto& terminal) { return terminal->id() == id; });
  if (at == terminals_.end()) return;
  observer_.on_terminal_forgotten(**at);
  for (const auto& command : (*at)->commands()) note_forgotten(command->facts.command_id);
  const std::unique_ptr<Terminal> gone = std::move(*at);
  terminals_.erase(at);
  if (associations_.erase(id) > 0) save_registry();
  sweeper_.later([logs = logs_.get(), journals = journals_, id] {
    static_cast<void>(TerminalLog::remove(logs, id));
    ::unlinkat(logs, (id + ".replied").c_str(), 0);
    ::unlinkat(logs, statuses_file(id).c_str(), 0);
    static_cast<void>(journal::remove_journal(journals->fd(), id));
  });
}

void Engine::kill_all(std::function<void()> done) {
  bring_down(Which::All, std::move(done));
}

void Engine::end_pool(std::function<void()> done) {
  bring_down(Which::Pooled, std::move(done));
}

void Engine::bring_down(Which which, std::function<void()> done) {
  ending_ = true;
  const auto meant = [which](const Terminal& terminal) {
    return which == Which::All || terminal.spec().pooled;
  };
  for (const auto& terminal : terminals_) {
    if (!meant(*terminal) || !(terminal->live() || terminal->holder_alive())) continue;
    terminal->kill(which == Which::Pooled ? Terminal::Force::Yes : Terminal::Force::No);
  }
  // Bounded: what the kernel does not let die is not waited for.
  struct Check {
    Engine* engine;
    std::shared_ptr<bool> alive;
    std::function<void()> done;
    std::function<bool(const Terminal&)> meant;
    int rounds = 0;
    static void run(const std::shared_ptr<Check>& self) {
      if (!*self->alive) return;
      // One that is just being launched is killed when its holder is there.
      const bool left = std::any_of(
          self->engine->terminals_.begin(), self->engine->terminals_.end(), [&](const auto& terminal) {
            return self->meant(*terminal) && (terminal->holder_alive() || terminal->launching());
          });
      if (!left || ++self->rounds > 400) return self->done();
      self->engine->loop_.after(std::chrono::milliseconds(25), [self] { run(self); });
    }
  };
  Check::run(std::make_shared<Check>(Check{this, alive_, std::move(done), meant}));
}

}  // namespace ttyward::engine
