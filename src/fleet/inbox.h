// Publishes this host's questions to people, opened and closed, so that one inbox shows those of all hosts.
//
// The daemon has them; the bus has the last state of each. What could not be published is published later,
// and all are looked through again whenever there is a new daemon. Thread rule: its own thread.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "fleet/slot.h"

namespace ttyward::fleet {

class Inbox {
 public:
  explicit Inbox(Host& host) : host_(host) {}
  ~Inbox() { stop(); }
  void start();
  void stop();  // the host's stop_fd must be readable

 private:
  void run();
  // Until the connection has to be made anew.
  void follow(client::Session& daemon);
  void close_forgotten(const std::vector<wire::Approval>& known);
  void publish(const wire::Approval& approval);
  void publish_waiting();

  Host& host_;
  std::thread thread_;
  std::map<std::string, std::string> published_;   // the state of each, by id
  std::map<std::string, wire::Approval> waiting_;  // not on the bus yet, by id
};

}  // namespace ttyward::fleet
