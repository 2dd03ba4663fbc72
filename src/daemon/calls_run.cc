// run, exec, result: commands that run are followed until the call is answered. The gate they pass before is
// in calls_gate.cc.
#include <cstdlib>

#include <boost/json/array.hpp>

#include "base/ids.h"
#include "base/mask_secrets.h"
#include "daemon/default_view.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/agent_input.h"
#include "engine/live_stream.h"
#include "engine/shell_reading.h"
#include "policy/verdict_json.h"
#include "shell/command_line.h"
#include "shell/quoting.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Command;
using engine::Terminal;

namespace {

json::object part_object(const engine::StreamPart& part) {
  json::object made;
  if (!part.output.empty()) {
    made["output"] = part.output;
    made["again"] = json::object{{"from_line", part.lines}};
  }
  if (part.state) {
    made["state"] = terminal::command_state_name(*part.state);
    made["waiting"] = nullptr;
  }
  if (part.waiting) {
    made["waiting"] = json::object{{"kind", part.waiting->kind},
                                   {"prompt", part.waiting->prompt},
                                   {"program", part.waiting->program},
                                   {"pid", part.waiting->pid},
                                   {"evidence", part.waiting->evidence}};
  }
  if (part.binary_bytes) made["binary"] = json::object{{"bytes", *part.binary_bytes}};
  if (part.progress) {
    made["progress"] = part.progress->state == vt::Progress::State::None
                           ? json::value(nullptr)
                           : json::value(json::object{{"percent", part.progress->percent}});
  }
  return made;
}

// A prompt that takes longer than this is not waited for.
constexpr std::chrono::milliseconds kLongestSettling{30'000};

void not_yours(const std::string& id, const Responder& responder) {
  responder.fail({wire::Code::PermissionDenied, "command " + id + " is another agent's"});
}

}  // namespace

terminal::ViewLimits EngineApplication::view_of(Args& args) const {
  const config::OutputSettings& output = config_.settings.output;
  const std::string name = args.text("view", std::string(view_name(output.view)));
  auto view = view_named(name, output);
  if (!view) {
    args.wrong("'view' must be one of " + terminal::view_preset_names());
    view = terminal::ViewLimits{};
  }
  if (const auto lines = args.maybe_number("lines", 0, 10'000'000))
    view->lines = static_cast<uint64_t>(*lines);
  if (const auto chars = args.maybe_number("chars", 0, 16 << 20)) view->chars = static_cast<uint64_t>(*chars);
  return *view;
}

EngineApplication::Follow EngineApplication::follow_of(Args& args,
                                                       std::chrono::milliseconds yield_after) const {
  Follow how;
  how.yield_after = args.duration("yield_after_ms", yield_after);
  how.stop_at_input = !args.flag("wait_for_input", false);
  how.stream = args.flag("stream");
  how.interrupt_on_cancel = args.choice("on_cancel", {"leave", "interrupt"}) == "interrupt";
  how.from_line = static_cast<uint64_t>(args.number("from_line", 0, 0, INT64_MAX));
  how.view = view_of(args);
  return how;
}

std::string EngineApplication::chosen_id(Args& args) {
  std::string id = args.text("command_id");
  if (!id.empty() && !base::is_id(id, 'c'))
    args.wrong("'command_id' must be a c and 12 characters of a-z and 2-7");
  return id;
}

bool EngineApplication::rejoin(const Caller& caller, const std::string& id, const std::string& text,
                               const Follow& how, const Responder& responder) {
  const auto other = [&] {
    responder.fail(
        {wire::Code::AlreadyExists, "command " + id + " is another one: choose a new id for this"});
    return true;
  };
  if (const auto pending = pending_.find(id); pending != pending_.end()) {
    if (pending->second.facts.command != text || !may_see(caller, pending->second.session)) return other();
    responder.ok(result_object(pending->second.facts));
    return true;
  }
  if (const auto found = engine_->find_command(id)) {
    // A command that was found again after a daemon's death is known without its secrets.
    const std::string& known = found->command->facts.command;
    if (known != text && known != base::mask_secrets(text)) return other();
    if (!may(caller, *found->terminal, Use::Read)) return other();
    follow(caller, *found->terminal, *found->command, how, responder);
    return true;
  }
  if (!engine_->forgot_command(id) && !(recorded_ && recorded_->has(id))) return false;
  responder.fail({wire::Code::NotFound,
                  "there was a command " + id + " already, too long ago to be followed: see the history"});
  return true;
}

void EngineApplication::answer_with(Terminal& terminal, const std::string& command_id,
                                    const std::string& reader, const terminal::ViewLimits& view,
                                    const Responder& responder) {
  if (!responder.open()) return;
  Command* command = terminal.find(command_id);
  if (command == nullptr) {
    return responder.fail({wire::Code::NotFound, "command " + command_id + " is too long ago"});
  }
  json::object answer = result_for(terminal, *command, reader, view, false);
  if (!terminal.typed_meanwhile().empty() && command->by == engine::Owner::Agent) {
    json::array typed;
    for (const std::string& line : terminal.typed_meanwhile()) typed.emplace_back(line);
    answer["typed_meanwhile"] = std::move(typed);
    terminal.forget_typed_meanwhile();
  }
  responder.ok(answer);
}

void EngineApplication::follow(const Caller& caller, Terminal& terminal, Command& command, const Follow& how,
                               const Responder& responder) {
  const std::string id = command.facts.command_id;
  const uint64_t key =
      add_call(caller, responder,
               [this, id, interrupt = how.interrupt_on_cancel, agent = caller.role != Role::Person] {
                 if (!interrupt) return;
                 const auto found = engine_->find_command(id);
                 if (!found || found->command->over) return;
                 if (agent && found->terminal->lease()) return;  // a person has the keyboard
                 found->terminal->interrupt([](const auto&) {});
               });
  OpenCall& call = *open_call(key);
  std::shared_ptr<engine::LiveStream> stream;
  if (how.stream) {
    auto made = engine::LiveStream::start(
        *loop_, terminal, id,
        [responder](const engine::StreamPart& part) { responder.part(part_object(part)); }, how.from_line);
    if (!made) {
      responder.fail(wire::call_error(made.error()));
      return end_call(key);
    }
    stream = std::move(*made);
    call.parts.push_back(stream);
  }
  const auto answer = [this, stream, key, id, reader = caller.reader, view = how.view,
                       responder](const engine::WaitOutcome&) {
    if (stream) stream->finish();
    const auto found = engine_->find_command(id);
    if (found) {
      answer_with(*found->terminal, id, reader, view, responder);
    } else {
      responder.fail(wire::call_error(found.error()));
    }
    end_call(key);
  };
  if (!how.replies.empty()) {
    engine::DialogueSpec spec;
    spec.command_id = id;
    spec.replies = how.replies;
    spec.timeout = how.replies_timeout;
    spec.by = how.replies_by;
    auto dialogue = engine::Dialogue::start(
        *loop_, terminal, std::move(spec),
        [this, stream, key, id, view = how.view, responder](const engine::DialogueOutcome& came) {
          if (stream) stream->finish();
          const auto found = engine_->find_command(id);
          if (!found) {
            responder.fail(wire::call_error(found.error()));
          } else if (responder.open()) {
            json::object object = result_object(found->terminal->result(*found->command, view));
            json::array used;
            for (const auto& one : came.used) {
              used.push_back(json::object{{"reply", one.reply}, {"line", one.line}, {"asked", one.asked}});
            }
            object["dialogue"] = json::object{{"end", engine::dialogue_end_name(came.end)},
                                              {"reason", text_or_null(came.reason)},
                                              {"used", std::move(used)},
                                              {"used_count", came.used_count}};
            if (!came.reason.empty() && object["reason"].is_null()) object["reason"] = came.reason;
            responder.ok(object);
          }
          end_call(key);
        });
    if (!dialogue) {
      responder.fail(wire::call_error(dialogue.error()));
      return end_call(key);
    }
    call.parts.push_back(std::shared_ptr<engine::Dialogue>(std::move(*dialogue)));
    return;
  }
  engine::WaitSpec spec;
  spec.command_id = id;
  spec.exit = true;
  spec.input = how.stop_at_input;
  spec.timeout = how.yield_after;
  auto wait = engine::Wait::start(*loop_, terminal, std::move(spec), answer);
  if (!wait) {
    responder.fail(wire::call_error(wait.error()));
    return end_call(key);
  }
  call.wait = std::move(*wait);
}

void EngineApplication::run(const Caller& caller, Args& args, const Responder& responder) {
  const config::TimeSettings& times = config_.settings.times;
  engine::RunRequest request;
  request.argv = args.texts("argv");
  request.command = args.text("command");
  request.cwd = args.text("cwd");
  request.environment = args.environment("env");
  request.provider = provider_of(args);
  if (const auto size = args.object("size")) {
    Args part(*size);
    request.size = pty::WindowSize{static_cast<uint16_t>(part.number("cols", 80, 1, 1000)),
                                   static_cast<uint16_t>(part.number("rows", 24, 1, 1000)), 0, 0};
    if (part.refused(responder)) return;
  }
  request.task = args.text("task");
  request.owner = owner_of(caller);
  request.session = own_session(caller);
  if (args.has("stdin")) request.stdin_text = args.text("stdin");
  request.keep_background = args.flag("keep_background", true);
  Follow how = follow_of(args, std::chrono::milliseconds(0));
  // Who is told "it goes on" must not see it end by a limit that nobody chose.
  const auto limit = [&](const char* name, std::chrono::milliseconds usual) {
    const bool chosen = config_.is_set("times", name);
    return how.yield_after.count() > 0 && !chosen ? std::chrono::milliseconds(0) : usual;
  };
  request.timeout = args.duration("timeout_ms", limit("timeout", times.timeout));
  request.idle_timeout = args.duration("idle_timeout_ms", limit("idle_timeout", times.idle_timeout));
  const std::string chosen = chosen_id(args);
  if (request.argv.empty() && request.command.empty()) args.wrong("'command' is missing or empty");
  if (!request.argv.empty() && !request.command.empty()) args.wrong("give 'command' or 'argv', not both");
  if (args.refused(responder)) return;
  if (outside_roots(caller, request.cwd, responder)) return;
  std::string shown = request.command;
  for (const std::string& word : request.argv) {
    shown += (shown.empty() ? "" : " ") + shell::quote_posix(word);
  }
  if (!chosen.empty() && rejoin(caller, chosen, shown, how, responder)) return;
  engine::GateRequest gate = gate_request(caller, shown, request.cwd, chosen);
  if (gate.cwd.empty()) {
    if (const char* home = std::getenv("HOME")) gate.cwd = home;
  }
  gate.environment_changes = request.environment;
  gate.task = request.task;
  request.id = gate.command_id;
  request.command = shown;
  const auto yield = how.yield_after;
  gated(caller, std::move(gate), yield, responder,
        [this, caller, request, how, responder](const std::string& verdict) mutable {
          request.verdict_json = verdict;
          with_environment(caller, request.cwd, [=, this](std::vector<std::string> callers) {
            engine::RunRequest ready = request;
            ready.callers = std::move(callers);
            auto ran = engine_->run(std::move(ready));
            if (!ran) return responder.fail(wire::call_error(ran.error()));
            follow(caller, **ran, *(*ran)->commands().back(), how, responder);
          });
        });
}

void EngineApplication::exec(const Caller& caller, Args& args, const Responder& responder) {
  const config::TimeSettings& times = config_.settings.times;
  const std::string name = args.required_text("terminal");
  engine::CommandRequest request;
  request.text = args.required_text("command");
  request.cwd = args.text("cwd");
  request.timeout = args.duration("timeout_ms", std::chrono::milliseconds(0));
  request.idle_timeout = args.duration("idle_timeout_ms", std::chrono::milliseconds(0));
  request.sentinel = args.flag("sentinel");
  request.by = owner_of(caller);
  request.session = own_session(caller);
  const bool wait_if_busy = args.choice("on_busy", {"fail", "wait"}) == "wait";
  // Nobody is asked about what cannot be run.
  if (auto checked = shell::check_command_text(request.text); !checked && !request.text.empty())
    args.wrong(checked.error().message);
  Follow how = follow_of(args, times.yield_after);
  for (const json::object& reply : args.objects("replies")) {
    Args part(reply);
    engine::Reply made;
    made.when = part.required_text("when");
    made.repeat = part.flag("repeat");
    using Kind = engine::Reply::Kind;
    const std::pair<const char*, Kind> kinds[] = {
        {"text", Kind::Text}, {"keys", Kind::Keys}, {"secret", Kind::Secret}};
    int given = 0;
    for (const auto& [what, kind] : kinds) {
      if (!part.has(what)) continue;
      made.kind = kind;
      made.value = part.text(what);
      given++;
    }
    if (given != 1) part.wrong("a reply has exactly one of 'text', 'keys' and 'secret'");
    if (part.refused(responder)) return;
    how.replies.push_back(std::move(made));
  }
  how.replies_by = owner_of(caller);
  how.replies_timeout = args.duration("replies_timeout_ms", std::chrono::milliseconds(0));
  const std::string chosen = chosen_id(args);
  if (args.refused(responder)) return;
  if (!chosen.empty() && rejoin(caller, chosen, request.text, how, responder)) return;
  auto terminal = engine_->find(name);
  if (!terminal) return responder.fail(wire::call_error(terminal.error()));
  Terminal& t = **terminal;
  if (refused(caller, t, Use::Act, responder)) return;
  // A cd may have led the shell out of where agents may work.
  if (outside_roots(caller, request.cwd.empty() ? t.cwd() : request.cwd, responder)) return;
  if (t.lease() && caller.role == Role::Agent && config_.settings.terminal.lease == config::Lease::Fail) {
    return responder.fail(
        {wire::Code::Busy, t.lease()->by + " has the keyboard of terminal " + t.id() +
                               "; try again when it is given back, or use another terminal"});
  }
  judge_when_settled(caller, t.id(), std::move(request), chosen, wait_if_busy, how, responder);
}

// What a line does depends on where the shell is and what its environment, aliases and options are. After a
// command it says so with its next prompt, and a theme may take its time for that.
void EngineApplication::judge_when_settled(const Caller& caller, const std::string& terminal_id,
                                           engine::CommandRequest request, const std::string& chosen,
                                           bool wait_if_busy, const Follow& how, const Responder& responder) {
  auto terminal = engine_->find(terminal_id);
  if (!terminal) return responder.fail(wire::call_error(terminal.error()));
  Terminal& t = **terminal;
  if (!t.settled() && !t.busy()) {
    const uint64_t key = add_call(caller, responder);
    engine::WaitSpec spec;
    spec.prompt = true;
    spec.timeout = kLongestSettling;
    auto wait = engine::Wait::start(
        *loop_, t, std::move(spec),
        [this, key, caller, terminal_id, request, chosen, wait_if_busy, how,
         responder](const engine::WaitOutcome& came) {
          end_call(key);
          if (!responder.open()) return;
          if (came.condition == engine::WaitOutcome::Condition::Timeout) {
            return responder.fail(
                {wire::Code::Busy, "the shell of terminal " + terminal_id +
                                       " has not come back to its prompt since its last command; "
                                       "nothing was run. Try again, interrupt it, or use another "
                                       "terminal"});
          }
          judge_when_settled(caller, terminal_id, request, chosen, wait_if_busy, how, responder);
        });
    if (!wait) {
      responder.fail(wire::call_error(wait.error()));
      return end_call(key);
    }
    open_call(key)->wait = std::move(*wait);
    return;
  }
  engine::GateRequest gate = gate_request_for(caller, t, request, chosen);
  request.id = gate.command_id;
  const auto verdict_now = gate_->check(gate);
  const bool automatic = verdict_now && verdict_now->decision == policy::Decision::Allow;
  request.second_look = [this, alive = alive_, caller, asked = gate, automatic, text = request.text,
                         cwd = request.cwd, sentinel = request.sentinel] {
    if (!*alive) return std::string("the daemon ended");
    return second_look(caller, asked, automatic, text, cwd, sentinel);
  };
  const std::string command_id = gate.command_id;
  gated(caller, std::move(gate), how.yield_after, responder,
        [this, caller, id = t.id(), request, automatic, wait_if_busy, how,
         responder](const std::string& verdict) mutable {
          request.verdict_json = verdict;
          submit_when_free(caller, id, std::move(request), automatic, wait_if_busy, how, responder);
        });
  // Whoever follows it as it runs learns why it does not.
  const auto pending = pending_.find(command_id);
  if (how.stream && pending != pending_.end() && responder.open()) {
    const terminal::CommandResult& facts = pending->second.facts;
    responder.part({{"state", terminal::command_state_name(facts.state)},
                    {"approval", facts.approval},
                    {"reason", text_or_null(facts.reason)}});
  }
}

// What the gate has to know of a command for a terminal, as it is now.
engine::GateRequest EngineApplication::gate_request_for(const Caller& caller, const Terminal& t,
                                                        const engine::CommandRequest& request,
                                                        const std::string& chosen) const {
  engine::GateRequest gate =
      gate_request(caller, request.text, request.cwd.empty() ? t.cwd() : request.cwd, chosen);
  gate.terminal_id = t.id();
  gate.task = t.spec().task;
  if (gate.workspace.empty()) gate.workspace = t.spec().cwd;  // where it was opened: a cd does not move it
  gate.language = request.sentinel ? engine::Language::Bash : engine::language_of(t.shell().kind);
  if (!request.sentinel) gate.shell = engine::reading_of(gate.language, t.reading(), t.commands());
  for (const auto& [variable, value] : t.environment_changes()) {
    gate.environment_changes.push_back(variable + "=" + value);
  }
  return gate;
}

// Right before it begins: what was allowed without a question has to be harmless still, and what a person
// allowed has to be what they saw.
std::string EngineApplication::second_look(const Caller& caller, const engine::GateRequest& asked,
                                           bool automatic, const std::string& text, const std::string& cwd,
                                           bool sentinel) {
  const auto terminal = engine_->find(asked.terminal_id);
  if (!terminal) return terminal.error().message;
  engine::CommandRequest request;
  request.text = text;
  request.cwd = cwd;
  request.sentinel = sentinel;
  const engine::GateRequest now = gate_request_for(caller, **terminal, request, asked.command_id);
  if (!automatic) {
    return engine::same_deed(asked, now)
               ? std::string()
               : "it was allowed for another folder or other variables than the terminal has by now; "
                 "send it again";
  }
  const auto verdict = gate_->check(now);
  if (!verdict) return verdict.error().message;
  if (verdict->decision == policy::Decision::Allow) return {};
  return "it was harmless when it was sent, but is not any more: " + policy::summary_of(*verdict) +
         "; send it again to be asked about it";
}

void EngineApplication::submit_when_free(const Caller& caller, const std::string& terminal_id,
                                         engine::CommandRequest request, bool automatic, bool wait_if_busy,
                                         const Follow& how, const Responder& responder) {
  auto terminal = engine_->find(terminal_id);
  if (!terminal) return responder.fail(wire::call_error(terminal.error()));
  Terminal& t = **terminal;
  if (refused(caller, t, Use::Act, responder)) return;  // taken back while a question was open, perhaps
  if (wait_if_busy && !request.sentinel && t.live() && t.busy()) {
    const uint64_t key = add_call(caller, responder);
    engine::WaitSpec spec;
    spec.prompt = true;
    spec.timeout = how.yield_after;
    auto wait = engine::Wait::start(
        *loop_, t, std::move(spec),
        [this, key, caller, terminal_id, request, automatic, how,
         responder](const engine::WaitOutcome& came) {
          end_call(key);
          if (!responder.open()) return;
          if (came.condition == engine::WaitOutcome::Condition::Timeout) {
            return responder.fail(
                {wire::Code::Busy, "terminal " + terminal_id + " is still busy; nothing was run"});
          }
          // The command before may have changed what this one means: it is judged anew.
          if (automatic)
            return judge_when_settled(caller, terminal_id, request, request.id, true, how, responder);
          submit_when_free(caller, terminal_id, request, false, true, how, responder);
        });
    if (!wait) {
      responder.fail(wire::call_error(wait.error()));
      return end_call(key);
    }
    open_call(key)->wait = std::move(*wait);
    return;
  }
  auto submitted = engine_->submit(t, std::move(request));
  if (!submitted) {
    wire::CallError error = wire::call_error(submitted.error());
    if (t.live() && t.busy()) error.code = wire::Code::Busy;
    return responder.fail(error);
  }
  follow(caller, *submitted->terminal, *submitted->command, how, responder);
}

void EngineApplication::result(const Caller& caller, Args& args, const Responder& responder) {
  const std::string id = args.required_text("command");
  const terminal::ViewLimits view = view_of(args);
  if (args.refused(responder)) return;
  if (const auto pending = pending_.find(id); pending != pending_.end()) {
    if (!may_see(caller, pending->second.session)) return not_yours(id, responder);
    return responder.ok(result_object(pending->second.facts));
  }
  const auto found = engine_->find_command(id);
  if (!found) return responder.fail(wire::call_error(found.error()));
  if (refused(caller, *found->terminal, Use::Read, responder)) return;
  responder.ok(result_object(found->terminal->result(*found->command, view)));
}

}  // namespace ttyward::daemon
