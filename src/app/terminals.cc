#include "app/terminals.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/line_there.h"
#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "base/unix_time.h"
#include "pty/executable.h"
#include "shell/quoting.h"
#include "vt/serialize/serialize.h"

namespace ttyward::app {

using engine::Command;
using engine::Loan;
using engine::Terminal;

namespace {

// The path of a shell that may be opened without a question: one of /etc/shells, or the configured one, that
// is a shell as far as we know. Empty: it is none. Found without the caller's variables.
std::string known_shell(const std::string& name, const std::vector<std::string>& configured) {
  const char* const path = std::getenv("PATH");
  const pty::Executable found = pty::find_executable(
      AT_FDCWD, name, path != nullptr ? std::optional<std::string_view>(path) : std::nullopt);
  if (found.sys_errno != 0 || !found.path.starts_with('/')) return {};
  std::error_code wrong;
  const auto real = [&](const std::string& file) { return std::filesystem::canonical(file, wrong).string(); };
  const std::string target = real(found.path);
  if (target.empty()) return {};
  if (!configured.empty() && (found.path == configured.front() || target == real(configured.front())))
    return found.path;
  if (shell::identify_shell({found.path}, target).kind == shell::ShellKind::Other) return {};
  std::ifstream list("/etc/shells");
  for (std::string line; std::getline(list, line);) {
    if (line.starts_with('/') && (line == found.path || real(line) == target)) return found.path;
  }
  return {};
}

std::string opened_words(const Terminal& terminal) {
  const auto& argv = terminal.spec().argv;
  return argv.empty() ? "a shell" : argv.front();
}

// Calls back once, when the terminal is ready.
class ReadyWatch final : public engine::Watcher {
 public:
  ReadyWatch(Terminal& terminal, std::function<void(Terminal&)> then)
      : terminal_(&terminal), then_(std::move(then)) {
    terminal.watch(*this);
  }
  ReadyWatch(const ReadyWatch&) = delete;
  ReadyWatch& operator=(const ReadyWatch&) = delete;
  ~ReadyWatch() {
    if (terminal_ != nullptr) terminal_->unwatch(*this);
  }
  void on_change(Terminal& terminal, uint32_t) override {
    if (!terminal.ready() || !then_) return;
    std::exchange(then_, {})(terminal);
  }
  void on_destroyed() override { terminal_ = nullptr; }

