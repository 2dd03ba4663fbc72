#include "engine/engine.h"

#include <algorithm>

#include "base/ids.h"
#include "base/path.h"
#include "engine/recovery.h"
#include "hold/server.h"
#include "place/local.h"

namespace ttyward::engine {

using base::ErrorCode;
using base::fail;

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
      places_(loop, {settings_.hold_program, settings_.folders.sockets() + "/links",
                     settings_.folders.state + "/links"}),
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
            {},
            &places_},
      registry_(settings_.folders.state + "/registry.json"),
      specs_(settings_, registry_, host_.place, places_),
      retention_(loop, settings_, list_, journals_, logs_.get(), *this,
                 [this](const Terminal& terminal) {
                   observer_.on_terminal_forgotten(terminal);
                   registry_.forget_terminal(terminal.id());
                 }),
      pool_(loop, settings_, host_.place, list_,
            [this](TerminalSpec spec) { return start(std::move(spec)); }) {
  host_.on_record = [this](const Terminal& terminal, const Command& command) {
    observer_.on_record(terminal, command);
  };
  host_.on_quality = [this](const Terminal& terminal, shell::Quality from, shell::Quality to,
                            const std::string& reason) { observer_.on_quality(terminal, from, to, reason); };
  host_.on_command_forgotten = [this](const std::string& id) { retention_.note_forgotten(id); };
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
  pool_.forget_model();
  launcher_.prepare_for(holder_folders());
  if (!more_journal) return;
  for (const auto& terminal : list_) terminal->raise_quota(settings_.journal_quota);
}

Recovered Engine::recover() {
  const auto start = io::Loop::Clock::now();
  Recovered recovered;
  registry_.load();
  auto left = read_back_terminals(host_);
  if (!left) {
    recovered.problems.push_back(left.error().message);
    return recovered;
  }
  for (auto& terminal : *left) {
    if (!terminal) {
      recovered.problems.push_back(terminal.error().message);
      continue;
    }
    if (*terminal == nullptr) continue;
    Terminal& t = *add(std::move(*terminal));
    t.settle();
    if (t.spec().pooled) {
      t.kill();  // it has no owner, and how it was started is no longer known
      continue;
    }
    t.live() ? recovered.terminals++ : recovered.ended++;
  }
  list_.sort_by_age();
  retention_.forget_old();
  recovered.took = std::chrono::duration_cast<std::chrono::milliseconds>(io::Loop::Clock::now() - start);
  return recovered;
}

Terminal* Engine::add(std::unique_ptr<Terminal> terminal) {
  terminal->watch(*this);
  return list_.add(std::move(terminal));
}

base::Result<void> Engine::rename(Terminal& terminal, const std::string& name) {
  if (auto checked = list_.check_name(name, &terminal); !checked) return checked;
  terminal.set_name(name);
  return {};
}

base::Result<Terminal*> Engine::start(TerminalSpec spec) {
  spec.id = base::random_id('t');
  auto opened = Terminal::open(host_, std::move(spec), ready_logs_.take());
  if (!opened) return tl::unexpected(opened.error());
  log_maker_.later([this] { ready_logs_.fill(); });
  return add(std::move(*opened));
}

base::Result<Terminal*> Engine::open(OpenRequest request) {
  if (Terminal* known = opened_for(request.request)) return known;
  auto spec = specs_.shell(std::move(request));
  if (!spec) return tl::unexpected(spec.error());
  if (auto checked = list_.check_name(spec->name, nullptr); !checked) return tl::unexpected(checked.error());
  if (live_terminals() >= settings_.max_terminals) {
    return fail(ErrorCode::Exhausted,
                "there are " + std::to_string(settings_.max_terminals) +
                    " terminals, which is the limit: end one (ttyward kill) or raise limits.terminals");
  }
  // One on pipes starts at once: there is nothing to do ahead. A sandbox is made for whoever asks for it.
  const bool alone = spec->provider == pty::Provider::Pipe || spec->plan || !spec->place.empty();
  if (Terminal* pooled = alone ? nullptr : pool_.take(*spec)) {
    pooled->assign_from_pool(*spec);
    observer_.on_terminal_opened(*pooled);
    return pooled;
  }
  auto opened = start(*spec);
  if (!opened) return opened;
  observer_.on_terminal_opened(**opened);
  if (!alone) pool_.expect(std::move(*spec));
  return opened;
}

