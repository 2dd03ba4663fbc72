#include "engine/terminal.h"

#include <algorithm>
#include <cctype>
#include <csignal>

#include "base/ids.h"
#include "shell/command_line.h"

namespace ttyward::engine {

using terminal::CommandState;

const char* owner_name(Owner owner) {
  switch (owner) {
    case Owner::Agent:
      return "agent";
    case Owner::User:
      return "user";
    case Owner::System:
      return "system";
  }
  return "agent";
}

std::optional<Owner> owner_named(std::string_view name) {
  for (const Owner owner : {Owner::Agent, Owner::User, Owner::System}) {
    if (name == owner_name(owner)) return owner;
  }
  return std::nullopt;
}

// --- what it is

// Output within the last seconds; longer when the text says that something is being built.
bool Terminal::hot() const {
  if (!live() || !busy() || last_output_at_ms_ == 0) return false;
  const auto age = Clock::now() - live_.last_output;
  if (age < host_.settings.hot) return true;
  if (age >= host_.settings.hot_compiling) return false;
  std::string text = output().cursor_line();
  const vt::Screen& screen = output().screen();
  if (text.empty() && screen.cursor().row > 0) text = screen.line(screen.cursor().row - 1).text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has_any = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return text.find(word) != std::string::npos; });
  };
  return has_any({"compiling", "building", "bundling", "transpiling", "generating", "linking", "starting"}) &&
         !has_any({"compiled", "success", "finished", "complete", "done", "error", "fail", "stopped"});
}

base::Result<std::string> Terminal::raw(uint64_t offset, size_t most, uint64_t* next) {
  if (!model_->feed().following())
    return base::fail(base::ErrorCode::Unavailable, "terminal " + id() + " has no journal");
  return model_->feed().raw(offset, most, next);
}

base::Result<journal::Reader> Terminal::open_journal() const {
  return journal::Reader::open_at(host_.journals_fd, id(), host_.journals + "/" + id());
}

// --- commands

base::Result<Command*> Terminal::submit(CommandRequest request) {
  if (!live()) {
    return base::fail(base::ErrorCode::Unavailable,
                      "terminal " + id() + " has ended; open another one to run this");
  }
  if (spec().temporary()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "terminal " + id() + " runs only one command; open a persistent terminal");
  }
  if (auto checked = shell::check_command_text(request.text); !checked)
    return tl::unexpected(checked.error());
  if (ready() && !can_follow() && !request.sentinel) {
    return base::fail(base::ErrorCode::Unsupported,
                      "terminal " + id() + " has no shell integration, so commands in it cannot be followed");
  }
  if (queued() != nullptr || (busy() && (on_pipes() || !request.sentinel))) {
    const Command* with = queued() != nullptr ? queued() : current();
    const std::string what = with != nullptr ? "'" + with->facts.command + "'" : "a command somebody typed";
    // Perhaps it is a shell: then the command can be for that one.
    const bool reads = with != nullptr && with->facts.state == terminal::CommandState::AwaitingInput;
    return base::fail(base::ErrorCode::Unavailable,
                      "terminal " + id() + " is busy with " + what +
                          (reads ? ", which waits for input; send it that (if it is a shell, run the command "
                                   "in it with 'sentinel'), "
                                 : "; wait for it, ") +
                          "interrupt it, or use another terminal");
  }
  command::LifeOptions limits;
  limits.timeout = request.timeout;
  limits.idle_timeout = request.idle_timeout;
  Command& command = model_->add_command(std::move(request.id), request.by, request.text, limits);
  tell_forgotten();
  command.delivered = request.cwd.empty() ? request.text : with_cwd(request.text, request.cwd, shell().kind);
  if (!request.cwd.empty()) command.facts.cwd = request.cwd;
  command.facts.description = std::move(request.description);
  command.facts.verdict_json = std::move(request.verdict_json);
  command.second_look = std::move(request.second_look);
  if (request.sentinel || on_pipes() || model_->shell().needs_sentinel())
    command.sentinel_nonce = base::random_nonce();
  model_->book().set_queued(&command);
  release_promise();
  // The caller's time begins now, whether or not the shell is ready.
  watch_.drive();
  watchers_.changed(kMeta);
  live_.post([this] { typist_.pump(); });
  return &command;
}