 private:
  Terminal* terminal_;
  std::function<void(Terminal&)> then_;
};

// Lines that have left the screen, oldest first.
std::string lines_above(const Terminal& terminal, uint64_t count) {
  std::string content;
  const terminal::Transcript& before = terminal.output().transcript();
  if (count == 0 || before.size() == 0) return content;
  const uint64_t from = before.size() > count ? before.size() - count + 1 : 1;
  before.forward(from, [&](const terminal::Transcript::Entry& entry) {
    const uint64_t skipped = entry.first < from ? from - entry.first : 0;
    for (uint64_t i = skipped; i < entry.repeat && !entry.dropped; i++) content += entry.text + "\n";
    return true;
  });
  return content;
}

}  // namespace

base::Provider provider_of(const std::optional<base::Provider>& asked, const config::Settings& settings) {
  return asked.value_or(settings.terminal.provider);
}

std::optional<pty::WindowSize> size_of(const std::optional<wire::Size>& asked) {
  if (!asked) return std::nullopt;
  return pty::WindowSize{static_cast<uint16_t>(asked->cols), static_cast<uint16_t>(asked->rows), 0, 0};
}

std::string command_words(const Terminal& terminal) {
  const Command* current = terminal.current();
  return current != nullptr ? current->facts.command : "whatever runs in terminal " + terminal.id();
}

wire::OneTerminal Terminals::one(Terminal& terminal) const {
  return {terminal_object(*core_.engine, terminal)};
}

void Terminals::when_ready(Terminal& terminal, const ReplyBase& reply, std::function<void(Terminal&)> then) {
  if (terminal.ready()) return then(terminal);
  const uint64_t key = core_.calls.add(reply);
  core_.calls.find(key)->parts.push_back(
      std::make_shared<ReadyWatch>(terminal, [this, key, then = std::move(then)](Terminal& ready) {
        then(ready);
        core_.calls.end(key);
      }));
}

void Terminals::open(const Caller& caller, const wire::OpenRequest& asked,
                     const Reply<wire::OneTerminal>& reply) {
  engine::OpenRequest request;
  request.request = asked.request;
  request.name = asked.name;
  request.cwd = asked.cwd;
  request.login = asked.login;
  request.task = asked.task;
  request.owner = engine::Owner::Agent;
  if (caller.role == Role::Person) {
    const auto owner = asked.owner.value_or(wire::Owner::User);
    request.owner =
        engine::owner_named(names_of(owner)[static_cast<size_t>(owner)]).value_or(engine::Owner::User);
  }
  request.session = own_session(caller);
  request.environment = asked.env.entries;
  request.provider = provider_of(asked.provider, core_.settings());
  request.size = size_of(asked.size);
  request.place = asked.place;
  const bool here = asked.place.empty();
  if (const auto outside = here ? gatekeeper_.outside_roots(caller, request.cwd) : std::nullopt)
    return reply.fail(*outside);
  if (asked.shell.empty() && !asked.shell_args.empty())
    return reply.fail(wire::Code::InvalidArgument, "'shell_args' needs 'shell'");
  request.sandbox_report.profile = asked.sandbox;  // what is asked for; open_now makes it what there is
  if (!asked.shell.empty()) request.shell = {asked.shell};
  request.shell.insert(request.shell.end(), asked.shell_args.begin(), asked.shell_args.end());
  if (!here) return open_there(caller, std::move(request), reply);
  if (caller.role == Role::Person || asked.shell.empty()) return open_now(caller, std::move(request), reply);
  const std::string known = known_shell(asked.shell, core_.engine->settings().shell);
  if (!known.empty()) request.shell.front() = known;
  if (!known.empty() && asked.shell_args.empty()) return open_now(caller, std::move(request), reply);
  // Whatever else it is, it is a program that an agent wants to run; and a shell's arguments can be commands.
  std::string words = shell::quote_posix(asked.shell);
  for (const std::string& argument : asked.shell_args) words += " " + shell::quote_posix(argument);
  gate::GateRequest gate = gatekeeper_.request(caller, words, request.cwd);
  gate.action = "open";
  gate.task = request.task;
  gate.environment_changes = request.environment;
  if (gate.cwd.empty()) {
    if (const char* home = std::getenv("HOME")) gate.cwd = home;
  }
  const auto call = std::make_shared<uint64_t>(0);
  const gate::GateDecision decision = gatekeeper_.ask(std::move(gate), [this, caller, request, reply, call](
                                                                           const gate::GateDecision& came) {
    core_.calls.end(*call);
    if (!reply.open()) return;
    if (came.kind == gate::GateDecision::Kind::Allowed) return open_now(caller, request, reply);
    reply.fail(
        wire::Code::Denied,
        "this shell is neither in /etc/shells nor in the configuration, and running it was not allowed: " +
            came.reason);
  });
  if (decision.kind != gate::GateDecision::Kind::Pending) return;
  *call = core_.calls.add(reply, [this, id = decision.approval_id, connection = caller.connection] {
    static_cast<void>(core_.gate->withdraw(id, connection));
  });
}

// A shell in another place. Whether an agent may have it is asked as about the command that opens one there
// from here, which a rule may allow.
void Terminals::open_there(const Caller& caller, engine::OpenRequest request,
                           const Reply<wire::OneTerminal>& reply) {
  const std::string& profile = request.sandbox_report.profile;
  if (!profile.empty() && profile != "none")
    return reply.fail(wire::Code::Unsupported, "a sandbox works on this machine only");
  request.sandbox_report = {};
  std::string words;
  for (const std::string& word : request.shell)
    words += (words.empty() ? "" : " ") + shell::quote_posix(word);
  const auto line = line_there(request.place, words);
  if (!line) return reply.fail(line.error());
  if (caller.role == Role::Person) return reach_and_open(caller, request, reply);
  gate::GateRequest gate = gatekeeper_.request(caller, *line, "");
  gate.action = "open";
  gate.task = request.task;
  if (const char* home = std::getenv("HOME")) gate.cwd = home;
  const auto call = std::make_shared<uint64_t>(0);
  const gate::GateDecision decision =
      gatekeeper_.ask(std::move(gate), [this, caller, request, reply, call](const gate::GateDecision& came) {
        core_.calls.end(*call);
        if (!reply.open()) return;
        if (came.kind == gate::GateDecision::Kind::Allowed) return reach_and_open(caller, request, reply);
        reply.fail(wire::Code::Denied, "the place " + request.place + " may not be used: " + came.reason);
      });
  if (decision.kind != gate::GateDecision::Kind::Pending) return;
  *call = core_.calls.add(reply, [this, id = decision.approval_id, connection = caller.connection] {
    static_cast<void>(core_.gate->withdraw(id, connection));
  });
}

void Terminals::reach_and_open(const Caller& caller, const engine::OpenRequest& request,
                               const Reply<wire::OneTerminal>& reply) {
  core_.engine->places().reach(
      request.place, [this, caller, request, reply](const base::Result<const relay::FarPlace*>& reached) {
        if (!reply.open()) return;
        if (!reached) return reply.fail(reached.error());
        auto opened = core_.engine->open(request);
        if (!opened) return reply.fail(opened.error());
        if (const auto why = refusal(core_, caller, **opened, Use::Act)) return reply.fail(*why);
        when_ready(**opened, reply, [this, caller, reply](Terminal& terminal) {
          if (terminal.start_error()) return reply.fail(terminal.start_error()->error);
          if (caller.role != Role::Person)
            history_.note_act(caller, terminal, {"open", opened_words(terminal)});
          reply.ok(one(terminal));
        });
      });
}

void Terminals::open_now(const Caller& caller, engine::OpenRequest request,
                         const Reply<wire::OneTerminal>& reply) {
  const std::string cwd = request.cwd;
  environment_.get(environment_.of(caller), cwd, [=, this](std::vector<std::string> callers) {
    engine::OpenRequest ready = request;
    ready.callers = std::move(callers);
    const policy::Verdict reliance = reliance_of(core_.gate->mode(caller.session), asker_of(caller));
    auto confined = confine(ready.sandbox_report.profile, asker_of(caller), ready.cwd, ready.callers,
                            core_.settings().sandbox, &reliance);
    if (!confined) return reply.fail(confined.error());
    ready.sandbox = std::move(confined->plan);
    ready.sandbox_report = std::move(confined->report);
    const auto proxy = proxies_.start_unnamed(ready.sandbox);
    if (!proxy) return reply.fail(proxy.error());
    auto opened = core_.engine->open(std::move(ready));
    if (opened) proxies_.rename(*proxy, (*opened)->id());
    proxies_.end(*proxy);
    if (!opened) return reply.fail(opened.error());
    // Another's, by the same request.
    if (const auto why = refusal(core_, caller, **opened, Use::Act)) return reply.fail(*why);
    when_ready(**opened, reply, [this, caller, reply](Terminal& terminal) {
      if (terminal.start_error()) return reply.fail(terminal.start_error()->error);
      if (caller.role != Role::Person) history_.note_act(caller, terminal, {"open", opened_words(terminal)});
      reply.ok(one(terminal));
    });
  });
}

void Terminals::acquire(const Caller& caller, const wire::AcquireRequest& request,
                        const Reply<wire::AcquiredTerminal>& reply) {
  if (const auto outside = gatekeeper_.outside_roots(caller, request.cwd)) return reply.fail(*outside);
  const pty::Provider provider = provider_of(request.provider, core_.settings());
  const auto patience = request.wait.value_or(core_.settings().pool.wait);
  environment_.get(environment_.of(caller), request.cwd, [=, this](const std::vector<std::string>& callers) {
    // True: the call is answered, or will be when the terminal is ready.
    const auto attempt = [=, this](std::string& why) {
      const policy::Verdict reliance = reliance_of(core_.gate->mode(caller.session), asker_of(caller));
      auto confined =
          confine({}, asker_of(caller), request.cwd, callers, core_.settings().sandbox, &reliance);
      if (!confined) {
        reply.fail(confined.error());
        return true;
      }
      const auto proxy = proxies_.start_unnamed(confined->plan);
      if (!proxy) {
        reply.fail(proxy.error());
        return true;
      }
      auto acquired =
          core_.engine->acquire(request.cwd, request.task, owner_of(caller), own_session(caller), provider,
                                callers, std::move(confined->plan), std::move(confined->report));
      if (acquired && acquired->created) proxies_.rename(*proxy, acquired->terminal->id());
      proxies_.end(*proxy);  // one that was opened before has its own
      if (!acquired && acquired.error().code == base::ErrorCode::Exhausted) {
        why = acquired.error().message;
        return false;
      }
      if (!acquired) {
        reply.fail(acquired.error());
        return true;
      }
      when_ready(*acquired->terminal, reply,
                 [this, caller, reply, created = acquired->created](Terminal& terminal) {
                   if (terminal.start_error()) return reply.fail(terminal.start_error()->error);
                   if (created && caller.role != Role::Person)
                     history_.note_act(caller, terminal, {"open", opened_words(terminal)});
                   reply.ok({terminal_object(*core_.engine, terminal), created});
                 });
      return true;
    };
    std::string why;
    if (acquiring_.empty() && attempt(why)) return;
    if (why.empty()) why = "others wait for a terminal already";
    if (patience.count() == 0) return reply.fail(wire::Code::Exhausted, why);
    const uint64_t key = core_.calls.add(reply);
    core_.calls.after(key, patience, [this, key, reply] {
      const auto found = std::find_if(acquiring_.begin(), acquiring_.end(),
                                      [&](const Acquiring& each) { return each.key == key; });
      if (found == acquiring_.end()) return;
      const std::string last = found->why;
      acquiring_.erase(found);
      core_.calls.end(key);
      reply.fail(wire::Code::Exhausted, "no terminal was to be had in time: " + last);
    });
    acquiring_.push_back({key, why, attempt});
    attempt_later();
  });
}

void Terminals::terminal_changed() {
  if (acquiring_.empty() || std::exchange(attempt_due_, true)) return;
  core_.loop.post([this, alive = core_.alive] {
    if (!*alive) return;
    attempt_due_ = false;
    attempt_waiting();
  });
}

// Nobody says that a promise has run out.
void Terminals::attempt_later() {
  constexpr std::chrono::seconds kPause{1};
  if (acquiring_.empty() || std::exchange(attempt_timed_, true)) return;
  core_.loop.after(kPause, [this, alive = core_.alive] {
    if (!*alive) return;
    attempt_timed_ = false;
    attempt_waiting();
    attempt_later();
  });
}

void Terminals::attempt_waiting() {
  // What one cannot have another may: they want different folders.
  for (size_t i = 0; i < acquiring_.size();) {
    Acquiring& each = acquiring_[i];
    const bool taken_back = core_.calls.find(each.key) == nullptr;
    if (!taken_back && !each.attempt(each.why)) {
      i++;
      continue;
    }
    const uint64_t key = each.key;
    acquiring_.erase(acquiring_.begin() + static_cast<std::ptrdiff_t>(i));
    core_.calls.end(key);
  }
}

wire::TerminalList Terminals::release(const Caller& caller, const wire::ReleaseRequest& request) {
  // An agent frees its own, and none whose keyboard a person has.
  const auto free = [&](const Terminal& terminal) {
    return core_.may(caller, terminal, Use::Act) && (caller.role == Role::Person || !terminal.lease());
  };
  wire::TerminalList list;
  for (Terminal* terminal : core_.engine->release(request.task, free))
    list.terminals.push_back(terminal_object(*core_.engine, *terminal));
  return list;
}

void Terminals::kill(const Caller& caller, const wire::KillRequest& request,
                     const Reply<wire::Killed>& reply) {
  if (request.terminal.empty() && request.command.empty())
    return reply.fail(wire::Code::InvalidArgument, "'terminal' or 'command' is missing");
  auto found = find_free_terminal(core_, caller, request.terminal, request.command);
  // An unknown terminal needs no killing; an ambiguous name must not be guessed.
  if (!found && found.error().code != wire::Code::NotFound) return reply.fail(found.error());
  if (!found) return reply.ok({});
  Terminal& terminal = *found->terminal;
  if (found->command != nullptr && !terminal.spec().temporary()) {
    // A command in a shell: the shell stays.
    if (caller.role != Role::Person) history_.note_act(caller, terminal, {"kill", command_words(terminal)});
    terminal.end_command(terminal::CommandState::Interrupted, "it was killed on request");
    return reply.ok({true, {}});
  }
  if (!terminal.live() && !terminal.holder_alive()) return reply.ok({});
  if (caller.role != Role::Person) history_.note_act(caller, terminal, {"kill", "terminal " + terminal.id()});
  terminal.kill(request.force ? Terminal::Force::Yes : Terminal::Force::No);
  watch_death(core_.calls.add(reply), terminal.id(), reply, 0);
}

void Terminals::watch_death(uint64_t call, const std::string& terminal_id, const Reply<wire::Killed>& reply,
                            int round) {
  constexpr int kQuickRounds = 20;  // most are gone within them
  constexpr int kMostRounds = 600;  // about 12 s: longer than the whole ladder of signals
  const auto found = core_.engine->find(terminal_id);
  const bool gone = !found || !(*found)->holder_alive();
  if (gone || round > kMostRounds) {
    wire::Killed answer{gone, {}};
    if (!gone) answer.survivors.push_back({(*found)->pid()});
    reply.ok(answer);
    return core_.calls.end(call);
  }
  core_.calls.after(call, std::chrono::milliseconds(round < kQuickRounds ? 2 : 20),
                    [=, this] { watch_death(call, terminal_id, reply, round + 1); });
}

void Terminals::resize(const Caller& caller, const wire::ResizeRequest& request,
                       const Reply<wire::Nothing>& reply) {
  const auto found = find_free_terminal(core_, caller, request.terminal);
  if (!found) return reply.fail(found.error());
  found->terminal->resize(
      {static_cast<uint16_t>(request.cols), static_cast<uint16_t>(request.rows), 0, 0},
      [reply](const base::Result<void>& came) { came ? reply.ok({}) : reply.fail(came.error()); });
}

Outcome<wire::ScreenContent> Terminals::screen(const Caller& caller, const wire::ScreenRequest& request) {
  if (request.history > 0 && request.format != wire::ScreenFormat::Text) {
    return refuse(wire::Code::InvalidArgument,
                  "'history' works only with the text format; `read` returns all of the output");
  }
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal);
  if (!found) return tl::unexpected(found.error());
  const Terminal& terminal = *found->terminal;
  const vt::Screen& screen = terminal.output().screen();
  const auto format = names_of(request.format)[static_cast<size_t>(request.format)];
  wire::ScreenContent made;
  made.format = request.format;
  made.content = lines_above(terminal, static_cast<uint64_t>(request.history)) +
                 vt::screen_as(screen, *vt::format_named(format));
  made.cols = screen.cols();
  made.rows = screen.rows();
  made.cursor = {screen.cursor().row, screen.cursor().col, screen.modes().has(vt::Mode::CursorVisible)};
  made.alternate = screen.is_alternate();
  made.title = terminal.title();
  made.terminal = terminal.id();
  made.state = Terminal::state_name(terminal.state());
  return made;
}

