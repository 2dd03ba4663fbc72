// How a terminal comes to life: opened, or found again.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>
#include <utility>

#include "base/ids.h"
#include "base/unix_time.h"
#include "command/pipe_report.h"
#include "engine/json_fields.h"
#include "engine/shell_start.h"
#include "engine/terminal.h"
#include "journal/folder.h"
#include "pty/input_file.h"
#include "shell/piped.h"

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kConnectAgain{200};
// A link that was just started has its terminals at once.
constexpr int kMostReaches = 3;

ModelOptions model_options(const TerminalHost& host) {
  ModelOptions options;
  options.transcript.memory = 1 << 20;
  options.transcript.quota = host.settings.journal_quota;
  options.transcript.spill_folder = host.journals;
  options.records = host.settings.records;
  options.hold_ends = host.settings.command_delay.count() > 0;
  return options;
}

std::string private_folder(const TerminalHost& host, const TerminalSpec& spec) {
  return spec.place.empty() ? host.logs_path + "/" + spec.id + ".shell" : spec.shell_folder;
}

hold::LaunchRequest launch_request(const TerminalHost& host, const TerminalSpec& spec) {
  hold::LaunchRequest request;
  request.journals = host.journals;
  request.total_quota = host.settings.journals_total;
  request.sockets = host.sockets;
  hold::HoldSpec& hold = request.hold;
  hold.journal.id = spec.id;
  hold.journal.quota = host.settings.journal_quota;
  hold.journal.overflow = host.settings.overflow;
  hold.survivors = spec.keep_background ? hold::Survivors::Keep : hold::Survivors::Kill;
  if (spec.temporary()) hold.spawn.session = pty::Session::Ours;
  hold.drain_time = host.settings.drain;
  hold.spawn.argv = spec.argv;
  hold.spawn.cwd = spec.cwd;
  hold.spawn.environment = spec.environment;
  hold.spawn.provider = spec.provider;
  hold.spawn.size = spec.size;
  hold.spawn.umask = host.settings.umask;
  hold.spawn.limits = host.settings.limits;
  hold.spawn.sandbox = spec.plan;
  return request;
}

// What we and the shell tell each other in is visible and writable inside, wherever it is.
void show_inside(hold::LaunchRequest& request, const std::string& path) {
  if (!request.hold.spawn.sandbox) return;
  sandbox::Entry entry;
  entry.path = path;
  entry.access = sandbox::Entry::Access::Write;
  request.hold.spawn.sandbox->entries.push_back(std::move(entry));
}

