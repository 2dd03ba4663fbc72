#include "terminal/command_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace ttyward::terminal {
namespace {

using std::chrono::milliseconds;

constexpr size_t kReadBytes = 256 * 1024;
// How long a command must be silent before it is worth asking the kernel whether it waits for input,
// and how much longer each further time.
constexpr milliseconds kFirstLook{200};
constexpr milliseconds kLastLook{1600};
constexpr milliseconds kBinaryEvery{1000};

int64_t unix_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

CommandResult start_failure(const RunOptions& options, const pty::SpawnError& error) {
  CommandResult result;
  result.command_id = options.id;
  result.command = options.shown_command;
  result.cwd = options.spawn.cwd;
  result.state = CommandState::FailedToStart;
  result.reason = error.error.message;
  result.start_failure_code = error.shell_code();
  result.started_at_ms = unix_ms();
  result.provider = pty::provider_name(options.spawn.provider);
  return result;
}

std::string seconds_text(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{} ms", time.count());
}

}  // namespace

CommandRun::CommandRun(RunOptions options, RunObserver* observer)
    : options_(std::move(options)),
      observer_(observer),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {}

CommandRun::~CommandRun() = default;

tl::expected<std::unique_ptr<CommandRun>, CommandRun::StartError> CommandRun::start(
    io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, RunOptions options,
    RunObserver* observer) {
  const hold::Scope scope = options.scope;
  const auto launch = [&](hold::HoldSpec spec) {
    return start_own_command(poller, folder, std::move(spec), scope);
  };
  return start_with(launch, folder, std::move(options), observer);
}

tl::expected<std::unique_ptr<CommandRun>, CommandRun::StartError> CommandRun::start_held(
    io::Poller& poller, const std::shared_ptr<journal::Folder>& folder, const HolderPlace& place,
    RunOptions options, RunObserver* observer) {
  const auto launch = [&](hold::HoldSpec spec) {
    return start_held_command(poller, folder, std::move(spec), place);
  };
  return start_with(launch, folder, std::move(options), observer);
}

tl::expected<std::unique_ptr<CommandRun>, CommandRun::StartError> CommandRun::start_with(
    const Launch& launch, const std::shared_ptr<journal::Folder>& folder, RunOptions options,
    RunObserver* observer) {
  std::unique_ptr<CommandRun> run(new CommandRun(std::move(options), observer));
  const RunOptions& o = run->options_;
  hold::HoldSpec spec;
  spec.spawn = o.spawn;
  spec.journal.id = o.id;
  spec.journal.quota = o.journal_quota;
  spec.journal.overflow = o.overflow;
  spec.drain_time = o.drain_time;
  spec.survivors = o.survivors;
  run->started_ = Clock::now();
  run->started_at_ms_ = unix_ms();
  auto command = launch(std::move(spec));
  if (!command) return tl::unexpected(StartError{start_failure(o, command.error()), command.error().error});
  run->command_ = std::move(*command);
  auto reader = journal::Reader::open_at(folder->fd(), o.id, folder->path() + "/" + o.id);
  if (!reader) {
    run->command_->terminate({}, Clock::now());
    return tl::unexpected(
        StartError{start_failure(o, {pty::SpawnFailure::Setup, reader.error()}), reader.error()});
  }
  run->reader_ = std::move(*reader);
  run->spill_folder_ = folder->path();
  run->output_ = std::make_unique<Output>(run->output_options());
  run->last_output_ = run->started_;
  run->next_look_ = run->started_ + kFirstLook;
  return run;
}

OutputOptions CommandRun::output_options() {
  OutputOptions output;
  output.cols = options_.spawn.size.columns;
  output.rows = options_.spawn.size.rows;
  output.source = command_->provider() == pty::Provider::Pty ? BinarySniffer::Source::Terminal
                                                             : BinarySniffer::Source::Pipe;
  output.transcript.spill_folder = spill_folder_;
  output.transcript.kept = &kept_;
  return output;
}

bool CommandRun::JournalBytes::read(uint64_t offset, std::span<char> into) {
  while (!into.empty()) {
    const auto chunk = reader->read(offset, std::as_writable_bytes(into));
    if (!chunk || chunk->bytes == 0) return false;
    offset += chunk->bytes;
    into = into.subspan(chunk->bytes);
  }
  return true;
}

void CommandRun::step(Clock::time_point now) {
  command_->turn(now);
  if (!paused_) read_new(now);
  if (done()) return;
  if (const auto& exit = command_->exit()) {
    if (read_to_ < command_->end()) return;
    // What the command printed is all in the journal by now; what it left behind may go on printing.
    CommandState state = exit->kind == journal::EndKind::Exited     ? CommandState::Exited
                         : exit->kind == journal::EndKind::Signaled ? CommandState::Signaled
                                                                    : CommandState::Lost;
    if (exit->reason == journal::EndReason::Overflow) {
      reason_ = "ended: its output reached the journal's quota, and the overflow policy is kill";
    }
    if (interrupted_ && state == CommandState::Signaled) state = CommandState::Interrupted;
    finish(state, now);
    return;
  }
  check_times(now);
}