wire::TerminalList Terminals::list(const Caller& caller, const wire::ListRequest& request) {
  wire::TerminalList list;
  for (Terminal* terminal : core_.engine->terminals()) {
    const engine::TerminalSpec& spec = terminal->spec();
    if (!core_.may(caller, *terminal, Use::Read) || (!request.all && !terminal->live())) continue;
    if (!request.task.empty() && spec.task != request.task) continue;
    if (request.owner &&
        engine::owner_name(spec.owner) != names_of(*request.owner)[static_cast<size_t>(*request.owner)])
      continue;
    if (request.background && !spec.task.empty()) continue;
    list.terminals.push_back(terminal_object(*core_.engine, *terminal));
  }
  return list;
}

void Terminals::show(const Caller& caller, const wire::ShowRequest& request,
                     const Reply<wire::TerminalDetails>& reply) {
  const auto named = find_terminal(core_, caller, Use::Read, request.terminal);
  if (!named) return reply.fail(named.error());
  named->terminal->processes([this, alive = core_.alive, id = named->terminal->id(),
                              most = static_cast<size_t>(request.most),
                              reply](const base::Result<std::vector<command::Source::Process>>& list) {
    if (!*alive || !reply.open()) return;
    const auto found = core_.engine->find(id);
    if (!found) return reply.fail(found.error());
    Terminal& terminal = **found;
    wire::TerminalDetails answer;
    answer.terminal = terminal_object(*core_.engine, terminal);
    const auto& commands = terminal.commands();
    for (size_t i = commands.size() > most ? commands.size() - most : 0; i < commands.size(); i++)
      answer.commands.push_back(result_object(terminal.facts(*commands[i])));
    std::vector<pid_t> pids;
    if (list) {
      for (const auto& process : *list) {
        answer.processes.push_back({process.pid, process.parent, process.command});
        pids.push_back(process.pid);
      }
    }
    for (const auto& [name, value] : terminal.environment_changes())
      answer.environment.entries.push_back(name + "=" + value);
    terminal.place().ports(pids, [answer, reply](const std::optional<place::Place::Ports>& ports) mutable {
      for (const auto& port : ports.value_or(place::Place::Ports()))
        answer.ports.push_back({port.port, port.pid});
      reply.ok(answer);
    });
  });
}

