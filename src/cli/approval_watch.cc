#include "cli/approval_watch.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>
#include <variant>

#include "cli/signal_watch.h"
#include "cli/verb.h"
#include "policy/escaped_view.h"
#include "wire/types/events.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;
using wire::AnswerWord;

constexpr const char* kKeys = "o once  s session  a always  d deny  r reason  k skip  l later  q quit > ";
constexpr const char* kHelp =
    "o  run it once (y does the same)\ns  run it, and allow the same for this session; shows the rule "
    "first\na  run it, and always allow the same; shows the rule first\nd  do not run it (n does the "
    "same)\nr  do not run it, and send a reason to the agent\nk  skip it: it is not run, and that is not a "
    "failure\nl  leave it open and show the next one; it is shown again when another question arrives\nq  "
    "leave; open questions stay open (Ctrl-C does the same)\n";
constexpr size_t kLongestReason = 500;
constexpr char kEscape = 0x1B;
constexpr char kInterrupt = 0x03;
constexpr char kEndOfFile = 0x04;

}  // namespace

base::Result<int> ApprovalWatch::run() {
  SignalWatch signals({SIGTERM, SIGHUP, SIGINT, SIGQUIT});
  if (const auto begun = subscribe(); !begun) return tl::unexpected(begun.error());
  while (!code_ && !over()) {
    show_next();
    pollfd entries[] = {{signals.fd(), POLLIN, 0},
                        {daemon_.fd(), POLLIN, 0},
                        {keys_ != nullptr ? keys_->fd() : -1, POLLIN, 0}};
    if (!daemon_.has_next()) ::poll(entries, 3, wait_ms());
    if (const int number = signals.take(); number != 0) code_ = 128 + number;
    if (asks_from_ && !asking_ && Clock::now() >= *asks_from_) ask();
    if (entries[2].revents != 0) take_keys();
    for (int i = 0; i < 64 && !code_; ++i) {
      auto message = daemon_.next(milliseconds(0));
      if (!message) return tl::unexpected(message.error());
      if (!*message) break;
      if (const auto* event = std::get_if<client::Event>(&**message)) take_event(event->event);
      if (!std::holds_alternative<client::Reconnected>(**message)) continue;
      complain("approvals", "the daemon was replaced; agents ask their open questions again", 0);
      open_.clear();
      later_.clear();
      shown_ = asking_ = false;
      // One that dies meanwhile, too, is followed by another Reconnected.
      const auto again = subscribe();
      if (!again && daemon_.stopped()) return tl::unexpected(again.error());
    }
  }
  if (asking_) keys_->write("\n");
  return code_.value_or(0);
}

// From now on, and what is open already.
base::Result<void> ApprovalWatch::subscribe() {
  wire::SubscribeRequest request;
  for (const std::string_view kind :
       {wire::ApprovalOpened::kEvent, wire::ApprovalClosed::kEvent, wire::Notice::kEvent})
    request.kinds.emplace_back(kind);
  auto subscribed = daemon_.call(request);
  if (!subscribed) return base::fail(ErrorCode::Unavailable, subscribed.error().message);
  auto open = daemon_.call(wire::ApprovalsRequest{});
  if (!open) return base::fail(ErrorCode::Unavailable, open.error().message);
  for (const wire::Approval& approval : open->approvals) meet(approval);
  return {};
}

void ApprovalWatch::take_event(const boost::json::object& event) {
  if (const auto notice = client::event_of<wire::Notice>(event)) {
    complain("approvals", policy::escape_text(notice->text), 0);
    return;
  }
  if (const auto opened = client::event_of<wire::ApprovalOpened>(event)) return meet(opened->approval);
  const auto closed = client::event_of<wire::ApprovalClosed>(event);
  if (!closed) return;
  const std::string& id = closed->approval.id;
  if (std::erase(answered_, id) != 0) return;  // our own answer, which was shown
  if (asking_ && open_.front().id == id) keys_->write("\n");
  std::erase_if(later_, [&](const wire::Approval& each) { return each.id == id; });
  forget(id);
  actions_.print_closed(id, closed->approval);
}

void ApprovalWatch::meet(const wire::Approval& approval) {
  // One that opened while we subscribed comes twice.
  const auto same = [&](const wire::Approval& each) { return each.id == approval.id; };
  if (std::any_of(open_.begin(), open_.end(), same)) return;
  if (std::any_of(later_.begin(), later_.end(), same)) return;
  open_.push_back(approval);
  std::move(later_.begin(), later_.end(), std::back_inserter(open_));
  later_.clear();
  if (keys_ == nullptr) {
    actions_.print(approval);
    std::fflush(stdout);
    return;
  }
  keys_->write(notifier_.tell("ttyward asks", approval.shown));
}

