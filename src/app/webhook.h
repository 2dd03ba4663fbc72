// Sends questions to a URL that the person chose (notify.webhook), so that they get them wherever
// they are.
//
// Each message is a POST made by a `curl` of its own, one at a time; the loop only starts it and hears of
// its end. The URL and the message go through curl's standard input, so neither is seen in a list of
// processes. A message that cannot be sent is dropped and logged: the question itself waits in the daemon.
//
// Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "gate/approval.h"
#include "io/log.h"
#include "io/loop.h"
#include "pty/child.h"

namespace ttyward::app {

class Webhook final : private io::Poller::Handler {
 public:
  static constexpr size_t kMostWaiting = 64;  // beyond that new messages are dropped

  Webhook(io::Loop& loop, io::Log& log) : loop_(loop), log_(log) {}
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;
  ~Webhook();

  void send(const std::string& url, std::string body);

  // Why the last message could not be sent; empty if it could.
  const std::string& problem() const { return problem_; }

 private:
  struct Message {
    std::string url;
    std::string body;
  };
  void begin();
  void end();
  void failed(const std::string& why);
  void on_ready(int fd, uint32_t events) override;

  io::Loop& loop_;
  io::Log& log_;
  std::deque<Message> waiting_;
  std::optional<pty::Child> sender_;
  base::UniqueFd errors_;  // what the sender says
  io::Loop::TimerId limit_ = 0;
  std::string problem_;
};

// What is sent of a new question: JSON that Slack and Mattermost (`text`) and Discord (`content`) show as it
// is. Secrets in the command are masked.
std::string webhook_body(const gate::Approval& approval);

// curl's configuration for one POST.
std::string curl_configuration(const std::string& url, const std::string& body);

}  // namespace ttyward::app