Outcome<wire::OneTerminal> Terminals::lend(const Caller& caller, const wire::LendRequest& request) {
  if (request.back && (request.read_only || !request.to.empty()))
    return refuse(wire::Code::InvalidArgument,
                  "'back' takes the terminal back from everybody; leave the other arguments out");
  const auto found = find_terminal(core_, caller, Use::Act, request.terminal);
  if (!found) return tl::unexpected(found.error());
  Terminal& terminal = *found->terminal;
  if (!request.back && !terminal.live()) {
    return refuse(
        wire::Code::Unavailable,
        "terminal " + terminal.id() + " has ended and cannot be lent; `ttyward read` shows its output");
  }
  if (request.back && !terminal.loan()) return one(terminal);
  if (request.back) {
    terminal.set_loan(std::nullopt);
  } else {
    terminal.set_loan(Loan{request.read_only ? Loan::Use::Read : Loan::Use::Act, request.to, caller.client,
                           base::unix_ms()});
  }
  const std::string whom = request.to.empty() ? "every agent" : "session " + request.to;
  history_.note_act(caller, terminal,
                    {"lend",
                     request.back ? "take back terminal " + terminal.id()
                                  : "lend terminal " + terminal.id() + " to " + whom +
                                        (request.read_only ? ", for reading" : ""),
                     "person"});
  const wire::OneTerminal shown = one(terminal);
  if (request.back) {
    tell_(wire::TerminalTakenBack{shown.terminal}, terminal.id());
  } else {
    tell_(wire::TerminalLent{shown.terminal}, terminal.id());
  }
  return shown;
}

