#include "command/running_command.h"

#include <algorithm>
#include <ctime>

#include "command/own_holder.h"
#include "hold/launch.h"

namespace ttyward::command {

using std::chrono::milliseconds;
using terminal::CommandResult;
using terminal::CommandState;
using terminal::Output;

namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr milliseconds kBinaryEvery{1000};
// A holder that hangs up is closing its journal, which takes a moment; or it was killed, which its lock on
// the journal tells. One that is stopped or starved does neither, and is given up after this.
constexpr milliseconds kClosingTime{10'000};
constexpr milliseconds kClosingPause{1};
constexpr milliseconds kReviveEvery{200};

int64_t unix_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

CommandResult first_facts(const RunOptions& options) {
  CommandResult facts;
  facts.command_id = options.id;
  facts.command = options.shown_command;
  facts.cwd = options.spawn.cwd;
  facts.started_at_ms = unix_ms();
  if (options.holder && options.holder->place != nullptr) facts.place = options.holder->place->name();
  facts.provider = pty::provider_name(options.spawn.provider);
  facts.sandbox = options.sandbox;
  return facts;
}

LifeOptions life_options(const RunOptions& options) {
  return {.timeout = options.timeout,
          .idle_timeout = options.idle_timeout,
          .input_patience = options.input_patience,
          .survivors = options.survivors};
}

}  // namespace

RunningCommand::RunningCommand(RunOptions options, RunObserver* observer, Clock::time_point now)
    : options_(std::move(options)),
      observer_(observer),
      life_(life_options(options_), first_facts(options_), now),
      buffer_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {}

RunningCommand::~RunningCommand() {
  *alive_ = false;
  if (poller_ != nullptr) poller_->remove(options_.holder->answers->fd());
}

RunningCommand::Started RunningCommand::start(io::Poller& poller,
                                              const std::shared_ptr<journal::Folder>& folder,
                                              RunOptions options, RunObserver* observer) {
  const Clock::time_point now = Clock::now();
  std::unique_ptr<RunningCommand> run(new RunningCommand(std::move(options), observer, now));
  // The report's file is a descriptor of ours, which neither a sandbox nor another place has.
  const bool ours = !run->options_.holder || run->options_.holder->place == nullptr;
  if (ours && !run->options_.spawn.sandbox) run->report_ = PipeReport::add_to(run->options_.spawn.argv);
  const bool held = run->options_.holder.has_value();
  const auto started = held ? run->start_held(poller, folder) : run->start_own(poller, folder);
  if (!started) {
    const pty::SpawnError& error = started.error();
    if (run->source_) run->source_->terminate({});
    run->life_.facts().start_failure_code = error.shell_code();
    run->life_.fail(CommandState::FailedToStart, error.error.message, now);
    return tl::unexpected(StartError{run->life_.result(now), error.error});
  }
  run->spill_folder_ = folder->path();
  run->output_ = std::make_unique<Output>(run->output_options());
  run->life_.facts().provider = pty::provider_name(run->provider_);
  run->life_.begin(0, now);
  return run;
}

hold::HoldSpec RunningCommand::hold_spec() const {
  hold::HoldSpec spec;
  spec.spawn = options_.spawn;
  spec.journal.id = options_.id;
  spec.journal.quota = options_.journal_quota;
  spec.journal.overflow = options_.overflow;
  spec.drain_time = options_.drain_time;
  spec.survivors = options_.survivors;
  return spec;
}

tl::expected<void, pty::SpawnError> RunningCommand::start_own(
    io::Poller& poller, const std::shared_ptr<journal::Folder>& folder) {
  auto holder = OwnHolder::start(poller, folder, hold_spec(), options_.scope, *this);
  if (!holder) return tl::unexpected(holder.error());
  provider_ = (*holder)->provider();
  child_pid_ = (*holder)->child_pid();
  life_.facts().fallback_reason = (*holder)->fallback_reason();
  source_ = std::move(*holder);
  auto reader = journal::Reader::open_at(folder->fd(), options_.id, folder->path() + "/" + options_.id);
  if (!reader) return tl::unexpected(pty::SpawnError{pty::SpawnFailure::Setup, reader.error()});
  reader_ = std::move(*reader);
  return {};
}

tl::expected<void, pty::SpawnError> RunningCommand::start_held(
    io::Poller& poller, const std::shared_ptr<journal::Folder>& folder) {
  hold::LaunchRequest request;
  request.journals = folder->path();
  request.total_quota = folder->total_quota();
  request.sockets = options_.holder->sockets;
  request.hold = hold_spec();
  const HolderPlace& holder = *options_.holder;
  const auto launch = [&]() -> tl::expected<hold::LaunchReply, pty::SpawnError> {
    if (!holder.launch_on) return hold::launch(holder.program, request);
    auto control = holder.launch_on();
    if (!control) return tl::unexpected(pty::SpawnError{pty::SpawnFailure::Setup, control.error()});
    return hold::IdleHolder::behind(std::move(*control)).launch(request);
  };
  const auto reply = launch();
  if (!reply) return tl::unexpected(reply.error());
  provider_ = reply->provider;
  child_pid_ = reply->child;
  life_.facts().fallback_reason = reply->fallback_reason;
  if (!connect(poller)) gone_ = true;  // the command has ended already, and its holder with it
  auto reader = journal::Reader::open_at(folder->fd(), options_.id, folder->path() + "/" + options_.id);
  if (!reader) return tl::unexpected(pty::SpawnError{pty::SpawnFailure::Setup, reader.error()});
  reader_ = std::move(*reader);
  if (holder.answers != nullptr && poller.add(holder.answers->fd(), EPOLLIN, *this)) poller_ = &poller;
  return {};
}

base::Result<void> RunningCommand::connect(io::Poller& poller) {
  auto connected = HolderProcess::connect(poller, options_.holder->sockets, options_.id, *this);
  if (!connected) return tl::unexpected(connected.error());
  if (options_.holder->place != nullptr) {
    (*connected)->set_place(*options_.holder->place);
    // As a command here, which ends with the process that runs it.
    if (options_.survivors == hold::Survivors::Kill) (*connected)->tie();
  }
  source_ = std::move(*connected);
  source_->watch(read_to_);
  watching_ = true;
  return {};
}

terminal::OutputOptions RunningCommand::output_options() {
  terminal::OutputOptions output;
  output.cols = options_.spawn.size.columns;
  output.rows = options_.spawn.size.rows;
  output.source = provider_ == pty::Provider::Pty ? terminal::BinarySniffer::Source::Terminal
                                                  : terminal::BinarySniffer::Source::Pipe;
  output.transcript.spill_folder = spill_folder_;
  output.transcript.kept = &kept_;
  return output;
}

bool RunningCommand::JournalBytes::read(uint64_t offset, std::span<char> into) {
  while (!into.empty()) {
    const auto chunk = reader->read(offset, std::as_writable_bytes(into));
    if (!chunk || chunk->bytes == 0) return false;
    offset += chunk->bytes;
    into = into.subspan(chunk->bytes);
  }
  return true;
}

// --- what the source tells

void RunningCommand::on_welcome(const hold::StatusMessage& status) {
  if (status.has_exit == 0) return;
  if (const auto journal = reader_->status(); journal && journal->exit) on_exited(*journal->exit);
}

void RunningCommand::on_output(uint64_t /*end*/) {
  watching_ = false;
}

void RunningCommand::on_exited(const journal::ExitRecord& record) {
  if (exit_) return;
  exit_ = record;
  exit_end_ = reader_->end();
}

void RunningCommand::on_link(const hold::LinkMessage& link) {
  if (observer_ != nullptr) observer_->on_link(link);
  if (link.linked && kill_wanted_) kill();
}

void RunningCommand::on_ready(int, uint32_t) {
  options_.holder->answers->wait(0);
}

void RunningCommand::step(Clock::time_point now) {
  if (source_) source_->turn(now);
  follow_source(now);
  if (!paused_) read_new(now);
  if (exit_) life_.exited(*exit_, exit_end_, now);
  do_next(now);
}

void RunningCommand::follow_source(Clock::time_point now) {
  if (!gone_ || closed_) return;
  source_.reset();
  if (connect_again(now)) return;
  settle_gone(now);
}

// A link may be killed, and the next one goes on. True: it is there again, or is being started.
bool RunningCommand::connect_again(Clock::time_point now) {
  constexpr int kMostTimes = 20;
  if (poller_ == nullptr || !options_.holder->revive || !lost_reason_.empty() || exit_) return false;
  const auto status = reader_->status();
  if (!status || status->exit || status->state == journal::State::Closed || revived_ == kMostTimes)
    return false;
  revived_++;
  static_cast<void>(options_.holder->revive());
  if (connect(*poller_)) {
    gone_ = false;
    ask_journal_.reset();
  } else {
    ask_journal_ = now + kReviveEvery;
  }
  return true;
}

// Nobody is there to tell how it ended; the journal may.
void RunningCommand::settle_gone(Clock::time_point now) {
  ask_journal_.reset();
  if (!gone_since_) gone_since_ = now;
  const auto status = reader_->status();
  if (status && status->exit) on_exited(*status->exit);
  const auto writer = reader_->writer();
  const bool closing = (!status || status->state != journal::State::Closed) && writer &&
                       *writer != journal::WriterLife::Gone && now < *gone_since_ + kClosingTime;
  if (closing) {
    ask_journal_ = now + kClosingPause;
    return;
  }
  closed_ = true;
  // A holder that was killed took the truth with it.
  if (!exit_ && !lost_reason_.empty()) life_.lost(lost_reason_, now);
  if (!exit_ && lost_reason_.empty()) on_exited({});
}

void RunningCommand::read_new(Clock::time_point now) {
  const uint64_t end = reader_->end();
  while (read_to_ < end) {
    const auto chunk = reader_->read(read_to_, std::as_writable_bytes(std::span(buffer_.get(), kReadBytes)));
    if (!chunk) {
      life_.facts().reason = chunk.error().message;
      lost_bytes_ += end - read_to_;
      read_to_ = end;
      life_.skip(read_to_, now);
      break;
    }
    if (chunk->gap > 0) {
      lost_bytes_ += chunk->gap;
      output_->skip_lost(chunk->newlines.value_or(0));
      read_to_ += chunk->gap;
      life_.skip(read_to_, now);
      continue;
    }
    if (chunk->bytes == 0) break;
    read_to_ += chunk->bytes;
    life_.output(read_to_, now);
    tell_state();
    feed({buffer_.get(), chunk->bytes}, read_to_ - chunk->bytes);
  }
  tell_binary(now);
  if (source_ && !std::exchange(watching_, true)) source_->watch(read_to_);
}

void RunningCommand::feed(std::string_view bytes, uint64_t offset) {
  output_->feed(bytes, offset);
  if (observer_ != nullptr && !output_->is_binary()) observer_->on_data(bytes);
  const std::string replies = output_->take_replies();
  if (options_.replies == Replies::Engine && !replies.empty()) send_input(replies);
  for (vt::Event& event : output_->take_events()) {
    if (std::holds_alternative<vt::ShellMark>(event)) events_.push_back(std::move(event));
  }
}

void RunningCommand::tell_binary(Clock::time_point now) {
  if (observer_ == nullptr || !output_->is_binary()) return;
  if (std::exchange(binary_told_, true) && now - last_binary_ < kBinaryEvery) return;
  last_binary_ = now;
  observer_->on_binary(output_->total_bytes());
}

void RunningCommand::tell_state() {
  if (life_.state() == told_) return;
  told_ = life_.state();
  if (observer_ != nullptr) observer_->on_state(told_);
}

// --- what the life asks for

void RunningCommand::do_next(Clock::time_point now) {
  for (;;) {
    if (take_answers(now)) continue;
    tell_state();
    if (life_.answered() && !result_) make_result(now);
    switch (life_.next(now)) {
      case CommandLife::Step::Wait:
        return;
      case CommandLife::Step::Look:
        look(now);
        break;
      case CommandLife::Step::ListProcesses:
        list_processes();
        break;
      case CommandLife::Step::Kill:
        kill();
        break;
    }
  }
}

void RunningCommand::look(Clock::time_point now) {
  if (!source_) return life_.look_failed(now);
  const bool alternate = output_->screen().is_alternate();
  source_->run_state(alternate ? pty::AlternateScreen::On : pty::AlternateScreen::Off,
                     [this](base::Result<pty::RunState> state) { looked_ = std::move(state); });
}

// Told again when the link is there again, if it was not.
void RunningCommand::kill() {
  if (!source_) return;
  kill_wanted_ = true;
  source_->terminate(options_.kill_rungs, [this, alive = alive_](const base::Result<void>& told) {
    if (*alive) kill_wanted_ = !told && told.error().code == base::ErrorCode::Unavailable;
  });
}

void RunningCommand::list_processes() {
  if (!source_) {
    processes_ = std::vector<Source::Process>();
    return;
  }
  source_->processes(
      [this](base::Result<std::vector<Source::Process>> list) { processes_ = std::move(list); });
}

// True: there were some.
bool RunningCommand::take_answers(Clock::time_point now) {
  if (const auto state = std::exchange(looked_, std::nullopt)) {
    if (*state && reader_->end() == read_to_) {
      life_.looked(**state, output_->cursor_line(), now);
    } else {
      life_.look_failed(now);
    }
    return true;
  }
  if (const auto list = std::exchange(processes_, std::nullopt)) {
    find_ports(list->value_or(std::vector<Source::Process>()));
    return true;
  }
  if (auto left = std::exchange(left_, std::nullopt)) {
    life_.left_behind(std::move(left->processes), std::move(left->ports), now);
    return true;
  }
  return false;
}

void RunningCommand::find_ports(const std::vector<Source::Process>& list) {
  LeftBehind left;
  std::vector<pid_t> pids;
  for (const Source::Process& process : list) {
    if (process.pid == child_pid_) continue;
    left.processes.push_back({process.pid, process.command});
    pids.push_back(process.pid);
  }
  if (options_.survivors != hold::Survivors::Keep || pids.empty() || !source_) {
    left_ = std::move(left);
    return;
  }
  source_->place().ports(
      pids, [this, alive = alive_, left](const std::optional<place::Place::Ports>& ports) mutable {
        if (!*alive) return;
        for (const auto& port : ports.value_or(place::Place::Ports()))
          left.ports.push_back({port.port, port.pid});
        left_ = std::move(left);
      });
}

void RunningCommand::interrupt() {
  life_.interrupted();
  if (source_) source_->interrupt();
}

void RunningCommand::terminate(CommandState state, std::string reason, Clock::time_point now) {
  life_.end(state, std::move(reason), now);
  do_next(now);
}

void RunningCommand::make_result(Clock::time_point now) {
  const auto status = reader_->status();
  life_.facts().lost_bytes = std::max(lost_bytes_, status ? status->dropped : 0);
  if (report_ && exit_ && exit_->kind == journal::EndKind::Exited)
    life_.facts().pipeline = report_->statuses(exit_->code);
  // It leads a session, and so a group, of its own.
  if (child_pid_ > 0) life_.facts().pid = life_.facts().process_group = child_pid_;
  output_->finish();
  result_ = life_.result(*output_, options_.view, now);
}

void RunningCommand::send_input(std::string_view bytes) {
  if (source_) source_->input(bytes);
}

void RunningCommand::close_input() {
  if (source_) source_->close_input();
}

void RunningCommand::resize(const pty::WindowSize& size) {
  output_->resize(size.columns, size.rows);
  if (source_) source_->resize(size);
}

uint64_t RunningCommand::journal_bytes() const {
  const auto status = reader_->status();
  return status ? status->allocated : 0;
}

void RunningCommand::view_of_range(uint64_t begin, uint64_t end, const terminal::ViewLimits& view,
                                   CommandResult& result) {
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
  output.finish();
  describe_output(output, view, true, result);
}

std::optional<RunningCommand::Clock::time_point> RunningCommand::deadline() const {
  std::optional<Clock::time_point> earliest = source_ ? source_->deadline() : std::nullopt;
  for (const auto& time : {life_.deadline(), ask_journal_}) {
    if (time && (!earliest || *time < *earliest)) earliest = time;
  }
  if (gone_ && !closed_ && !ask_journal_) earliest = Clock::time_point{};  // not dealt with yet
  return earliest;
}

}  // namespace ttyward::command
