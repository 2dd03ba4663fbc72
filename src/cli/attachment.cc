#include "cli/attachment.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <variant>

#include "cli/daemon_verb.h"
#include "cli/shown_text.h"
#include "wire/types/events.h"

namespace ttyward::cli {

using std::chrono::milliseconds;

namespace {

constexpr size_t kKeysAtOnce = 4096;
constexpr int kMessagesPerPaint = 256;  // a flood must not keep the screen from being drawn

}  // namespace

client::Options attach_options() {
  client::Options options = client_options("attach");
  const char* tty = ::ttyname(STDIN_FILENO);
  std::string_view name = tty != nullptr ? tty : "";
  if (name.substr(0, 5) == "/dev/") name.remove_prefix(5);
  if (!name.empty()) options.client += " on " + std::string(name);
  return options;
}

Attachment::Attachment(client::Session& daemon, AttachOptions options)
    : daemon_(daemon),
      options_(std::move(options)),
      signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT}),
      name_(options_.terminal) {}

AttachEnd Attachment::run() {
  if (const auto size = PersonTty::size()) size_ = *size;
  if (is_ours()) {
    end(AttachEnd::Kind::Failed, "you are inside this terminal: attaching it to itself would never end");
    end_->failure = refuse(end_->reason).value();
    return *end_;
  }
  ask_to_attach();
  // Nothing is touched before the daemon has agreed.
  while (!end_ && subscription_ == 0) {
    take_messages();
    if (end_ || subscription_ != 0) break;
    take_signals();
    if (!end_ && !daemon_.has_next()) turn();
  }
  if (end_) return *end_;
  tty_.make_raw();
  write_out(ScreenPainter::enter());
  while (!end_) {
    if (std::exchange(dirty_, false)) paint();
    turn();
    take_signals();
    take_messages();
  }
  write_out(ScreenPainter::leave());
  tty_.restore();
  if (subscription_ != 0 && !daemon_gone_ && end_->kind == AttachEnd::Kind::Detached)
    static_cast<void>(daemon_.start(wire::DetachRequest{subscription_}));
  return *end_;
}

void Attachment::end(AttachEnd::Kind kind, std::string reason) {
  if (!end_) end_ = AttachEnd{kind, std::move(reason), 0, std::nullopt};
}

// Whether our own session is the one its shell leads, or its holder.
bool Attachment::is_ours() {
  const auto shown = daemon_.call(wire::ShowRequest{options_.terminal, 0});
  return shown && (shown->terminal.pid == ::getsid(0) || shown->terminal.holder_pid == ::getsid(0));
}

void Attachment::ask_to_attach() {
  auto asked = daemon_.start(
      wire::AttachRequest{options_.terminal, options_.read_only, options_.take, wire::Size{cols(), rows()}});
  if (asked) {
    attach_call_ = *asked;
  } else if (painter_.has_screen()) {
    daemon_gone_ = true;  // it was there, and may come back
  } else {
    end(AttachEnd::Kind::Failed, asked.error().message);
    end_->failure = asked.error();
  }
}

void Attachment::turn() {
  const bool read_keys = inputs_.size() < kInputAhead;
  pollfd entries[] = {{signals_.fd(), POLLIN, 0},
                      {daemon_gone_ ? -1 : daemon_.fd(), POLLIN, 0},
                      {tty_.is_raw() && read_keys ? STDIN_FILENO : -1, POLLIN, 0}};
  const int wait = daemon_.has_next() ? 0 : daemon_gone_ ? static_cast<int>(kRetry.count()) : -1;
  if (::poll(entries, 3, wait) > 0 && entries[2].revents != 0) take_keys();
}

void Attachment::take_signals() {
  while (const int number = signals_.take()) {
    switch (number) {
      case SIGWINCH:
        resized();
        break;
      case SIGCONT:  // whoever had the terminal meanwhile may have left it in any state
        if (tty_.is_raw()) {
          tty_.restore();
          tty_.make_raw();
          write_out(ScreenPainter::enter());
          painter_.forget();
        }
        resized();
        break;
      default:
        end(AttachEnd::Kind::Signal);
        end_->signal = number;
        break;
    }
  }
}

