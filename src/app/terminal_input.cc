// Typing: by a person as it is, by an agent only what the program that reads may be given.
#include <utility>

#include "app/objects.h"
#include "app/terminals.h"
#include "policy/escaped_view.h"
#include "vt/input_encoder.h"

namespace ttyward::app {

using engine::Terminal;

namespace {

// The command that gets the input, so that the caller can wait for its answer.
std::string current_id(const Terminal& terminal) {
  const engine::Command* current = terminal.current();
  return current != nullptr && !current->over() ? current->facts.command_id : "";
}

// The typed text for the decision log. Text typed while echo is off is not recorded.
std::string typed_words(const std::string& bytes, bool echo) {
  return echo ? policy::escape_text(bytes) : "(not recorded: echo is off)";
}

// Keys that only stop something or redraw it: no program runs them.
bool is_harmless_key(const std::string& bytes) {
  return bytes == "\x03" || bytes == "\x1c" || bytes == "\x0c";
}

// The bytes of the one kind of input that was given.
base::Result<std::string> bytes_of(const wire::InputRequest& request, const Terminal& terminal) {
  const vt::KeyboardState& keyboard = terminal.output().screen().keyboard();
  if (request.keys) return vt::encode_keys(*request.keys, keyboard);
  if (request.paste) return vt::encode_paste(*request.paste, keyboard);
  if (request.base64) return request.base64->bytes;
  std::string bytes = request.text.value_or("");
  // A person's Enter is a carriage return.
  for (char& c : bytes) {
    if (c == '\n') c = '\r';
  }
  return bytes;
}

}  // namespace

void Terminals::type(Terminal& terminal, const std::string& bytes, engine::Owner by,
                     const Reply<wire::Typed>& reply) {
  wire::Typed typed;
  typed.bytes = bytes.size();
  typed.command_id = current_id(terminal);
  terminal.input(bytes, by, [reply, typed](const base::Result<void>& sent) {
    sent ? reply.ok(typed) : reply.fail(sent.error());
  });
}

void Terminals::type_secret(const Caller& caller, Terminal& terminal, std::string secret,
                            const Reply<wire::Typed>& reply) {
  if (secret.ends_with('\r') || secret.ends_with('\n')) secret.pop_back();  // Enter follows it anyway
  if (owner_of(caller) == engine::Owner::Agent) {
    history_.note_act(caller, terminal, {"type", typed_words("", false), "", "a secret"});
    if (secret.find_first_of(engine::kEndsReading) != std::string::npos)
      return reply.fail(wire::Code::InvalidArgument, "a secret is one line without control characters");
  }
  wire::Typed typed;
  typed.command_id = current_id(terminal);
  terminal.secret(secret, [reply, typed](const base::Result<void>& sent) {
    sent ? reply.ok(typed) : reply.fail(sent.error());
  });
}

void Terminals::input(const Caller& caller, const wire::InputRequest& request,
                      const Reply<wire::Typed>& reply) {
  const int kinds = int{request.text.has_value()} + int{request.keys.has_value()} +
                    int{request.paste.has_value()} + int{request.secret.has_value()} +
                    int{request.base64.has_value()};
  if (kinds != 1) {
    return reply.fail(wire::Code::InvalidArgument,
                      "give exactly one of 'text', 'keys', 'paste', 'secret' and 'base64'");
  }
  const auto found = find_free_terminal(core_, caller, request.terminal);
  if (!found) return reply.fail(found.error());
  Terminal& terminal = *found->terminal;
  if (request.secret && !request.secret->empty())
    return type_secret(caller, terminal, *request.secret, reply);
  const auto bytes = bytes_of(request, terminal);
  if (!bytes) return reply.fail(bytes.error());
  const auto by = owner_of(caller);
  if (by == engine::Owner::User) return type(terminal, *bytes, by, reply);
  if (is_harmless_key(*bytes)) {
    history_.note_act(caller, terminal, {"type", typed_words(*bytes, true)});
    return type(terminal, *bytes, by, reply);
  }
  const uint64_t key = core_.calls.add(reply);
  terminal.look([this, alive = core_.alive, caller, key, id = terminal.id(), bytes = *bytes,
                 reply](const base::Result<pty::RunState>& state) {
    if (!*alive) return;
    core_.calls.end(key);
    if (!reply.open()) return;
    const auto still = core_.engine->find(id);
    if (!still) return reply.fail(still.error());
    // Taken back, or taken by a person, during the look.
    if (const auto why = refusal(core_, caller, **still, Use::Act)) return reply.fail(*why);
    if (const auto why = held(caller, **still)) return reply.fail(*why);
    type_as_agent(caller, **still, engine::judge_agent_input(**still, state, bytes), bytes, reply);
  });
}

void Terminals::type_as_agent(const Caller& caller, Terminal& terminal, const engine::TypedInput& judged,
                              const std::string& bytes, const Reply<wire::Typed>& reply) {
  using Kind = engine::TypedInput::Kind;
  if (judged.kind == Kind::Refuse) {
    history_.note_act(caller, terminal,
                      {"type", typed_words(bytes, judged.echo), "input", judged.error->message, false});
    return reply.fail(*judged.error);
  }
  if (judged.kind == Kind::Type) {
    history_.note_act(caller, terminal,
                      {"type", typed_words(bytes, judged.echo), "", "for " + judged.program});
    return type(terminal, bytes, engine::Owner::Agent, reply);
  }
  gate::GateRequest gate =
      gatekeeper_.request(caller, judged.kind == Kind::Line ? judged.line : typed_words(bytes, true),
                          judged.cwd.empty() ? terminal.cwd() : judged.cwd);
  gate.action = "type";
  gate.terminal_id = terminal.id();
  gate.task = terminal.spec().task;
  gate.workspace = terminal.spec().cwd;
  gate.language = judged.language;
  if (judged.kind == Kind::Ask) gate.typed_to = judged.program;
  const auto decided = [this, caller, id = terminal.id(), bytes, judged,
                        reply](const gate::GateDecision& came) {
    if (came.kind != gate::GateDecision::Kind::Allowed)
      return reply.fail(wire::Code::Denied, "it was not typed: " + came.reason);
    type_what_was_allowed(caller, id, judged, bytes, reply);
  };
  const gate::GateDecision decision = gatekeeper_.ask(std::move(gate), decided);
  if (decision.kind != gate::GateDecision::Kind::Pending) return;
  core_.gate->keep(decision.approval_id);
  wire::Typed waits;
  waits.bytes = 0;
  waits.state = "pending_approval";
  waits.approval = decision.approval_id;
  waits.reason = decision.reason;
  reply.ok(waits);
}

// Only if it would be for the same program, and as a line for a shell in the same folder: what was allowed
// was allowed for that.
void Terminals::type_what_was_allowed(const Caller& caller, const std::string& id,
                                      const engine::TypedInput& allowed, const std::string& bytes,
                                      const Reply<wire::Typed>& reply) {
  const auto found = core_.engine->find(id);
  if (!found) return reply.fail(found.error());
  // If a person was asked, the call has been answered: then the decision log says that it was not typed.
  const auto not_typed = [this, caller, id, bytes, allowed, reply](const wire::CallError& why) {
    const auto terminal = core_.engine->find(id);
    if (terminal) {
      history_.note_act(caller, **terminal,
                        {"type", typed_words(bytes, allowed.echo), "input", why.message, false});
    }
    reply.fail(why.code, "it was not typed: " + why.message);
  };
  (*found)->look([this, alive = core_.alive, caller, id, allowed, bytes, reply,
                  not_typed](const base::Result<pty::RunState>& state) {
    if (!*alive) return;
    const auto still = core_.engine->find(id);
    if (!still) return reply.fail(still.error());
    if (const auto why = refusal(core_, caller, **still, Use::Act)) return not_typed(*why);
    if (const auto why = held(caller, **still)) return not_typed(*why);
    const engine::TypedInput now = engine::judge_agent_input(**still, state, bytes);
    const bool same = now.kind != engine::TypedInput::Kind::Refuse && now.pid == allowed.pid &&
                      now.cwd == allowed.cwd && now.language == allowed.language;
    if (!same)
      return not_typed({wire::Code::Unavailable,
                        "the program it was meant for is not reading now, or reads "
                        "something else; send it again when it asks"});
    type(**still, bytes, engine::Owner::Agent, reply);
  });
}

}  // namespace ttyward::app