void ApprovalWatch::forget(const std::string& id) {
  if (open_.empty()) return;
  if (open_.front().id == id) {
    shown_ = asking_ = false;
    asks_from_.reset();
    reason_.reset();
  }
  std::erase_if(open_, [&](const wire::Approval& each) { return each.id == id; });
}

void ApprovalWatch::show_next() {
  if (keys_ == nullptr || shown_ || open_.empty()) return;
  actions_.print(open_.front());
  std::fflush(stdout);
  shown_ = true;
  asks_from_ = Clock::now() + kSettle;
}

void ApprovalWatch::ask() {
  keys_->discard();
  asking_ = true;
  if (open_.size() > 1) keys_->write("(" + std::to_string(open_.size() - 1) + " more wait) ");
  keys_->write(kKeys);
}

int ApprovalWatch::wait_ms() const {
  if (!asks_from_ || asking_) return -1;
  const auto left = std::chrono::duration_cast<milliseconds>(*asks_from_ - Clock::now()).count();
  return static_cast<int>(std::max<int64_t>(left, 0)) + 1;
}

void ApprovalWatch::take_keys() {
  const auto keys = keys_->read();
  if (!keys) {
    code_ = 0;  // the person's terminal is gone
    return;
  }
  for (const char key : *keys) {
    if (code_) return;
    if (key == kInterrupt || key == kEndOfFile) {
      code_ = 0;
    } else if (reason_) {
      typed(key);
    } else if (asking_) {
      pressed(key);
    } else if (key == 'q') {
      code_ = 0;
    }
  }
}

void ApprovalWatch::pressed(char key) {
  switch (key) {
    case 'o':
    case 'y':
      return decide(AnswerWord::Allow, "", "");
    case 's':
      return decide(AnswerWord::Allow, "session", "");
    case 'a':
      return decide(AnswerWord::Allow, "global", "");
    case 'd':
    case 'n':
      return decide(AnswerWord::Deny, "", "");
    case 'k':
      return decide(AnswerWord::Skip, "", "");
    case 'r':
      reason_.emplace();
      return keys_->write("\nwhy not? (Enter sends it, Esc goes back) > ");
    case 'l':
      keys_->write("\nset aside; it stays open\n");
      later_.push_back(open_.front());
      return forget(later_.back().id);
    case 'q':
      code_ = 0;
      return;
    case '?':
      return keys_->write(std::string("\n") + kHelp + kKeys);
    default:
      return;  // nothing a slip may do
  }
}

void ApprovalWatch::typed(char key) {
  if (key == kEscape) {
    reason_.reset();
    return keys_->write(std::string("\n") + kKeys);
  }
  if (key == '\r' || key == '\n') {
    const std::string reason = *std::exchange(reason_, std::nullopt);
    return decide(AnswerWord::Deny, "", reason);
  }
  if (key == 0x7F || key == '\b') {
    if (reason_->empty()) return;
    while (!reason_->empty() && (reason_->back() & 0xC0) == 0x80) reason_->pop_back();
    if (!reason_->empty()) reason_->pop_back();
    return keys_->write("\b \b");
  }
  if (static_cast<unsigned char>(key) < 0x20 || reason_->size() >= kLongestReason) return;
  reason_->push_back(key);
  keys_->write(std::string(1, key));
}

void ApprovalWatch::decide(AnswerWord decision, const std::string& scope, const std::string& reason) {
  const wire::Approval approval = open_.front();
  const std::string& id = approval.id;
  const std::string_view word = scope == "global"               ? "always"
                                : scope == "session"            ? "session"
                                : decision == AnswerWord::Allow ? "once"
                                                                : wire::name_of(decision);
  keys_->write(reason.empty() ? std::string(word) + "\n" : "\n");
  keys_->pause();  // the rules of "always" are agreed to by a whole line
  const int result = actions_.answer(approval, decision, scope, reason);
  std::fflush(stdout);
  keys_->resume();
  // A "no" to the rules leaves the question open; so does a daemon that could not be asked.
  if (result != 0 && !scope.empty()) {
    asking_ = false;
    asks_from_ = Clock::now();
    return;
  }
  if (result == 0) answered_.push_back(id);
  forget(id);
}

}  // namespace ttyward::cli
