// The daemon's application: connects the socket with the services of app/.
//
//   Server ─ call ─► CallRow: decode ─► a service ─► encode ─► Responder
//   services ─ events ─► this (an EventSink) ─► Server
//
// It also decides which role a client gets and when an idle daemon exits. Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/event_sink.h"
#include "app/services.h"
#include "daemon/admissions.h"
#include "daemon/application.h"
#include "daemon/basic_calls.h"
#include "daemon/server.h"

namespace ttyward::daemon {

class DaemonApplication final : public Application, private app::EventSink {
 public:
  // `hold_program` is the path of ttyward-hold.
  DaemonApplication(Process& process, std::string hold_program);

  void call(const Caller& caller, const std::string& name, boost::json::object args,
            Responder responder) override;
  void connection_closed(uint64_t connection) override { services_->connection_closed(connection); }
  Admission admit(pid_t pid, Role asked, const wire::Hello& hello) override {
    return admissions_->admit(pid, asked, hello);
  }
  std::vector<std::string> notices() override;
  base::Result<void> start(io::Loop& loop, Server& server) override;
  std::vector<std::string> reload() override;
  void stop(bool kill_terminals, std::function<void()> done) override;

 private:
  void event(uint64_t connection, uint64_t subscription, const wire::AnyEvent& event) override;
  bool must_pause(uint64_t connection) const override { return server_->must_pause(connection); }
  void on_drained(uint64_t connection, std::function<void()> callback) override {
    server_->on_drained(connection, std::move(callback));
  }
  // What of the settings concerns the socket and the process.
  void follow_settings();
  // Ends the daemon when it has been idle for daemon.idle_exit.
  void watch_idleness();

  Process& process_;
  const std::string hold_program_;
  BasicCalls basic_;
  io::Loop* loop_ = nullptr;
  Server* server_ = nullptr;
  std::unique_ptr<app::Services> services_;  // after start()
  std::optional<Admissions> admissions_;
  std::vector<CallRow> rows_;
  io::Loop::TimerId idle_timer_ = 0;
  std::optional<std::chrono::steady_clock::time_point> idle_since_;
};

}  // namespace ttyward::daemon
