#include "daemon/admissions.h"

#include <unistd.h>

#include "base/same_secret.h"
#include "base/secret_file.h"
#include "daemon/person.h"

namespace ttyward::daemon {

using app::Admission;
using engine::Terminal;
using wire::Role;

namespace {

// A process in a lent terminal has no session of its own. It gets one that no client can name.
std::string session_inside(const Terminal& terminal) {
  return terminal.spec().owner == engine::Owner::Agent ? terminal.spec().session
                                                       : "inside terminal " + terminal.id();
}

}  // namespace

Admissions::Admissions(const base::Folders& folders, app::Services& services)
    : token_file_(folders.person_token()), services_(services) {
  auto sessions = Sessions::open(folders.state + "/sessions");
  if (!sessions)
    services_.warn("cannot remember which client owns which session: " + sessions.error().message);
  if (sessions) sessions_ = std::move(*sessions);
  if (auto token = base::read_secret_file(token_file_)) person_token_ = std::move(*token);
}

Admission Admissions::admit(pid_t pid, Role asked, const wire::Hello& hello) {
  // The order of the checks is the rule: inside a terminal that agents use not even the person's token helps,
  // because a program there could read the token's file. A wrong token is refused instead of being ignored,
  // so that a script does not run with the wrong role unnoticed.
  const Lineage lineage = pid > 0 ? lineage_of(pid) : Lineage{};
  const Terminal* inside = nullptr;  // a terminal in which agents act
  for (const pty::ProcessStat& each : lineage.chain) {
    const Terminal* led = services_.engine().terminal_led_by(each.pid);
    if (led != nullptr && led->agents_act()) inside = led;
  }
  Admission made;
  std::string doubt;
  if (pid <= 0) {
    doubt = "its process cannot be identified";
  } else if (inside != nullptr) {
    doubt = "it runs in terminal " + inside->id() + ", which agents use";
  } else if (!hello.token.empty()) {
    if (person_token_.empty() || !base::same_secret(hello.token, person_token_)) {
      made.refused =
          "the token is not valid for this daemon; make one with `ttyward person token`, or connect without "
          "a token";
      return made;
    }
  } else {
    doubt = doubt_about(lineage, [this](pid_t holder) {
      const Terminal* led = services_.engine().terminal_led_by(holder);
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
  bool joined = false;
  if (!hello.session.empty()) {
    Sessions::Proof proof = sessions_.prove(hello.session, hello.secret);
    made.refused = std::move(proof.doubt);
    made.session = hello.session;
    joined = proof.joined;
  } else if (inside != nullptr) {
    made.session = session_inside(*inside);
  }
  if (asked == Role::Dialogue) {
    if (pid <= 0 || inside != nullptr) {
      made.why = doubt;
    } else if (made.session.empty()) {
      made.why = "a dialogue needs a session, and it named none";
    } else if (joined) {
      made.why = "it joined a session that another client owns, and only the owner's dialogue counts";
    } else if (!services_.settings().policy.client_dialogue) {
      made.why = "policy.client_dialogue is off";
    }
    if (!made.why.empty()) made.role = Role::Agent;
  }
  return made;
}

base::Result<wire::TokenFile> Admissions::person_token(const app::Caller&,
                                                       const wire::PersonTokenRequest& request) {
  if (person_token_.empty() || request.fresh) {
    const std::string made = base::random_secret();
    // A new file instead of new content: a process that has the old file open does not see the new token.
    ::unlink(token_file_.c_str());
    if (auto written = base::write_secret_file(token_file_, made); !written)
      return tl::unexpected(written.error());
    person_token_ = made;
  }
  return wire::TokenFile{token_file_};
}

}  // namespace ttyward::daemon
