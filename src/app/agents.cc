#include "app/agents.h"

#include "app/objects.h"
#include "base/ids.h"
#include "base/mask_secrets.h"
#include "base/unix_time.h"

namespace ttyward::app {
namespace {

constexpr size_t kMostTold = 64 << 10;  // bytes of a command line: an agent may tell anything

}  // namespace

wire::Nothing Agents::agent(const Caller& caller, const wire::AgentRequest& request) {
  wire::ServedAgent& served = served_[caller.connection];
  served = {request.name, request.version, request.shell, request.note, caller.session};
  core_.log.info("agent " + request.name + " " + request.version + ": " +
                     (request.note.empty() ? request.shell : request.note),
                 "agents",
                 {{"agent", request.name},
                  {"version", request.version},
                  {"shell", request.shell},
                  {"session", caller.session}});
  return {};
}

std::vector<wire::ServedAgent> Agents::list() const {
  std::vector<wire::ServedAgent> all;
  for (const auto& [connection, served] : served_) all.push_back(served);
  return all;
}

base::Result<wire::ToldCommand> Agents::told(const Caller& caller, const wire::ToldRequest& request) {
  if (request.command.size() > kMostTold)
    return base::fail(base::ErrorCode::InvalidArgument, "'command' has more than 64 KiB: tell less of it");
  store::CommandRow row;
  row.id = base::random_id('c');
  row.task = request.task;
  row.owner = row_owner(owner_of(caller));
  row.command = base::mask_secrets(request.command);
  row.description = request.description;
  row.cwd = request.cwd;
  row.state = request.signal.empty() ? "exited" : "signaled";
  if (request.exit_code) row.exit_code = static_cast<int>(*request.exit_code);
  row.signal = request.signal;
  row.known_by = "told";
  row.duration_ms = request.duration_ms;
  row.started_at_ms = base::unix_ms() - request.duration_ms;
  row.total_bytes = static_cast<uint64_t>(request.bytes);
  row.total_lines = static_cast<uint64_t>(request.lines);
  row.note = "told by the agent, which ran it with its own tools; ttyward observed nothing of it";
  wire::ToldCommand made{row.id};
  history_.put(std::move(row));
  return made;
}

}  // namespace ttyward::app
