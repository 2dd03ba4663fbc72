#include "engine/query_replies.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace ttyward::engine {
namespace {

// A program is answered once it reads; it must have begun to within this time.
constexpr std::chrono::milliseconds kPause{10};
constexpr std::chrono::milliseconds kLongest{1000};
constexpr size_t kMost = 64 * 1024;  // bytes that wait; more is dropped

std::string file_of(const std::string& id) {
  return id + ".replied";
}

}  // namespace

uint64_t QueryReplies::answered_to(int logs, const std::string& id) {
  uint64_t offset = 0;
  const base::UniqueFd file(::openat(logs, file_of(id).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file || ::pread(file.get(), &offset, sizeof offset, 0) != sizeof offset) return 0;
  return offset;
}

QueryReplies::QueryReplies(LiveTerminal& live, int logs, ShellReads shell_reads)
    : live_(live), logs_(logs), shell_reads_(std::move(shell_reads)), timer_(live.loop) {}

void QueryReplies::add(std::string replies) {
  if (!file_) {
    file_.reset(::openat(logs_, file_of(live_.model.spec().id).c_str(),
                         O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  const uint64_t answered = live_.model.read_to();
  (void)!::pwrite(file_.get(), &answered, sizeof answered, 0);
  if (replies_.size() + replies.size() > kMost) return;
  take_over(std::move(replies));
}

void QueryReplies::take_over(std::string replies) {
  replies_ += replies;
  since_ = Clock::now();
  answer();
}

// Whether a program may be reading at all.
bool QueryReplies::may_answer() const {
  if (!live_.model.has_shell()) return true;
  const auto state = live_.model.shell().tracker().state();
  return state == shell::CommandTracker::State::Executing || state == shell::CommandTracker::State::Unknown;
}

void QueryReplies::answer() {
  if (!may_answer()) clear();
  if (replies_.empty() || !live_.holder.connected() || live_.model.closed() || asking_ || timer_.running())
    return;
  asking_ = true;
  live_.ask_kernel([this](const base::Result<pty::RunState>& state) {
    asking_ = false;
    answer_if_read(state);
  });
}

// A program that wants an answer reads keys, not lines: in line mode an answer, which has no end of line,
// would wait for the next line and be part of it.
void QueryReplies::answer_if_read(const base::Result<pty::RunState>& state) {
  if (!may_answer() || !state || !live_.holder.connected()) return clear();
  if (replies_.empty()) return;
  const TerminalModel& model = live_.model;
  const bool raw = state->terminal && !state->terminal->canonical;
  // It asks before its first prompt.
  const bool fish_starts =
      !model.ready() && model.has_shell() && model.shell().identity().kind == shell::ShellKind::Fish;
  if (raw && !fish_starts && shell_reads_(*state)) return clear();
  if (raw && (fish_starts || !shell_is_next(*state))) {
    // The shell throws away at its prompt what it finds unread, if it was told by then. So it is told first,
    // and the kernel asked again: who reads keys after that comes to its prompt, if at all, after it was
    // told.
    if (std::exchange(shell_told_, true) || !model.has_shell()) {
      shell_told_ = false;
      return live_.holder.type(std::exchange(replies_, {}));
    }
    live_.note_typed();
    return answer();
  }
  if (Clock::now() - since_ > kLongest) return clear();
  timer_.after(kPause, [this] { answer(); });
}

// Whether the terminal is the shell's, which does not read yet: it may be on its way to the prompt.
bool QueryReplies::shell_is_next(const pty::RunState& state) const {
  return live_.model.has_shell() && !state.waiting && !state.listened &&
         state.terminal->foreground == live_.model.shell_pid();
}

void QueryReplies::clear() {
  replies_.clear();
  shell_told_ = false;
}

}  // namespace ttyward::engine
