#include "app/access.h"

namespace ttyward::app {

using engine::Loan;
using engine::Owner;

bool may_use(const Caller& caller, const engine::Terminal& terminal, Use use, AgentTerminals which) {
  if (caller.role == Role::Person) return true;
  if (use == Use::Read && caller.person) return true;
  if (use == Use::Act && caller.role != Role::Agent) return false;
  const engine::TerminalSpec& spec = terminal.spec();
  if (spec.owner == Owner::Agent && (which == AgentTerminals::All || spec.session == caller.session))
    return true;
  const auto& loan = terminal.loan();
  return loan && (loan->to.empty() || loan->to == caller.session) &&
         (use == Use::Read || loan->use == Loan::Use::Act);
}

std::string no_access(const engine::Terminal& terminal, Use use) {
  const char* const whose = terminal.spec().owner == Owner::Agent ? "another agent" : "a person";
  const bool only_read = use == Use::Act && terminal.loan() && terminal.loan()->use == Loan::Use::Read;
  const std::string lend = "`ttyward lend " + terminal.id() + (use == Use::Read ? " --read" : "") + "`";
  return "terminal " + terminal.id() + " belongs to " + whose +
         (only_read ? " and was lent for reading only" : "") +
         ": use one of your own, or ask a person to lend it with " + lend;
}

}  // namespace ttyward::app
