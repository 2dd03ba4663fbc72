// Terminals: opened, listed, typed into, ended.
#include <fcntl.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include <boost/json/array.hpp>

#include "base/base64.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/agent_input.h"
#include "policy/escaped_view.h"
#include "pty/executable.h"
#include "pty/exit_status.h"
#include "pty/listening_ports.h"
#include "shell/quoting.h"
#include "vt/input_encoder.h"
#include "vt/serialize/serialize.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Command;
using engine::Terminal;

namespace {

void done_or_fail(const Responder& responder, const base::Result<void>& came, const json::object& ok) {
  came ? responder.ok(ok) : responder.fail(wire::call_error(came.error()));
}

// The command that is typed to, so that whoever typed can wait for what it says.
void add_current(json::object& answer, const Terminal& terminal) {
  const Command* current = terminal.current();
  if (current != nullptr && !current->over) answer["command_id"] = current->facts.command_id;
}

std::optional<int> signal_named(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!name.starts_with("SIG")) name = "SIG" + name;
  for (int number = 1; number <= SIGRTMAX; number++) {
    if (pty::signal_name(number) == name) return number;
  }
  return std::nullopt;
}

std::optional<pty::WindowSize> size_of(Args& args, const Responder& responder, bool* refused) {
  const auto size = args.object("size");
  if (!size) return std::nullopt;
  Args part(*size);
  const pty::WindowSize made{static_cast<uint16_t>(part.number("cols", 80, 1, 1000)),
                             static_cast<uint16_t>(part.number("rows", 24, 1, 1000)), 0, 0};
  *refused = part.refused(responder);
  return made;
}

std::string command_words(const Terminal& terminal) {
  const Command* current = terminal.current();
  return current != nullptr ? current->facts.command : "whatever runs in terminal " + terminal.id();
}

// What was typed, for people; what was typed while nothing is echoed is nobody's.
std::string typed_words(const std::string& bytes, bool echo) {
  return echo ? policy::escape_text(bytes) : "(not recorded: echo is off)";
}

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

}  // namespace

// A terminal is of use once its shell is ready, or known to be without integration.
void EngineApplication::when_ready(const Caller& caller, Terminal& terminal, const Responder& responder,
                                   std::function<void(Terminal&)> then) {
  class Ready final : public engine::Watcher {
   public:
    Ready(Terminal& t, std::function<void(Terminal&)> f) : terminal_(&t), then_(std::move(f)) {
      t.watch(*this);
    }
    ~Ready() {
      if (terminal_ != nullptr) terminal_->unwatch(*this);
    }
    void on_change(Terminal& t, uint32_t) override {
      if (!t.ready() || !then_) return;
      std::exchange(then_, {})(t);
    }
    void on_destroyed() override { terminal_ = nullptr; }

   private:
    Terminal* terminal_;
    std::function<void(Terminal&)> then_;
  };
  if (terminal.ready()) return then(terminal);
  const uint64_t key = add_call(caller, responder);
  auto ready = std::make_shared<std::unique_ptr<Ready>>();
  *ready = std::make_unique<Ready>(terminal, [this, key, then = std::move(then)](Terminal& t) {
    then(t);
    end_call(key);
  });
  open_call(key)->parts.push_back(ready);
}

pty::Provider EngineApplication::provider_of(Args& args) const {
  const bool pipe = config_.settings.terminal.provider == config::Provider::Pipe;
  return args.choice("provider", {pipe ? "pipe" : "pty", "pty", "pipe"}) == "pipe" ? pty::Provider::Pipe
                                                                                   : pty::Provider::Pty;
}