void Terminal::end_command(CommandState state, std::string reason) {
  Command* command = model_->book().active();
  if (command == nullptr) return;
  command->life.end(state, std::move(reason), Clock::now());
  watch_.drive();
}

void Terminal::bring_down(Command& command) {
  if (&command == queued()) return model_->finish(command);
  note({{"k", "answered"},
        {"c", command.facts.command_id},
        {"state", terminal::command_state_name(command.facts.state)},
        {"reason", command.facts.reason}});
  watchers_.changed(kCommandFinished);
  if (!holder_.connected()) return;
  if (spec().temporary()) return holder_->terminate(host_.settings.kill_rungs);
  interrupter_.bring_down();
  care_.watch_interrupt();
}

// --- acting on it

tl::unexpected<base::Error> Terminal::ended() const {
  return base::fail(base::ErrorCode::Unavailable, "terminal " + id() + " has ended");
}

bool Terminal::has_keyboard(const command::Source::Done& done) const {
  if (!holder_.connected() || !live()) {
    done(ended());
    return false;
  }
  if (!on_pipes()) return true;
  done(base::fail(
      base::ErrorCode::Unsupported,
      "terminal " + id() + " is on pipes, so its programs read no input; open one with the provider pty"));
  return false;
}

void Terminal::input(std::string_view bytes, Owner by, command::Source::Done done) {
  if (!has_keyboard(done)) return;
  if (has_shell()) {
    // Shells that do not mark a command's start are followed by what is typed; a person's line is theirs.
    if (by == Owner::User || quality() != shell::Quality::Rich) {
      const std::string kept = model_->shell().tracker().needed_of(bytes);
      if (!kept.empty()) note({{"k", "typed"}, {"bytes", kept}});
    }
    model_->typed(bytes);
    if (bytes.find(shell::kAbandonInput) != std::string_view::npos) typist_.note_break();
    model_->handle_events();
  }
  if (by == Owner::Agent || spec().owner == Owner::Agent) live_.note_typed();
  watch_.input_given();
  holder_.type(bytes, std::move(done));
}

// Typed only if a program reads with echo off at this very moment: what is echoed would be recorded.
void Terminal::secret(std::string text, command::Source::Done done) {
  if (!has_keyboard(done)) return;
  look([this, text = std::move(text), done = std::move(done)](const base::Result<pty::RunState>& state) {
    if (!state) return done(tl::unexpected(state.error()));
    if (!holder_.connected()) return done(ended());
    if (!state->waiting || state->waiting->kind != pty::WaitKind::Password) {
      return done(
          base::fail(base::ErrorCode::Unavailable,
                     "no program in " + id() +
                         " is reading a password now (echo is on, or no program reads); nothing was sent"));
    }
    watch_.input_given();
    live_.note_typed();
    holder_.type(text + "\r", done);
  });
}

void Terminal::note_reply(Command& command, GivenReply reply) {
  note({{"k", "reply"},
        {"c", command.facts.command_id},
        {"n", reply.reply},
        {"line", reply.line},
        {"asked", reply.asked}});
  command.given_replies.push_back(std::move(reply));
}

void Terminal::interrupt(const command::Source::Done& done) {
  if (!live()) return done(ended());
  Command* command = current();
  if (command == nullptr && queued() != nullptr) {
    model_->fail(*model_->book().queued(), CommandState::Interrupted, "it was interrupted before it started");
    return done({});
  }
  if (command != nullptr) command->life.interrupted();
  interrupter_.interrupt();
  if (has_shell() && command != nullptr) care_.watch_interrupt();
  done({});
}

