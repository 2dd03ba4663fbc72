#include "shell/command_tracker.h"

#include <algorithm>
#include <charconv>

#include "shell/mark_nonce.h"

namespace ttyward::shell {
namespace {

constexpr int kInterruptStatus = 128 + 2;  // of a shell, after SIGINT

// Shells inside shells that are remembered; of more, the outermost is forgotten.
constexpr size_t kMostShells = 16;
constexpr size_t kMostRetired = 16;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0|1|0"
std::vector<int> statuses(std::string_view text) {
  std::vector<int> out;
  while (!text.empty()) {
    const size_t bar = text.find('|');
    if (const auto value = number(text.substr(0, bar))) out.push_back(*value);
    if (bar == std::string_view::npos) break;
    text.remove_prefix(bar + 1);
  }
  return out;
}

// A pipeline ends as its last part does; with pipefail, as the last one that failed.
bool agrees(const std::vector<int>& parts, const std::optional<int>& exit_code) {
  const auto failed = std::find_if(parts.rbegin(), parts.rend(), [](int status) { return status != 0; });
  return exit_code == parts.back() || (parts.size() > 1 && failed != parts.rend() && exit_code == *failed);
}

// "a b c", sorted.
std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Field `index` of a mark of ours; the nonce, always last, is none of them.
std::string_view own_field(const vt::ShellMark& mark, size_t index) {
  return index + 1 < mark.fields.size() ? std::string_view(mark.fields[index]) : std::string_view();
}

}  // namespace

CommandTracker::CommandTracker(TrackerOptions options)
    : options_(std::move(options)), foreign_allowed_(options_.secret.empty()), cwd_(options_.cwd) {
  shell_.kind = options_.kind;
  shell_.attainable = options_.attainable;
  reading_.kind = options_.kind;
  if (options_.secret.empty()) return;
  shell_.nonce = mark_nonce(options_.secret, nonce_index_);
  next_nonce_ = mark_nonce(options_.secret, nonce_index_ + 1);
}

void CommandTracker::next_command() {
  retire(shell_.nonce);
  nonce_before_ = std::move(shell_.nonce);
  shell_.nonce = std::move(next_nonce_);
  next_nonce_ = mark_nonce(options_.secret, ++nonce_index_ + 1);
}

void CommandTracker::nonces_used_at_least(uint64_t count) {
  if (count <= nonce_index_ || options_.secret.empty()) return;
  nonce_index_ = count;
  shell_.nonce = mark_nonce(options_.secret, nonce_index_);
  next_nonce_ = mark_nonce(options_.secret, nonce_index_ + 1);
}

// What has a nonce of ours from before is not somebody else's mark either.
void CommandTracker::retire(const std::string& nonce) {
  if (nonce.empty()) return;
  if (retired_.size() >= kMostRetired) retired_.erase(retired_.begin());
  retired_.push_back(nonce);
}

bool CommandTracker::is_ours(const std::string& nonce) {
  if (options_.secret.empty() || nonce.empty()) return false;
  if (nonce == shell_.nonce) return true;
  // The quiet one is good only for a command that we sent as such: another could hide its changes with it.
  if (nonce == next_nonce_ || (pending_ && pending_->quiet && nonce == quiet_nonce())) {
    next_command();
    shell_.nonce = nonce;
    return true;
  }
  const auto outer =
      std::find_if(outer_.begin(), outer_.end(), [&](const Shell& shell) { return shell.nonce == nonce; });
  if (outer == outer_.end()) return false;
  // The shell inside it has ended. What follows is said by this one.
  nonce_before_.clear();
  shell_ = std::move(*outer);
  outer_.erase(outer, outer_.end());
  reading_ = {};
  reading_.kind = shell_.kind;
  nonce_seen_ = true;
  emit(ShellReturned{});
  set_quality(shell_.attainable, "the shell inside it ended");
  return true;
}

// A shell without hooks takes the nonce of a command together with the command. If it is interrupted in
// between, the start was marked already, and the shell goes back to its prompt with the nonce from before.
bool CommandTracker::takes_back_start(const vt::ShellMark& mark) const {
  return command_ && shell_.attainable == Quality::Basic && !nonce_before_.empty() && mark.kind == "D" &&
         mark.fields.back() == nonce_before_ && number(own_field(mark, 0)) == kInterruptStatus;
}

CommandTracker::Origin CommandTracker::origin(const vt::ShellMark& mark) {
  const bool own_protocol = mark.protocol == vt::ShellMark::Protocol::Osc633 && !mark.fields.empty();
  if (own_protocol && is_ours(mark.fields.back())) return Origin::Ours;
  if (own_protocol && takes_back_start(mark)) {
    retire(shell_.nonce);
    shell_.nonce = std::exchange(nonce_before_, {});
    return Origin::Ours;
  }
  if (own_protocol && sentinel_submission_ && mark.fields.back() == sentinel_submission_->sentinel_nonce)
    return Origin::Sentinel;
  // Full-screen programs show other people's marks (a pager, an editor with a terminal in it).
  if (nonce_seen_ || !foreign_allowed_ || mark.alternate) return Origin::Ignored;
  if (own_protocol && std::find(retired_.begin(), retired_.end(), mark.fields.back()) != retired_.end())
    return Origin::Ignored;
  return Origin::Foreign;
}

void CommandTracker::mark(const vt::ShellMark& mark) {
  if (state_ == State::Gone) return;
  const Origin from = origin(mark);
  if (from == Origin::Ignored) {
    foreign_marks_++;
    return;
  }
  if (from == Origin::Sentinel) return sentinel_mark(mark);
  if (from == Origin::Ours && !nonce_seen_) {
    nonce_seen_ = true;
    set_quality(shell_.attainable, "the shell's first mark");
  } else if (from == Origin::Foreign) {
    set_quality(Quality::Basic, "marks of another program's integration");
  }
  const std::string& kind = mark.kind;
  const bool is_133 = mark.protocol == vt::ShellMark::Protocol::Osc133;
  if (kind == "A" || kind == "N" || (is_133 && kind == "P")) {
    prompt_start(mark);
  } else if (kind == "B" || (is_133 && kind == "I")) {
    prompt_end(mark);
  } else if (kind == "C") {
    command_start(mark);
  } else if (kind == "D") {
    command_end(mark, from);
  } else if (kind == "F" && !is_133) {
    continuation();
  } else if (kind == "E" && !is_133) {
    if (!mark.fields.empty()) marked_line_ = mark.fields[0];
  } else if (kind == "P") {
    property(mark);
  } else if (kind.starts_with("Env") && from == Origin::Ours) {
    environment(mark);
  } else if (kind == "Reading" && from == Origin::Ours) {
    reading(mark);
  }
}

void CommandTracker::prompt_start(const vt::ShellMark& mark) {
  if (command_) close_unknown(mark.begin);
  state_ = State::Prompt;
}

void CommandTracker::prompt_end(const vt::ShellMark& mark) {
  if (command_) {
    // The prompt is there, the hook before it is not: it was taken out.
    close_unknown(mark.begin);
    if (quality_ == Quality::Rich)
      set_quality(Quality::Basic, "a prompt arrived without the exit status before it");
  }
  if (nonce_seen_ && !command_ && sentinel_) close(sentinel_, ended_at(mark.begin));  // its shell has ended
  if (state_ == State::Input) return;  // line editors draw their prompt again and again
  state_ = State::Input;
  typed_line_.clear();
  typed_line_known_ = true;
  line_begun_ = false;
  if (!pending_) emit(PromptReady{mark.end});
}

void CommandTracker::continuation() {
  const bool was = state_ == State::Continuation;
  state_ = State::Continuation;
  if (was || (!pending_ && !(command_ && command_->submission))) return;
  emit(IncompleteInput{pending_ ? std::optional(pending_->id) : command_->submission});
  if (pending_) pending_incomplete_ = true;
  if (command_) command_->incomplete = true;
}

void CommandTracker::command_start(const vt::ShellMark& mark) {
  own_start_ |= nonce_seen_;
  if (command_ && !command_->has_echo) {
    // The next line of the same submission; unless it was incomplete before, nothing is new.
    marked_line_.reset();
    state_ = State::Executing;
    return;
  }
  if (command_) {  // begun by a key, now marked: output starts here
    command_->output_begin = mark.end;
    command_->has_echo = false;
    return;
  }
  breaks_ = 0;
  Open command;
  if (pending_ && (!marked_line_ || is_pending(*marked_line_))) {
    command = from_pending();
  } else {
    command.line = std::move(marked_line_);
    command.cwd = cwd_;
  }
  marked_line_.reset();
  command.output_begin = mark.end;
  command.has_echo = false;
  open(std::move(command));
}

void CommandTracker::command_end(const vt::ShellMark& mark, Origin from) {
  const bool ours = from == Origin::Ours;
  if (!command_ && breaks_ > 0 && ours && number(own_field(mark, 0)) == kInterruptStatus) {
    --breaks_;
    if (pending_ && !pending_incomplete_) {
      // The prompt of an interrupt from before it was sent; the shell has yet to read it.
      state_ = State::Prompt;
      pending_passed_ = true;
      return;
    }
  }
  if (ours && !command_ && sentinel_) {
    // It ran in a shell inside this one, which has ended with this status.
    End end;
    end.exit_code = number(own_field(mark, 0));
    end.at = cwd_mark_.end == mark.begin ? cwd_mark_.begin : mark.begin;
    end.known_by = quality_ == Quality::Rich ? KnownBy::ShellMark : KnownBy::PromptMark;
    end.trusted = true;
    end.alternate = mark.alternate;
    end.shell_gone = true;
    sentinel_submission_.reset();
    close(sentinel_, std::move(end));
  }
  if (pending_ && !command_) {
    // The shell read it and ran nothing, or it does not mark where commands begin.
    command_ = from_pending();
    command_->executed = pending_missed_ || (quality_ != Quality::Rich && !ours);
  }
  marked_line_.reset();
  if (command_) {
    End end;
    end.exit_code = ours ? number(own_field(mark, 0)) : mark.exit_code;
    if (ours) end.pipeline = statuses(own_field(mark, 1));
    // What the shell says is about what came before then; except where a line editor's shell refused it.
    if (!command_->executed &&
        (quality_ != Quality::Rich || end.exit_code == 0 || end.exit_code == kInterruptStatus))
      end.exit_code.reset();
    // The mark right before it says where the command ended, too.
    end.at = cwd_mark_.end == mark.begin ? cwd_mark_.begin : mark.begin;
    end.known_by = ours && quality_ == Quality::Rich ? KnownBy::ShellMark : KnownBy::PromptMark;
    end.trusted = ours;
    end.alternate = mark.alternate;
    if (sentinel_) close(sentinel_, ended_at(mark.begin));
    sentinel_submission_.reset();
    close(command_, std::move(end));
  }
  state_ = State::Prompt;
}

void CommandTracker::sentinel_mark(const vt::ShellMark& mark) {
  if (mark.kind == "C" && !sentinel_) {
    sentinel_ = Open{};
    sentinel_->submission = sentinel_submission_->id;
    sentinel_->line = sentinel_submission_->text;
    sentinel_->output_begin = mark.end;
    last_command_ = sentinel_->line;
    emit(CommandStarted{sentinel_->submission, sentinel_->line, "", mark.end});
  } else if (mark.kind == "D" && sentinel_) {
    End end;
    end.exit_code = number(own_field(mark, 0));
    end.at = mark.begin;
    end.known_by = KnownBy::Sentinel;
    end.trusted = true;
    end.alternate = mark.alternate;
    sentinel_submission_.reset();
    close(sentinel_, std::move(end));
  }
}

void CommandTracker::property(const vt::ShellMark& mark) {
  cwd_mark_ = {mark.begin, mark.end};
  for (const auto& [key, value] : mark.options) {
    if (key != "Cwd" || value.empty() || value[0] != '/' || value == cwd_) continue;
    cwd_ = value;
    emit(CwdChanged{cwd_});
  }
}

void CommandTracker::reading(const vt::ShellMark& mark) {
  reading_.known = true;
  reading_.kind = shell_.kind;
  reading_.aliases = names(own_field(mark, 0));
  reading_.alias_values.clear();
  const std::string values(own_field(mark, 6));
  for (size_t at = 0, end = 0; (end = values.find('\x1f', at)) != std::string::npos; at = end + 1) {
    const std::string one = values.substr(at, end - at);
    const size_t equals = one.find('=');
    if (equals != std::string::npos)
      reading_.alias_values.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  reading_.functions = names(own_field(mark, 1));
  reading_.options = names(own_field(mark, 2));
  reading_.ifs_is_default = own_field(mark, 3) == "1";
  reading_.locale = own_field(mark, 4);
  reading_.truncated = own_field(mark, 5) != "0";
}

void CommandTracker::environment(const vt::ShellMark& mark) {
  if (mark.kind == "EnvSingleStart") {
    environment_.clear();
  } else if (mark.kind == "EnvSingleEnd") {
    if (!environment_.empty()) emit(EnvironmentChanged{std::exchange(environment_, {})});
  } else if (environment_.size() < kMaxEnvironmentChanges && mark.fields.size() >= 2) {
    EnvironmentChange change;
    change.name = mark.fields[0];
    if (mark.kind == "EnvSingleEntry" && mark.fields.size() >= 3) change.value = mark.fields[1];
    change.hidden = mark.kind == "EnvSingleHidden";
    environment_.push_back(std::move(change));
  }
}

void CommandTracker::submitted(Submission submission) {
  if (!submission.sentinel_nonce.empty()) {
    sentinel_submission_ = std::move(submission);
    return;
  }
  pending_ = std::move(submission);
  pending_incomplete_ = false;
  pending_passed_ = false;
  pending_missed_ = false;
}

std::string CommandTracker::needed_of(std::string_view bytes) const {
  const bool break_counts = pending_ && bytes.find('\x03') != std::string_view::npos;
  if (pending_ || command_ || state_ != State::Input) return break_counts ? "\x03" : "";
  if (quality_ == Quality::Basic) return std::string(bytes);
  // Only that a line was begun, and where it ended.
  std::string kept;
  for (const char c : bytes) {
    const bool ends = c == '\r' || c == '\n';
    if (ends || kept.empty()) kept += ends ? c : '*';
    if (ends) break;
  }
  return kept;
}

void CommandTracker::typed(std::string_view bytes, uint64_t at) {
  if (pending_ && bytes.find('\x03') != std::string_view::npos) breaks_ = 0;  // the next one may be its end
  if (pending_ || command_ || state_ != State::Input) return;
  for (const char c : bytes) {
    if (c == '\r' || c == '\n') {
      // Shells with hooks say themselves what they run.
      if (quality_ == Quality::Basic && line_begun_ && !own_start_ && !command_) {
        Open command;
        if (typed_line_known_) command.line = typed_line_;
        command.cwd = cwd_;
        command.output_begin = at;
        command.has_echo = true;
        open(std::move(command));
      }
      line_begun_ = false;
      typed_line_.clear();
      return;
    }
    line_begun_ = true;
    typed_line_known_ &= static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
    typed_line_ += c;
  }
}

void CommandTracker::integration_timed_out() {
  if (nonce_seen_) return;
  foreign_allowed_ = true;
  emit(IntegrationTimedOut{});
}

void CommandTracker::prompt_seen_unmarked(uint64_t at, std::string why, bool inside) {
  if (state_ == State::Gone) return;
  if (command_ || pending_) close_unknown(at);
  state_ = State::Unknown;
  if (nonce_seen_ && inside) {
    outer_.push_back(shell_);
    if (outer_.size() > kMostShells) outer_.erase(outer_.begin());
  }
  retire(shell_.nonce);
  shell_ = {};
  nonce_seen_ = false;
  foreign_allowed_ = true;
  own_start_ = false;
  reading_ = {};
  set_quality(Quality::None, std::move(why));
}

void CommandTracker::integrate(ShellKind kind, Quality attainable) {
  shell_.kind = kind;
  shell_.attainable = attainable;
  reading_.kind = kind;
  if (!options_.secret.empty()) next_command();
}

void CommandTracker::resume(AtPrompt from) {
  nonces_used_at_least(from.nonces_used);
  shell_.kind = from.kind;
  shell_.attainable = attainable_quality(from.kind);
  if (reading_.kind != from.kind) {
    reading_ = {};
    reading_.kind = from.kind;
  }
  outer_.clear();
  nonce_seen_ = from.quality != Quality::None && !options_.secret.empty();
  cwd_ = std::move(from.cwd);
  pending_.reset();
  command_.reset();
  sentinel_submission_.reset();
  sentinel_.reset();
  marked_line_.reset();
  breaks_ = 0;
  line_abandoned();
  if (nonce_seen_) state_ = State::Input;
  set_quality(from.quality, "read back");
}

void CommandTracker::shell_gone(std::optional<int> exit_code, std::optional<int> signal, uint64_t at) {
  if (state_ == State::Gone) return;
  if (options_.piped && !sentinel_ && sentinel_submission_) {
    sentinel_ = Open{};
    sentinel_->submission = sentinel_submission_->id;
    sentinel_->output_begin = at;
  }
  if (sentinel_ && !options_.piped) close(sentinel_, ended_at(at));
  if (!command_ && pending_) command_ = from_pending();
  if (std::optional<Open>& running = sentinel_ ? sentinel_ : command_) {
    End end;
    end.exit_code = exit_code;
    end.signal = signal;
    end.at = at;
    end.known_by = KnownBy::Wait;
    end.trusted = true;
    end.shell_gone = true;
    close(running, std::move(end));
  }
  state_ = State::Gone;
}

// Whether the line the shell names is the one we sent, and not one typed before it. Shells name several lines
// in several ways (only the first, or all with semicolons); they agree on the first.
bool CommandTracker::is_pending(const std::string& marked_line) const {
  const auto first_line = [](std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
    text = text.substr(0, text.find('\n'));
    while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\\')) text.remove_suffix(1);
    return text;
  };
  const std::string_view sent = pending_->line.empty() ? pending_->text : pending_->line;
  return first_line(marked_line).starts_with(first_line(sent));
}

CommandTracker::Open CommandTracker::from_pending() {
  Open command;
  command.submission = pending_->id;
  command.line = std::move(pending_->text);
  command.cwd = cwd_;
  command.output_begin = pending_->at;
  command.has_echo = true;
  command.incomplete = pending_incomplete_;
  command.by_file = !pending_->line.empty() && pending_->line != *command.line;
  pending_.reset();
  pending_incomplete_ = false;
  return command;
}

void CommandTracker::open(Open command) {
  emit(CommandStarted{command.submission, command.line, command.cwd, command.output_begin});
  last_command_ = command.line;
  command_ = std::move(command);
  state_ = State::Executing;
}

void CommandTracker::close(std::optional<Open>& command, End end) {
  CommandFinished finished;
  finished.submission = command->submission;
  finished.command_line = std::move(command->line);
  // The status after an unfinished line is that of the Ctrl-C which ended it.
  if (!command->incomplete) finished.exit_code = end.exit_code;
  finished.signal = end.signal;
  // Those of a line that was passed by file are those of its eval. zsh keeps what it had after an assignment.
  const bool stale = shell_.kind == ShellKind::Zsh && end.pipeline.size() > 1 && finished.command_line &&
                     finished.command_line->find('|') == std::string::npos;
  const bool observed = command->executed && !command->by_file && !stale && !end.pipeline.empty();
  if (observed && agrees(end.pipeline, finished.exit_code)) finished.pipeline = std::move(end.pipeline);
  finished.output = {command->output_begin, std::max(end.at, command->output_begin)};
  finished.output_has_echo = command->has_echo;
  finished.incomplete = command->incomplete;
  finished.executed = command->executed;
  finished.shell_gone = end.shell_gone;
  finished.left_alternate = end.alternate;
  finished.cwd = std::move(command->cwd);
  finished.known_by = end.known_by;
  finished.trusted = end.trusted;
  command.reset();
  last_command_ = finished.command_line;
  emit(std::move(finished));
}

void CommandTracker::close_unknown(uint64_t at) {
  if (sentinel_) close(sentinel_, ended_at(at));
  sentinel_submission_.reset();
  if (!command_ && pending_) command_ = from_pending();
  if (command_) close(command_, ended_at(at));
}

void CommandTracker::set_quality(Quality quality, std::string reason) {
  if (quality == quality_) return;
  emit(QualityChanged{quality_, quality, std::move(reason)});
  quality_ = quality;
}

}  // namespace ttyward::shell