base::Result<Engine::Acquired> Engine::acquire(const std::string& cwd, const std::string& task, Owner owner,
                                               const std::string& session, pty::Provider provider,
                                               std::vector<std::string> callers,
                                               std::optional<sandbox::Plan> plan,
                                               terminal::SandboxReport report) {
  auto wanted = specs_.checked_cwd(cwd);
  if (!wanted) return tl::unexpected(wanted.error());
  const auto usable = [&](const Terminal& terminal) {
    return terminal.live() && !terminal.busy() && !terminal.spec().temporary() && !terminal.spec().pooled &&
           terminal.spec().owner == owner && terminal.spec().session == session && !terminal.loan() &&
           terminal.spec().place.empty() && terminal.spec().provider == provider && !terminal.lease() &&
           !terminal.cwd().empty() && terminal.spec().sandbox.profile == report.profile &&
           terminal.spec().sandbox.workspace == report.workspace && base::same_path(terminal.cwd(), *wanted);
  };
  Terminal* found = nullptr;
  for (const auto& terminal : list_) {
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
  const auto of_caller = std::count_if(list_.begin(), list_.end(), [&](const auto& terminal) {
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
  request.sandbox = std::move(plan);
  request.sandbox_report = std::move(report);
  auto opened = open(std::move(request));
  if (!opened) return tl::unexpected(opened.error());
  (*opened)->promise();
  return Acquired{*opened, true};
}

bool Engine::take_back_unstarted(Terminal& terminal) {
  return terminal.spec().temporary() && terminal.never_started() && retention_.forget_now(terminal);
}

std::vector<Terminal*> Engine::release(const std::string& task,
                                       const std::function<bool(const Terminal&)>& may) {
  std::vector<Terminal*> released;
  if (task.empty()) return released;
  for (const auto& terminal : list_) {
    if (terminal->spec().task != task || !may(*terminal)) continue;
    terminal->set_task("");
    terminal->release_promise();
    released.push_back(terminal.get());
  }
  return released;
}

base::Result<Terminal*> Engine::run(RunRequest request) {
  if (list_.live_commands() >= settings_.max_temporary) {
    return fail(ErrorCode::Exhausted,
                std::to_string(settings_.max_temporary) +
                    " commands are running already, as many as limits.commands allows: wait for "
                    "some of them, or raise it");
  }
  auto spec = specs_.command(std::move(request));
  if (!spec) return tl::unexpected(spec.error());
  auto started = start(std::move(*spec));
  if (started) observer_.on_terminal_opened(**started);
  return started;
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
  light.place = terminal.spec().place;
  light.provider = pty::Provider::Pipe;
  light.timeout = kept.timeout;
  light.idle_timeout = kept.idle_timeout;
  light.task = terminal.spec().task;
  light.owner = kept.by;
  light.session = kept.session;
  light.verdict_json = kept.verdict_json;
  light.sandbox = terminal.spec().plan;
  light.sandbox_report = terminal.spec().sandbox;
  if (!light.sandbox && !light.sandbox_report.profile.empty()) {
    return fail(ErrorCode::Unavailable,
                submitted.error().message +
                    ", and its sandbox was made by a daemon that is gone: open another "
                    "terminal with the sandbox " +
                    light.sandbox_report.profile);
  }
  auto ran = run(std::move(light));
  if (!ran) return tl::unexpected(ran.error());
  Command* command = (*ran)->commands().back().get();
  command->facts.reason =
      submitted.error().message + "; the command ran on its own instead, in the same folder";
  return Submitted{*ran, command};
}

void Engine::contribute_path(PathContribution contribution) {
  pool_.forget_model();
  registry_.contribute_path(std::move(contribution));
}

bool Engine::remove_path(const std::string& contributor) {
  pool_.forget_model();
  return registry_.remove_path(contributor);
}

base::Result<void> Engine::associate(Terminal& terminal, const std::string& session,
                                     const std::string& quality) {
  return registry_.associate(terminal.id(), session, quality);
}

std::vector<Registry::Association> Engine::sessions_of(const Terminal& terminal) const {
  return registry_.sessions_of(terminal.id());
}

std::vector<Terminal*> Engine::of_session(const std::string& session) const {
  std::vector<Terminal*> found;
  for (const auto& terminal : list_) {
    const bool task = terminal->spec().task == session && !session.empty();
    if (task || registry_.used_by(terminal->id(), session)) found.push_back(terminal.get());
  }
  return found;
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
  if ((changes & kClosed) != 0) registry_.forget_terminal(terminal.id());
  if (!terminal.live()) retention_.forget_soon();
  if ((changes & (kCommandFinished | kClosed)) != 0) retention_.trim_soon();
}

void Engine::kill_all(std::function<void()> done) {
  bring_down(Which::All, std::move(done));
}

void Engine::end_pool(std::function<void()> done) {
  bring_down(Which::Pooled, std::move(done));
}

void Engine::bring_down(Which which, std::function<void()> done) {
  pool_.stop();
  const auto meant = [which](const Terminal& terminal) {
    return which == Which::All || terminal.spec().pooled;
  };
  for (const auto& terminal : list_) {
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
      const bool left =
          std::any_of(self->engine->list_.begin(), self->engine->list_.end(), [&](const auto& terminal) {
            return self->meant(*terminal) && (terminal->holder_alive() || terminal->launching());
          });
      if (!left || ++self->rounds > 400) return self->done();
      self->engine->loop_.after(std::chrono::milliseconds(25), [self] { run(self); });
    }
  };
  Check::run(std::make_shared<Check>(Check{this, alive_, std::move(done), meant}));
}

}  // namespace ttyward::engine
