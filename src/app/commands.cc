#include "app/commands.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

#include "app/default_view.h"
#include "app/line_there.h"
#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "app/terminals.h"
#include "base/ids.h"
#include "base/mask_secrets.h"
#include "engine/shell_reading.h"
#include "policy/verdict_json.h"
#include "pty/exit_status.h"
#include "sandbox/profile.h"
#include "shell/command_line.h"
#include "shell/quoting.h"

namespace ttyward::app {

using engine::Command;
using engine::Terminal;
using std::chrono::milliseconds;
using wire::Code;

namespace {

// A prompt that takes longer than this is not waited for.
constexpr milliseconds kLongestSettling{30'000};

// Why it cannot be the id of a command; empty: it can.
std::string wrong_with_id(const std::string& id) {
  return id.empty() || base::is_id(id, 'c') ? ""
                                            : "'command_id' must be a c and 12 characters of a-z and 2-7";
}

// Why it cannot be kept; empty: it can.
std::string wrong_with_description(const std::string& text) {
  constexpr size_t kMost = 4096;
  return text.size() <= kMost ? "" : "'description' has more than 4096 bytes: say it in fewer words";
}

Outcome<engine::Reply> reply_of(const wire::ExpectedReply& asked) {
  using Kind = engine::Reply::Kind;
  engine::Reply made;
  made.when = asked.when;
  made.repeat = asked.repeat;
  int given = 0;
  const auto take = [&](const std::optional<std::string>& value, Kind kind) {
    if (!value) return;
    made.kind = kind;
    made.value = *value;
    given++;
  };
  take(asked.text, Kind::Text);
  take(asked.keys, Kind::Keys);
  take(asked.secret, Kind::Secret);
  if (given != 1)
    return refuse(Code::InvalidArgument, "a reply has exactly one of 'text', 'keys' and 'secret'");
  return made;
}

Outcome<int> signal_of(const wire::NumberOrName& asked) {
  if (const auto* number = std::get_if<int64_t>(&asked)) return static_cast<int>(*number);
  std::string name = std::get<std::string>(asked);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!name.starts_with("SIG")) name = "SIG" + name;
  for (int number = 1; number <= SIGRTMAX; number++) {
    if (pty::signal_name(number) == name) return number;
  }
  return refuse(Code::InvalidArgument, "there is no signal '" + std::get<std::string>(asked) + "'");
}

}  // namespace

bool Commands::rejoin(const Caller& caller, const std::string& id, const std::string& text, const Follow& how,
                      const Reply<wire::CommandResult>& reply) {
  const auto other = [&] {
    reply.fail(Code::AlreadyExists,
               "command " + id + " is a different command; choose a new id for this one");
    return true;
  };
  if (const PendingCommand* pending = gatekeeper_.find(id)) {
    if (pending->facts.command != text || !core_.may_see(caller, pending->session)) return other();
    gatekeeper_.answer(*pending, reply);
    return true;
  }
  if (const auto found = core_.engine->find_command(id)) {
    // A command that was found again after a daemon's death is known without its secrets.
    const std::string& known = found->command->facts.command;
    if (known != text && known != base::mask_secrets(text)) return other();
    if (!core_.may(caller, *found->terminal, Use::Read)) return other();
    // The daemon before us died between the call and the start; this call is for the same command.
    if (core_.engine->take_back_unstarted(*found->terminal)) return false;
    following_.follow(caller, *found->terminal, *found->command, how, reply);
    return true;
  }
  if (!core_.engine->forgot_command(id) && !history_.has(id)) return false;
  reply.fail(Code::NotFound,
             "the command id " + id + " was used before, too long ago to return its result; see the history");
  return true;
}

base::Result<void> Commands::complete_sandbox(bool try_run, engine::RunRequest& request) {
  if (!request.sandbox && try_run)
    return base::fail(base::ErrorCode::InvalidArgument,
                      "'try' needs a sandbox: ask for 'workspace', not for 'none'");
  if (!request.sandbox) return {};
  const config::SandboxSettings& settings = core_.settings().sandbox;
  if (try_run || (settings.keep_changes && can_keep_changes(*request.sandbox))) {
    LayeredRun run;
    run.id = request.id;
    run.command = base::mask_secrets(request.command);
    run.session = request.session;
    run.purpose = try_run ? changes::Purpose::Try : changes::Purpose::Keep;
    if (auto begun = change_sets_.begin(run, *request.sandbox); !begun) return begun;
    // What goes on after the end would write to a layer that nobody looks at any more.
    request.keep_background = false;
  }
  auto started = proxies_.start(request.id, *request.sandbox);
  if (!started) change_sets_.never_started(request.id);
  return started;
}

engine::RunRequest Commands::run_request(const Caller& caller, const wire::RunRequest& asked) const {
  const config::TimeSettings& times = core_.settings().times;
  // A caller that was told "it keeps running" must not see it stopped by a default limit.
  const auto limit = [&](const char* name, milliseconds usual) {
    const bool chosen = core_.configuration.loaded().is_set("times", name);
    return asked.yield_after.count() > 0 && !chosen ? milliseconds(0) : usual;
  };
  engine::RunRequest request;
  request.argv = asked.argv;
  request.command = asked.command;
  for (const std::string& word : asked.argv)
    request.command += (request.command.empty() ? "" : " ") + shell::quote_posix(word);
  request.description = asked.description;
  request.place = asked.place;
  request.cwd = asked.cwd;
  request.environment = asked.env.entries;
  request.provider = provider_of(asked.provider, core_.settings());
  request.size = size_of(asked.size);
  request.task = asked.task;
  request.owner = owner_of(caller);
  request.session = own_session(caller);
  request.stdin_text = asked.stdin_text;
  request.keep_background = asked.keep_background;
  request.timeout = asked.timeout.value_or(limit("timeout", times.timeout));
  request.idle_timeout = asked.idle_timeout.value_or(limit("idle_timeout", times.idle_timeout));
  return request;
}

void Commands::run(const Caller& caller, const wire::RunRequest& asked,
                   const Reply<wire::CommandResult>& reply) {
  run_noting(caller, asked, {}, reply);
}

void Commands::run_noting(const Caller& caller, const wire::RunRequest& asked, const std::string& note,
                          const Reply<wire::CommandResult>& reply) {
  if (asked.argv.empty() && asked.command.empty())
    return reply.fail(Code::InvalidArgument, "'command' is missing or empty");
  if (!asked.argv.empty() && !asked.command.empty())
    return reply.fail(Code::InvalidArgument, "give 'command' or 'argv', not both");
  if (std::string wrong = wrong_with_id(asked.command_id); !wrong.empty())
    return reply.fail(Code::InvalidArgument, std::move(wrong));
  if (std::string wrong = wrong_with_description(asked.description); !wrong.empty())
    return reply.fail(Code::InvalidArgument, std::move(wrong));
  engine::RunRequest request = run_request(caller, asked);
  Follow how;
  how.yield_after = asked.yield_after;
  how.stop_at_input = !asked.wait_for_input;
  how.stream = asked.stream;
  how.interrupt_on_cancel = asked.on_cancel == wire::OnCancel::Interrupt;
  how.from_line = static_cast<uint64_t>(asked.from_line);
  how.view = view_of(asked.view, core_.settings().output);
  const bool here = request.place.empty();
  if (const auto outside = here ? gatekeeper_.outside_roots(caller, request.cwd) : std::nullopt)
    return reply.fail(*outside);
  std::string line = request.command;
  if (!here) {
    if (asked.try_run) return reply.fail(Code::Unsupported, "changes can be tried on this machine only");
    auto there = line_there(request.place, request.command);
    if (!there) return reply.fail(there.error());
    line = std::move(*there);
  }
  // Before the gate: a repeated call follows its command, and nobody is asked twice.
  if (!asked.command_id.empty() && rejoin(caller, asked.command_id, request.command, how, reply)) return;
  gate::GateRequest gate =
      gatekeeper_.request(caller, std::move(line), here ? request.cwd : "", asked.command_id);
  if (gate.cwd.empty()) {
    if (const char* home = std::getenv("HOME")) gate.cwd = home;
  }
  gate.environment_changes = request.environment;
  gate.task = request.task;
  if (!wants_more(asked.sandbox)) {
    gate.confinable = gatekeeper_.confinable(caller, gate.cwd);
  } else if (caller.role == Role::Agent && core_.gate->mode(caller.session) == policy::Mode::Auto) {
    gate.mode = std::min(gate.mode.value_or(policy::Mode::Default), policy::Mode::Default);
  }
  request.id = gate.command_id;
  // Now: the caller may be gone when a person has answered.
  request.callers = environment_.of(caller);
  // Not copied with the callbacks: its standard input may be large. It is used once.
  const auto waiting = std::make_shared<engine::RunRequest>(std::move(request));
  gatekeeper_.ask_for_command(caller, std::move(gate), how.yield_after, reply,
                              [this, caller, waiting, how, reply, note, profile = asked.sandbox,
                               try_run = asked.try_run](const policy::Verdict& verdict) {
                                start_run(caller, waiting, {profile, note, verdict, try_run}, how, reply);
                              });
}

void Commands::start_run(const Caller& caller, const std::shared_ptr<engine::RunRequest>& waiting,
                         const Confining& confining, const Follow& how,
                         const Reply<wire::CommandResult>& reply) {
  if (!waiting->place.empty()) return start_there(caller, waiting, confining, how, reply);
  environment_.get(waiting->callers, waiting->cwd, [=, this](std::vector<std::string> callers) {
    engine::RunRequest ready = std::move(*waiting);
    ready.verdict_json = policy::to_json(confining.verdict);
    ready.callers = std::move(callers);
    // Asked again while the environment was made: the first call has started it.
    if (const auto started = core_.engine->find_command(ready.id))
      return following_.follow(caller, *started->terminal, *started->command, how, reply);
    terminal::CommandResult facts;
    facts.command_id = ready.id;
    facts.command = ready.command;
    facts.cwd = ready.cwd;
    const auto cannot = [&](const base::Error& error) {
      gatekeeper_.cannot_start(std::move(facts), caller.session, wire::call_error(error), reply);
    };
    const std::string profile =
        confining.try_run ? profile_for_try(confining.profile, asker_of(caller), core_.settings().sandbox)
                          : confining.profile;
    auto confined = confine(profile, asker_of(caller), ready.cwd, ready.callers, core_.settings().sandbox,
                            &confining.verdict);
    if (!confined) return cannot(confined.error());
    ready.sandbox = std::move(confined->plan);
    ready.sandbox_report = std::move(confined->report);
    if (!confining.note.empty()) ready.sandbox_report.notes.push_back(confining.note);
    if (auto complete = complete_sandbox(confining.try_run, ready); !complete)
      return cannot(complete.error());
    auto ran = core_.engine->run(std::move(ready));
    if (!ran) {
      change_sets_.never_started(facts.command_id);
      proxies_.end(facts.command_id);
      return cannot(ran.error());
    }
    following_.follow(caller, **ran, *(*ran)->commands().back(), how, reply);
  });
}

void Commands::start_there(const Caller& caller, const std::shared_ptr<engine::RunRequest>& waiting,
                           const Confining& confining, const Follow& how,
                           const Reply<wire::CommandResult>& reply) {
  core_.engine->places().reach(
      waiting->place, [=, this](const base::Result<const relay::FarPlace*>& reached) {
        engine::RunRequest ready = std::move(*waiting);
        ready.verdict_json = policy::to_json(confining.verdict);
        terminal::CommandResult facts;
        facts.command_id = ready.id;
        facts.command = ready.command;
        facts.place = ready.place;
        facts.cwd = ready.cwd;
        const auto cannot = [&](const base::Error& error) {
          gatekeeper_.cannot_start(std::move(facts), caller.session, wire::call_error(error), reply);
        };
        if (!reached) return cannot(reached.error());
        const bool confined = !confining.profile.empty() && confining.profile != "none";
        if (confined || !confining.verdict.sandbox.empty()) {
          return cannot({base::ErrorCode::Unsupported, 0,
                         "it would have to run in a sandbox, which works on this machine only"});
        }
        auto ran = core_.engine->run(std::move(ready));
        if (!ran) return cannot(ran.error());
        following_.follow(caller, **ran, *(*ran)->commands().back(), how, reply);
      });
}

void Commands::exec(const Caller& caller, const wire::ExecRequest& asked,
                    const Reply<wire::CommandResult>& reply) {
  // Nobody is asked about what cannot be run.
  if (auto checked = shell::check_command_text(asked.command); !checked)
    return reply.fail(Code::InvalidArgument, checked.error().message);
  if (std::string wrong = wrong_with_id(asked.command_id); !wrong.empty())
    return reply.fail(Code::InvalidArgument, std::move(wrong));
  if (std::string wrong = wrong_with_description(asked.description); !wrong.empty())
    return reply.fail(Code::InvalidArgument, std::move(wrong));
  Submission submission{caller, {}, {}, asked.command_id, asked.on_busy == wire::OnBusy::Wait, {}, reply};
  engine::CommandRequest& request = submission.request;
  request.text = asked.command;
  request.description = asked.description;
  request.cwd = asked.cwd;
  request.timeout = asked.timeout;
  request.idle_timeout = asked.idle_timeout;
  request.sentinel = asked.sentinel;
  request.by = owner_of(caller);
  request.session = own_session(caller);
  Follow& how = submission.how;
  how.yield_after = asked.yield_after.value_or(core_.settings().times.yield_after);
  how.stop_at_input = !asked.wait_for_input;
  how.stream = asked.stream;
  how.interrupt_on_cancel = asked.on_cancel == wire::OnCancel::Interrupt;
  how.from_line = static_cast<uint64_t>(asked.from_line);
  how.view = view_of(asked.view, core_.settings().output);
  for (const wire::ExpectedReply& each : asked.replies) {
    auto made = reply_of(each);
    if (!made) return reply.fail(made.error());
    how.replies.push_back(std::move(*made));
  }
  how.replies_timeout = asked.replies_timeout;
  how.replies_by = owner_of(caller);
  if (!asked.command_id.empty() && rejoin(caller, asked.command_id, asked.command, how, reply)) return;
  const auto found = find_terminal(core_, caller, Use::Act, asked.terminal);
  if (!found) return reply.fail(found.error());
  const Terminal& terminal = *found->terminal;
  // A cd may have led the shell out of where agents may work.
  const bool here = terminal.spec().place.empty();
  if (const auto outside =
          here ? gatekeeper_.outside_roots(caller, request.cwd.empty() ? terminal.cwd() : request.cwd)
               : std::nullopt) {
    return reply.fail(*outside);
  }
  if (caller.role == Role::Agent && core_.settings().terminal.lease == config::Lease::Fail) {
    if (const auto why = held(caller, terminal)) return reply.fail(*why);
  }
  if (!asked.sandbox.empty()) {
    const auto wanted = sandbox::profile_named(asked.sandbox);
    if (!wanted) {
      return reply.fail(Code::InvalidArgument,
                        "there is no sandbox '" + asked.sandbox + "': use " + sandbox::profile_names());
    }
    const auto has = sandbox::profile_named(terminal.spec().sandbox.profile).value_or(sandbox::Profile{});
    if (!sandbox::is_as_strict(has, *wanted)) submission.beside = asked.sandbox;
  }
  submission.terminal_id = terminal.id();
  judge_when_settled(submission);
}

// In the folder and with the environment that the terminal was opened with.
void Commands::run_beside(const Submission& submission, const policy::Verdict& verdict) {
  const auto found = core_.engine->find(submission.terminal_id);
  if (!found) return submission.reply.fail(found.error());
  const Terminal& terminal = **found;
  const std::string& has = terminal.spec().sandbox.profile;
  if (!submission.how.replies.empty() || submission.request.sentinel) {
    return submission.reply.fail(
        Code::InvalidArgument,
        "the command needs another sandbox than its terminal has, and beside the terminal "
        "no replies can be given: open a terminal with that sandbox");
  }
  auto run = std::make_shared<engine::RunRequest>();
  run->id = submission.request.id;
  run->command = submission.request.text;
  run->description = submission.request.description;
  run->place = terminal.spec().place;
  run->cwd = submission.request.cwd.empty() ? terminal.cwd() : submission.request.cwd;
  run->callers = terminal.spec().environment;
  run->timeout = submission.request.timeout;
  run->idle_timeout = submission.request.idle_timeout;
  run->task = terminal.spec().task;
  run->owner = submission.request.by;
  run->session = submission.request.session;
  const std::string note = "the command ran beside the terminal " + terminal.id() +
                           ", in its folder: the terminal has " +
                           (has.empty() ? "no sandbox" : "the sandbox " + has);
  start_run(submission.caller, run, {submission.beside, note, verdict}, submission.how, submission.reply);
}

uint64_t Commands::when_at_prompt(Terminal& terminal, milliseconds patience, const std::string& too_long,
                                  const Reply<wire::CommandResult>& reply, std::function<void()> then) {
  const uint64_t key = core_.calls.add(reply);
  engine::WaitSpec spec;
  spec.prompt = true;
  spec.timeout = patience;
  auto wait = engine::Wait::start(
      core_.loop, terminal, std::move(spec),
      [this, key, too_long, reply, then = std::move(then)](const engine::WaitOutcome& came) {
        settling_.erase(key);
        core_.calls.end(key);
        if (!reply.open()) return;
        if (came.condition == engine::WaitOutcome::Condition::Timeout)
          return reply.fail(Code::Busy, too_long);
        then();
      });
  if (!wait) {
    reply.fail(wait.error());
    core_.calls.end(key);
    return 0;
  }
  core_.calls.find(key)->wait = std::move(*wait);
  return key;
}

void Commands::interrupt_settling(const std::string& terminal_id) {
  std::vector<uint64_t> keys;
  for (const auto& [key, submission] : settling_)
    if (submission.terminal_id == terminal_id) keys.push_back(key);
  for (const uint64_t key : keys) {
    const Submission submission = std::move(settling_.extract(key).mapped());
    if (submission.reply.open())
      submission.reply.fail(Code::Cancelled,
                            "the command was interrupted before it started; nothing was run");
    core_.calls.end(key);
  }
}

namespace {

// As verdicts rely on it.
bool confined_to_workspace(const std::string& profile) {
  return profile == "workspace" || profile == "read-only";
}

}  // namespace

gate::GateRequest Commands::gate_request(const Submission& submission, const Terminal& terminal) const {
  const engine::CommandRequest& request = submission.request;
  if (!terminal.spec().place.empty()) {
    gate::GateRequest there = gatekeeper_.request(
        submission.caller, line_there(terminal.spec().place, request.text).value_or(request.text), "",
        submission.chosen_id);
    if (const char* home = std::getenv("HOME")) there.cwd = home;
    there.terminal_id = terminal.id();
    there.task = terminal.spec().task;
    return there;
  }
  gate::GateRequest gate =
      gatekeeper_.request(submission.caller, request.text, request.cwd.empty() ? terminal.cwd() : request.cwd,
                          submission.chosen_id);
  gate.terminal_id = terminal.id();
  gate.task = terminal.spec().task;
  if (confined_to_workspace(terminal.spec().sandbox.profile) &&
      gatekeeper_.confinable(submission.caller, terminal.spec().cwd) != policy::Confinable::No)
    gate.confinable = policy::Confinable::InItsTerminal;
  if (gate.workspace.empty())
    gate.workspace = terminal.spec().cwd;  // where it was opened: a cd does not move it
  gate.language = request.sentinel ? gate::Language::Bash : gate::language_of(terminal.shell().kind);
  if (!request.sentinel)
    gate.shell = engine::reading_of(gate.language, terminal.reading(), terminal.commands());
  for (const auto& [variable, value] : terminal.environment_changes())
    gate.environment_changes.push_back(variable + "=" + value);
  return gate;
}

// What a line does depends on where the shell is and what its environment, aliases and options are. After a
// command it says so with its next prompt, and a theme may take its time for that.
void Commands::judge_when_settled(const Submission& submission) {
  const auto found = core_.engine->find(submission.terminal_id);
  if (!found) return submission.reply.fail(found.error());
  Terminal& terminal = **found;
  if (!terminal.settled() && !terminal.busy()) {
    const uint64_t key =
        when_at_prompt(terminal, kLongestSettling,
                       "the shell of terminal " + submission.terminal_id +
                           " has not come back to its prompt since its last command; nothing was run. Try "
                           "again, interrupt it, or use another terminal",
                       submission.reply, [this, submission] { judge_when_settled(submission); });
    std::erase_if(settling_, [this](const auto& each) { return core_.calls.find(each.first) == nullptr; });
    if (key != 0) settling_.emplace(key, submission);
    return;
  }
  gate::GateRequest gate = gate_request(submission, terminal);
  const std::string command_id = gate.command_id;
  Submission judged = submission;
  judged.request.id = command_id;
  const auto verdict_now = core_.gate->check(gate);
  judged.automatic = verdict_now && verdict_now->decision == policy::Decision::Allow;
  judged.request.second_look = [this, alive = core_.alive, looked_at = judged, asked = gate] {
    return *alive ? second_look(looked_at, asked) : std::string("the daemon ended");
  };
  gatekeeper_.ask_for_command(submission.caller, std::move(gate), submission.how.yield_after,
                              submission.reply, [this, judged](const policy::Verdict& verdict) {
                                const auto there = core_.engine->find(judged.terminal_id);
                                const bool fits = there && suffices((*there)->spec().sandbox, verdict);
                                if (!judged.beside.empty() || (there && !fits))
                                  return run_beside(judged, verdict);
                                Submission ready = judged;
                                ready.request.verdict_json = policy::to_json(verdict);
                                submit_when_free(ready);
                              });
  // Whoever follows it as it runs learns why it does not.
  const PendingCommand* pending = gatekeeper_.find(command_id);
  if (!submission.how.stream || pending == nullptr || !submission.reply.open()) return;
  wire::StreamPart part;
  part.state = terminal::command_state_name(pending->facts.state);
  part.approval = pending->facts.approval;
  part.reason.emplace();
  if (!pending->facts.reason.empty()) part.reason->emplace(pending->facts.reason);
  submission.reply.part(part);
}

std::string Commands::second_look(const Submission& submission, const gate::GateRequest& asked) const {
  const auto terminal = core_.engine->find(asked.terminal_id);
  if (!terminal) return terminal.error().message;
  Submission same = submission;
  same.chosen_id = asked.command_id;
  const gate::GateRequest now = gate_request(same, **terminal);
  if (!submission.automatic) {
    return gate::same_action(asked, now) ? std::string()
                                         : "it was allowed for a different folder or different variables "
                                           "than the terminal has now; send it again";
  }
  const auto verdict = core_.gate->check(now);
  if (!verdict) return verdict.error().message;
  if (verdict->decision == policy::Decision::Allow) return {};
  return "it was harmless when it was sent, but no longer is: " + policy::summary_of(*verdict) +
         "; send it again to be asked about it";
}

void Commands::submit_when_free(const Submission& submission) {
  const Reply<wire::CommandResult>& reply = submission.reply;
  const auto fail = [&](const wire::CallError& error) {
    terminal::CommandResult facts;
    facts.command_id = submission.request.id;
    facts.terminal_id = submission.terminal_id;
    facts.command = submission.request.text;
    gatekeeper_.cannot_start(std::move(facts), submission.caller.session, error, reply);
  };
  const auto found = core_.engine->find(submission.terminal_id);
  if (!found) return fail(wire::call_error(found.error()));
  Terminal& terminal = **found;
  // Taken back while a question was open, perhaps.
  if (const auto why = refusal(core_, submission.caller, terminal, Use::Act)) return fail(*why);
  if (submission.wait_if_busy && !submission.request.sentinel && terminal.live() && terminal.busy()) {
    when_at_prompt(terminal, submission.how.yield_after,
                   "terminal " + submission.terminal_id + " is still busy; nothing was run", reply,
                   [this, submission] {
                     if (!submission.automatic) return submit_when_free(submission);
                     // The previous command may have changed what this one does, so it is judged
                     // again.
                     Submission again = submission;
                     again.chosen_id = submission.request.id;
                     judge_when_settled(again);
                   });
    return;
  }
  auto submitted = core_.engine->submit(terminal, submission.request);
  if (!submitted) {
    wire::CallError error = wire::call_error(submitted.error());
    if (terminal.live() && terminal.busy()) error.code = Code::Busy;
    return fail(error);
  }
  following_.follow(submission.caller, *submitted->terminal, *submitted->command, submission.how, reply);
}

void Commands::result(const Caller& caller, const wire::ResultRequest& request,
                      const Reply<wire::CommandResult>& reply) {
  if (const PendingCommand* pending = gatekeeper_.find(request.command)) {
    if (!core_.may_see(caller, pending->session)) return reply.fail(not_yours(request.command));
    return reply.ok(result_object(pending->facts));
  }
  if (const auto found = find_terminal(core_, caller, Use::Read, {}, request.command); !found)
    return reply.fail(found.error());
  watching_.when_readable({request.command}, [=, this] {
    if (!reply.open()) return;
    const auto found = find_terminal(core_, caller, Use::Read, {}, request.command);
    if (!found) return reply.fail(found.error());
    wire::CommandResult made = result_object(
        found->terminal->result(*found->command, view_of(request.view, core_.settings().output)));
    watching_.complete(made);
    reply.ok(std::move(made));
  });
}

void Commands::interrupt(const Caller& caller, const wire::InterruptRequest& request,
                         const Reply<wire::Interrupted>& reply) {
  const auto found = find_free_terminal(core_, caller, request.terminal, request.command);
  if (!found) return reply.fail(found.error());
  Terminal& terminal = *found->terminal;
  if (!terminal.live() || (found->command != nullptr && found->command->over())) return reply.ok({false});
  if (caller.role != Role::Person)
    history_.note_act(caller, terminal, {"interrupt", command_words(terminal)});
  if (!terminal.busy()) interrupt_settling(terminal.id());
  terminal.interrupt(
      [reply](const base::Result<void>& came) { came ? reply.ok({true}) : reply.fail(came.error()); });
}

void Commands::signal(const Caller& caller, const wire::SignalRequest& request,
                      const Reply<wire::Nothing>& reply) {
  const auto number = signal_of(*request.signal);
  if (!number) return reply.fail(number.error());
  const auto found = find_free_terminal(core_, caller, request.terminal, request.command);
  if (!found) return reply.fail(found.error());
  Terminal& terminal = *found->terminal;
  if (caller.role != Role::Person) {
    history_.note_act(caller, terminal,
                      {"signal", std::string(pty::signal_name(*number)) + " to " + command_words(terminal)});
  }
  using Target = command::Source::Target;
  const Target target = request.to == wire::SignalTarget::Leader ? Target::Leader
                        : request.to == wire::SignalTarget::All  ? Target::Everything
                                                                 : Target::Foreground;
  terminal.signal(*number, target, [reply](const base::Result<void>& came) {
    came ? reply.ok({}) : reply.fail(came.error());
  });
}

}  // namespace ttyward::app
