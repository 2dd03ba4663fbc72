#include "fleet/daemon_link.h"

#include <utility>

namespace ttyward::fleet {

client::Session* DaemonLink::session() {
  if (session_ && session_->stopped()) {
    session_.reset();
    options_.start_daemon = false;  // somebody stopped it on purpose: wait until it is back
  }
  if (!session_) {
    auto opened = client::Session::open(options_);
    if (opened) {
      session_.emplace(std::move(*opened));
    } else {
      why_not_ = opened.error().message;
    }
  }
  return session_ ? &*session_ : nullptr;
}

client::CallResult DaemonLink::call(std::string_view name, boost::json::object args,
                                    std::chrono::milliseconds deadline) {
  client::Session* const open = session();
  if (open == nullptr) {
    client::CallFailure failure;
    failure.code = wire::Code::Unavailable;
    failure.message = why_not_;
    failure.fate = client::CallFailure::Fate::NotSent;
    return tl::unexpected(std::move(failure));
  }
  client::CallOptions options;
  options.deadline = deadline;
  options.cancel_fd = stop_fd_;
  options.on_event = [](const boost::json::object&) {};
  return open->call(name, std::move(args), {}, options);
}

bool is_passing(const client::CallFailure& failure) {
  return failure.connection_lost() || failure.code == wire::Code::Unavailable;
}

}  // namespace ttyward::fleet