void Terminal::signal(int number, command::Source::Target target, command::Source::Done done) {
  if (!holder_.connected()) return done(ended());
  holder_->signal(number, target, std::move(done));
}

void Terminal::resize(const pty::WindowSize& size, command::Source::Done done) {
  if (!holder_.connected()) return done(ended());
  model_->resize(size);
  holder_->resize(size, std::move(done));
  watchers_.changed(kMeta | kOutput);
}

void Terminal::grant(uint64_t more, command::Source::Done done) {
  if (!holder_.connected()) return done(ended());
  holder_->grant(more, std::move(done));
  watchers_.changed(kMeta);
}

void Terminal::raise_quota(uint64_t to) {
  if (!holder_.connected() || !model_->feed().following()) return;
  const auto status = model_->feed().reader().status();
  if (status && status->quota > 0 && status->quota < to) grant(to - status->quota, [](const auto&) {});
}

void Terminal::kill(Force force) {
  model_->expect_exit();
  if (!holder_.connected()) {
    // Being launched: launched() comes back here. Gone already: nothing to do.
    if (!live()) watchers_.changed(kClosed);
    return;
  }
  const auto bring_down = [this] {
    std::vector<pty::KillRung> rungs{{SIGHUP, host_.settings.interrupt_grace}};
    for (const pty::KillRung& rung : host_.settings.kill_rungs) {
      if (rung.signal != SIGINT) rungs.push_back(rung);
    }
    if (holder_.connected()) holder_->terminate(rungs);
  };
  if (force == Force::Yes) {
    kill_timer_.cancel();
    return holder_->terminate({{SIGKILL, host_.settings.kill_rungs.back().grace}});
  }
  if (kill_timer_.running()) return;
  if (!has_shell() || !model_->shell().tracker().ready() || end_.exit) return bring_down();
  // A shell at its prompt goes by itself, and its EXIT trap runs.
  holder_.type(shell().kind == shell::ShellKind::Fish ? "exit\r" : " exit\r", [](const auto&) {});
  kill_timer_.after(host_.settings.interrupt_grace, bring_down);
}

void Terminal::processes(std::function<void(base::Result<std::vector<command::Source::Process>>)> done) {
  if (!holder_.connected()) return done(std::vector<command::Source::Process>{});
  holder_->processes(std::move(done));
}

// --- whose it is

void Terminal::note(boost::json::object record) {
  record["at"] = read_to();
  log_.note(record);
}

void Terminal::note_meta(boost::json::object changes) {
  changes["k"] = "meta";
  note(std::move(changes));
  watchers_.changed(kMeta);
}

void Terminal::set_name(std::string name) {
  model_->spec().name = std::move(name);
  note_meta({{"name", spec().name}});
}

void Terminal::set_task(std::string task) {
  if (spec().task == task) return;
  model_->spec().task = std::move(task);
  note_meta({{"task", spec().task}});
}

void Terminal::assign_from_pool(const TerminalSpec& wanted) {
  TerminalSpec& mine = model_->spec();
  mine.pooled = false;
  mine.name = wanted.name;
  mine.owner = wanted.owner;
  mine.session = wanted.session;
  mine.task = wanted.task;
  mine.request = wanted.request;
  note_meta({{"pooled", false},
             {"name", mine.name},
             {"owner", owner_name(mine.owner)},
             {"session", mine.session},
             {"task", mine.task},
             {"request", mine.request}});
}

void Terminal::set_lease(std::optional<Lease> lease) {
  model_->access().set_lease(std::move(lease));
  watchers_.changed(kMeta);
  if (!model_->access().lease()) typist_.pump();
}

void Terminal::set_loan(std::optional<Loan> loan) {
  model_->access().set_loan(std::move(loan));
  note(model_->access().loan_record());
  watchers_.changed(kMeta);
}

void Terminal::unwatch(Watcher& watcher) {
  watchers_.remove(watcher);
  if (!live()) watchers_.changed(kUnwatched);
}

}  // namespace ttyward::engine
