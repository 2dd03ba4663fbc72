#include "fleet/inbox.h"

#include <algorithm>
#include <chrono>
#include <variant>
#include <vector>

#include "fleet/names.h"
#include "wire/types/events.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kRetry{500};
constexpr milliseconds kPatience{5000};

}  // namespace

void Inbox::start() {
  thread_ = std::thread([this] { run(); });
}

void Inbox::stop() {
  if (thread_.joinable()) thread_.join();
}

void Inbox::run() {
  // With a person's token the questions of all agents here, otherwise those of the fleet's own commands.
  client::Options options = host_.as_person ? *host_.as_person : host_.as_agent;
  DaemonLink link(options, host_.stop_fd);
  do {
    if (client::Session* daemon = link.session()) follow(*daemon);
  } while (host_.pause(kRetry));
}

void Inbox::follow(client::Session& daemon) {
  wire::SubscribeRequest subscribe;
  subscribe.kinds = {"approval_opened", "approval_closed"};
  client::CallOptions options;
  options.deadline = kPatience;
  options.cancel_fd = host_.stop_fd;
  if (!daemon.call(subscribe, {}, options)) return;
  const auto list = daemon.call(wire::ApprovalsRequest{.all = true}, {}, options);
  if (!list) return;
  close_forgotten(list->approvals);
  for (const wire::Approval& each : list->approvals) publish(each);
  while (!host_.stopping) {
    publish_waiting();
    auto next = daemon.next(kRetry);
    if (!next) return;
    if (!*next) continue;
    if (std::holds_alternative<client::Reconnected>(**next)) return;
    const auto* event = std::get_if<client::Event>(&**next);
    if (event == nullptr) continue;
    if (const auto opened = client::event_of<wire::ApprovalOpened>(event->event)) publish(opened->approval);
    if (const auto closed = client::event_of<wire::ApprovalClosed>(event->event)) publish(closed->approval);
  }
}

// A question ends with its daemon. The command asks again, with another one.
void Inbox::close_forgotten(const std::vector<wire::Approval>& known) {
  const auto texts = host_.bus.last_of_each(kQuestionStream, question_subject(host_.name, "*"), 10'000);
  if (!texts) return;
  for (const std::string& text : *texts) {
    const auto on_bus = read_as<Question>(text);
    if (!on_bus) continue;
    wire::Approval approval = on_bus->approval;
    published_[approval.id] = approval.state;
    const bool forgotten = std::none_of(known.begin(), known.end(),
                                        [&](const wire::Approval& each) { return each.id == approval.id; });
    if (!forgotten || approval.state != "open") continue;
    approval.state = "withdrawn";
    approval.reason = "the daemon that asked has ended";
    publish(approval);
  }
}

void Inbox::publish(const wire::Approval& approval) {
  const auto known = published_.find(approval.id);
  if (known != published_.end() && known->second == approval.state) return;
  waiting_[approval.id] = approval;
}

void Inbox::publish_waiting() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const wire::Approval& approval = it->second;
    const std::string id = host_.name + "." + approval.id + "." + approval.state;
    if (!host_.bus.publish(question_subject(host_.name, approval.id), text_of(Question{host_.name, approval}),
                           id))
      return;  // the bus is away; the order does not matter, only the last state of each
    published_[approval.id] = approval.state;
    it = waiting_.erase(it);
  }
}

}  // namespace ttyward::fleet
