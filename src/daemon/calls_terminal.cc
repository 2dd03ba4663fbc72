// Terminals: opened, listed, typed into, ended.
#include <csignal>

#include <boost/json/array.hpp>

#include "base/base64.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/agent_input.h"
#include "pty/exit_status.h"
#include "pty/listening_ports.h"
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

}  // namespace

Terminal* EngineApplication::terminal_of(Args& args, const Responder& responder, Command** command) {
  const std::string terminal = args.text("terminal");
  const std::string id = command != nullptr ? args.text("command") : "";
  if (terminal.empty() && id.empty()) {
    args.wrong(command != nullptr ? "'terminal' or 'command' is missing" : "'terminal' is missing or empty");
  }
  if (args.refused(responder)) return nullptr;
  if (!id.empty()) {
    const auto found = engine_->find_command(id);
    if (!found) {
      responder.fail(wire::call_error(found.error()));
      return nullptr;
    }
    if (command != nullptr) *command = found->command;
    return found->terminal;
  }
  const auto found = engine_->find(terminal);
  if (!found) responder.fail(wire::call_error(found.error()));
  return found ? *found : nullptr;
}

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
  if (!shell.empty()) request.shell = {shell};
  request.login = args.flag("login");
  request.task = args.text("task");
  const std::string owner =
      args.choice("owner", {caller.role == Role::Person ? "user" : "agent", "agent", "user", "system"});
  request.owner = caller.role == Role::Person ? engine::owner_named(owner).value_or(engine::Owner::User)
                                              : engine::Owner::Agent;
  request.environment = args.environment("env");
  request.provider = provider_of(args);
  bool refused = false;
  request.size = size_of(args, responder, &refused);
  if (refused || args.refused(responder)) return;
  if (outside_roots(caller, request.cwd, responder)) return;
  auto opened = engine_->open(std::move(request));
  if (!opened) return responder.fail(wire::call_error(opened.error()));
  when_ready(caller, **opened, responder, [this, responder](Terminal& terminal) {
    if (terminal.start_error()) return responder.fail(wire::call_error(terminal.start_error()->error));
    responder.ok({{"terminal", terminal_object(*engine_, terminal)}});
  });
}

void EngineApplication::acquire(const Caller& caller, Args& args, const Responder& responder) {
  const std::string cwd = args.text("cwd");
  const std::string task = args.text("task");
  const pty::Provider provider = provider_of(args);
  if (args.refused(responder)) return;
  if (outside_roots(caller, cwd, responder)) return;
  auto acquired = engine_->acquire(cwd, task, owner_of(caller), provider);
  if (!acquired) return responder.fail(wire::call_error(acquired.error()));
  when_ready(caller, *acquired->terminal, responder,
             [this, responder, created = acquired->created](Terminal& terminal) {
               if (terminal.start_error())
                 return responder.fail(wire::call_error(terminal.start_error()->error));
               responder.ok({{"terminal", terminal_object(*engine_, terminal)}, {"created", created}});
             });
}