void CommandRun::read_new(Clock::time_point now) {
  const uint64_t end = command_->end();
  while (read_to_ < end) {
    const auto chunk = reader_->read(read_to_, std::as_writable_bytes(std::span(buffer_.get(), kReadBytes)));
    if (!chunk) {
      reason_ = chunk.error().message;
      lost_bytes_ += end - read_to_;
      read_to_ = end;
      break;
    }
    if (chunk->gap > 0) {
      lost_bytes_ += chunk->gap;
      output_->skip_lost(chunk->newlines.value_or(0));
      read_to_ += chunk->gap;
      continue;
    }
    if (chunk->bytes == 0) break;
    read_to_ += chunk->bytes;
    last_output_ = now;
    next_look_ = now + kFirstLook;
    waiting_since_.reset();
    if (waiting_) {
      waiting_.reset();
      state_ = CommandState::Running;
      if (observer_ != nullptr) observer_->on_state(state_);
    }
    feed({buffer_.get(), chunk->bytes}, read_to_ - chunk->bytes);
  }
  const bool is_binary = output_->is_binary();
  if (is_binary && observer_ != nullptr && (!binary_told_ || now - last_binary_ >= kBinaryEvery)) {
    binary_told_ = true;
    last_binary_ = now;
    observer_->on_binary(output_->total_bytes());
  }
}

void CommandRun::feed(std::string_view bytes, uint64_t offset) {
  output_->feed(bytes, offset);
  if (observer_ != nullptr && !output_->is_binary()) observer_->on_data(bytes);
  const std::string replies = output_->take_replies();
  if (options_.replies == Replies::Engine && !replies.empty()) static_cast<void>(send_input(replies));
  for (vt::Event& event : output_->take_events()) {
    if (std::holds_alternative<vt::ShellMark>(event)) events_.push_back(std::move(event));
  }
}

void CommandRun::check_times(Clock::time_point now) {
  if (options_.timeout.count() > 0 && now >= started_ + options_.timeout) {
    return terminate(CommandState::TimedOut,
                     fmt::format("it ran longer than its time limit of {}", seconds_text(options_.timeout)),
                     now);
  }
  if (options_.idle_timeout.count() > 0 && now >= last_output_ + options_.idle_timeout) {
    return terminate(CommandState::TimedOut,
                     fmt::format("it printed nothing for {}", seconds_text(options_.idle_timeout)), now);
  }
  if (options_.input_patience.count() > 0 && now >= next_look_) look_for_input(now);
}

// Asks the kernel whether somebody reads the terminal. One look is not enough: a program may be on its
// way to a read it will not block in.
void CommandRun::look_for_input(Clock::time_point now) {
  const milliseconds pause = std::chrono::duration_cast<milliseconds>(now - last_output_);
  next_look_ = now + std::clamp(pause, kFirstLook, kLastLook);
  const pty::RunState state = run_state();
  if (!state.waiting) {
    waiting_since_.reset();
    if (waiting_) {
      waiting_.reset();
      state_ = CommandState::Running;
      if (observer_ != nullptr) observer_->on_state(state_);
    }
    return;
  }
  const pty::Waiting& waits = *state.waiting;
  waiting_ = WaitingFor{pty::wait_kind_name(waits.kind), output_->cursor_line(), waits.program, waits.pid,
                        waits.evidence};
  if (!waiting_since_) {
    waiting_since_ = now;
    next_look_ = now + kFirstLook;
    state_ = CommandState::AwaitingInput;
    if (observer_ != nullptr) observer_->on_state(state_);
    return;
  }
  if (now - *waiting_since_ < options_.input_patience) return;
  terminate(
      CommandState::AwaitingInput,
      fmt::format("{} waits for input ({}) and nobody is there to give it", waits.program, waiting_->kind),
      now);
}

pty::RunState CommandRun::run_state() const {
  return command_->run_state(output_->screen().is_alternate() ? pty::AlternateScreen::On
                                                              : pty::AlternateScreen::Off);
}

std::vector<OpenPort> CommandRun::ports() const {
  std::vector<pid_t> pids;
  for (const pty::ProcessInfo& process : command_->processes()) pids.push_back(process.id.pid);
  std::vector<OpenPort> ports;
  if (const auto found = pty::listening_ports(pids)) {
    for (const pty::ListeningPort& port : *found) ports.push_back({port.port, port.pid});
  }
  return ports;
}

void CommandRun::interrupt() {
  interrupted_ = true;
  static_cast<void>(command_->interrupt());
}

