// Following the journal: bytes to screen, marks to commands, endings to the truth.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>

#include "base/count_newlines.h"
#include "engine/terminal.h"
#include "engine/time.h"
#include "pty/proc.h"

namespace ttyward::engine {
namespace {

// Read at once, and per turn of the loop: a flood in one terminal must not starve the others.
constexpr size_t kReadBytes = 64 * 1024;
constexpr uint64_t kBytesPerTurn = 1 << 20;
// A few bytes can be much work (repeat this character 65535 times): it is time that counts in the end.
constexpr std::chrono::milliseconds kTimePerTurn{5};
// Fed to the screen at once: so little that its list of events cannot overflow, and no mark is lost in it;
// less if that turns out to be much work.
constexpr size_t kPieceBytes = 12 * 1024;
constexpr size_t kSmallestPiece = 256;
constexpr std::chrono::milliseconds kLongPiece{2};

// Whether something in it may be "print the last character again, a hundred times or more" (CSI n b): each of
// them can fill the screen.
bool repeats_much(std::string_view piece) {
  for (size_t at = piece.find('b', 3); at != std::string_view::npos; at = piece.find('b', at + 1)) {
    const auto digit = [&](size_t back) { return piece[at - back] >= '0' && piece[at - back] <= '9'; };
    if (digit(1) && digit(2) && digit(3)) return true;
  }
  return false;
}

// How long a command must be silent before the kernel is asked whether it waits for input, and how much
// longer each further time. Two looks in a row must agree.
constexpr std::chrono::milliseconds kFirstLook{150};
constexpr std::chrono::milliseconds kSecondLook{50};
constexpr std::chrono::milliseconds kLastLook{2000};

// What a program asks its terminal is answered once somebody reads; by then it must have begun to.
constexpr std::chrono::milliseconds kReplyPause{10};
constexpr std::chrono::milliseconds kLongestReply{1000};
constexpr size_t kMostReplies = 64 * 1024;

// A frame that takes longer than this is shown as far as it has come.
constexpr std::chrono::milliseconds kLongestFrame{500};

}  // namespace

terminal::OutputOptions Terminal::output_options(terminal::BinarySniffer::Source source) const {
  terminal::OutputOptions options;
  options.cols = spec_.size.columns;
  options.rows = spec_.size.rows;
  options.source = source;
  options.bare_lines = on_pipes();
  options.transcript.memory = 1 << 20;
  options.transcript.quota = host_.settings.journal_quota;
  options.transcript.spill_folder = host_.journals;
  return options;
}

terminal::BinarySniffer::Source Terminal::source_of_all() const {
  using Source = terminal::BinarySniffer::Source;
  if (!spec_.temporary()) return Source::Shell;
  return provider_ == pty::Provider::Pty ? Source::Terminal : Source::Pipe;
}

terminal::BinarySniffer::Source Terminal::source_of_commands() const {
  using Source = terminal::BinarySniffer::Source;
  return provider_ == pty::Provider::Pty ? Source::Terminal : Source::Pipe;
}

void Terminal::begin_output() {
  output_ = std::make_unique<terminal::Output>(output_options(source_of_all()));
}

void Terminal::on_welcome(const hold::StatusMessage& status) {
  holder_pid_ = static_cast<pid_t>(status.holder_pid);
  child_pid_ = static_cast<pid_t>(status.child_pid);
  if (!reader_) return;
  if (status.has_exit != 0 && !exit_ && status.exit.size() == sizeof(journal::ExitRecord)) {
    journal::ExitRecord record;
    std::memcpy(&record, status.exit.data(), sizeof record);
    on_exited(record);
    return;
  }
  if (const auto now = reader_->status()) resend_if_unsent(now->input_bytes + status.input_waiting);
  read_new();
}

void Terminal::on_output(uint64_t) {
  read_new();
}

void Terminal::on_paused() {
  changed(kMeta);
}

void Terminal::on_exited(const journal::ExitRecord& record) {
  if (exit_ || !reader_) return;
  exit_ = record;
  exit_end_ = reader_->end();
  read_new();
}

void Terminal::on_closed() {
  holder_closed_ = true;
  read_new();
}

void Terminal::on_gone() {
  const std::unique_ptr<HolderLink> gone = std::move(link_);
  if (closed_) changed(kMeta);
  if (!reader_) return close(State::Lost);
  const auto status = reader_->status();
  if (status && status->exit && !exit_) {
    exit_ = status->exit;
    exit_end_ = reader_->end();
  }
  holder_closed_ = true;
  if (!exit_) holder_lost_ = true;
  read_new();
}

void Terminal::read_new() {
  if (reading_ || !reader_) return;
  const bool caught_up = read_up_to(reader_->end(), kBytesPerTurn);
  if (!caught_up) {
    reading_ = true;
    host_.loop.post([this, alive = alive_] {
      if (!*alive) return;
      reading_ = false;
      read_new();
    });
    return;
  }
  if (exit_ && !exit_handled_ && read_to_ >= exit_end_) shell_ended();
  if (holder_lost_ && !closed_) close(State::Lost);
  if (link_ && !holder_closed_) link_->watch(read_to_);
}

// False: there is more than the budget allows for now.
bool Terminal::read_up_to(uint64_t limit, uint64_t budget) {
  char buffer[kReadBytes];
  const uint64_t start = read_to_;
  const Clock::time_point begun = Clock::now();
  const auto time_over = [&] { return !replaying_ && Clock::now() - begun >= kTimePerTurn; };
  while (read_to_ < limit) {
    if (read_to_ - start >= budget || (read_to_ != start && time_over())) return false;
    const size_t most = std::min<uint64_t>(kReadBytes, limit - read_to_);
    const auto chunk = reader_->read(read_to_, std::as_writable_bytes(std::span(buffer, most)));
    if (!chunk || (chunk->bytes == 0 && chunk->gap == 0)) {
      // Not to be had: counted as lost, so that nobody takes the rest for all.
      unreadable_.push_back({read_to_, limit});
      read_to_ = limit;
      break;
    }
    if (chunk->gap > 0) {
      skip_gap(*chunk, limit);
      continue;
    }
    note_output();
    std::string_view bytes(buffer, chunk->bytes);
    while (!bytes.empty()) {
      std::string_view piece = bytes.substr(0, piece_bytes_);
      if (repeats_much(piece)) piece = piece.substr(0, kSmallestPiece);
      const Clock::time_point before = Clock::now();
      feed(piece);
      const auto took = Clock::now() - before;
      if (took > kLongPiece) {
        piece_bytes_ = std::max(kSmallestPiece, piece_bytes_ / 4);
      } else if (took < kLongPiece / 4) {
        piece_bytes_ = std::min(kPieceBytes, piece_bytes_ * 2);
      }
      bytes.remove_prefix(piece.size());
      if (!bytes.empty() && time_over()) return false;
    }
  }
  return true;
}

void Terminal::skip_gap(const journal::Reader::Chunk& chunk, uint64_t limit) {
  const uint64_t gap = std::min(chunk.gap, limit - read_to_);
  unfed_bytes_ += gap;
  read_to_ += gap;
  // Where in the gap its lines ended nobody knows: they count at its end.
  const bool all = gap == chunk.gap;
  const uint64_t newlines = all ? chunk.newlines.value_or(0) : 0;
  if (!all) reader_->know_newlines(read_to_, newlines_);
  newlines_ += newlines;
  output_->skip_lost(newlines);
  if (tracker_) tracker_->bytes_missed();
  if (current_ != nullptr && !current_->over && current_->output) current_->output->skip_lost(newlines);
}

uint64_t Terminal::lost_bytes() const {
  const auto status = reader_ ? reader_->status() : base::Result<journal::Status>(journal::Status{});
  uint64_t lost = status ? status->dropped : 0;
  for (const journal::Range& range : unreadable_) lost += range.end - range.begin;
  return lost;
}

uint64_t Terminal::lost_of(const Command& command) const {
  if (damage_) return command.facts.total_bytes;
  const uint64_t begin = command.range.begin;
  const uint64_t end = command.over ? command.range.end : std::max(read_to_, begin);
  const auto missing = reader_ ? reader_->missing({begin, end}) : base::Result<uint64_t>(0);
  uint64_t lost = missing.value_or(0);
  for (const journal::Range& range : unreadable_) {
    const uint64_t from = std::max(range.begin, begin);
    const uint64_t to = std::min(range.end, end);
    if (to > from) lost += to - from;
  }
  return std::min(lost, end - begin);
}

// Below `offset`, of which the piece being read, or its beginning, is the place.
std::optional<uint64_t> Terminal::newlines_below(uint64_t offset) const {
  if (offset < piece_at_ || offset > piece_at_ + piece_.size()) return std::nullopt;
  return newlines_ + base::count_newlines(piece_.data(), offset - piece_at_);
}

void Terminal::note_output() {
  if (replaying_) return;
  last_output_ = Clock::now();
  last_output_at_ms_ = unix_ms();
  input_looks_ = 0;
  prompt_looks_ = 0;
  changed(kOutput);
  if (current_ != nullptr && !current_->over) {
    current_->last_output = last_output_;
    if (current_->facts.state == terminal::CommandState::AwaitingInput) {
      current_->facts.state = terminal::CommandState::Running;
      current_->facts.waiting.reset();
      changed(kCommandState);
    }
    look_when_silent();
  }
}

void Terminal::feed(std::string_view piece) {
  const uint64_t base = read_to_;
  piece_ = piece;
  piece_at_ = base;
  for (Watcher* watcher : watchers_) {
    if (watcher != nullptr) watcher->on_bytes(base, piece);
  }
  output_->feed(piece);
  size_t passed = 0;  // to the running command
  const auto pass_up_to = [&](uint64_t offset) {
    const size_t upto =
        offset <= base ? 0 : static_cast<size_t>(std::min<uint64_t>(offset - base, piece.size()));
    if (upto > passed) {
      feed_command(piece.substr(passed, upto - passed));
      passed = upto;
    }
  };
  for (vt::Event& event : output_->take_events()) {
    auto* mark = std::get_if<vt::ShellMark>(&event);
    if (mark == nullptr || !tracker_) {
      handle_screen(event);
      continue;
    }
    mark->begin += unfed_bytes_;
    mark->end += unfed_bytes_;
    if (on_pipes() && mark->end <= compacted_to_) continue;
    pass_up_to(mark->begin);
    // The mark itself is nobody's output.
    const uint64_t after = std::max(mark->end, base);
    passed = std::max(passed, static_cast<size_t>(std::min<uint64_t>(after - base, piece.size())));
    read_to_ = std::max(base, std::min<uint64_t>(mark->end, base + piece.size()));
    tracker_->mark(*mark);
    for (shell::TrackerEvent& told : tracker_->take_events()) handle(std::move(told));
  }
  pass_up_to(base + piece.size());
  read_to_ = base + piece.size();
  newlines_ += base::count_newlines(piece.data(), piece.size());
  piece_ = {};
  piece_at_ = read_to_;
  watch_synchronized_output();
  collect_replies();
}

void Terminal::watch_synchronized_output() {
  if (frame_timer_ != 0 || replaying_ || !output_->screen().modes().has(vt::Mode::SynchronizedOutput)) return;
  frame_timer_ = host_.loop.after(kLongestFrame, [this] {
    frame_timer_ = 0;
    if (!output_->screen().modes().has(vt::Mode::SynchronizedOutput)) return;
    output_->end_synchronized_output();
    if (current_ != nullptr && current_->output) current_->output->end_synchronized_output();
    changed(kOutput);
  });
}

void Terminal::feed_command(std::string_view bytes) {
  Command* command = current_;
  if (command == nullptr || command->over || command == ending_ || !command->started_seen) return;
  if (command->output) command->output->feed(bytes);
  if (replaying_) return;
  for (Watcher* watcher : watchers_) {
    if (watcher != nullptr) watcher->on_command_bytes(*command, bytes);
  }
}

// What programs ask a terminal is answered, once: how far is on disk, so that an engine after us neither
// repeats an answer nor leaves a question open.
void Terminal::collect_replies() {
  const std::string replies = output_->take_replies();
  if (replies.empty()) return;
  if (replaying_) {
    if (read_to_ > replied_to_) replies_ += replies;
    return;
  }
  if (!replied_file_) {
    replied_file_.reset(::openat(host_.logs, (spec_.id + ".replied").c_str(),
                                 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  (void)!::pwrite(replied_file_.get(), &read_to_, sizeof read_to_, 0);
  if (replies_.size() + replies.size() > kMostReplies) return;
  replies_ += replies;
  replies_since_ = Clock::now();
  answer_queries();
}

// Whether a program may be reading at all. A shell at its prompt would take an answer for the beginning of
// its next command, and whoever writes a file somebody shows could write commands.
bool Terminal::may_answer() const {
  if (!tracker_) return true;
  const auto state = tracker_->state();
  return state == shell::CommandTracker::State::Executing || state == shell::CommandTracker::State::Unknown;
}

void Terminal::answer_queries() {
  if (!may_answer()) replies_.clear();
  if (replies_.empty() || !link_ || closed_ || replies_asking_ || replies_timer_ != 0) return;
  replies_asking_ = true;
  ask_kernel([this](const base::Result<pty::RunState>& state) {
    replies_asking_ = false;
    answer_if_read(state);
  });
}

// A program that wants an answer reads keys, not lines: in line mode an answer, which has no end of line,
// would wait for the next line and be part of it.
void Terminal::answer_if_read(const base::Result<pty::RunState>& state) {
  if (!may_answer() || !state || !link_) return replies_.clear();
  if (replies_.empty()) return;
  const bool raw = state->terminal && !state->terminal->canonical;
  const bool starting =
      !ready_ && identity_.kind == shell::ShellKind::Fish;  // it asks before its first prompt
  if (raw && !starting && shell_at_prompt(*state)) return replies_.clear();
  if (raw) {
    note_typed();
    return send_bytes(std::exchange(replies_, {}), {});
  }
  if (Clock::now() - replies_since_ > kLongestReply) return replies_.clear();
  replies_timer_ = host_.loop.after(kReplyPause, [this] {
    replies_timer_ = 0;
    answer_queries();
  });
}

void Terminal::handle_screen(const vt::Event& event) {
  if (const auto* title = std::get_if<vt::TitleChanged>(&event)) {
    title_ = title->title;
    changed(kMeta);
  } else if (const auto* progress = std::get_if<vt::Progress>(&event)) {
    progress_ = progress->state == vt::Progress::State::None ? std::nullopt : std::optional(*progress);
    changed(kMeta);
  } else if (const auto* size = std::get_if<vt::ResizeRequested>(&event)) {
    // 80 or 132 columns, after the program said that it will ask for them. While a person has the keyboard
    // the size is that of their window. A replay finds the change in the journal.
    if (size->by != vt::ResizeRequested::By::ColumnMode || replaying_ || lease_) return;
    resize({static_cast<uint16_t>(size->cols), static_cast<uint16_t>(size->rows), 0, 0}, [](const auto&) {});
  }
}

void Terminal::handle(shell::TrackerEvent event) {
  if (replaying_ && read_to_ <= compacted_to_ && compacted_to_ > 0) {
    // Nobody knows these commands any more.
    if (std::holds_alternative<shell::CommandStarted>(event) ||
        std::holds_alternative<shell::CommandFinished>(event))
      return;
  }
  if (std::holds_alternative<shell::PromptReady>(event)) {
    if (!replaying_) {
      remove_start_files();
      hand_over_nonce();
      forget_typed();
      if (!image_) image_ = pty::read_image(child_pid_);
      if (integrating_) shell_integrated();
      prompt_ = at_prompt();
    }
    became_ready();
    if (replaying_ || host_.settings.command_delay.count() == 0) finish_ending();
    editor_waited_ = false;
    if (break_timer_ != 0) {
      prompt_after_break_ = true;
      settle_after_break();
    }
    changed(kPrompt);
    if (!replaying_) {
      host_.loop.post([this, alive = alive_] {
        if (*alive) pump();
      });
    }
  } else if (const auto* started = std::get_if<shell::CommandStarted>(&event)) {
    command_started(*started);
  } else if (const auto* finished = std::get_if<shell::CommandFinished>(&event)) {
    command_finished(*finished);
  } else if (std::holds_alternative<shell::IncompleteInput>(event)) {
    if (current_ != nullptr && current_->submission) abandon_input();
  } else if (const auto* quality = std::get_if<shell::QualityChanged>(&event)) {
    if (!replaying_ && host_.on_quality) {
      host_.on_quality(*this, quality->from, quality->to, quality->reason);
    }
    if (!replaying_ && quality->to == shell::Quality::Basic &&
        shell::attainable_quality(identity_.kind) == shell::Quality::Rich &&
        quality->from == shell::Quality::Rich) {
      // Its prompt is marked, its hook before that is gone.
      host_.loop.post([this, alive = alive_] {
        if (!*alive || closed_ || integrating_ || current_ != nullptr || lease_) return;
        marks_lost({shell_pid(), identity_.kind, shell::shell_kind_name(identity_.kind)},
                   "something took the hook out that tells how commands end (PROMPT_COMMAND)");
      });
    }
    changed(kMeta);
  } else if (std::holds_alternative<shell::ShellReturned>(event)) {
    shell_returned();
  } else if (const auto* cwd = std::get_if<shell::CwdChanged>(&event)) {
    cwd_ = cwd->cwd;
    cwd_known_by_ = "shell";
    changed(kMeta);
  } else if (const auto* environment = std::get_if<shell::EnvironmentChanged>(&event)) {
    for (const shell::EnvironmentChange& change : environment->changes) {
      // What it has at its first prompt is how the user starts shells; what comes later is a change.
      if (!ready_ || integrating_) continue;
      environment_[change.name] = change.value ? *change.value : change.hidden ? "[hidden]" : "";
    }
  }
}

// The process this terminal is for has ended, and all it printed was read.
void Terminal::shell_ended() {
  exit_handled_ = true;
  if (tracker_) {
    const bool exited = exit_->kind == journal::EndKind::Exited;
    const bool signaled = exit_->kind == journal::EndKind::Signaled;
    tracker_->shell_gone(exited ? std::optional(exit_->code) : std::nullopt,
                         signaled ? std::optional(exit_->code) : std::nullopt, read_to_);
    for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
    return close(State::Finished);
  }
  Command& command = *commands_.back();
  if (exit_->survivors == 0 || !link_ || replaying_) {
    fill_exit(command, *exit_);
    return close(State::Finished);
  }
  link_->processes([this, alive = alive_](const base::Result<std::vector<HolderLink::Process>>& list) {
    if (!*alive) return;
    Command& ended = *commands_.back();
    if (list) {
      std::vector<pid_t> pids;
      auto& named = spec_.keep_background ? ended.facts.background : ended.facts.ended_background;
      for (const HolderLink::Process& process : *list) {
        if (process.pid == child_pid_) continue;
        named.push_back({process.pid, process.command});
        pids.push_back(process.pid);
      }
      if (spec_.keep_background) list_ports(ended.facts, pids);
    }
    fill_exit(ended, *exit_);
    close(State::Finished);
  });
}

void Terminal::close(State final) {
  if (closed_) return;
  finish_ending();
  closed_ = true;
  // What ended while nobody looked ended when the kernel says so.
  if (closed_at_ms_ == 0 && exit_) closed_at_ms_ = static_cast<int64_t>(exit_->exited_unix_ns / 1'000'000);
  if (closed_at_ms_ == 0) closed_at_ms_ = unix_ms();
  ready_ = true;
  lost_ = final == State::Lost;
  for (Command* command : {current_, queued_}) {
    if (command == nullptr || command->over) continue;
    if (!command->answered) {
      command->facts.state = terminal::CommandState::Lost;
      command->facts.reason = lost_ ? "its holder was killed: how it ended is not known"
                                    : "its terminal ended before it: how it ended is not known";
    }
    finish(*command);
  }
  current_ = nullptr;
  queued_ = nullptr;
  remove_start_files();
  std::error_code ignored;
  std::filesystem::remove_all(private_folder_, ignored);
  log({{"k", "closed"}, {"at", read_to_}, {"lost", lost_}, {"closed_at", closed_at_ms_}});
  if (log_) log_->give_back_room();
  for (io::Loop::TimerId* timer :
       {&start_timer_, &editor_timer_, &times_timer_, &look_timer_, &abandon_timer_, &climb_timer_,
        &break_timer_, &replies_timer_, &integrate_timer_, &prompt_timer_}) {
    host_.loop.cancel(*timer);
  }
  changed(kClosed | kReady | kMeta);
}

void Terminal::want_input_state(int by) {
  interest_ += by;
  if (by > 0) look_when_silent();
}

// Nobody polls: the kernel is asked while somebody wants to know, and less and less often.
void Terminal::look_when_silent() {
  if (interest_ <= 0 || closed_ || replaying_) return;
  if (current_ == nullptr || current_->over) return;
  if (look_timer_ != 0) return;
  const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - last_output_);
  auto pause = input_looks_ == 1     ? kSecondLook
               : silent < kFirstLook ? kFirstLook - silent
                                     : std::clamp(silent / 2, kFirstLook, kLastLook);
  look_timer_ = host_.loop.after(pause, [this] {
    look_timer_ = 0;
    if (interest_ <= 0 || current_ == nullptr || current_->over) return;
    if (Clock::now() - last_output_ < kFirstLook) return look_when_silent();
    look([this](const base::Result<pty::RunState>&) { look_when_silent(); });
  });
}

// What the command printed last may be the mark of its end.
bool Terminal::output_unread(const pty::RunState& state) const {
  return state.output_pending || (reader_ && reader_->end() > read_to_);
}

void Terminal::looked(const base::Result<pty::RunState>& state) {
  Command* command = current_;
  if (!state || command == nullptr || command->over || command == ending_ || output_unread(*state)) return;
  if (abandon_timer_ != 0) return;  // the shell is being brought back to its prompt
  if (consider_unmarked(*state) || command->answered) return;
  const bool was_waiting = command->facts.state == terminal::CommandState::AwaitingInput;
  // Until the command has begun, whoever reads is the shell, and what it reads is the command.
  const bool begun = !tracker_ || command->started_seen;
  if (!state->waiting || !begun) {
    input_looks_ = 0;
    if (was_waiting) {
      command->facts.state = terminal::CommandState::Running;
      command->facts.waiting.reset();
      changed(kCommandState);
    }
    return;
  }
  const pty::Waiting& waits = *state->waiting;
  if (++input_looks_ < 2) return;
  command->facts.waiting = terminal::WaitingFor{pty::wait_kind_name(waits.kind), output_->cursor_line(),
                                                waits.program, waits.pid, waits.evidence};
  command->facts.state = terminal::CommandState::AwaitingInput;
  if (!was_waiting) changed(kCommandState);
}

// For a shell that does not say where it is.
void Terminal::read_kernel_cwd() {
  if (shell_pid() <= 0 || quality() == shell::Quality::Rich || shell_elsewhere()) return;
  char buffer[PATH_MAX];
  const ssize_t n =
      ::readlink(("/proc/" + std::to_string(shell_pid()) + "/cwd").c_str(), buffer, sizeof buffer);
  if (n <= 0) return;
  cwd_.assign(buffer, static_cast<size_t>(n));
  cwd_known_by_ = "kernel";
}

}  // namespace ttyward::engine