void EngineApplication::open(const Caller& caller, Args& args, const Responder& responder) {
  engine::OpenRequest request;
  request.request = args.text("request");
  request.name = args.text("name");
  request.cwd = args.text("cwd");
  const std::string shell = args.text("shell");
  const std::vector<std::string> shell_args = args.texts("shell_args");
  if (shell.empty() && !shell_args.empty()) args.wrong("'shell_args' needs a 'shell' to be for");
  request.login = args.flag("login");
  request.task = args.text("task");
  const std::string owner =
      args.choice("owner", {caller.role == Role::Person ? "user" : "agent", "agent", "user", "system"});
  request.owner = caller.role == Role::Person ? engine::owner_named(owner).value_or(engine::Owner::User)
                                              : engine::Owner::Agent;
  request.session = own_session(caller);
  request.environment = args.environment("env");
  request.provider = provider_of(args);
  bool refused = false;
  request.size = size_of(args, responder, &refused);
  if (refused || args.refused(responder)) return;
  if (outside_roots(caller, request.cwd, responder)) return;
  if (!shell.empty()) request.shell = {shell};
  request.shell.insert(request.shell.end(), shell_args.begin(), shell_args.end());
  if (caller.role == Role::Person || shell.empty()) return open_now(caller, std::move(request), responder);
  const std::string known = known_shell(shell, engine_->settings().shell);
  if (!known.empty() && shell_args.empty()) {
    request.shell = {known};
    return open_now(caller, std::move(request), responder);
  }
  // Whatever else it is, it is a program that an agent wants to run; and a shell's arguments can be commands.
  if (!known.empty()) request.shell.front() = known;
  std::string words = shell::quote_posix(shell);
  for (const std::string& argument : shell_args) words += " " + shell::quote_posix(argument);
  engine::GateRequest gate = gate_request(caller, words, request.cwd);
  gate.action = "open";
  gate.task = request.task;
  gate.environment_changes = request.environment;
  if (gate.cwd.empty()) {
    if (const char* home = std::getenv("HOME")) gate.cwd = home;
  }
  const auto call = std::make_shared<uint64_t>(0);
  const auto go = [this, alive = alive_, caller, request, responder, call](const engine::GateDecision& came) {
    if (!*alive) return;
    end_call(*call);
    if (!responder.open()) return;
    if (came.kind == engine::GateDecision::Kind::Allowed) return open_now(caller, request, responder);
    responder.fail({wire::Code::Denied,
                    "this is no plain shell of /etc/shells or of the configuration, and to run it "
                    "was not allowed: " +
                        came.reason});
  };
  const engine::GateDecision decision = gate_->ask(std::move(gate), go);
  if (decision.kind != engine::GateDecision::Kind::Pending) return go(decision);
  *call = add_call(caller, responder, [this, id = decision.approval_id, connection = caller.connection] {
    static_cast<void>(gate_->withdraw(id, connection));
  });
}

void EngineApplication::open_now(const Caller& caller, engine::OpenRequest request,
                                 const Responder& responder) {
  with_environment(caller, request.cwd, [=, this](std::vector<std::string> callers) {
    engine::OpenRequest ready = request;
    ready.callers = std::move(callers);
    auto opened = engine_->open(std::move(ready));
    if (!opened) return responder.fail(wire::call_error(opened.error()));
    if (refused(caller, **opened, Use::Act, responder)) return;  // another's, by the same request
    when_ready(caller, **opened, responder, [this, caller, responder](Terminal& terminal) {
      if (terminal.start_error()) return responder.fail(wire::call_error(terminal.start_error()->error));
      if (caller.role != Role::Person) note_act(caller, terminal, {"open", opened_words(terminal), "", ""});
      responder.ok({{"terminal", terminal_object(*engine_, terminal)}});
    });
  });
}

