#include "daemon/basic_calls.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace ttyward::daemon {

namespace {

int64_t memory_kib() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long long pages = 0;
  long long resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return read == 2 ? resident * (::sysconf(_SC_PAGESIZE) / 1024) : 0;
}

}  // namespace

BasicCalls::BasicCalls(Process& process, std::function<std::vector<std::string>()> reload)
    : process_(process),
      reload_(std::move(reload)),
      rows_{call_row(*this, &BasicCalls::status), call_row(*this, &BasicCalls::stop),
            call_row(*this, &BasicCalls::reload)} {}

wire::DaemonStatus BasicCalls::status(const Caller&, const wire::StatusRequest&) {
  wire::DaemonStatus status;
  status.pid = ::getpid();
  status.version = TTYWARD_VERSION;
  status.started_at = {process_.started_at()};
  status.connections = server_ != nullptr ? server_->connections() : 0;
  status.memory_kib = memory_kib();
  if (more_) more_(status);
  return status;
}

void BasicCalls::stop(const Caller& caller, const wire::StopRequest& request,
                      const app::Reply<wire::Nothing>& reply) {
  reply.ok({});
  process_.log().info("told to stop by pid " + std::to_string(caller.pid), io::Log::kMainPart,
                      {{"pid", caller.pid}});
  process_.request_stop(request.kill_terminals ? Terminals::Kill : Terminals::LiveOn);
}

wire::Reloaded BasicCalls::reload(const Caller&, const wire::ReloadRequest&) {
  return {reload_()};
}

bool BasicCalls::call(const Caller& caller, const std::string& name, const boost::json::object& args,
                      const Responder& responder) const {
  return call_one_of(rows_, caller, name, args, responder);
}

void BasicApplication::call(const Caller& caller, const std::string& name, boost::json::object args,
                            Responder responder) {
  if (basic_.call(caller, name, args, responder)) return;
  responder.fail({wire::Code::InvalidArgument, "there is no call '" + name + "'"});
}

base::Result<void> BasicApplication::start(io::Loop& /*loop*/, Server& server) {
  basic_.serve(server);
  return {};
}

}  // namespace ttyward::daemon
