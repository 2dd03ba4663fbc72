// What others ask this host over the bus: parts of outputs, results, answers of people to questions.
//
// Calls go to the daemon as an agent's, in the session in which jobs run, so policy and ownership hold as for
// any agent. Output is read here in ranges and travels only when somebody asks for it.
//
// Thread rule: handlers run on threads of the bus, one subscription at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fleet/bus.h"
#include "fleet/slot.h"
#include "fleet/tunnel_host.h"

namespace ttyward::fleet {

struct AnswerOutcome {
  bool answered = false;
  std::string error;
  std::optional<wire::Approval> approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("answered", self.answered, "this answer counts");
    v.field("error", self.error, "why it does not", wire::kLeftOut);
    v.field("approval", self.approval, "the question as it is now", wire::kLeftOut);
  }
};

class HostCalls {
 public:
  explicit HostCalls(Host& host);
  base::Result<void> start();
  void stop();

 private:
  std::string answer_call(std::string_view call, std::string_view text);
  // Tells what became of a job, and corrects its record if that is behind.
  std::string answer_claim(std::string_view text);
  AnswerOutcome answer_question(const std::string& approval, std::string_view text);

  Host& host_;
  DaemonLink agent_;
  std::optional<DaemonLink> person_;
  Tunnels tunnels_;
  std::vector<std::unique_ptr<Subscription>> subscriptions_;
};

// A call of the daemon's on a host, from anywhere.
template <client::Request R>
client::AnswerOf<R> call_host(Bus& bus, const std::string& host, const R& request);
client::CallResult call_host(Bus& bus, const std::string& host, std::string_view call, std::string_view args);

template <client::Request R>
client::AnswerOf<R> call_host(Bus& bus, const std::string& host, const R& request) {
  return client::answer_of<R>(call_host(bus, host, R::kCall, wire::arguments_text(request)));
}

}  // namespace ttyward::fleet