// An agent gets as much again as every terminal has; a person decides.
void Terminals::resume(const Caller& caller, const wire::ResumeRequest& request,
                       const Reply<wire::Resumed>& reply) {
  const auto usual = static_cast<int64_t>(core_.engine->settings().journal_quota);
  const int64_t bytes = request.bytes.value_or(usual);
  if (caller.role != Role::Person && bytes > usual) {
    return reply.fail(wire::Code::InvalidArgument,
                      "'bytes' must be a whole number from 1 to " + std::to_string(usual));
  }
  const auto found = find_free_terminal(core_, caller, request.terminal);
  if (!found) return reply.fail(found.error());
  const auto answer = [this, reply, id = found->terminal->id()](bool resumed) {
    const auto still = core_.engine->find(id);
    if (!still) return reply.fail(still.error());
    reply.ok({resumed, terminal_object(*core_.engine, **still)});
  };
  if (!found->terminal->paused()) return answer(false);
  found->terminal->grant(static_cast<uint64_t>(bytes), [answer, reply](const base::Result<void>& granted) {
    granted ? answer(true) : reply.fail(granted.error());
  });
}

Outcome<wire::OneTerminal> Terminals::rename(const Caller& caller, const wire::RenameRequest& request) {
  const auto found = find_free_terminal(core_, caller, request.terminal);
  if (!found) return tl::unexpected(found.error());
  if (auto renamed = core_.engine->rename(*found->terminal, request.name); !renamed)
    return tl::unexpected(wire::call_error(renamed.error()));
  return one(*found->terminal);
}

