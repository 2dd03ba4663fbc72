// Questions to a person as they come, and single keys for the answers: the loop of `approvals watch`, and
// of the key `a` in `top`.
//
// One question is asked at a time; the others wait in the order they came. A question counts as seen after
// kSettle: keys that were pressed before that belong to something else and are thrown away. One that is
// answered elsewhere, or expires, while it is shown is taken off. Leaving answers nothing.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/notify.h"
#include "cli/single_keys.h"
#include "client/session.h"
#include "wire/types/objects.h"
#include "wire/types/policy_calls.h"

namespace ttyward::cli {

class ApprovalWatch {
 public:
  static constexpr std::chrono::milliseconds kSettle{400};

  struct Actions {
    std::function<void(const wire::Approval& approval)> print;
    std::function<void(const std::string& id, const wire::Approval& approval)> print_closed;
    // `scope`: empty (once), session or global. Returns an exit code; complaints are made already.
    std::function<int(const wire::Approval& approval, wire::AnswerWord decision, const std::string& scope,
                      const std::string& reason)>
        answer;
  };
  enum class Until : uint8_t { Stopped, NoneOpen };

  // `keys` null: questions are only shown.
  ApprovalWatch(client::Session& daemon, Actions actions, SingleKeys* keys, Notifier notifier, Until until)
      : daemon_(daemon),
        actions_(std::move(actions)),
        keys_(keys),
        notifier_(std::move(notifier)),
        until_(until) {}

  // The exit code, or why it could not go on.
  base::Result<int> run();

 private:
  using Clock = std::chrono::steady_clock;
  base::Result<void> subscribe();
  void take_event(const boost::json::object& event);
  void meet(const wire::Approval& approval);
  void forget(const std::string& id);
  void show_next();
  void ask();
  void take_keys();
  void pressed(char key);
  void typed(char key);
  void decide(wire::AnswerWord decision, const std::string& scope, const std::string& reason);
  int wait_ms() const;
  bool over() const { return until_ == Until::NoneOpen && open_.empty(); }

  client::Session& daemon_;
  Actions actions_;
  SingleKeys* keys_;
  Notifier notifier_;
  Until until_;
  std::deque<wire::Approval> open_;             // the first is the one that is asked about
  std::deque<wire::Approval> later_;            // set aside; asked about again when another one comes
  bool shown_ = false;                          // the first is on the screen
  std::optional<Clock::time_point> asks_from_;  // it may be answered from then on
  bool asking_ = false;                         // the keys are offered
  std::optional<std::string> reason_;           // being typed
  std::vector<std::string> answered_;           // here
  std::optional<int> code_;
};

// Asks the person at our terminal about every question that is open, one after the other. The exit code, or
// why there is none.
base::Result<int> answer_open_approvals();

}  // namespace ttyward::cli
