#include "engine/replay.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "engine/json_fields.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

std::optional<terminal::CommandState> state_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(terminal::CommandState::Lost); i++) {
    const auto state = static_cast<terminal::CommandState>(i);
    if (name == terminal::command_state_name(state)) return state;
  }
  return std::nullopt;
}

uint64_t offset_of(const json::object& record, std::string_view name) {
  return static_cast<uint64_t>(number_or(record, name, 0));
}

// The same id each time, for a command whose begin was printed and never logged.
std::string derived_command_id(const std::string& terminal_id, uint64_t begin) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr size_t kLength = 12;
  const base::Digest digest = base::sha256(terminal_id + ":" + std::to_string(begin));
  std::string id = "c";
  for (size_t i = 0; i < kLength; i++) id += kLetters[digest[i] & 31];
  return id;
}

// What a record of its end says, over what the bytes say: it knew more.
void overlay(Command& command, const json::object& finish) {
  terminal::CommandResult& facts = command.facts;
  if (const auto state = state_named(text_of(finish, "state"))) facts.state = *state;
  if (const auto code = number_of(finish, "exit_code")) facts.exit_code = static_cast<int>(*code);
  facts.signal = text_of(finish, "signal");
  facts.known_by = text_of(finish, "known_by");
  facts.reason = text_of(finish, "reason");
  facts.cwd_after = text_of(finish, "cwd_after");
  facts.duration_ms = number_or(finish, "duration_ms", facts.duration_ms);
  facts.total_lines = offset_of(finish, "lines");
  command.life.set_range({offset_of(finish, "begin"), offset_of(finish, "end")});
  if (const auto newlines = number_of(finish, "newlines_before"))
    command.newlines_before = static_cast<uint64_t>(*newlines);
  if (const json::value* pipeline = field(finish, "pipeline"); pipeline != nullptr && pipeline->is_array()) {
    facts.pipeline.clear();
    for (const json::value& code : pipeline->get_array())
      if (code.is_int64()) facts.pipeline.push_back(static_cast<int>(code.get_int64()));
  }
  const json::value* background = field(finish, "background");
  if (background == nullptr || !background->is_array()) return;
  facts.background.clear();
  for (const json::value& one : background->get_array()) {
    if (const json::object* process = one.if_object())
      facts.background.push_back({number_or(*process, "pid", 0), text_of(*process, "command")});
  }
}

// For a model that nothing happens to.
class Still final : public TerminalModel::Observer {
 public:
  explicit Still(int64_t now_ms) : now_ms_(now_ms) {}
  TerminalModel::Clock::time_point now() const override { return {}; }
  int64_t unix_ms() const override { return now_ms_; }
  std::string typed_command_id(uint64_t /*begin*/) override { return {}; }

 private:
  const int64_t now_ms_;
};

class Replay final : public TerminalModel::Observer {
 public:
  Replay(const std::vector<json::object>& records, const ReplayInput& input, Replayed& into);

  // With the journal: what happened beside the bytes, in its place among them.
  void run(const journal::Status& status);
  // Without: what the log alone knows. `why` the journal is not to be had.
  void run_without_journal(const base::Error& why);
  void run_never_started();

 private:
  // --- TerminalModel::Observer
  TerminalModel::Clock::time_point now() const override { return now_; }
  int64_t unix_ms() const override { return now_ms_; }
  void on_replies(std::string replies) override;
  void on_prompt() override { model_.finish_ending(); }
  std::string typed_command_id(uint64_t begin) override;
  // Whoever asked is gone.
  void on_ended(Command& /*command*/, const shell::CommandFinished& /*event*/) override {
    into_.replies.clear();
  }
  void on_finishing(Command& command) override;

  struct Step {
    uint64_t at = 0;
    const json::object* record = nullptr;  // null: a resize
    pty::WindowSize size;
  };
  TerminalModel::Clock::time_point then(int64_t unix_ms) const;
  std::vector<Step> steps(uint64_t end) const;
  void begin_shell();
  void apply(const json::object& record);
  Command& apply_submit(const json::object& record);
  void apply_meta(const json::object& record);
  void apply_state(const json::object& record);
  void apply_unmarked(const json::object& record);
  void apply_answered(Command& command, const json::object& record);
  void apply_closed(const json::object& record);