void EngineApplication::release(const Caller&, Args& args, const Responder& responder) {
  const std::string task = args.required_text("task");
  if (args.refused(responder)) return;
  json::array list;
  for (Terminal* terminal : engine_->release(task)) list.push_back(terminal_object(*engine_, *terminal));
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::type(Terminal& terminal, const std::string& bytes, engine::Owner by,
                             const Responder& responder) {
  terminal.input(bytes, by, [responder, size = bytes.size()](const base::Result<void>& sent) {
    done_or_fail(responder, sent, {{"bytes", size}});
  });
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
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  const auto by = owner_of(caller);
  if (terminal->lease() && terminal->lease()->connection != caller.connection && by == engine::Owner::Agent) {
    return responder.fail(
        {wire::Code::Busy, terminal->lease()->by + " has the keyboard of terminal " + terminal->id()});
  }
  if (!secret.empty()) {
    if (by == engine::Owner::Agent && secret.find_first_of(engine::kEndsReading) != std::string::npos) {
      return responder.fail({wire::Code::InvalidArgument, "a secret is one line without control characters"});
    }
    return terminal->secret(
        secret, [responder](const base::Result<void>& sent) { done_or_fail(responder, sent, {}); });
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

  if (bytes == "\x03" || bytes == "\x1c" || bytes == "\x0c") return type(*terminal, bytes, by, responder);
  const uint64_t key = add_call(caller, responder);
  const std::string id = terminal->id();
  terminal->look(
      [this, alive = alive_, key, id, bytes, by, responder](const base::Result<pty::RunState>& state) {
        if (!*alive) return;
        end_call(key);
        if (!responder.open()) return;
        const auto found = engine_->find(id);
        if (!found) return responder.fail(wire::call_error(found.error()));
        Terminal& t = **found;
        if (const auto refused = engine::refuse_agent_input(t, state, bytes)) {
          return responder.fail(wire::call_error(*refused));
        }
        type(t, bytes, by, responder);
      });
}

void EngineApplication::interrupt(const Caller&, Args& args, const Responder& responder) {
  Command* command = nullptr;
  Terminal* terminal = terminal_of(args, responder, &command);
  if (terminal == nullptr) return;
  if (!terminal->live() || (command != nullptr && command->over))
    return responder.ok({{"interrupted", false}});
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
  Terminal* terminal = terminal_of(args, responder, &command);
  if (terminal == nullptr) return;
  static_cast<void>(caller);
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
    if (found && !found->terminal->spec().temporary()) {
      // A command in a shell: the shell stays.
      found->terminal->end_command(terminal::CommandState::Interrupted, "it was killed on request");
      return responder.ok({{"killed", true}, {"survivors", json::array()}});
    }
    if (found) terminal = found->terminal;
  } else {
    const auto found = engine_->find(name);
    // What nobody knows needs no killing; what is not clear must not be guessed.
    if (!found && found.error().code != base::ErrorCode::NotFound)
      return responder.fail(wire::call_error(found.error()));
    if (found) terminal = *found;
  }
  if (terminal == nullptr || (!terminal->live() && !terminal->holder_alive())) {
    return responder.ok({{"killed", false}, {"survivors", json::array()}});
  }
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

void EngineApplication::resize(const Caller&, Args& args, const Responder& responder) {
  const auto cols = static_cast<uint16_t>(args.number("cols", 80, 1, 1000));
  const auto rows = static_cast<uint16_t>(args.number("rows", 24, 1, 1000));
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  terminal->resize({cols, rows, 0, 0},
                   [responder](const base::Result<void>& came) { done_or_fail(responder, came, {}); });
}

void EngineApplication::screen(const Caller&, Args& args, const Responder& responder) {
  const std::string format = args.choice("format", {"text", "ansi", "json", "html", "svg"});
  const auto history = static_cast<uint64_t>(args.number("history", 0, 0, 1'000'000));
  if (history > 0 && format != "text")
    args.wrong("'history' is for the text format; `read` has all of the output");
  Terminal* terminal = terminal_of(args, responder);
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

void EngineApplication::list(const Caller&, Args& args, const Responder& responder) {
  const std::string task = args.text("task");
  const std::string owner = args.text("owner");
  const bool all = args.flag("all");
  const bool background = args.flag("background");
  if (args.refused(responder)) return;
  json::array list;
  for (Terminal* terminal : engine_->terminals()) {
    const engine::TerminalSpec& spec = terminal->spec();
    if (!all && !terminal->live()) continue;
    if (!task.empty() && spec.task != task) continue;
    if (!owner.empty() && engine::owner_name(spec.owner) != owner) continue;
    if (background && !spec.task.empty()) continue;
    list.push_back(terminal_object(*engine_, *terminal));
  }
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::show(const Caller&, Args& args, const Responder& responder) {
  const auto most = static_cast<size_t>(args.number("most", 40, 0, 1000));
  Terminal* terminal = terminal_of(args, responder);
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

void EngineApplication::rename(const Caller&, Args& args, const Responder& responder) {
  const std::string name = args.text("name");
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  if (auto renamed = engine_->rename(*terminal, name); !renamed)
    return responder.fail(wire::call_error(renamed.error()));
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::assign(const Caller&, Args& args, const Responder& responder) {
  const std::string task = args.text("task");
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  terminal->set_task(task);
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::associate(const Caller&, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  const std::string quality = args.text("quality", "none");
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  if (auto done = engine_->associate(*terminal, session, quality); !done) {
    return responder.fail(wire::call_error(done.error()));
  }
  responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::session_terminals(const Caller&, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  if (args.refused(responder)) return;
  json::array list;
  for (Terminal* terminal : engine_->of_session(session))
    list.push_back(terminal_object(*engine_, *terminal));
  responder.ok({{"terminals", std::move(list)}});
}

void EngineApplication::session_cwd(const Caller&, Args& args, const Responder& responder) {
  const std::string session = args.required_text("session");
  if (args.refused(responder)) return;
  json::value cwd = nullptr;
  for (const Terminal* terminal : engine_->of_session(session)) {
    if (terminal->live() && !terminal->cwd().empty()) cwd = terminal->cwd();  // the newest
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