void EngineApplication::acquire(const Caller& caller, Args& args, const Responder& responder) {
  const std::string cwd = args.text("cwd");
  const std::string task = args.text("task");
  const pty::Provider provider = provider_of(args);
  if (args.refused(responder)) return;
  if (outside_roots(caller, cwd, responder)) return;
  with_environment(caller, cwd, [=, this](std::vector<std::string> callers) {
    auto acquired =
        engine_->acquire(cwd, task, owner_of(caller), own_session(caller), provider, std::move(callers));
    if (!acquired) return responder.fail(wire::call_error(acquired.error()));
    when_ready(caller, *acquired->terminal, responder,
               [this, caller, responder, created = acquired->created](Terminal& terminal) {
                 if (terminal.start_error())
                   return responder.fail(wire::call_error(terminal.start_error()->error));
                 if (created && caller.role != Role::Person)
                   note_act(caller, terminal, {"open", opened_words(terminal), "", ""});
                 responder.ok({{"terminal", terminal_object(*engine_, terminal)}, {"created", created}});
               });
  });
}

void EngineApplication::release(const Caller& caller, Args& args, const Responder& responder) {
  const std::string task = args.required_text("task");
  if (args.refused(responder)) return;
  json::array list;
  // An agent frees its own, and none whose keyboard a person has.
  const auto free = [&](const Terminal& terminal) {
    return may(caller, terminal, Use::Act) && (caller.role == Role::Person || !terminal.lease());
  };
  for (Terminal* terminal : engine_->release(task, free))
    list.push_back(terminal_object(*engine_, *terminal));
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::type(Terminal& terminal, const std::string& bytes, engine::Owner by,
                             const Responder& responder) {
  json::object ok{{"bytes", bytes.size()}};
  add_current(ok, terminal);
  terminal.input(bytes, by,
                 [responder, ok](const base::Result<void>& sent) { done_or_fail(responder, sent, ok); });
}

void EngineApplication::input(const Caller& caller, Args& args, const Responder& responder) {
  const int kinds = int{args.has("text")} + int{args.has("keys")} + int{args.has("paste")} +
                    int{args.has("secret")} + int{args.has("base64")};
  if (kinds != 1) args.wrong("give exactly one of 'text', 'keys', 'paste', 'secret' and 'base64'");
  const std::string text = args.text("text");
  const std::string keys = args.text("keys");
  const std::string paste = args.text("paste");
  std::string secret = args.text("secret");
  if (secret.ends_with('\r') || secret.ends_with('\n')) secret.pop_back();  // Enter follows it anyway
  const std::string encoded = args.text("base64");
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  const auto by = owner_of(caller);
  if (!secret.empty()) {
    if (by == engine::Owner::Agent)
      note_act(caller, *terminal, {"type", typed_words("", false), "", "a secret"});
    if (by == engine::Owner::Agent && secret.find_first_of(engine::kEndsReading) != std::string::npos) {
      return responder.fail({wire::Code::InvalidArgument, "a secret is one line without control characters"});
    }
    json::object ok;
    add_current(ok, *terminal);
    return terminal->secret(
        secret, [responder, ok](const base::Result<void>& sent) { done_or_fail(responder, sent, ok); });
  }
  const vt::KeyboardState& keyboard = terminal->output().screen().keyboard();
  std::string bytes = text;
  if (!keys.empty()) {
    auto made = vt::encode_keys(keys, keyboard);
    if (!made) return responder.fail(wire::call_error(made.error()));
    bytes = std::move(*made);
  } else if (!paste.empty()) {
    bytes = vt::encode_paste(paste, keyboard);
  } else if (!encoded.empty()) {
    auto made = base::from_base64(encoded);
    if (!made) return responder.fail({wire::Code::InvalidArgument, "'base64' is not base64"});
    bytes = std::move(*made);
  } else {
    // A person's Enter is a carriage return.
    for (char& c : bytes) {
      if (c == '\n') c = '\r';
    }
  }
  if (by == engine::Owner::User) return type(*terminal, bytes, by, responder);
  if (bytes == "\x03" || bytes == "\x1c" || bytes == "\x0c") {
    note_act(caller, *terminal, {"type", typed_words(bytes, true), "", ""});
    return type(*terminal, bytes, by, responder);
  }
  const uint64_t key = add_call(caller, responder);
  terminal->look([this, alive = alive_, caller, key, id = terminal->id(), bytes,
                  responder](const base::Result<pty::RunState>& state) {
    if (!*alive) return;
    end_call(key);
    if (!responder.open()) return;
    const auto found = engine_->find(id);
    if (!found) return responder.fail(wire::call_error(found.error()));
    type_as_agent(caller, **found, engine::judge_agent_input(**found, state, bytes), bytes, responder);
  });
}

void EngineApplication::type_as_agent(const Caller& caller, Terminal& terminal,
                                      const engine::TypedInput& judged, const std::string& bytes,
                                      const Responder& responder) {
  using Kind = engine::TypedInput::Kind;
  if (judged.kind == Kind::Refuse) {
    note_act(caller, terminal,
             {"type", typed_words(bytes, judged.echo), "input", judged.error->message, false});
    return responder.fail(wire::call_error(*judged.error));
  }
  if (judged.kind == Kind::Type) {
    note_act(caller, terminal, {"type", typed_words(bytes, judged.echo), "", "for " + judged.program});
    return type(terminal, bytes, engine::Owner::Agent, responder);
  }
  engine::GateRequest gate =
      gate_request(caller, judged.kind == Kind::Line ? judged.line : typed_words(bytes, true),
                   judged.cwd.empty() ? terminal.cwd() : judged.cwd);
  gate.action = "type";
  gate.terminal_id = terminal.id();
  gate.task = terminal.spec().task;
  gate.workspace = terminal.spec().cwd;
  gate.language = judged.language;
  if (judged.kind == Kind::Ask) gate.typed_to = judged.program;
  // Typed only if the same program still reads: what was allowed was allowed for that one.
  const auto go = [this, alive = alive_, caller, id = terminal.id(), bytes, pid = judged.pid,
                   responder](const engine::GateDecision& came) {
    if (!*alive) return;
    const auto found = engine_->find(id);
    if (came.kind != engine::GateDecision::Kind::Allowed || !found) {
      if (responder.open()) responder.fail({wire::Code::Denied, "it was not typed: " + came.reason});
      return;
    }
    if (!may(caller, **found, Use::Act) || ((*found)->lease() && caller.role != Role::Person)) return;
    (*found)->look([this, alive, id, bytes, pid, responder](const base::Result<pty::RunState>& state) {
      if (!*alive) return;
      const auto again = engine_->find(id);
      if (again && state && state->waiting && state->waiting->pid == pid) {
        return type(**again, bytes, engine::Owner::Agent, responder);
      }
      responder.fail(
          {wire::Code::Unavailable, "it was not typed: the program it was meant for does not read now"});
    });
  };
  const engine::GateDecision decision = gate_->ask(std::move(gate), go);
  if (decision.kind != engine::GateDecision::Kind::Pending) return go(decision);
  responder.ok({{"bytes", 0},
                {"state", "pending_approval"},
                {"approval", decision.approval_id},
                {"reason", decision.reason}});
}

void EngineApplication::interrupt(const Caller& caller, Args& args, const Responder& responder) {
  Command* command = nullptr;
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder, &command);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  if (!terminal->live() || (command != nullptr && command->over))
    return responder.ok({{"interrupted", false}});
  if (caller.role != Role::Person)
    note_act(caller, *terminal, {"interrupt", command_words(*terminal), "", ""});
  terminal->interrupt([responder](const base::Result<void>& came) {
    done_or_fail(responder, came, {{"interrupted", true}});
  });
}

