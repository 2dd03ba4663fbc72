// Who calls, and which terminals are theirs: roles, sessions, loans.
#include <boost/json/object.hpp>

#include "base/ids.h"
#include "base/mask_secrets.h"
#include "base/same_secret.h"
#include "base/secret_file.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "daemon/person.h"
#include "engine/time.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Command;
using engine::Loan;
using engine::Terminal;

namespace {

// What runs in a terminal that a person lent has no session of its own: one that nobody else can name.
std::string session_inside(const Terminal& terminal) {
  return terminal.spec().owner == engine::Owner::Agent ? terminal.spec().session
                                                       : "inside terminal " + terminal.id();
}

}  // namespace

Admission EngineApplication::admit(pid_t pid, Role asked, const wire::Hello& hello) {
  const Lineage lineage = pid > 0 ? lineage_of(pid) : Lineage{};
  const Terminal* inside = nullptr;  // a terminal in which agents act
  for (const pty::ProcessStat& each : lineage.chain) {
    const Terminal* led = engine_->terminal_led_by(each.pid);
    if (led != nullptr && led->agents_act()) inside = led;
  }
  Admission made;
  std::string doubt;
  if (pid <= 0) {
    doubt = "its process cannot be named";
  } else if (inside != nullptr) {
    doubt = "it runs in terminal " + inside->id() + ", in which agents act";
  } else if (!hello.token.empty()) {
    if (person_token_.empty() || !base::same_secret(hello.token, person_token_)) {
      made.refused =
          "this is not the person's token of this daemon: make one with `ttyward person token`, or connect "
          "without";
      return made;
    }
  } else {
    doubt = doubt_about(lineage, [this](pid_t holder) {
      const Terminal* led = engine_->terminal_led_by(holder);
      return led != nullptr && led->live() && led->spec().owner == engine::Owner::User;
    });
  }
  made.person = doubt.empty();
  made.role = asked;
  if (asked == Role::Person && !made.person) {
    made.role = Role::Agent;
    made.why = doubt;
  }
  if (made.role == Role::Person) {
    made.session = hello.session;
    return made;
  }
  if (!hello.session.empty()) {
    made.refused = sessions_.doubt(hello.session, hello.secret);
    made.session = hello.session;
  } else if (inside != nullptr) {
    made.session = session_inside(*inside);
  }
  if (asked == Role::Dialogue) {
    if (pid <= 0 || inside != nullptr) {
      made.why = doubt;
    } else if (made.session.empty()) {
      made.why = "a dialogue belongs to a session, and it named none";
    } else if (!config_.settings.policy.client_dialogue) {
      made.why = "policy.client_dialogue is off";
    }
    if (!made.why.empty()) made.role = Role::Agent;
  }
  return made;
}

bool EngineApplication::may(const Caller& caller, const Terminal& terminal, Use use) const {
  return may_use(
      caller, terminal, use,
      config_.settings.policy.share_agent_terminals ? AgentTerminals::All : AgentTerminals::Session);
}

bool EngineApplication::refused(const Caller& caller, const Terminal& terminal, Use use,
                                const Responder& responder) const {
  if (may(caller, terminal, use)) return false;
  responder.fail({wire::Code::PermissionDenied, no_access(terminal, use)});
  return true;
}

bool EngineApplication::held(const Caller& caller, const Terminal& terminal,
                             const Responder& responder) const {
  if (!terminal.lease() || caller.role == Role::Person) return false;
  responder.fail({wire::Code::Busy, terminal.lease()->by + " has the keyboard of terminal " + terminal.id() +
                                        "; try again when it is given back, or use another terminal"});
  return true;
}

bool EngineApplication::may_see(const Caller& caller, const std::string& session) const {
  return caller.person || caller.role == Role::Person || config_.settings.policy.share_agent_terminals ||
         session == caller.session;
}