// Where the file can be had, a line that ends with a pipeline writes its statuses there.
void report_statuses(const TerminalHost& host, const std::string& id, std::vector<std::string>& argv) {
  if (!command::is_bash_line(argv)) return;
  const std::string name = statuses_file(id);
  auto line = command::reporting_line(argv[2], host.logs_path + "/" + name);
  if (!line) return;
  const base::UniqueFd file(
      ::openat(host.logs, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file) argv[2] = std::move(*line);
}

// The journal, or NotFound once it is certain that there will never be one: a holder may just be coming up.
base::Result<journal::Reader> open_or_rule_out(const TerminalHost& host, const std::string& id) {
  constexpr int kMostTries = 400;
  constexpr std::chrono::milliseconds kPause{5};
  for (int tries = 0;; ++tries) {
    auto reader = journal::Reader::open_at(host.journals_fd, id, host.journals + "/" + id);
    if (reader) return reader;
    const bool missing = reader.error().code == base::ErrorCode::NotFound;
    const bool half_made = reader.error().code == base::ErrorCode::Unavailable;
    if (tries == kMostTries || (!missing && !half_made)) return reader;
    if (missing) {
      const auto used = journal::use_up(host.journals_fd, id, host.journals);
      if (used || used.error().code != base::ErrorCode::AlreadyExists) return reader;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Terminal::Terminal(TerminalHost& host, TerminalLog log, Replayed past)
    : TerminalFacts(host, std::move(past.birth), std::move(past.model)),
      log_(host.logs, model_->spec().id, std::move(log)),
      watchers_(host.loop, *this),
      files_(private_folder(host, model_->spec()), birth_.remove_when_ready, far_),
      live_{host.loop, host.settings, place_, *model_, holder_, files_, log_, watchers_, alive_},
      typist_(live_),
      care_(live_, typist_),
      interrupter_(live_, [this] { typist_.note_break(); }),
      watch_(live_, {[this](Command& command) { bring_down(command); },
                     [this](Command& command) { list_left_behind(command); },
                     [this](const pty::RunState& state) {
                       // Or the shell is being brought back to its prompt.
                       return typist_.abandoning() || care_.consider(state);
                     }}),
      replies_(live_, host.logs,
               [this](const pty::RunState& state) { return care_.shell_at_prompt(state).has_value(); }),
      maker_(*model_, host.slices, alive_),
      frame_timer_(host.loop),
      ending_timer_(host.loop),
      kill_timer_(host.loop) {
  model_->set_observer(*this);
  past_ = std::move(past);
}

Terminal::~Terminal() {
  *alive_ = false;
  watchers_.destroyed();
}

// --- opened

base::Result<std::unique_ptr<Terminal>> Terminal::open(TerminalHost& host, TerminalSpec spec,
                                                       base::UniqueFd log_file) {
  if (spec.id.empty()) spec.id = base::random_id('t');
  const std::string id = spec.id;
  const auto stdin_file = std::make_shared<base::UniqueFd>();  // stays open until the holder has it
  if (const auto text = std::exchange(spec.stdin_text, std::nullopt)) {
    auto file = pty::input_file(*text);
    if (!file) return tl::unexpected(file.error());
    *stdin_file = std::move(*file);
  }
  const relay::FarPlace* const far =
      spec.place.empty() || host.places == nullptr ? nullptr : &host.places->of(spec.place);
  if (far != nullptr) spec.shell_folder = far->shell_folder(id);
  const std::string folder = private_folder(host, spec);
  auto log = TerminalLog::create(host.logs, id, std::move(log_file));
  if (!log) return tl::unexpected(log.error());
  hold::LaunchRequest request = launch_request(host, spec);
  if (stdin_file->valid()) {
    request.hold.spawn.stdin_kind = pty::StdinKind::Descriptor;
    request.hold.spawn.stdin_fd = stdin_file->get();
  }
  Birth birth{base::unix_ms(), base::random_nonce(), shell::Quality::None, {}};
  const bool shell = !spec.temporary();
  if (!shell && far == nullptr) report_statuses(host, id, request.hold.spawn.argv);
  show_inside(request, shell ? folder : host.logs_path + "/" + statuses_file(id));
  const auto undo = [&] {
    ::unlinkat(host.logs, statuses_file(id).c_str(), 0);
    ShellFiles(folder, {}, far).remove_all();
    static_cast<void>(TerminalLog::remove(host.logs, id));
  };
  ShellStart start;
  if (shell) {
    auto prepared =
        prepare_shell(far != nullptr ? *far : host.place, spec, host.settings, birth.secret, folder, request);
    if (!prepared) {
      undo();
      return tl::unexpected(prepared.error());
    }
    start = std::move(*prepared);
    birth.expected = start.expected;
    birth.remove_when_ready = start.remove_when_ready;
  }
  if (auto logged = log->append(spec_record(spec, birth)); !logged) {
    undo();
    return tl::unexpected(logged.error());
  }
  const bool piped = shell && spec.provider == pty::Provider::Pipe;
  const bool hooked = shell && !piped && spec.integrate;
  const int64_t now_ms = birth.created_at_ms;
  std::unique_ptr<Terminal> terminal(new Terminal(
      host, std::move(*log), nothing_yet(std::move(spec), std::move(birth), model_options(host), now_ms)));
  Terminal& t = *terminal;
  t.past_.reset();
  if (shell) {
    t.model_->set_shell({start.identity, start.expected, t.birth_.secret, t.spec().cwd, piped});
    t.log_.keep_room();
  } else {
    t.model_->start_one_command(now_ms);
  }
  if (hooked) {
    if (auto opened = t.files_.open(); !opened) {
      undo();
      return tl::unexpected(opened.error());
    }
  }
  Launcher::Done done = [alive = t.alive_, &t, stdin_file](Launcher::Launched launched) {
    stdin_file->reset();
    if (*alive) t.launched(std::move(launched));
  };
  if (far != nullptr) {
    // Its umask and limits are those of its login there.
    request.hold.spawn.umask.reset();
    request.hold.spawn.limits.clear();
    host.launcher.start_on(far->connect_launch(), std::move(request), std::move(done));
  } else {
    host.launcher.start(std::move(request), std::move(done));
  }
  return terminal;
}

void Terminal::launched(Launcher::Launched launched) {
  if (!launched) {
    start_error_ = launched.error();
    if (Command* command = current()) {
      command->facts.start_failure_code = start_error_->shell_code();
      model_->fail(*command, terminal::CommandState::FailedToStart, start_error_->error.message);
    }
    return close(State::Finished);
  }
  holder_pid_ = launched->holder;
  model_->started(launched->child, launched->provider);
  model_->set_fallback_reason(launched->fallback_reason);
  auto reader = journal::Reader::open_at(host_.journals_fd, id(), host_.journals + "/" + id());
  if (!reader) return cannot_follow(reader.error());
  model_->feed().follow(std::move(*reader));
  live_.last_output = Clock::now();
  if (Command* command = current()) {
    command->life.begin(0, live_.last_output);
    watch_.drive();
  }
  if (birth_.expected == shell::Quality::None) {
    model_->became_ready();
  } else {
    care_.watch_start();
  }
  connect();
  if (on_pipes() && holder_.connected()) holder_.type(shell::kPipedStart);
  if (model_->exit_expected()) kill();
}

// It runs, but cannot be followed (no descriptors are left): end it, so that no unlisted shell stays.
void Terminal::cannot_follow(const base::Error& error) {
  place_.end_holder(holder_pid_);
  start_error_ = pty::SpawnError{pty::SpawnFailure::Setup, error};
  if (Command* command = current(); model_->book().runs(command)) {
    model_->lose(*command, "it was started but could not be followed, so it was stopped: " + error.message);
  }
  close(State::Lost);
}

void Terminal::connect() {
  auto link = command::HolderProcess::connect(host_.loop.poller(), host_.sockets, id(), *this);
  const bool no_descriptor = !link && (link.error().sys_errno == EMFILE || link.error().sys_errno == ENFILE);
  if (no_descriptor && !recovered_) return cannot_follow(link.error());
  if (no_descriptor) {
    // It was there before us and goes on: somebody will close something.
    host_.loop.after(kConnectAgain, [this, alive = alive_] {
      if (*alive) connect();
    });
    return;
  }
  if (!link && reach_again()) return;
  if (!link) return on_gone();  // ended already: the journal has it all
  (*link)->set_place(place_);
  // Until the link has said that it is there.
  if (far_ != nullptr && recovered_) link_lost_ = "the link to " + spec().place + " is being made";
  holder_.connect(std::move(*link));
  interrupter_.catch_up();
}

// A terminal in another place whose link has ended: whoever keeps the next one finds it again. False: it is
// on this machine, has ended, or the link knows nothing of it.
bool Terminal::reach_again() {
  if (far_ == nullptr || !lost_reason_.empty() || !model_->feed().following()) return false;
  const auto status = model_->feed().reader().status();
  if (!status || status->state == journal::State::Closed || status->exit) return false;
  if (reached_again_ == kMostReaches) return false;
  reached_again_++;
  link_lost_ = "the link to " + spec().place + " has ended, and is made again";
  watchers_.changed(kMeta);
  host_.loop.after(kConnectAgain * reached_again_, [this, alive = alive_] {
    if (!*alive || holder_.connected()) return;
    host_.places->reach(spec().place, [](const auto&) {});  // the link's process is there, linked or not
    connect();
  });
  return true;
}

// --- found again

base::Result<std::unique_ptr<Terminal>> Terminal::recover(TerminalHost& host, const std::string& id) {
  auto opened = TerminalLog::open(host.logs, id);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->log.size() == 0) {
    // The engine that made it died before it wrote the description, and so before it launched anything.
    static_cast<void>(TerminalLog::remove(host.logs, id));
    return nullptr;
  }
  if (opened->records.empty() || text_of(opened->records.front(), "id") != id) {
    return base::fail(base::ErrorCode::Corrupt,
                      "the log of " + id + " does not begin with the terminal's description");
  }
  auto past =
      replay({std::move(opened->records), open_or_rule_out(host, id),
              QueryReplies::answered_to(host.logs, id), model_options(host), base::unix_ms(), Clock::now()});
  if (!past) return tl::unexpected(past.error());
  std::unique_ptr<Terminal> terminal(new Terminal(host, std::move(opened->log), std::move(*past)));
  terminal->recovered_ = true;
  return terminal;
}

void Terminal::settle() {
  if (far_ != nullptr && live()) host_.places->connect(spec().place);
  const Replayed past = std::move(*past_);
  past_.reset();
  tell_forgotten();
  for (const auto& command : commands()) {
    if (!command->over()) continue;
    remove_command_file(*command);
    // The engine before us may have been killed before it was in the history.
    record(*command);
  }
  last_output_at_ms_ = past.last_output_at_ms;
  live_.last_output = Clock::now();
  end_.exit = past.exit;
  end_.closed_at_ms = past.closed_at_ms;
  const Logged logged = past.closed ? Logged::Yes : Logged::No;
  switch (past.outcome) {
    case Replayed::Outcome::NeverStarted:
      never_started_ = true;
      return close(State::Finished, logged);
    case Replayed::Outcome::Damaged:
      end_.handled = true;
      close(past.closed && !past.lost ? State::Finished : State::Lost, logged);
      connect();
      // It cannot be followed any more.
      if (holder_.connected() && !past.closed) holder_->terminate(host_.settings.kill_rungs);
      return;
    case Replayed::Outcome::Follows:
      if (!spec().temporary()) log_.keep_room();
      return settle_living(past);
  }
}

// From here on it is a terminal like any other: what happened while nobody looked is found out.
void Terminal::settle_living(const Replayed& past) {
  const auto status = model_->feed().reader().status();
  holder_.set_typed_bytes(status ? status->input_bytes : 0);
  Command* command = model_->book().runs(current()) ? current() : nullptr;
  // Nobody knows how long it has been silent.
  if (command != nullptr && command->started_seen) command->life.output(command->range().end, Clock::now());
  if (past.closed) {
    end_.handled = true;
    if (command != nullptr && spec().temporary() && end_.exit) {
      model_->command_exited(*command, *end_.exit);
      model_->left_behind(*command, {}, {});
    }
    close(past.lost ? State::Lost : State::Finished, Logged::Yes);
    return connect();  // background processes may still be there
  }
  end_.exit.reset();  // the holder, or its end, says it again
  if (!ready() && birth_.expected != shell::Quality::None) care_.watch_start();
  connect();
  watch_.drive();
  if (!holder_.connected()) return;
  if (on_pipes() && holder_.typed_bytes() == 0) holder_.type(shell::kPipedStart);
  if (has_shell() && birth_.expected != shell::Quality::None && files_.open() &&
      model_->shell().tracker().ready()) {
    files_.hand_over(model_->shell().tracker().next_nonce());
  }
  if (has_shell() && !commands().empty() && quality() != shell::Quality::Rich) {
    if (auto where = kernel_cwd()) model_->shell().kernel_cwd(std::move(*where));
  }
  replies_.take_over(past.replies);
  resend_unsent_ = command != nullptr && !command->over() && !command->started_seen && command->submission;
}

// Logged, but killed before it was typed? The holder knows how much was typed; exactly once is the promise.
void Terminal::resend_if_unsent(uint64_t accepted) {
  if (!std::exchange(resend_unsent_, false)) return;
  holder_.set_typed_bytes(accepted);
  Command* command = current();
  if (!model_->book().runs(command) || command->started_seen) return;
  command->accepted = accepted > command->input_before;
  if (command->accepted) return;
  model_->shell().tracker().withdraw(*command->submission);
  command->sent = false;
  command->submission.reset();
  model_->book().set_current(nullptr);
  model_->book().set_queued(command);
  typist_.pump();
}

}  // namespace ttyward::engine