void EngineApplication::signal(const Caller& caller, Args& args, const Responder& responder) {
  std::optional<int> number;
  if (args.is_number("signal")) {
    number = static_cast<int>(args.number("signal", 0, 1, SIGRTMAX));
  } else if (args.has("signal")) {
    const std::string given = args.text("signal");
    number = signal_named(given);
    if (!number) args.wrong("there is no signal '" + given + "'");
  } else {
    args.wrong("'signal' is missing");
  }
  const std::string to = args.choice("to", {"foreground", "leader", "all"});
  Command* command = nullptr;
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder, &command);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  if (caller.role != Role::Person) {
    note_act(caller, *terminal,
             {"signal", std::string(pty::signal_name(*number)) + " to " + command_words(*terminal), "", ""});
  }
  const auto target = to == "leader" ? engine::HolderLink::Target::Leader
                      : to == "all"  ? engine::HolderLink::Target::Everything
                                     : engine::HolderLink::Target::Foreground;
  terminal->signal(*number, target,
                   [responder](const base::Result<void>& came) { done_or_fail(responder, came, {}); });
}

void EngineApplication::kill(const Caller& caller, Args& args, const Responder& responder) {
  const std::string name = args.text("terminal");
  const std::string id = args.text("command");
  const bool force = args.flag("force");
  if (name.empty() && id.empty()) args.wrong("'terminal' or 'command' is missing");
  if (args.refused(responder)) return;
  Terminal* terminal = nullptr;
  if (!id.empty()) {
    const auto found = engine_->find_command(id);
    if (found && (refused(caller, *found->terminal, Use::Act, responder) ||
                  held(caller, *found->terminal, responder))) {
      return;
    }
    if (found && !found->terminal->spec().temporary()) {
      // A command in a shell: the shell stays.
      if (caller.role != Role::Person) {
        note_act(caller, *found->terminal, {"kill", command_words(*found->terminal), "", ""});
      }
      found->terminal->end_command(terminal::CommandState::Interrupted, "it was killed on request");
      return responder.ok({{"killed", true}, {"survivors", json::array()}});
    }
    if (found) terminal = found->terminal;
  } else {
    const auto found = engine_->find(name);
    // What nobody knows needs no killing; what is not clear must not be guessed.
    if (!found && found.error().code != base::ErrorCode::NotFound)
      return responder.fail(wire::call_error(found.error()));
    if (found && (refused(caller, **found, Use::Act, responder) || held(caller, **found, responder))) return;
    if (found) terminal = *found;
  }
  if (terminal == nullptr || (!terminal->live() && !terminal->holder_alive())) {
    return responder.ok({{"killed", false}, {"survivors", json::array()}});
  }
  if (caller.role != Role::Person)
    note_act(caller, *terminal, {"kill", "terminal " + terminal->id(), "", ""});
  terminal->kill(force ? Terminal::Force::Yes : Terminal::Force::No);
  const uint64_t key = add_call(caller, responder);
  struct Check {
    static void run(EngineApplication* self, uint64_t call, const std::string& id, const Responder& to,
                    int rounds) {
      const auto found = self->engine_->find(id);
      const bool gone = !found || !(*found)->holder_alive();
      if (gone || rounds > 600) {
        json::array survivors;
        if (!gone) survivors.push_back(json::object{{"pid", (*found)->pid()}});
        to.ok({{"killed", gone}, {"survivors", std::move(survivors)}});
        return self->end_call(call);
      }
      OpenCall* open = self->open_call(call);
      if (open == nullptr) return;
      open->timer =
          self->loop_->after(std::chrono::milliseconds(rounds < 20 ? 2 : 20), [self, call, id, to, rounds] {
            if (OpenCall* again = self->open_call(call)) again->timer = 0;
            run(self, call, id, to, rounds + 1);
          });
    }
  };
  Check::run(this, key, terminal->id(), responder, 0);
}

