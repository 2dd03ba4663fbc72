#include "acp/terminal.h"

#include <algorithm>
#include <utility>

#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::acp {
namespace {

constexpr int64_t kReadBytes = 1 << 20;
// Of output that is much more than may be kept, the beginning is not read at all.
constexpr uint64_t kReadAhead = 4 << 20;
constexpr std::chrono::milliseconds kRetry{500};
constexpr int kHistoryAttempts = 20;

}  // namespace

Terminal::Terminal(io::Loop& loop, client::Caller& daemon, std::shared_ptr<const bool> daemon_is_there,
                   std::string command_id, size_t limit)
    : loop_(loop),
      daemon_(daemon),
      daemon_is_there_(std::move(daemon_is_there)),
      command_id_(std::move(command_id)),
      limit_(limit),
      text_(limit) {}

void Terminal::follow() {
  if (!*daemon_is_there_) return;
  wire::WaitRequest wait;
  wait.command = command_id_;
  wait.exit = true;
  wait.timeout = std::chrono::milliseconds(0);
  daemon_.call<wire::WaitRequest>(wait, {},
                                  [self = shared_from_this()](client::AnswerOf<wire::WaitRequest> came) {
                                    if (came && came->result) return self->end(std::move(*came->result));
                                    if (!came && came.error().connection_lost()) {
                                      self->loop_.after(kRetry, [self] { self->follow(); });
                                      return;
                                    }
                                    self->look_up(0);
                                  });
}

void Terminal::look_up(int attempt) {
  if (!*daemon_is_there_) return;
  wire::HistoryRequest history;
  history.terminal = terminal_id;
  history.limit = 10;
  daemon_.call<wire::HistoryRequest>(
      history, {}, [self = shared_from_this(), attempt](client::AnswerOf<wire::HistoryRequest> came) {
        wire::CommandResult known;
        known.state = "lost";
        for (const wire::HistoryRow& row : came ? came->commands : std::vector<wire::HistoryRow>()) {
          if (row.command_id != self->command_id_ || !row.duration_ms) continue;
          known.state = row.state;
          known.exit_code = row.exit_code;
          known.signal = row.signal;
        }
        // The row is written a moment after the end.
        if (known.state == "lost" && came && attempt < kHistoryAttempts) {
          self->loop_.after(kRetry / 5, [self, attempt] { self->look_up(attempt + 1); });
          return;
        }
        self->end(std::move(known));
      });
}

void Terminal::end(wire::CommandResult result) {
  if (exited_) return;
  exited_ = true;
  result_ = std::move(result);
  // Nobody hears of the end before all of the output is there.
  refresh([self = shared_from_this()] {
    self->text_.settle();
    self->ended_ = true;
    for (const Then& then : std::exchange(self->waiters_, {})) then();
  });
}

void Terminal::when_ended(Then then) {
  if (ended_) return then();
  waiters_.push_back(std::move(then));
}

void Terminal::refresh(Then then) {
  readers_.push_back(std::move(then));
  if (reading_) return;
  reading_ = true;
  came_ = false;
  read_next();
}

void Terminal::read_next() {
  if (ended_ || !*daemon_is_there_) return read_done();
  wire::ReadRequest read;
  read.command = command_id_;
  read.raw = wire::RawRange{static_cast<int64_t>(offset_), kReadBytes};
  daemon_.call<wire::ReadRequest>(
      read, {}, [self = shared_from_this(), was_over = exited_](client::AnswerOf<wire::ReadRequest> came) {
        if (!came || !came->base64) {
          // Too long gone to be read: the result has the end of it.
          if (self->exited_ && self->offset_ == 0) self->text_.feed(self->result_.output);
          return self->read_done();
        }
        const std::string& bytes = came->base64->bytes;
        if (!bytes.empty()) {
          self->came_ = true;
          self->text_.feed(bytes);
          if (self->on_bytes_) self->on_bytes_(bytes);
        }
        self->offset_ = came->next_offset.value_or(self->offset_ + bytes.size());
        const uint64_t left = came->total_bytes - std::min(came->total_bytes, self->offset_);
        if (left > kReadAhead + 2 * self->limit_) {
          self->offset_ = came->total_bytes - self->limit_ - kReadAhead / 2;
          self->text_.skip();
        }
        // What was printed between this reading and its end comes with one more.
        const bool more = left > 0 && !bytes.empty();
        if (more || (self->exited_ && !was_over)) return self->read_next();
        self->read_done();
      });
}

void Terminal::read_done() {
  reading_ = false;
  // Nothing new since the last look: what stands on the unfinished line stays there for a while.
  if (!came_ && !ended_) text_.settle();
  const std::shared_ptr<Terminal> self = shared_from_this();
  for (const Then& then : std::exchange(readers_, {})) then();
}

void Terminal::kill(Then then) {
  if (exited_ || !*daemon_is_there_) return then();
  wire::KillRequest kill;
  kill.command = command_id_;
  daemon_.call<wire::KillRequest>(
      kill, {},
      [self = shared_from_this(), then = std::move(then)](client::AnswerOf<wire::KillRequest> came) {
        if (!came && came.error().connection_lost()) {
          self->loop_.after(kRetry, [self, then] { self->kill(then); });
          return;
        }
        then();
      });
}

rpc::json::object Terminal::exit_status() const {
  rpc::json::object status;
  const bool by_signal = result_.state != "exited" && !result_.signal.empty();
  if (result_.exit_code && !by_signal) {
    status["exitCode"] = *result_.exit_code;
  } else {
    status["exitCode"] = nullptr;
  }
  if (by_signal) {
    status["signal"] = result_.signal;
  } else {
    status["signal"] = nullptr;
  }
  return status;
}

}  // namespace ttyward::acp
