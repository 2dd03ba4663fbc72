#include "engine/live_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kPause{100};

terminal::BinarySniffer::Source source_of(const Terminal& terminal) {
  return terminal.provider() == pty::Provider::Pipe ? terminal::BinarySniffer::Source::Pipe
                                                    : terminal::BinarySniffer::Source::Terminal;
}

bool is_running(terminal::CommandState state) {
  return state == terminal::CommandState::Running || state == terminal::CommandState::Queued ||
         state == terminal::CommandState::AwaitingInput;
}

}  // namespace

base::Result<std::unique_ptr<LiveStream>> LiveStream::start(io::Loop& loop, Terminal& terminal,
                                                            const std::string& command_id, Emit emit,
                                                            uint64_t from_line) {
  const Command* command = terminal.find(command_id);
  if (command == nullptr) {
    return base::fail(base::ErrorCode::NotFound,
                      "terminal " + terminal.id() + " has no command " + command_id);
  }
  std::unique_ptr<LiveStream> made(new LiveStream(loop, terminal, *command, std::move(emit), from_line));
  made->catch_up(*command);
  return made;
}

LiveStream::LiveStream(io::Loop& loop, Terminal& terminal, const Command& command, Emit emit,
                       uint64_t from_line)
    : loop_(loop),
      terminal_(&terminal),
      command_id_(command.facts.command_id),
      emit_(std::move(emit)),
      sniffer_(source_of(terminal)),
      lines_(terminal.spec().size.columns, source_of(terminal),
             [this](std::string_view line) { add_line(line); }),
      known_lines_(from_line),
      state_(command.facts.state),
      progress_(terminal.progress()) {
  terminal.watch(*this);
  terminal.want_input_state(1);
}

LiveStream::~LiveStream() {
  *alive_ = false;
  leave();
}

void LiveStream::leave() {
  loop_.cancel(timer_);
  if (terminal_ == nullptr) return;
  terminal_->want_input_state(-1);
  terminal_->unwatch(*this);
  terminal_ = nullptr;
}

// What it printed already, as if it came now; in slices, if that is much.
void LiveStream::catch_up(const Command& command) {
  if (!command.started_seen) return;
  catch_up_parts_ = kMostCaughtUp;
  catch_up_at_ = command.range().begin;
  if (catch_up_until(Clock::now() + Slices::kSlice)) return;
  terminal_->slices().add([this, alive = alive_](Clock::time_point until) {
    return !*alive || !catch_up_at_ || catch_up_until(until);
  });
}

// True: there is nothing left of it.
bool LiveStream::catch_up_until(Clock::time_point until) {
  const Command* command = terminal_->find(command_id_);
  // Its end is there a little before it is over.
  const uint64_t end = command == nullptr ? 0 : command->over() ? command->range().end : terminal_->read_to();
  while (*catch_up_at_ < end) {
    uint64_t next = *catch_up_at_;
    const auto bytes = terminal_->raw(next, std::min<uint64_t>(end - next, 16 * 1024), &next);
    if (!bytes || next == *catch_up_at_) break;
    take(*bytes);
    catch_up_at_ = next;
    if (next < end && Clock::now() >= until) return false;
  }
  caught_up();
  return true;
}

void LiveStream::caught_up() {
  catch_up_at_.reset();
  catch_up_parts_ = 0;
  if (something_) schedule();
  if (then_) finish(std::exchange(then_, {}));
}

void LiveStream::on_destroyed() {
  terminal_ = nullptr;
  if (catch_up_at_) caught_up();
}

void LiveStream::add_line(std::string_view line) {
  if (++lines_out_ <= known_lines_) return;
  if (part_.output.size() + line.size() > kMostText && catch_up_parts_ > 0) {
    --catch_up_parts_;
    flush();
  }
  if (part_.output.size() + line.size() > kMostText) {
    left_out_++;
  } else {
    part_.output += line;
  }
  something_ = true;
}

void LiveStream::on_command_bytes(const Command& command, std::string_view bytes) {
  // While it catches up these bytes are read from the journal in their turn.
  if (finished_ || catch_up_at_ || command.facts.command_id != command_id_) return;
  take(bytes);
  if (something_) schedule();
}

void LiveStream::take(std::string_view bytes) {
  bytes_ += bytes.size();
  if (sniffer_.look(bytes)) {
    part_.binary_bytes = bytes_;
    something_ = true;
  } else {
    lines_.feed(bytes);
  }
}

void LiveStream::on_change(Terminal&, uint32_t changes) {
  if (finished_) return;
  if ((changes & kMeta) != 0 && terminal_->progress() != progress_) {
    progress_ = terminal_->progress();
    part_.progress = progress_.value_or(vt::Progress{});
    something_ = true;
    schedule();
  }
  if ((changes & kCommandState) != 0) note_state();
}

void LiveStream::note_state() {
  const Command* command = terminal_->find(command_id_);
  if (command == nullptr || command->facts.state == state_ || !is_running(command->facts.state)) return;
  state_ = command->facts.state;
  part_.state = state_;
  part_.waiting = command->facts.waiting;
  something_ = true;
  flush();
}

void LiveStream::schedule() {
  if (timer_ != 0) return;
  timer_ = loop_.at(last_part_ + kPause, [this] {
    timer_ = 0;
    flush();
  });
}

void LiveStream::flush() {
  if (!something_) return;
  loop_.cancel(timer_);
  last_part_ = Clock::now();
  something_ = false;
  StreamPart part = std::exchange(part_, {});
  if (left_out_ > 0) {
    part.output += fmt::format("[… {} lines left out here: more than can be shown as it comes …]\n",
                               std::exchange(left_out_, 0));
  }
  part.lines = lines_out_;
  emit_(part);
}

void LiveStream::finish(std::function<void()> then) {
  if (catch_up_at_) {
    then_ = std::move(then);
    return;
  }
  if (!finished_) {
    if (!sniffer_.is_binary()) lines_.finish();
    finished_ = true;
    leave();
    flush();
  }
  if (then) then();
}

}  // namespace ttyward::engine