void EngineApplication::resize(const Caller& caller, Args& args, const Responder& responder) {
  const auto cols = static_cast<uint16_t>(args.number("cols", 80, 1, 1000));
  const auto rows = static_cast<uint16_t>(args.number("rows", 24, 1, 1000));
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  terminal->resize({cols, rows, 0, 0},
                   [responder](const base::Result<void>& came) { done_or_fail(responder, came, {}); });
}

void EngineApplication::screen(const Caller& caller, Args& args, const Responder& responder) {
  const std::string format = args.choice("format", {"text", "ansi", "json", "html", "svg"});
  const auto history = static_cast<uint64_t>(args.number("history", 0, 0, 1'000'000));
  if (history > 0 && format != "text")
    args.wrong("'history' is for the text format; `read` has all of the output");
  Terminal* terminal = terminal_of(caller, Use::Read, args, responder);
  if (terminal == nullptr) return;
  const vt::Screen& screen = terminal->output().screen();
  std::string content;
  const terminal::Transcript& before = terminal->output().transcript();
  if (history > 0 && before.size() > 0) {
    // Lines that have left the screen, oldest first.
    const uint64_t from = before.size() > history ? before.size() - history + 1 : 1;
    before.forward(from, [&](const terminal::Transcript::Entry& entry) {
      const uint64_t skipped = entry.first < from ? from - entry.first : 0;
      for (uint64_t i = skipped; i < entry.repeat && !entry.dropped; i++) content += entry.text + "\n";
      return true;
    });
  }
  content += vt::screen_as(screen, *vt::format_named(format));
  responder.ok({{"format", format},
                {"content", content},
                {"cols", screen.cols()},
                {"rows", screen.rows()},
                {"cursor", json::object{{"row", screen.cursor().row},
                                        {"col", screen.cursor().col},
                                        {"visible", screen.modes().has(vt::Mode::CursorVisible)}}},
                {"alternate", screen.is_alternate()},
                {"title", text_or_null(terminal->title())},
                {"terminal", terminal->id()},
                {"state", Terminal::state_name(terminal->state())}});
}

