#include "daemon/call_row.h"

#include "wire/types/policy_calls.h"

namespace ttyward::daemon {

namespace {

bool may_call(const Caller& caller, const CallRow& row) {
  // The dialogue of an agent's client answers questions, and nothing else.
  if (caller.role == Role::Dialogue) return row.name == wire::AnswerRequest::kCall;
  return row.role == Role::Viewer || caller.role == Role::Person ||
         (row.role == Role::Agent && caller.role == Role::Agent);
}

}  // namespace

std::string stream_part_text(const wire::StreamPart& part) {
  return wire::json_text(part);
}

bool call_one_of(const std::vector<CallRow>& rows, const Caller& caller, const std::string& name,
                 const boost::json::object& args, const Responder& responder) {
  for (const CallRow& row : rows) {
    if (row.name != name) continue;
    if (may_call(caller, row)) {
      row.call(caller, args, responder);
    } else {
      responder.fail(
          {wire::Code::PermissionDenied,
           "'" + name + "' is not for " + std::string(role_name(caller.role)) +
               "s; a person can call it, with the ttyward command, outside the terminals that agents use" +
               (caller.why.empty()
                    ? ""
                    : "; this connection counts as an agent's, because " + caller.why +
                          ". In a person's script, set TTYWARD_PERSON_TOKEN_FILE to the file that 'ttyward "
                          "person token' prints")});
    }
    return true;
  }
  return false;
}

}  // namespace ttyward::daemon
