// One thread's connection to the daemon of this host, which is made again whenever it is needed.
//
// client::Session follows a daemon that dies and is replaced. What is added here: a daemon that somebody
// stopped, or that could not be reached for a while, is tried again with the next call.
//
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <optional>

#include "client/session.h"

namespace ttyward::fleet {

class DaemonLink {
 public:
  // A call ends when `stop_fd` becomes readable; the command goes on.
  DaemonLink(client::Options options, int stop_fd) : options_(std::move(options)), stop_fd_(stop_fd) {}

  template <client::Request R>
  client::AnswerOf<R> call(const R& request, std::chrono::milliseconds deadline = {}) {
    return client::answer_of<R>(call(R::kCall, client::arguments_of(request), deadline));
  }
  client::CallResult call(std::string_view name, boost::json::object args,
                          std::chrono::milliseconds deadline = {});
  // Null if no daemon can be reached.
  client::Session* session();
  const std::string& why_not() const { return why_not_; }

 private:
  client::Options options_;
  const int stop_fd_;
  std::optional<client::Session> session_;
  std::string why_not_;
};

// Whether a call failed only because there is no daemon now: the same call can be made again.
bool is_passing(const client::CallFailure& failure);

}  // namespace ttyward::fleet
