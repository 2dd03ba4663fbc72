// The same terminal again, from its log and its journal.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/json_fields.h"
#include "engine/terminal.h"
#include "engine/time.h"
#include "shell/piped.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

shell::Quality quality_named(const std::string& name) {
  for (const auto quality : {shell::Quality::Basic, shell::Quality::Rich}) {
    if (name == shell::quality_name(quality)) return quality;
  }
  return shell::Quality::None;
}

std::optional<terminal::CommandState> state_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(terminal::CommandState::Lost); i++) {
    const auto state = static_cast<terminal::CommandState>(i);
    if (name == terminal::command_state_name(state)) return state;
  }
  return std::nullopt;
}

// The journal, or NotFound once it is certain that there will never be one: a holder may just be coming up.
base::Result<journal::Reader> open_or_rule_out(const TerminalHost& host, const std::string& id) {
  constexpr int kMostTries = 400;
  constexpr std::chrono::milliseconds kPause{5};
  for (int tries = 0;; ++tries) {
    auto reader = journal::Reader::open_at(host.journals_fd, id, host.journals + "/" + id);
    if (reader) return reader;
    const bool missing = reader.error().code == base::ErrorCode::NotFound;
    const bool half_made = reader.error().code == base::ErrorCode::Unavailable;
    if (tries == kMostTries || (!missing && !half_made)) return reader;
    if (missing) {
      const auto used = journal::use_up(host.journals_fd, id, host.journals);
      if (used || used.error().code != base::ErrorCode::AlreadyExists) return reader;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

base::Result<std::unique_ptr<Terminal>> Terminal::recover(TerminalHost& host, const std::string& id) {
  auto opened = TerminalLog::open(host.logs, id);
  if (!opened) return tl::unexpected(opened.error());
  if (opened->records.empty() || text_of(opened->records.front(), "k") != "spec" ||
      text_of(opened->records.front(), "id") != id) {
    return base::fail(base::ErrorCode::Corrupt, "the log of " + id + " does not say what it is about");
  }
  const json::object& first = opened->records.front();
  std::unique_ptr<Terminal> terminal(new Terminal(host, spec_from(first)));
  Terminal& t = *terminal;
  t.log_ = std::move(opened->log);
  t.created_at_ms_ = number_or(first, "created_at", unix_ms());
  t.secret_ = text_of(first, "secret");
  t.expected_ = quality_named(text_of(first, "expected"));
  t.identity_ = shell::identify_shell(t.spec_.argv);
  t.replaying_ = true;
  t.recovered_ = true;
  auto reader = open_or_rule_out(host, id);
  const auto status = reader ? reader->status() : tl::unexpected(reader.error());
  const bool never_made = !reader && (reader.error().code == base::ErrorCode::NotFound ||
                                      reader.error().code == base::ErrorCode::Unavailable);
  if (!status && !never_made) {
    t.damage_ = status.error();
    t.damaged_records_ = std::move(opened->records);
    if (reader) t.exit_ = reader->exit_record();
    return terminal;
  }
  if (!reader) {
    // A log that says how it ended knows more than a journal that is not there any more.
    const bool over =
        std::any_of(opened->records.begin(), opened->records.end(),
                    [](const json::object& record) { return text_of(record, "k") == "finish"; });
    if (over) {
      t.damage_ = base::Error{base::ErrorCode::NotFound, 0, "its journal is gone"};
      t.damaged_records_ = std::move(opened->records);
    }
    return terminal;  // settle() says what that means
  }
  t.reader_ = std::move(*reader);
  t.provider_ = t.reader_->provider() == journal::Provider::Pty ? pty::Provider::Pty : pty::Provider::Pipe;
  if (!t.spec_.temporary()) t.log_->keep_room();
  if (auto replayed = t.replay(opened->records); !replayed) return tl::unexpected(replayed.error());
  return terminal;
}

void Terminal::settle() {
  if (damage_) return settle_damaged();
  reader_ ? settle_after_replay() : settle_never_started();
}

// The journal cannot be read. What was logged is still known; of what was not, only that it is not known.
void Terminal::settle_damaged() {
  const std::vector<json::object> records = std::exchange(damaged_records_, {});
  const std::string why = "its output cannot be read: " + damage_->message;
  for (const json::object& record : records) {
    if (text_of(record, "k") == "finish") finished_records_.insert_or_assign(text_of(record, "c"), record);
  }
  begin_output();
  if (spec_.temporary()) {
    start_one_command();
    exit_handled_ = true;
    if (exit_) fill_exit(*current_, *exit_);
  } else {
    tracker_.emplace(shell::TrackerOptions{"", shell::Quality::None, spec_.cwd, on_pipes()});
    integration_failed_ = true;
  }
  for (const json::object& record : records) {
    const std::string kind = text_of(record, "k");
    if (kind == "submit") {
      Command& command =
          add_command(text_of(record, "c"), owner_named(text_of(record, "by")).value_or(Owner::Agent),
                      text_of(record, "text"));
      command.facts.cwd = text_of(record, "cwd");
      command.facts.verdict_json = text_of(record, "verdict");
      command.facts.started_at_ms = number_or(record, "started_at", 0);
      command.sent = true;
      current_ = &command;
    } else if (kind == "finish" || kind == "answered") {
      if (Command* command = find(text_of(record, "c")); command != nullptr && !command->over) {
        overlay(*command, record);
        if (kind == "finish") finish(*command);
      }
    } else if (kind == "meta" || kind == "closed") {
      apply(record);
    }
  }
  for (const auto& command : commands_) {
    terminal::CommandResult& facts = command->facts;
    if (!command->over) {
      facts.state = terminal::CommandState::Lost;
      facts.reason = "how it ended is not known: " + damage_->message;
      finish(*command);
    } else {
      facts.reason += (facts.reason.empty() ? "" : "; ") + why;
    }
    facts.lost_bytes = facts.total_bytes;
  }
  finished_records_.clear();
  replaying_ = false;
  tell_forgotten();
  for (const auto& command : commands_) record(*command);
  changes_ = 0;
  ready_ = true;
  const bool lost = !closed_before_ || lost_;
  close(lost ? State::Lost : State::Finished);
  connect();
  // It cannot be followed any more.
  if (link_ && !closed_before_) link_->terminate(host_.settings.kill_rungs);
}

// Logged, and the holder never came to make its journal: nothing was ever run, and nothing will be.
void Terminal::settle_never_started() {
  replaying_ = false;
  if (spec_.temporary()) {
    start_one_command();
    current_->facts.state = terminal::CommandState::FailedToStart;
    current_->facts.reason = "the daemon ended before it was started";
    finish(*current_);
  }
  close(State::Finished);
}

base::Result<void> Terminal::replay(const std::vector<json::object>& records) {
  const bool shell = !spec_.temporary();
  const auto status = reader_->status();
  if (!status) return tl::unexpected(status.error());
  begin_output();
  if (shell) {
    tracker_.emplace(shell::TrackerOptions{expected_ == shell::Quality::None ? "" : secret_, expected_,
                                           spec_.cwd, on_pipes(), identity_.kind});
    if (expected_ == shell::Quality::None) ready_ = true;
  } else {
    start_one_command();
    ready_ = true;
  }
  child_pid_ = static_cast<pid_t>(status->child_pid);
  if (const base::UniqueFd file(
          ::openat(host_.logs, (spec_.id + ".replied").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      file) {
    if (::pread(file.get(), &replied_to_, sizeof replied_to_, 0) != sizeof replied_to_) replied_to_ = 0;
  }

  // What happened beside the bytes, in its place among them.
  struct Step {
    uint64_t at = 0;
    const json::object* record = nullptr;
    uint64_t size = 0;  // of a resize
    size_t order = 0;   // among those at the same place
  };
  std::vector<Step> steps;
  for (const json::object& record : records) {
    const std::string kind = text_of(record, "k");
    if (kind == "spec") continue;
    if (kind == "state") compacted_to_ = static_cast<uint64_t>(number_or(record, "at", 0));
    if (kind == "finish") finished_records_.insert_or_assign(text_of(record, "c"), record);
    if (kind == "typed_command") {
      typed_ids_[static_cast<uint64_t>(number_or(record, "begin", 0))] = text_of(record, "c");
    }
    steps.push_back({static_cast<uint64_t>(number_or(record, "at", 0)), &record, 0, 0});
  }
  const uint64_t end = status->end;
  if (const auto marks = reader_->marks({0, end})) {
    for (const journal::Mark& mark : *marks) {
      if (mark.kind() == journal::Mark::Kind::Resize) steps.push_back({mark.offset, nullptr, mark.value, 0});
    }
  }
  for (size_t i = 0; i < steps.size(); i++) steps[i].order = i;
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return std::pair(a.at, a.order) < std::pair(b.at, b.order); });
  for (const Step& step : steps) {
    read_up_to(std::min(step.at, end), UINT64_MAX);
    if (step.record != nullptr) {
      apply(*step.record);
    } else {
      spec_.size.columns = static_cast<uint16_t>(step.size >> 16);
      spec_.size.rows = static_cast<uint16_t>(step.size & 0xffff);
      output_->resize(spec_.size.columns, spec_.size.rows);
    }
  }
  read_up_to(end, UINT64_MAX);
  last_output_at_ms_ =
      static_cast<int64_t>(reader_->created_unix_ns() / 1'000'000 + status->last_output_us / 1000);
  return {};
}

void Terminal::overlay(Command& command, const json::object& finish) {
  terminal::CommandResult& facts = command.facts;
  if (const auto state = state_named(text_of(finish, "state"))) facts.state = *state;
  if (const auto code = number_of(finish, "exit_code")) facts.exit_code = static_cast<int>(*code);
  facts.signal = text_of(finish, "signal");
  facts.known_by = text_of(finish, "known_by");
  facts.reason = text_of(finish, "reason");
  facts.cwd_after = text_of(finish, "cwd_after");
  facts.duration_ms = number_or(finish, "duration_ms", facts.duration_ms);
  facts.total_lines = static_cast<uint64_t>(number_or(finish, "lines", 0));
  command.range.begin = static_cast<uint64_t>(number_or(finish, "begin", 0));
  command.range.end = static_cast<uint64_t>(number_or(finish, "end", 0));
  if (const auto newlines = number_of(finish, "newlines_before"))
    command.newlines_before = static_cast<uint64_t>(*newlines);
  const json::value* background = field(finish, "background");
  if (background == nullptr || !background->is_array()) return;
  facts.background.clear();
  for (const json::value& one : background->get_array()) {
    if (const json::object* process = one.if_object())
      facts.background.push_back({number_or(*process, "pid", 0), text_of(*process, "command")});
  }
}

void Terminal::apply(const json::object& record) {
  const std::string kind = text_of(record, "k");
  // Marks may have gone with the journal's middle.
  if (kind == "state") return tracker_ ? resume_from(record) : void();
  if (tracker_) tracker_->nonces_used_at_least(static_cast<uint64_t>(number_or(record, "marks", 0)));
  if (kind == "submit") {
    Command& command =
        add_command(text_of(record, "c"), owner_named(text_of(record, "by")).value_or(Owner::Agent),
                    text_of(record, "text"));
    command.submission = static_cast<shell::SubmissionId>(number_or(record, "n", 0));
    command.delivered = text_of(record, "delivered");
    command.line = text_of(record, "line");
    command.file = text_of(record, "file");
    command.sentinel_nonce = text_of(record, "sentinel");
    command.facts.cwd = text_of(record, "cwd");
    command.facts.verdict_json = text_of(record, "verdict");
    command.facts.started_at_ms = number_or(record, "started_at", 0);
    command.timeout = std::chrono::milliseconds(number_or(record, "timeout_ms", 0));
    command.idle_timeout = std::chrono::milliseconds(number_or(record, "idle_timeout_ms", 0));
    command.sent = true;
    command.input_before = static_cast<uint64_t>(number_or(record, "input", 0));
    last_submission_ = std::max(last_submission_, *command.submission);
    current_ = &command;
    tracker_->submitted(
        {*command.submission, command.delivered, command.line, read_to_, command.sentinel_nonce});
  } else if (kind == "unmarked") {
    unmarked_reason_ = text_of(record, "why");
    marks_lost_ = true;
    fallback_reason_ = unmarked_reason_;
    if (truth_of(record, "inner")) inner_shells_.push_back(static_cast<pid_t>(number_or(record, "pid", 0)));
    tracker_->prompt_seen_unmarked(read_to_, unmarked_reason_, truth_of(record, "inner"));
  } else if (kind == "integrate") {
    identity_.kind = shell::shell_kind_named(text_of(record, "shell"));
    tracker_->integrate(identity_.kind, shell::attainable_quality(identity_.kind));
  } else if (kind == "break") {
    tracker_->interrupted();
  } else if (kind == "typed") {
    tracker_->typed(text_of(record, "bytes"), read_to_);
  } else if (kind == "no_integration") {
    integration_failed_ = true;
    ready_ = true;
    if (tracker_) tracker_->integration_timed_out();
  } else if (kind == "meta") {
    spec_.name = text_of(record, "name", spec_.name);
    spec_.task = text_of(record, "task", spec_.task);
    spec_.pooled = truth_of(record, "pooled", spec_.pooled);
    spec_.session = text_of(record, "session", spec_.session);
    spec_.request = text_of(record, "request", spec_.request);
    if (const auto owner = owner_named(text_of(record, "owner"))) spec_.owner = *owner;
  } else if (kind == "loan") {
    const bool act = truth_of(record, "act");
    lent_for_acting_ = lent_for_acting_ || act;
    loan_.reset();
    if (!truth_of(record, "over")) {
      loan_ = Loan{act ? Loan::Use::Act : Loan::Use::Read, text_of(record, "to"), text_of(record, "by"),
                   number_or(record, "since", 0)};
    }
  } else if (kind == "reply") {
    if (Command* command = find(text_of(record, "c"))) {
      command->given_replies.push_back({static_cast<size_t>(number_or(record, "n", 0)),
                                        static_cast<terminal::LineNumber>(number_or(record, "line", 0)),
                                        text_of(record, "asked")});
    }
  } else if (kind == "answered") {
    Command* command = find(text_of(record, "c"));
    if (command != nullptr && !command->over) {
      command->answered = true;
      if (const auto state = state_named(text_of(record, "state"))) command->facts.state = *state;
      command->facts.reason = text_of(record, "reason");
    }
  } else if (kind == "finish") {
    // Its marks may have gone with the journal's middle.
    Command* command = find(text_of(record, "c"));
    if (command != nullptr && !command->over) {
      overlay(*command, record);
      finish(*command);
    }
  } else if (kind == "closed") {
    if (truth_of(record, "lost")) lost_ = true;
    closed_at_ms_ = number_or(record, "closed_at", closed_at_ms_);
    closed_before_ = true;
  }
  if (tracker_) {
    for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
  }
}

// From here on it is a terminal like any other: what happened while nobody looked is found out.
void Terminal::settle_after_replay() {
  finish_ending();
  finished_records_.clear();
  typed_ids_.clear();
  typed_meanwhile_.clear();
  const auto status = reader_->status();
  unmarked_reason_.clear();
  if (quality() != shell::Quality::None && marks_lost_) {
    marks_lost_ = false;
    fallback_reason_.clear();
  }
  replaying_ = false;
  tell_forgotten();
  // The engine before us may have been killed before these were in the history.
  for (const auto& command : commands_) {
    if (command->over) record(*command);
  }
  changes_ = 0;
  input_sent_ = status ? status->input_bytes : 0;
  last_output_ = Clock::now();
  if (current_ != nullptr && !current_->over) {
    // Time that passed before us counts.
    const auto ran =
        std::chrono::milliseconds(std::max<int64_t>(0, unix_ms() - current_->facts.started_at_ms));
    current_->started = Clock::now() - ran;
    current_->last_output = Clock::now();
  }
  if (closed_before_) {
    if (status && status->exit) exit_ = status->exit;
    exit_handled_ = true;
    if (current_ != nullptr && spec_.temporary() && exit_) fill_exit(*current_, *exit_);
    const bool lost = lost_;
    close(lost ? State::Lost : State::Finished);
    connect();  // background processes may still be there
    return;
  }
  if (!ready_ && expected_ != shell::Quality::None) {
    start_timer_ = host_.loop.after(host_.settings.shell_integration_timeout, [this] {
      start_timer_ = 0;
      integration_timed_out();
    });
  }
  connect();
  arm_times();
  if (!link_) return;
  if (on_pipes() && input_sent_ == 0) send_bytes(shell::kPipedStart, {});
  if (!spec_.temporary() && expected_ != shell::Quality::None && open_nonce_file() && tracker_->ready()) {
    hand_over_nonce();
  }
  replies_since_ = Clock::now();
  answer_queries();
  resend_unsent_ = current_ != nullptr && !current_->over && !current_->started_seen && current_->submission;
}

// Logged, but killed before it was typed? The holder knows how much was typed; exactly once is the promise.
void Terminal::resend_if_unsent(uint64_t accepted) {
  if (!std::exchange(resend_unsent_, false)) return;
  input_sent_ = accepted;
  Command* command = current_;
  if (command == nullptr || command->over || command->started_seen) return;
  command->accepted = accepted > command->input_before;
  if (command->accepted) return;
  tracker_->withdraw(*command->submission);
  command->sent = false;
  command->submission.reset();
  current_ = nullptr;
  queued_ = command;
  pump();
}

}  // namespace ttyward::engine
