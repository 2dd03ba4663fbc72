#include "cli/approval_watch.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <utility>
#include <variant>

#include <boost/json/array.hpp>

#include "cli/fields.h"
#include "cli/signal_watch.h"
#include "cli/verb.h"
#include "policy/escaped_view.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;
using base::ErrorCode;
using std::chrono::milliseconds;

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
  json::array kinds = {"approval_opened", "approval_closed", "notice"};
  auto subscribed = daemon_.call("subscribe", {{"terminal", nullptr}, {"kinds", std::move(kinds)}});
  if (!subscribed) return base::fail(ErrorCode::Unavailable, subscribed.error().message);
  auto open = daemon_.call("approvals", {{"all", false}});
  if (!open) return base::fail(ErrorCode::Unavailable, open.error().message);
  for (const json::object* approval : objects_in(*open, "approvals")) meet(*approval);
  return {};
}

void ApprovalWatch::take_event(const json::object& event) {
  if (text_in(event, "event") == "notice") {
    complain("approvals", policy::escape_text(text_in(event, "text")), 0);
    return;
  }
  const json::object* approval = object_in(event, "approval");
  if (approval == nullptr) return;
  if (text_in(event, "event") == "approval_opened") return meet(*approval);
  const std::string id = text_in(*approval, "id");
  if (std::erase(answered_, id) != 0) return;  // our own answer, which was shown
  if (asking_ && text_in(open_.front(), "id") == id) keys_->write("\n");
  std::erase_if(later_, [&](const json::object& each) { return text_in(each, "id") == id; });
  forget(id);
  actions_.print_closed(id, *approval);
}

void ApprovalWatch::meet(const json::object& approval) {
  // One that opened while we subscribed comes twice.
  const std::string id = text_in(approval, "id");
  const auto same = [&](const json::object& each) { return text_in(each, "id") == id; };
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
  keys_->write(notifier_.tell("ttyward asks", text_in(approval, "shown")));
}

void ApprovalWatch::forget(const std::string& id) {
  if (open_.empty()) return;
  if (text_in(open_.front(), "id") == id) {
    shown_ = asking_ = false;
    asks_from_.reset();
    reason_.reset();
  }
  std::erase_if(open_, [&](const json::object& each) { return text_in(each, "id") == id; });
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
      return decide("allow", "", "");
    case 's':
      return decide("allow", "session", "");
    case 'a':
      return decide("allow", "global", "");
    case 'd':
    case 'n':
      return decide("deny", "", "");
    case 'k':
      return decide("skip", "", "");
    case 'r':
      reason_.emplace();
      return keys_->write("\nwhy not? (Enter sends it, Esc goes back) > ");
    case 'l':
      keys_->write("\nset aside; it stays open\n");
      later_.push_back(open_.front());
      return forget(text_in(later_.back(), "id"));
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
    return decide("deny", "", reason);
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

void ApprovalWatch::decide(const char* decision, const std::string& scope, const std::string& reason) {
  const json::object approval = open_.front();
  const std::string id = text_in(approval, "id");
  const char* const word = scope == "global"                       ? "always"
                           : scope == "session"                    ? "session"
                           : std::string_view(decision) == "allow" ? "once"
                                                                   : decision;
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
