// The calls every daemon answers, whatever else it does: status, stop, reload.
//
// An application owns one and asks it first:
//   if (basic_.call(caller, name, args, responder)) return;
// Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <string>

#include <boost/json/object.hpp>

#include "daemon/application.h"
#include "daemon/call_row.h"
#include "wire/types/daemon_calls.h"

namespace ttyward::daemon {

class BasicCalls {
 public:
  // `reload` is Application::reload, or whatever gives the errors there are.
  BasicCalls(Process& process, std::function<std::vector<std::string>()> reload);
  void serve(Server& server) { server_ = &server; }
  // Adds to what `status` says, which is pid, version, started_at, connections, memory_kib and no warnings.
  void extend_status(std::function<void(wire::DaemonStatus&)> more) { more_ = std::move(more); }

  // False: it is none of these, and nothing was done.
  bool call(const Caller& caller, const std::string& name, const boost::json::object& args,
            const Responder& responder) const;
  wire::DaemonStatus status(const Caller& caller, const wire::StatusRequest& request);
  void stop(const Caller& caller, const wire::StopRequest& request, const app::Reply<wire::Nothing>& reply);
  wire::Reloaded reload(const Caller& caller, const wire::ReloadRequest& request);

 private:
  Process& process_;
  std::function<std::vector<std::string>()> reload_;
  std::function<void(wire::DaemonStatus&)> more_;
  Server* server_ = nullptr;
  std::vector<CallRow> rows_;
};

// A daemon with nothing but these calls.
class BasicApplication final : public Application {
 public:
  explicit BasicApplication(Process& process) : basic_(process, [this] { return reload(); }) {}

  void call(const Caller& caller, const std::string& name, boost::json::object args,
            Responder responder) override;
  void connection_closed(uint64_t /*connection*/) override {}
  Admission admit(pid_t /*pid*/, Role asked, const wire::Hello& hello) override {
    return {asked, asked == Role::Person, hello.session, {}, {}};
  }
  base::Result<void> start(io::Loop& loop, Server& server) override;
  std::vector<std::string> reload() override { return {}; }
  void stop(bool /*kill_terminals*/, std::function<void()> done) override { done(); }

 private:
  BasicCalls basic_;
};

}  // namespace ttyward::daemon