void EngineApplication::list(const Caller& caller, Args& args, const Responder& responder) {
  const std::string task = args.text("task");
  const std::string owner = args.text("owner");
  const bool all = args.flag("all");
  const bool background = args.flag("background");
  if (args.refused(responder)) return;
  json::array list;
  for (Terminal* terminal : engine_->terminals()) {
    const engine::TerminalSpec& spec = terminal->spec();
    if (!may(caller, *terminal, Use::Read) || (!all && !terminal->live())) continue;
    if (!task.empty() && spec.task != task) continue;
    if (!owner.empty() && engine::owner_name(spec.owner) != owner) continue;
    if (background && !spec.task.empty()) continue;
    list.push_back(terminal_object(*engine_, *terminal));
  }
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::show(const Caller& caller, Args& args, const Responder& responder) {
  const auto most = static_cast<size_t>(args.number("most", 40, 0, 1000));
  Terminal* terminal = terminal_of(caller, Use::Read, args, responder);
  if (terminal == nullptr) return;
  const std::string id = terminal->id();
  terminal->processes([this, alive = alive_, id, most,
                       responder](const base::Result<std::vector<engine::HolderLink::Process>>& list) {
    if (!*alive || !responder.open()) return;
    const auto found = engine_->find(id);
    if (!found) return responder.fail(wire::call_error(found.error()));
    Terminal& t = **found;
    json::object answer{{"terminal", terminal_object(*engine_, t)}};
    json::array commands;
    const size_t skip = t.commands().size() > most ? t.commands().size() - most : 0;
    for (size_t i = skip; i < t.commands().size(); i++)
      commands.push_back(result_object(t.facts(*t.commands()[i])));
    answer["commands"] = std::move(commands);
    json::array processes;
    std::vector<pid_t> pids;
    if (list) {
      for (const auto& process : *list) {
        processes.push_back(
            json::object{{"pid", process.pid}, {"parent", process.parent}, {"command", process.command}});
        pids.push_back(process.pid);
      }
    }
    answer["processes"] = std::move(processes);
    json::array ports;
    if (const auto open = pty::listening_ports(pids)) {
      for (const auto& port : *open) ports.push_back(json::object{{"port", port.port}, {"pid", port.pid}});
    }
    answer["ports"] = std::move(ports);
    json::object environment;
    for (const auto& [name, value] : t.environment_changes()) environment[name] = value;
    answer["environment"] = std::move(environment);
    responder.ok(answer);
  });
}

// An agent gets as much again as every terminal has; a person decides.
void EngineApplication::resume(const Caller& caller, Args& args, const Responder& responder) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto usual = static_cast<int64_t>(engine_->settings().journal_quota);
  const int64_t bytes = args.number("bytes", usual, 1, caller.role == Role::Person ? kMost : usual);
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  const auto answer = [this, responder, id = terminal->id()](bool resumed) {
    const auto found = engine_->find(id);
    if (!found) return responder.fail(wire::call_error(found.error()));
    responder.ok({{"resumed", resumed}, {"terminal", terminal_object(*engine_, **found)}});
  };
  if (!terminal->paused()) return answer(false);
  terminal->grant(static_cast<uint64_t>(bytes), [answer, responder](const base::Result<void>& granted) {
    granted ? answer(true) : responder.fail(wire::call_error(granted.error()));
  });
}