void Attachment::resized() {
  if (const auto size = PersonTty::size()) size_ = *size;
  dirty_ = true;
  if (subscription_ == 0) return;
  auto sent = daemon_.start(wire::AttachResizeRequest{subscription_, cols(), rows()});
  if (!sent) daemon_gone_ = true;
}

void Attachment::take_keys() {
  char buffer[kKeysAtOnce];
  const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    end(AttachEnd::Kind::Detached, "the terminal in which this command was started is gone");
    return;
  }
  DetachKey::Typed typed = options_.detach_key.feed({buffer, static_cast<size_t>(n)});
  if (!complaint_.empty()) dirty_ = true;
  complaint_.clear();
  while (options_.mark_key && !typed.for_program.empty()) {
    const DetachKey::Typed other = options_.mark_key->feed(typed.for_program);
    if (!other.for_program.empty()) type(other.for_program);
    if (other.detach) mark_screen();
    typed.for_program = other.rest;
  }
  if (!typed.for_program.empty()) type(typed.for_program);
  if (typed.detach) end(AttachEnd::Kind::Detached);
}

void Attachment::mark_screen() {
  wire::SelectRequest request;
  request.terminal = options_.terminal;
  auto asked = daemon_.start(request);
  if (asked) select_call_ = *asked;
}

void Attachment::type(const std::string& keys) {
  // Another daemon is about to let us in: the terminal is the same.
  if (attach_call_ != 0 && !daemon_gone_ && held_.size() + keys.size() <= kMostHeld) {
    held_ += keys;
  } else if (subscription_ == 0 || daemon_gone_ || !may_write()) {
    write_out("\a");
  } else {
    auto sent = daemon_.start(wire::AttachInputRequest{subscription_, {keys}, {}});
    if (sent) inputs_.emplace(*sent, keys);
  }
}

void Attachment::take_messages() {
  for (int i = 0; i < kMessagesPerPaint && !end_; ++i) {
    auto next = daemon_.next(milliseconds(0));
    if (!next && daemon_.stopped()) {
      end(AttachEnd::Kind::Failed, next.error().message);
      end_->failure = refuse(next.error()).value();
      return;
    }
    if (!next) {
      if (!std::exchange(daemon_gone_, true)) dirty_ = true;
      subscription_ = 0;
      return;
    }
    if (std::exchange(daemon_gone_, false)) dirty_ = true;
    if (!*next) return;
    if (const auto* reply = std::get_if<client::Reply>(&**next)) {
      take_reply(*reply);
    } else if (const auto* event = std::get_if<client::Event>(&**next)) {
      take_event(event->event);
    } else if (std::holds_alternative<client::Reconnected>(**next)) {
      subscription_ = changes_ = 0;
      attach_call_ = subscribe_call_ = 0;
      dirty_ = true;
      ask_to_attach();
    }
  }
}

void Attachment::take_reply(const client::Reply& reply) {
  if (reply.id == attach_call_) {
    attach_call_ = 0;
    if (reply.result) return attached(client::answer_of<wire::AttachRequest>(reply.result));
    if (reply.result.error().connection_lost()) return;  // Reconnected follows, or came already
    end(AttachEnd::Kind::Failed, reply.result.error().message);
    end_->failure = reply.result.error();
  } else if (reply.id == select_call_ && select_call_ != 0) {
    select_call_ = 0;
    complaint_ =
        reply.result ? "marked for agents: what this screen shows" : one_line(reply.result.error().message);
    dirty_ = true;
  } else if (reply.id == subscribe_call_) {
    subscribe_call_ = 0;
    const auto subscribed = client::answer_of<wire::SubscribeRequest>(reply.result);
    if (!subscribed) return;  // then the lease is not shown
    changes_ = subscribed->subscription;
    for (const wire::Terminal& each : subscribed->terminals) learn(each);
  } else {
    auto input = inputs_.extract(reply.id);
    // Sent to a daemon that did not know us yet: nothing of it was typed.
    const bool early = input && !reply.result && reply.result.error().code == wire::Code::NotFound;
    if (early && (attach_call_ != 0 || subscription_ != 0)) return type(input.mapped());
    if (reply.result || reply.result.error().connection_lost()) return;
    if (reply.result.error().code == wire::Code::PermissionDenied) writable_ = false;
    complaint_ = one_line(reply.result.error().message);
    dirty_ = true;
  }
}