void CommandRun::terminate(CommandState state, std::string reason, Clock::time_point now) {
  if (done()) return;
  if (state == CommandState::TimedOut && !waiting_) {
    // A command that was stuck on a question is told apart from one that was slow.
    const pty::RunState seen = run_state();
    if (seen.waiting) {
      waiting_ = WaitingFor{pty::wait_kind_name(seen.waiting->kind), output_->cursor_line(),
                            seen.waiting->program, seen.waiting->pid, seen.waiting->evidence};
    }
  }
  reason_ = std::move(reason);
  finish(state, now);
  command_->terminate(options_.kill_rungs, now);
}

void CommandRun::finish(CommandState state, Clock::time_point now) {
  CommandResult result;
  result.state = state;
  fill_result(result, now);
  result_ = std::move(result);
  state_ = state;
  if (observer_ != nullptr) observer_->on_state(state);
}

void CommandRun::fill_result(CommandResult& result, Clock::time_point now) {
  result.command_id = options_.id;
  result.command = options_.shown_command;
  result.cwd = options_.spawn.cwd;
  result.reason = reason_;
  result.provider = pty::provider_name(command_->provider());
  result.fallback_reason = command_->fallback_reason();
  result.started_at_ms = started_at_ms_;
  result.duration_ms = std::chrono::duration_cast<milliseconds>(now - started_).count();
  result.waiting = waiting_;
  if (const auto& exit = command_->exit()) {
    if (exit->kind == journal::EndKind::Exited) result.exit_code = exit->code;
    if (exit->kind == journal::EndKind::Signaled) result.signal = pty::signal_name(exit->code);
    result.core_dumped = exit->core_dumped != 0;
    result.known_by = exit->kind == journal::EndKind::Unknown ? "" : "wait";
    result.duration_ms = static_cast<int64_t>(exit->run_us / 1000);
    result.cpu_ms = static_cast<int64_t>(exit->cpu_ms);
    result.max_rss_kib = static_cast<int64_t>(exit->max_rss_kib);
    result.waiting.reset();
  }
  if (options_.survivors == hold::Survivors::Keep && (!command_->exit() || command_->exit()->survivors > 0)) {
    result.ports = ports();
    for (const pty::ProcessInfo& process : command_->processes()) {
      if (!process.zombie && process.id.pid != command_->child_pid()) {
        result.background.push_back({process.id.pid, process.command});
      }
    }
  }
  result.total_bytes = read_to_;
  result.lost_bytes = std::max(lost_bytes_, command_->dropped());
  summarize(*output_, options_.view, result);
}

base::Result<void> CommandRun::send_input(std::string_view bytes) {
  return command_->send_input(bytes);
}

base::Result<void> CommandRun::close_input() {
  return command_->close_input();
}

base::Result<void> CommandRun::resize(const pty::WindowSize& size) {
  output_->resize(size.columns, size.rows);
  return command_->resize(size);
}

void CommandRun::view_of_range(uint64_t begin, uint64_t end, const ViewLimits& view, CommandResult& result) {
  Output output(output_options());
  result.total_bytes = end - begin;
  while (begin < end) {
    const size_t most = std::min<size_t>(kReadBytes, end - begin);
    const auto chunk = reader_->read(begin, std::as_writable_bytes(std::span(buffer_.get(), most)));
    if (!chunk || (chunk->bytes == 0 && chunk->gap == 0)) break;
    const uint64_t gap = std::min(chunk->gap, end - begin);
    result.lost_bytes += gap;
    if (gap > 0 && gap == chunk->gap) output.skip_lost(chunk->newlines.value_or(0));
    output.feed({buffer_.get(), chunk->bytes}, begin);
    begin += chunk->bytes + gap;
  }
  result.lost_bytes += end - begin;
  summarize(output, view, result);
}

void CommandRun::summarize(Output& output, const ViewLimits& view, CommandResult& result) {
  output.finish();
  result.total_lines = output.transcript().size();
  result.binary = output.is_binary();
  if (result.binary) {
    result.output.text = fmt::format("[binary output: {} bytes, not shown]\n", result.total_bytes);
  } else {
    result.encoding = output.encoding();
    result.output = make_view(output.transcript(), view);
  }
}

std::optional<CommandRun::Clock::time_point> CommandRun::deadline() const {
  std::optional<Clock::time_point> earliest = command_->deadline();
  const auto consider = [&](Clock::time_point time) {
    if (!earliest || time < *earliest) earliest = time;
  };
  if (done()) return earliest;
  if (options_.timeout.count() > 0) consider(started_ + options_.timeout);
  if (options_.idle_timeout.count() > 0) consider(last_output_ + options_.idle_timeout);
  if (options_.input_patience.count() > 0) consider(next_look_);
  return earliest;
}

}  // namespace ttyward::terminal