void EngineApplication::rename(const Caller& caller, Args& args, const Responder& responder) {
  const std::string name = args.text("name");
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  if (auto renamed = engine_->rename(*terminal, name); !renamed)
    return responder.fail(wire::call_error(renamed.error()));
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::assign(const Caller& caller, Args& args, const Responder& responder) {
  const std::string task = args.text("task");
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr || held(caller, *terminal, responder)) return;
  terminal->set_task(task);
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::associate(const Caller& caller, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  if (caller.role != Role::Person && session != caller.session) {
    args.wrong("an agent associates terminals with its own session");
  }
  const std::string quality = args.text("quality", "none");
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr) return;
  if (auto done = engine_->associate(*terminal, session, quality); !done) {
    return responder.fail(wire::call_error(done.error()));
  }
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::session_terminals(const Caller& caller, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  if (args.refused(responder)) return;
  json::array list;
  for (Terminal* terminal : engine_->of_session(session)) {
    if (may(caller, *terminal, Use::Read)) list.push_back(terminal_object(*engine_, *terminal));
  }
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::session_cwd(const Caller& caller, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  if (args.refused(responder)) return;
  json::value cwd = nullptr;
  for (const Terminal* terminal : engine_->of_session(session)) {
    if (may(caller, *terminal, Use::Read) && terminal->live() && !terminal->cwd().empty())
      cwd = terminal->cwd();  // the newest
  }
  responder.ok({{"cwd", cwd}});
}

json::object EngineApplication::paths_object() const {
  json::array list;
  for (const engine::PathContribution& path : engine_->paths()) {
    list.push_back(json::object{{"contributor", path.contributor},
                                {"path", path.path},
                                {"description", text_or_null(path.description)},
                                {"prepend", path.prepend}});
  }
  return {{"paths", std::move(list)}};
}

void EngineApplication::path_add(const Caller&, Args& args, const Responder& responder) {
  engine::PathContribution path;
  path.contributor = args.required_text("contributor");
  path.path = args.required_text("path");
  path.description = args.text("description");
  path.prepend = args.flag("prepend");
  if (!path.path.starts_with('/') || path.path.find(':') != std::string::npos) {
    args.wrong("'path' must be an absolute directory without a colon");
  }
  if (args.refused(responder)) return;
  engine_->contribute_path(std::move(path));
  responder.ok(paths_object());
}

void EngineApplication::path_remove(const Caller&, Args& args, const Responder& responder) {
  const std::string contributor = args.required_text("contributor");
  if (args.refused(responder)) return;
  engine_->remove_path(contributor);
  responder.ok(paths_object());
}

void EngineApplication::path_list(const Caller&, Args& args, const Responder& responder) {
  if (args.refused(responder)) return;
  responder.ok(paths_object());
}

}  // namespace ttyward::daemon