void Attachment::attached(const client::AnswerOf<wire::AttachRequest>& answer) {
  if (!answer) {
    end(AttachEnd::Kind::Failed, answer.error().message);
    end_->failure = answer.error();
    return;
  }
  subscription_ = answer->subscription;
  writable_ = answer->writable;
  painter_.apply(answer->screen);
  dirty_ = true;
  if (!held_.empty()) type(std::exchange(held_, {}));
  const auto& lease = answer->terminal.lease;
  our_lease_since_ = writable_ && lease ? std::optional(lease->since) : std::nullopt;
  learn(answer->terminal);
  auto asked = daemon_.start(
      wire::SubscribeRequest{options_.terminal, {std::string(wire::TerminalChanged::kEvent)}, false});
  if (asked) subscribe_call_ = *asked;
}

void Attachment::learn(const wire::Terminal& terminal) {
  if (!terminal.name.empty()) name_ = terminal.name;
  its_cols_ = terminal.cols;
  its_rows_ = terminal.rows;
  lease_by_ = terminal.lease ? terminal.lease->by : "";
  waits_ = terminal.queued ? terminal.queued->command : "";
  // Somebody took it.
  if (our_lease_since_ && terminal.lease && terminal.lease->since != *our_lease_since_) writable_ = false;
  dirty_ = true;
}

void Attachment::take_event(const boost::json::object& event) {
  const uint64_t subscription = client::subscription_of(event);
  if (subscription == 0) return;
  if (subscription == changes_) {
    if (const auto changed = client::event_of<wire::TerminalChanged>(event)) learn(changed->terminal);
    return;
  }
  if (subscription != subscription_) return;
  if (const auto screen = client::event_of<wire::AttachScreen>(event)) {
    painter_.apply(screen->screen);
    dirty_ = true;
  } else if (const auto keyboard = client::event_of<wire::AttachKeyboard>(event)) {
    writable_ = keyboard->writable;
    dirty_ = true;
  } else if (const auto closed = client::event_of<wire::AttachClosed>(event)) {
    end(AttachEnd::Kind::Closed, one_line(closed->reason));
  }
}

std::string Attachment::status() const {
  // What must not be cut away comes first.
  std::string out = fmt::format(" {} | {} leaves", one_line(name_), options_.detach_key.name());
  if (daemon_gone_ || subscription_ == 0) {
    out += " | the daemon is gone, waiting for it";
  } else if (!complaint_.empty()) {
    out += " | " + complaint_;
  } else if (options_.read_only) {
    out += " | read only";
    if (!lease_by_.empty()) out += ", the keyboard is with " + one_line(lease_by_);
  } else if (writable_) {
    out += " | you have the keyboard";
    if (!waits_.empty()) out += ", an agent waits for it: " + one_line(waits_);
  } else {
    out += lease_by_.empty() ? " | somebody else has the keyboard"
                             : fmt::format(" | {} has the keyboard", one_line(lease_by_));
  }
  if (its_cols_ > cols() || its_rows_ > rows())
    out += fmt::format(" | its size is {}x{}, only a part is shown", its_cols_, its_rows_);
  return out;
}

void Attachment::paint() {
  const auto input =
      may_write() && subscription_ != 0 ? ScreenPainter::Input::Ours : ScreenPainter::Input::Nobodys;
  write_out(painter_.paint(size_.columns, size_.rows, status(), input));
}

void Attachment::write_out(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      continue;
    }
    if (errno == EAGAIN) {
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&out, 1, 1000);
    } else if (errno != EINTR) {
      return end(AttachEnd::Kind::Detached, "the terminal in which this command was started is gone");
    }
  }
}

}  // namespace ttyward::cli