  Replayed& into_;
  TerminalModel& model_;
  const uint64_t replied_to_;
  const int64_t now_ms_;
  const TerminalModel::Clock::time_point now_then_;  // now_ms_, by the other clock
  TerminalModel::Clock::time_point now_;             // of what is replayed, as far as it is known
  const std::vector<json::object>* records_;
  std::map<std::string, const json::object*> finishes_;  // by command
  std::map<uint64_t, std::string> typed_ids_;  // ids of commands that somebody typed, by where they began
};

Replay::Replay(const std::vector<json::object>& records, const ReplayInput& input, Replayed& into)
    : into_(into),
      model_(*into.model),
      replied_to_(input.replied_to),
      now_ms_(input.now_ms),
      now_then_(input.now),
      now_(input.now),
      records_(&records) {
  for (const json::object& record : records) {
    const std::string kind = text_of(record, "k");
    if (kind == "state") model_.forget_before(offset_of(record, "at"));
    if (kind == "finish") finishes_.insert_or_assign(text_of(record, "c"), &record);
    if (kind == "typed_command") typed_ids_[offset_of(record, "begin")] = text_of(record, "c");
  }
}

void Replay::on_replies(std::string replies) {
  if (model_.read_to() > replied_to_) into_.replies += replies;
}

// By the clock that life is measured with.
TerminalModel::Clock::time_point Replay::then(int64_t unix_ms) const {
  return now_then_ - std::chrono::milliseconds(std::max<int64_t>(0, now_ms_ - unix_ms));
}

std::string Replay::typed_command_id(uint64_t begin) {
  now_ = now_then_;  // when it was typed nobody noted
  const auto known = typed_ids_.find(begin);
  return known != typed_ids_.end() ? known->second : derived_command_id(model_.spec().id, begin);
}

void Replay::on_finishing(Command& command) {
  const auto known = finishes_.find(command.facts.command_id);
  if (known != finishes_.end()) overlay(command, *known->second);
}

