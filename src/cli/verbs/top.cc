// ttyward top: all terminals on one screen, as they change.
//
// Events say that something changed; what, is asked for with `list` and `screen`, at
// most one of each at a time, so a busy daemon is asked no more often than it answers.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "cli/approval_watch.h"
#include "cli/attachment.h"
#include "cli/colour.h"
#include "cli/daemon_verb.h"
#include "cli/notify.h"
#include "cli/person_keys.h"
#include "cli/person_tty.h"
#include "cli/shown_text.h"
#include "cli/signal_watch.h"
#include "cli/terminal_table.h"
#include "cli/terminal_use.h"
#include "cli/top_view.h"
#include "cli/verbs/verbs.h"
#include "wire/types/command_calls.h"
#include "wire/types/daemon_calls.h"
#include "wire/types/events.h"
#include "wire/types/policy_calls.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace top_verb {
namespace {

using std::chrono::milliseconds;

constexpr int kTick = 1000;  // milliseconds: ages grow
constexpr int kPage = 10;    // rows that PageUp and PageDown move

// A question to the daemon that is asked again when something has changed meanwhile.
struct Question {
  uint64_t call = 0;  // open; 0: none
  bool due = true;
};

class Top {
 public:
  Top(client::Session& daemon, DetachKey detach_key, Notifier notifier)
      : daemon_(daemon),
        detach_key_(std::move(detach_key)),
        notifier_(std::move(notifier)),
        signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT}) {}

  Outcome run() {
    auto listed = daemon_.call(wire::ListRequest{});
    if (!listed) return tl::unexpected(listed.error());
    view_.set_terminals(std::move(listed->terminals));
    subscribe();
    enter();
    while (!code_ && !failure_) {
      ask();
      look();
      paint();
      turn();
      take_signals();
      take_messages();
    }
    leave();
    if (failure_) return tl::unexpected(*failure_);
    return *code_;
  }

 private:
  void enter() {
    tty_.make_raw();
    write_out("\033[?1049h\033[0m\033[?7l\033[2J");
  }
  void leave() {
    write_out("\033[?2026l\033[0m\033[?7h\033[?25h\033[2J\033[?1049l");
    tty_.restore();
  }

  void subscribe() {
    auto asked = daemon_.start(wire::SubscribeRequest{});
    if (asked) subscribe_call_ = *asked;
    // Named, so that the daemon knows that somebody is here who can answer.
    wire::SubscribeRequest questions;
    questions.kinds = {std::string(wire::ApprovalOpened::kEvent), std::string(wire::ApprovalClosed::kEvent)};
    static_cast<void>(daemon_.start(questions));
  }

  void ask() {
    if (list_.due && list_.call == 0) {
      if (auto asked = daemon_.start(wire::ListRequest{})) list_ = {*asked, false};
    }
    if (approvals_.due && approvals_.call == 0) {
      if (auto asked = daemon_.start(wire::ApprovalsRequest{})) approvals_ = {*asked, false};
    }
    if (status_.due && status_.call == 0) {
      if (auto asked = daemon_.start(wire::StatusRequest{})) status_ = {*asked, false};
    }
    const std::string id = view_.selected_id();
    if (id != preview_of_) {
      preview_of_ = id;
      preview_.due = !id.empty();
    }
    if (!preview_.due || preview_.call != 0) return;
    if (auto asked = daemon_.start(wire::ScreenRequest{id})) {
      preview_ = {*asked, false};
      asked_for_ = id;
    }
  }

  // Once a tick: what processes use is read from /proc.
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (looked_ && now - *looked_ < milliseconds(kTick)) return;
    looked_ = now;
    status_.due = true;
    view_.set_uses(meter_.look(view_.terminals()));
  }

  void paint() {
    const auto size = PersonTty::size();
    if (size) write_out(view_.paint(size->columns, size->rows, now_in_ms()));
  }

  void turn() {
    pollfd entries[] = {
        {signals_.fd(), POLLIN, 0}, {gone_ ? -1 : daemon_.fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    const int wait = daemon_.has_next() ? 0 : kTick;
    if (::poll(entries, 3, wait) > 0 && entries[2].revents != 0) take_keys();
  }

  void take_signals() {
    while (const int number = signals_.take()) {
      if (number == SIGCONT) {
        tty_.restore();
        enter();
      } else if (number != SIGWINCH) {
        code_ = 128 + number;
      }
    }
  }

  void take_keys() {
    char buffer[256];
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n <= 0) {
      code_ = 0;  // the person's terminal is gone
      return;
    }
    for (const PersonKey& key : person_keys({buffer, static_cast<size_t>(n)})) {
      if (!code_) pressed(key);
    }
  }

  void pressed(const PersonKey& key) {
    if (!kill_.empty()) return answer(key);
    if (filtering_) return filter(key);
    view_.set_message("");
    switch (key.kind) {
      case PersonKey::Kind::Up:
        return view_.move(-1);
      case PersonKey::Kind::Down:
        return view_.move(1);
      case PersonKey::Kind::PageUp:
        return view_.move(-kPage);
      case PersonKey::Kind::PageDown:
        return view_.move(kPage);
      case PersonKey::Kind::Home:
        return view_.select_first();
      case PersonKey::Kind::End:
        return view_.select_last();
      case PersonKey::Kind::Enter:
        return attach(false);
      case PersonKey::Kind::Character:
        return command(key.character);
      default:
        return;
    }
  }

  void command(char key) {
    if (key == 'q' || key == '\x03' || key == '\x04') code_ = 0;
    if (key == 'j') view_.move(1);
    if (key == '?') view_.set_help(!view_.help());
    if (key == 'a') return answer_questions();
    if (key == '/') {
      filtering_ = true;
      return show_filter();
    }
    if (view_.selected() == nullptr) return;
    if (key == 'w') attach(true);
    if (key == 'i') change(wire::InterruptRequest{view_.selected_id(), ""});
    if (key == 'k') {
      kill_ = view_.selected_id();
      view_.set_message(fmt::format("end {} and everything in it? y/n", view_.selected_name()));
    }
  }

  void answer(const PersonKey& key) {
    const std::string id = std::exchange(kill_, {});
    view_.set_message("");
    if (key.kind == PersonKey::Kind::Character && key.character == 'y')
      change(wire::KillRequest{id, "", false});
  }

  void show_filter() {
    view_.set_message("/" + one_line(view_.filter()) + "_  Enter keeps it, Esc forgets it");
  }

  void filter(const PersonKey& key) {
    std::string text = view_.filter();
    switch (key.kind) {
      case PersonKey::Kind::Enter:
        filtering_ = false;
        return view_.set_message("");
      case PersonKey::Kind::Escape:
        filtering_ = false;
        view_.set_filter("");
        return view_.set_message("");
      case PersonKey::Kind::Character:
        if (key.character == '\x03') {
          code_ = 0;
        } else if (key.character == 0x7F || key.character == '\b') {
          if (!text.empty()) text.pop_back();
        } else if (key.character >= ' ') {
          text += key.character;
        }
        view_.set_filter(std::move(text));
        return show_filter();
      default:
        return;
    }
  }

  void answer_questions() {
    if (view_.approvals().empty()) return view_.set_message("there are no open questions");
    leave();
    const auto ended = answer_open_approvals();
    if (!ended) view_.set_message(one_line(ended.error().message));
    if (ended && *ended > 128) code_ = *ended;
    approvals_.due = list_.due = preview_.due = true;
    enter();
  }

  // The newest of them; one hint is enough for several.
  void tell_of_questions() {
    const auto& open = view_.approvals();
    if (!open.empty()) write_out(notifier_.tell("ttyward asks", open.back().shown));
  }

  template <client::Request R>
  void change(const R& request) {
    auto asked = daemon_.start(request);
    if (asked) change_call_ = *asked;
    if (!asked) view_.set_message(one_line(asked.error().message));
  }

  void attach(bool read_only) {
    if (view_.selected() == nullptr) return;
    leave();
    // A connection of its own: what arrives there is not ours.
    auto session = client::Session::open(attach_options());
    if (session) {
      const AttachEnd end = Attachment(*session, {view_.selected_id(), read_only, false, detach_key_}).run();
      if (end.kind == AttachEnd::Kind::Signal) code_ = 128 + end.signal;
      view_.set_message(end.reason);
    } else {
      view_.set_message(one_line(session.error().message));
    }
    list_.due = preview_.due = true;
    enter();
  }

  void take_messages() {
    for (int i = 0; i < 256; ++i) {
      auto next = daemon_.next(milliseconds(0));
      gone_ = !next;
      if (gone_ && daemon_.stopped()) {
        failure_ = refuse(next.error()).value();
        return;
      }
      if (gone_) return view_.set_message("the daemon is gone, waiting for it");
      if (!*next) return;
      if (const auto* reply = std::get_if<client::Reply>(&**next)) {
        take_reply(*reply);
      } else if (const auto* event = std::get_if<client::Event>(&**next)) {
        take_event(event->event);
      } else if (std::holds_alternative<client::Reconnected>(**next)) {
        list_ = preview_ = approvals_ = status_ = Question{};
        view_.set_message("");
        subscribe();
      }
    }
  }

  void take_reply(const client::Reply& reply) {
    const bool lost = !reply.result && reply.result.error().connection_lost();
    if (reply.id == list_.call) {
      list_.call = 0;
      auto listed = client::answer_of<wire::ListRequest>(reply.result);
      if (listed) view_.set_terminals(std::move(listed->terminals));
      if (!listed && !lost) failure_ = listed.error();
    } else if (reply.id == approvals_.call) {
      approvals_.call = 0;
      auto open = client::answer_of<wire::ApprovalsRequest>(reply.result);
      if (open && view_.set_approvals(std::move(open->approvals))) tell_of_questions();
    } else if (reply.id == preview_.call) {
      preview_.call = 0;
      auto screen = client::answer_of<wire::ScreenRequest>(reply.result);
      if (screen) view_.set_preview(asked_for_, std::move(screen->content));
    } else if (reply.id == status_.call) {
      status_.call = 0;
      auto status = client::answer_of<wire::StatusRequest>(reply.result);
      if (status) view_.set_agents(std::move(status->agents));
    } else if (reply.id == subscribe_call_) {
      subscribe_call_ = 0;
      if (!reply.result && !lost) failure_ = reply.result.error();
    } else if (reply.id == change_call_ && !reply.result) {
      view_.set_message(one_line(reply.result.error().message));
    }
  }

  void take_event(const boost::json::object& event) {
    if (const auto printed = client::event_of<wire::OutputCame>(event)) {
      preview_.due |= printed->id == view_.selected_id();
    } else if (client::event_of<wire::ApprovalOpened>(event) ||
               client::event_of<wire::ApprovalClosed>(event)) {
      approvals_.due = list_.due = true;
    } else {
      list_.due = preview_.due = true;
    }
  }

  void write_out(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
      if (n <= 0 && errno != EINTR && errno != EAGAIN) {
        code_ = 0;
        return;
      }
    }
  }

  client::Session& daemon_;
  DetachKey detach_key_;
  Notifier notifier_;
  SignalWatch signals_;
  PersonTty tty_;
  TopView view_{Paint::for_stdout()};
  UseMeter meter_;
  std::optional<std::chrono::steady_clock::time_point> looked_;
  Question status_;  // agents come and go without an event
  Question list_;
  Question approvals_;
  Question preview_;
  std::string preview_of_;  // whose screen is wanted
  std::string asked_for_;   // whose was asked for
  uint64_t subscribe_call_ = 0;
  uint64_t change_call_ = 0;
  std::string kill_;        // id of the terminal we asked about
  bool filtering_ = false;  // the filter is being typed
  bool gone_ = false;
  std::optional<int> code_;
  std::optional<client::CallFailure> failure_;
};

int top(const Globals& globals) {
  if (globals.json || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    return complain("top", "top needs a terminal; without one use ttyward ls", kExitUsage);
  const config::Settings settings = load_here().settings;
  auto key = DetachKey::named(settings.terminal.detach_key);
  if (!key) return complain("top", "terminal.detach_key: " + key.error().message, kExitUsage);
  return with_daemon("top", [&](client::Session& daemon) {
    ::signal(SIGPIPE, SIG_IGN);
    return Top(daemon, std::move(*key), Notifier(settings.notify)).run();
  });
}

std::function<int()> declare(CLI::App&, const Globals& globals) {
  return [&globals] { return top(globals); };
}

}  // namespace
}  // namespace top_verb

const Verb kTop = {"top", "Watch all terminals and questions; attach to one, interrupt it, end it, answer",
                   &top_verb::declare};

}  // namespace ttyward::cli