Outcome<wire::OneTerminal> Terminals::assign(const Caller& caller, const wire::AssignRequest& request) {
  const auto found = find_free_terminal(core_, caller, request.terminal);
  if (!found) return tl::unexpected(found.error());
  found->terminal->set_task(request.task);
  return one(*found->terminal);
}

Outcome<wire::OneTerminal> Terminals::associate(const Caller& caller, const wire::AssociateRequest& request) {
  if (caller.role != Role::Person && request.session != caller.session)
    return refuse(wire::Code::InvalidArgument, "an agent associates terminals with its own session");
  const auto found = find_terminal(core_, caller, Use::Act, request.terminal);
  if (!found) return tl::unexpected(found.error());
  if (auto done = core_.engine->associate(*found->terminal, request.session, request.quality); !done)
    return tl::unexpected(wire::call_error(done.error()));
  return one(*found->terminal);
}

wire::TerminalList Terminals::session_terminals(const Caller& caller,
                                                const wire::SessionTerminalsRequest& request) {
  wire::TerminalList list;
  for (Terminal* terminal : core_.engine->of_session(request.session)) {
    if (core_.may(caller, *terminal, Use::Read))
      list.terminals.push_back(terminal_object(*core_.engine, *terminal));
  }
  return list;
}

wire::SessionCwd Terminals::session_cwd(const Caller& caller, const wire::SessionCwdRequest& request) {
  wire::SessionCwd made;
  for (const Terminal* terminal : core_.engine->of_session(request.session)) {
    if (core_.may(caller, *terminal, Use::Read) && terminal->live() && !terminal->cwd().empty())
      made.cwd = terminal->cwd();  // the newest
  }
  return made;
}

Outcome<wire::PathList> Terminals::path_add(const Caller& caller, const wire::PathAddRequest& request) {
  if (!request.path.starts_with('/') || request.path.find(':') != std::string::npos)
    return refuse(wire::Code::InvalidArgument, "'path' must be an absolute directory without a colon");
  core_.engine->contribute_path({request.contributor, request.path, request.description, request.prepend});
  return path_list(caller, {});
}

wire::PathList Terminals::path_remove(const Caller& caller, const wire::PathRemoveRequest& request) {
  core_.engine->remove_path(request.contributor);
  return path_list(caller, {});
}

wire::PathList Terminals::path_list(const Caller&, const wire::PathListRequest&) const {
  wire::PathList list;
  for (const engine::PathContribution& path : core_.engine->paths())
    list.paths.push_back({path.contributor, path.path, path.description, path.prepend});
  return list;
}

}  // namespace ttyward::app