std::vector<Replay::Step> Replay::steps(uint64_t end) const {
  std::vector<Step> steps;
  for (const json::object& record : *records_) {
    if (text_of(record, "k") != "spec") steps.push_back({offset_of(record, "at"), &record, {}});
  }
  if (const auto marks = model_.feed().reader().marks({0, end})) {
    for (const journal::Mark& mark : *marks) {
      if (mark.kind() != journal::Mark::Kind::Resize) continue;
      pty::WindowSize size = model_.spec().size;
      size.columns = static_cast<uint16_t>(mark.value >> 16);
      size.rows = static_cast<uint16_t>(mark.value & 0xffff);
      steps.push_back({mark.offset, nullptr, size});
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  return steps;
}

void Replay::begin_shell() {
  const TerminalSpec& spec = model_.spec();
  if (spec.temporary()) {
    now_ = then(into_.birth.created_at_ms);
    model_.start_one_command(into_.birth.created_at_ms);
    return model_.became_ready();
  }
  model_.set_shell({shell::identify_shell(spec.argv), into_.birth.expected, into_.birth.secret, spec.cwd,
                    model_.on_pipes()});
  if (into_.birth.expected == shell::Quality::None) model_.became_ready();
}

void Replay::run(const journal::Status& status) {
  model_.started(static_cast<pid_t>(status.child_pid), model_.feed().reader().provider());
  begin_shell();
  for (const Step& step : steps(status.end)) {
    model_.read(std::min(step.at, status.end), {});
    if (step.record != nullptr) {
      apply(*step.record);
    } else {
      model_.resize(step.size);
    }
  }
  model_.read(status.end, {});
  model_.finish_ending();
  model_.typed_meanwhile().clear();
  if (model_.has_shell() && model_.shell().settle()) model_.set_fallback_reason("");
  const uint64_t created_ms = model_.feed().reader().created_unix_ns() / 1'000'000;
  into_.last_output_at_ms = static_cast<int64_t>(created_ms + status.last_output_us / 1000);
  into_.exit = status.exit;
}

void Replay::run_without_journal(const base::Error& why) {
  model_.lose_journal();
  into_.birth.expected = shell::Quality::None;
  begin_shell();
  if (model_.has_shell()) {
    model_.start_timed_out();
  } else if (into_.exit) {
    Command& command = *model_.book().current();
    model_.command_exited(command, *into_.exit);
    model_.left_behind(command, {}, {});
  }
  for (const json::object& record : *records_) {
    const std::string kind = text_of(record, "k");
    if (kind == "submit") {
      Command& command = apply_submit(record);
      command.sent = true;
      model_.book().set_current(&command);
    } else if (kind == "finish") {
      Command* command = model_.book().find(text_of(record, "c"));
      if (command != nullptr) model_.finish(*command);
    } else if (kind == "meta" || kind == "loan" || kind == "closed") {
      apply(record);
    }
  }
  for (const auto& command : model_.book().commands()) {
    terminal::CommandResult& facts = command->facts;
    if (!command->over()) {
      model_.lose(*command, "its exit status is not known: " + why.message);
    } else {
      facts.reason += (facts.reason.empty() ? "" : "; ") + ("its output cannot be read: " + why.message);
    }
    facts.lost_bytes = facts.total_bytes;
  }
}

void Replay::run_never_started() {
  for (const json::object& record : *records_) {
    const std::string kind = text_of(record, "k");
    if (kind == "meta" || kind == "closed") apply(record);
  }
  if (!model_.spec().temporary()) return;
  model_.start_one_command(into_.birth.created_at_ms);
  Command& command = *model_.book().current();
  model_.fail(command, terminal::CommandState::FailedToStart,
              "the daemon ended before the command was started");
}

void Replay::apply(const json::object& record) {
  const std::string kind = text_of(record, "k");
  if (kind == "state") return apply_state(record);
  Command* command = model_.book().find(text_of(record, "c"));
  // Marks may have gone with the journal's middle.
  if (model_.has_shell()) model_.shell().tracker().nonces_used_at_least(offset_of(record, "marks"));
  if (kind == "submit") {
    model_.submitted(apply_submit(record));
  } else if (kind == "unmarked") {
    apply_unmarked(record);
  } else if (kind == "integrate") {
    model_.shell().integrate(shell::shell_kind_named(text_of(record, "shell")));
  } else if (kind == "break") {
    model_.interrupted();
  } else if (kind == "typed") {
    model_.typed(text_of(record, "bytes"));
  } else if (kind == "no_integration") {
    if (model_.has_shell()) model_.start_timed_out();
  } else if (kind == "meta") {
    apply_meta(record);
  } else if (kind == "loan") {
    model_.access().apply_loan(record);
  } else if (kind == "reply" && command != nullptr) {
    command->given_replies.push_back(
        {static_cast<size_t>(offset_of(record, "n")), offset_of(record, "line"), text_of(record, "asked")});
  } else if (kind == "answered" && command != nullptr && !command->over()) {
    apply_answered(*command, record);
  } else if (kind == "finish" && command != nullptr) {
    // Its marks may have gone with the journal's middle.
    model_.finish(*command);
  } else if (kind == "closed") {
    apply_closed(record);
  }
  model_.handle_events();
}

Command& Replay::apply_submit(const json::object& record) {
  // Time that passed since counts.
  const int64_t started_at = number_or(record, "started_at", now_ms_);
  now_ = then(started_at);
  command::LifeOptions limits;
  limits.timeout = std::chrono::milliseconds(number_or(record, "timeout_ms", 0));
  limits.idle_timeout = std::chrono::milliseconds(number_or(record, "idle_timeout_ms", 0));
  Command& command =
      model_.add_command(text_of(record, "c"), owner_named(text_of(record, "by")).value_or(Owner::Agent),
                         text_of(record, "text"), limits);
  command.submission = static_cast<shell::SubmissionId>(number_or(record, "n", 0));
  command.delivered = text_of(record, "delivered");
  command.line = text_of(record, "line");
  command.file = text_of(record, "file");
  command.sentinel_nonce = text_of(record, "sentinel");
  if (const json::value* quiet = record.if_contains("quiet")) command.quiet = *quiet == json::value(true);
  command.facts.cwd = text_of(record, "cwd");
  command.facts.description = text_of(record, "description");
  command.facts.verdict_json = text_of(record, "verdict");
  command.facts.started_at_ms = started_at;
  command.input_before = offset_of(record, "input");
  return command;
}

void Replay::apply_unmarked(const json::object& record) {
  ShellSession::Unmarked what{text_of(record, "why"), std::nullopt};
  if (truth_of(record, "inner")) what.inner = static_cast<pid_t>(number_or(record, "pid", 0));
  model_.unmarked(what);
}

// What is left of a log that was compacted: LogWriter::tidy().
void Replay::apply_state(const json::object& record) {
  if (!model_.has_shell()) return;
  model_.book().forgotten_before(strings_of(record, "forgotten"));
  if (truth_of(record, "lent_for_acting")) model_.access().set_lent_for_acting();
  model_.resume({shell::shell_kind_named(text_of(record, "shell")),
                 quality_named(text_of(record, "integration")), text_of(record, "cwd"),
                 offset_of(record, "marks")});
}

void Replay::apply_meta(const json::object& record) {
  TerminalSpec& spec = model_.spec();
  spec.name = text_of(record, "name", spec.name);
  spec.task = text_of(record, "task", spec.task);
  spec.pooled = truth_of(record, "pooled", spec.pooled);
  spec.session = text_of(record, "session", spec.session);
  spec.request = text_of(record, "request", spec.request);
  if (const auto owner = owner_named(text_of(record, "owner"))) spec.owner = *owner;
}

void Replay::apply_answered(Command& command, const json::object& record) {
  const auto state = state_named(text_of(record, "state")).value_or(terminal::CommandState::TimedOut);
  command.life.end(state, text_of(record, "reason"), now_);
}

void Replay::apply_closed(const json::object& record) {
  into_.closed = true;
  into_.lost = into_.lost || truth_of(record, "lost");
  into_.closed_at_ms = number_or(record, "closed_at", into_.closed_at_ms);
}

bool logged_an_end(const std::vector<json::object>& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const json::object& record) { return text_of(record, "k") == "finish"; });
}

}  // namespace

