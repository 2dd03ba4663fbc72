#include "cli/live_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>
#include <variant>

#include "cli/colour.h"
#include "cli/digest_paint.h"
#include "cli/result_words.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "shell/quoting.h"

namespace ttyward::cli {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

LiveCommand::LiveCommand(const char* verb, client::Session& daemon, std::string terminal, bool json)
    : verb_(verb),
      daemon_(daemon),
      terminal_(std::move(terminal)),
      json_(json),
      signals_({SIGINT, SIGTERM, SIGHUP}) {
  ::signal(SIGPIPE, SIG_IGN);
}

void LiveCommand::say(const std::string& words) const {
  complain(verb_, words, 0);
}

Outcome LiveCommand::run(wire::ExecRequest request) {
  request.stream = !json_;
  digest_ = request.view.view == "digest";
  auto started = daemon_.start(request);
  if (!started) return tl::unexpected(started.error());
  call_ = *started;
  while (true) {
    auto outcome = take_messages();
    out_.flush();
    if (!outcome || done_) {
      flush_output();
      return outcome;
    }
    tell_of_question();
    take_signals();
    if (interrupts_ > 1 || told_to_stop_by_ != 0 || out_.is_gone()) {
      daemon_.cancel(call_);
      flush_output();
      if (told_to_stop_by_ != 0) return 128 + told_to_stop_by_;
      if (out_.is_gone()) return 128 + SIGPIPE;
      say(fmt::format("left it running: ttyward wait {0} waits for its end, ttyward attach {0} shows it",
                      shell::quote_posix(terminal_)));
      return kExitNotYet;
    }
    if (!daemon_.has_next()) turn();
  }
}

void LiveCommand::turn() {
  const bool too_much = out_.waiting() > kMostWaiting;
  pollfd entries[] = {{signals_.fd(), POLLIN, 0},
                      {out_.waiting() > 0 ? STDOUT_FILENO : -1, POLLOUT, 0},
                      {too_much ? -1 : daemon_.fd(), POLLIN, 0}};
  int wait = -1;
  if (!waiting_.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(tell_at_ - Clock::now()).count();
    wait = static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
  }
  ::poll(entries, 3, wait);
}

void LiveCommand::take_signals() {
  while (const int number = signals_.take()) {
    if (number != SIGINT) {
      told_to_stop_by_ = number;
      return;
    }
    if (++interrupts_ != 1) return;
    auto sent = daemon_.start(wire::InterruptRequest{terminal_, ""});
    if (sent) interrupt_call_ = *sent;
    if (::isatty(STDERR_FILENO) != 0) say("interrupted; Ctrl-C again leaves it running");
  }
}

Outcome LiveCommand::take_messages() {
  while (!done_ && out_.waiting() <= kMostWaiting) {
    auto next = daemon_.next(milliseconds(0));
    if (!next) return refuse(next.error());
    if (!*next) return 0;
    if (auto* part = std::get_if<client::Part>(&**next)) {
      const auto came = wire::decode<wire::StreamPart>(part->part, wire::Unknown::Ignore);
      if (part->id == call_ && came) show_part(*came);
    } else if (auto* reply = std::get_if<client::Reply>(&**next)) {
      if (reply->id == interrupt_call_ && !reply->result) say(reply->result.error().message);
      if (reply->id != call_) continue;
      done_ = true;
      auto result = client::answer_of<wire::ExecRequest>(std::move(reply->result));
      if (result) return finish(*result);
      client::CallFailure failure = result.error();
      if (failure.fate == client::CallFailure::Fate::Unknown && !heard_) {
        failure.message = fmt::format(
            "the daemon is gone ({1}), and it is not known whether the command ran: ttyward history lists it "
            "if it did, ttyward show {0} shows the terminal",
            shell::quote_posix(terminal_), failure.message);
      } else if (failure.fate == client::CallFailure::Fate::Unknown) {
        failure.message = fmt::format(
            "the daemon is gone ({1}); the command keeps running without it: ttyward wait {0} waits for its "
            "end, ttyward read {0} shows its output",
            shell::quote_posix(terminal_), failure.message);
      }
      return tl::unexpected(std::move(failure));
    }
  }
  return 0;
}

void LiveCommand::show_part(const wire::StreamPart& part) {
  heard_ = true;
  if (!part.output.empty() && !digest_) {
    out_.write(part.output);
    shown_output_ = true;
  }
  const std::string& state = part.state;
  if (!state.empty()) waiting_.clear();
  if (state == "pending_approval") {
    wire::CommandResult asked;
    asked.state = state;
    asked.approval = part.approval;
    if (part.reason) asked.reason = part.reason->value_or("");
    for (const std::string& line : told_ = result_words(asked, terminal_)) say(line);
    return;
  }
  if (!state.empty() && state != "awaiting_input") told_.clear();  // the next question is another
  if (state != "awaiting_input" || !part.waiting || !*part.waiting) return;
  waiting_ = waiting_words(**part.waiting, terminal_);
  tell_at_ = Clock::now() + patience_;
  tell_of_question();
}

void LiveCommand::tell_of_question() {
  if (waiting_.empty() || Clock::now() < tell_at_) return;
  const std::vector<std::string> words = std::exchange(waiting_, {});
  if (words == told_) return;
  out_.flush();
  for (const std::string& line : words) say(line);
  told_ = words;
}

int LiveCommand::finish(const wire::CommandResult& result) {
  if (json_) {
    out_.write(wire::json_text(result) + "\n");
  } else {
    // Nothing was streamed: all there is, is in the result.
    if (digest_) {
      out_.write(painted_digest(result.output, Paint::for_stdout()));
    } else if (!shown_output_) {
      out_.write(result.output);
    }
    flush_output();
    for (const std::string& line : result_words(result, terminal_)) {
      if (std::find(told_.begin(), told_.end(), line) == told_.end()) say(line);
    }
  }
  return told_to_stop_by_ != 0 ? 128 + told_to_stop_by_ : result_code(result);
}

// The reader may be slow; a signal ends the waiting.
void LiveCommand::flush_output() {
  out_.flush();
  while (out_.waiting() > 0 && !out_.is_gone()) {
    pollfd entries[] = {{signals_.fd(), POLLIN, 0}, {STDOUT_FILENO, POLLOUT, 0}};
    ::poll(entries, 2, -1);
    if (const int number = signals_.take(); number != 0) {
      told_to_stop_by_ = number;
      return;
    }
    out_.flush();
  }
}

}  // namespace ttyward::cli