Terminal* EngineApplication::terminal_of(const Caller& caller, Use use, Args& args,
                                         const Responder& responder, Command** command) {
  const std::string terminal = args.text("terminal");
  const std::string id = command != nullptr ? args.text("command") : "";
  if (terminal.empty() && id.empty()) {
    args.wrong(command != nullptr ? "'terminal' or 'command' is missing" : "'terminal' is missing or empty");
  }
  if (args.refused(responder)) return nullptr;
  Terminal* named = nullptr;
  if (!id.empty()) {
    const auto found = engine_->find_command(id);
    if (!found) {
      responder.fail(wire::call_error(found.error()));
      return nullptr;
    }
    named = found->terminal;
    if (command != nullptr) *command = found->command;
  } else {
    const auto found = engine_->find(terminal);
    if (!found) {
      responder.fail(wire::call_error(found.error()));
      return nullptr;
    }
    named = *found;
  }
  return refused(caller, *named, use, responder) ? nullptr : named;
}

void EngineApplication::note_act(const Caller& caller, const Terminal& terminal, const Act& act) {
  engine::AuditRow row;
  row.id = base::random_id('d');
  row.at_ms = engine::unix_ms();
  row.action = act.action;
  row.terminal_id = terminal.id();
  row.task = terminal.spec().task;
  row.session = caller.session;
  row.asked_by = caller.client;
  row.command = base::mask_secrets(act.what);
  row.cwd = terminal.cwd();
  row.outcome = act.allowed ? engine::Outcome::Allowed : engine::Outcome::Denied;
  const bool own = terminal.spec().owner == engine::Owner::Agent;
  row.decided_by = !act.decided_by.empty() ? act.decided_by : own ? "own terminal" : "loan";
  row.risk = "low";
  row.reason = base::mask_secrets(act.reason);
  record(row);
}

void EngineApplication::lend(const Caller& caller, Args& args, const Responder& responder) {
  const bool back = args.flag("back");
  const bool read_only = args.flag("read_only");
  const std::string to = args.text("to");
  if (back && (read_only || !to.empty()))
    args.wrong("'back' takes the terminal from everybody: give it alone");
  Terminal* terminal = terminal_of(caller, Use::Act, args, responder);
  if (terminal == nullptr) return;
  if (!back && !terminal->live()) {
    return responder.fail(
        {wire::Code::Unavailable, "terminal " + terminal->id() +
                                      " has ended: there is nothing to lend but its output, "
                                      "which `ttyward read` shows"});
  }
  if (back && !terminal->loan()) {
    return responder.ok({{"terminal", terminal_object(*engine_, *terminal)}});
  }
  if (back) {
    terminal->set_loan(std::nullopt);
  } else {
    terminal->set_loan(
        Loan{read_only ? Loan::Use::Read : Loan::Use::Act, to, caller.client, engine::unix_ms()});
  }
  const std::string whom = to.empty() ? "every agent" : "session " + to;
  note_act(caller, *terminal,
           {"lend",
            back ? "take back terminal " + terminal->id()
                 : "lend terminal " + terminal->id() + " to " + whom + (read_only ? ", for reading" : ""),
            "person", ""});
  const json::object shown = terminal_object(*engine_, *terminal);
  tell(back ? "terminal_taken_back" : "terminal_lent", terminal->id(), {{"terminal", shown}});
  responder.ok({{"terminal", shown}});
}

void EngineApplication::person_token(const Caller&, Args& args, const Responder& responder) {
  const bool fresh = args.flag("new");
  if (args.refused(responder)) return;
  const std::string path = process_.folders().person_token();
  if (person_token_.empty() || fresh) {
    const std::string made = base::random_secret();
    ::unlink(path.c_str());
    if (auto written = base::write_secret_file(path, made); !written)
      return responder.fail(wire::call_error(written.error()));
    person_token_ = made;
  }
  responder.ok({{"file", path}});
}

}  // namespace ttyward::daemon