Replayed nothing_yet(TerminalSpec spec, Birth birth, const ModelOptions& model, int64_t now_ms) {
  Replayed made;
  made.birth = std::move(birth);
  auto still = std::make_shared<Still>(now_ms);
  made.observer = still;
  made.model = std::make_unique<TerminalModel>(std::move(spec), model, *still);
  return made;
}

base::Result<Replayed> replay(ReplayInput input) {
  const std::vector<json::object> records = std::move(input.records);
  if (records.empty() || text_of(records.front(), "k") != "spec")
    return base::fail(base::ErrorCode::Corrupt, "the log does not begin with the terminal's description");

  Birth birth = birth_from(records.front());
  if (birth.created_at_ms == 0) birth.created_at_ms = input.now_ms;
  Replayed done = nothing_yet(spec_from(records.front()), std::move(birth), input.model, input.now_ms);

  using Outcome = Replayed::Outcome;
  const auto status = input.journal ? input.journal->status() : tl::unexpected(input.journal.error());
  const bool never_made = !input.journal && (input.journal.error().code == base::ErrorCode::NotFound ||
                                             input.journal.error().code == base::ErrorCode::Unavailable);
  // A log that says how a command ended knows more than a journal that is not there any more.
  done.outcome = status                                  ? Outcome::Follows
                 : never_made && !logged_an_end(records) ? Outcome::NeverStarted
                                                         : Outcome::Damaged;
  if (input.journal && !status) done.exit = input.journal->exit_record();

  Replay run(records, input, done);
  done.model->set_observer(run);
  switch (done.outcome) {
    case Outcome::Follows:
      done.model->feed().follow(std::move(*input.journal));
      run.run(*status);
      break;
    case Outcome::NeverStarted:
      run.run_never_started();
      break;
    case Outcome::Damaged:
      run.run_without_journal(never_made ? base::Error{base::ErrorCode::NotFound, 0, "its journal is gone"}
                                         : status.error());
      break;
  }
  done.model->set_observer(*static_cast<Still*>(done.observer.get()));
  return done;
}

}  // namespace ttyward::engine
