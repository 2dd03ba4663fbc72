#include "daemon/daemon_application.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/call_table.h"
#include "wire/encoder.h"
#include "wire/types/events.h"

namespace ttyward::daemon {

namespace {

// One client may start as many commands as may run at once, and still wait, read and ask beside them.
constexpr size_t kOtherCalls = 1024;

}  // namespace

DaemonApplication::DaemonApplication(Process& process, std::string hold_program)
    : process_(process),
      hold_program_(std::move(hold_program)),
      basic_(process, [this] { return reload(); }) {}

base::Result<void> DaemonApplication::start(io::Loop& loop, Server& server) {
  loop_ = &loop;
  server_ = &server;
  basic_.serve(server);
  basic_.extend_status([this](wire::DaemonStatus& status) { services_->describe(status); });
  auto services = app::Services::start(
      loop, process_.log(), {process_.folders(), hold_program_, TTYWARD_VERSION, process_.user_umask()},
      *this);
  if (!services) return tl::unexpected(services.error());
  services_ = std::move(*services);
  admissions_.emplace(process_.folders(), *services_);
  rows_ = call_table(*services_);
  rows_.push_back(call_row(*admissions_, &Admissions::person_token));
  follow_settings();
  return {};
}

void DaemonApplication::follow_settings() {
  server_->set_open_calls(static_cast<size_t>(services_->settings().limits.commands) + kOtherCalls);
  watch_idleness();
}

void DaemonApplication::call(const Caller& caller, const std::string& name, boost::json::object args,
                             Responder responder) {
  if (basic_.call(caller, name, args, responder)) return;
  if (call_one_of(rows_, caller, name, args, responder)) return;
  responder.fail({wire::Code::InvalidArgument, "there is no call '" + name + "'"});
}

void DaemonApplication::event(uint64_t connection, uint64_t subscription, const wire::AnyEvent& event) {
  std::string text;
  wire::Encoder encoder(text);
  encoder.text("event", wire::event_name(event));
  encoder.number("subscription", subscription);
  std::visit([&](const auto& each) { std::decay_t<decltype(each)>::describe(encoder, each); }, event);
  encoder.end();
  server_->send_event_text(connection, std::move(text));
}

std::vector<std::string> DaemonApplication::notices() {
  return services_ ? services_->notices() : std::vector<std::string>{};
}

std::vector<std::string> DaemonApplication::reload() {
  if (!services_) return {};
  std::vector<std::string> errors = services_->reload();
  follow_settings();
  return errors;
}

void DaemonApplication::stop(bool kill_terminals, std::function<void()> done) {
  services_ ? services_->stop(kill_terminals, std::move(done)) : done();
}

void DaemonApplication::watch_idleness() {
  using std::chrono::milliseconds;
  loop_->cancel(idle_timer_);
  idle_timer_ = 0;
  const milliseconds limit = services_->settings().daemon.idle_exit;
  if (limit.count() == 0) return;
  idle_timer_ = loop_->after(std::clamp(limit / 4, milliseconds(100), milliseconds(60'000)), [this, limit] {
    idle_timer_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (server_->connections() > 0 || !services_->idle()) {
      idle_since_.reset();
    } else if (!idle_since_) {
      idle_since_ = now;
    } else if (now - *idle_since_ >= limit) {
      process_.log().info("the daemon has been idle and exits");
      // What is left are shells that were started ahead.
      return process_.request_stop(Terminals::Kill);
    }
    watch_idleness();
  });
}

}  // namespace ttyward::daemon
