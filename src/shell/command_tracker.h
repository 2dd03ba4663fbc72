// Where commands begin and end in a terminal, from the marks its shell prints.
//
//     Unknown ─► Prompt (A) ─► Input (B) ─► [Continuation (F)] ─► Executing (C) ─► Prompt (D, A) …
//
// A mark that ends with our nonce comes from the shell we started and is believed.
// Each command has a nonce of its own (mark_nonce.h): its first mark makes the one
// before it worthless. Anything a program prints can look like a mark, so while such
// a shell is at work marks without the right nonce are counted and ignored. Where there is none (somebody
// else's integration, a shell we could not hook), OSC 133 and 633 are understood
// at Quality::Basic and results say `trusted = false`.
//
// Missing marks are normal: several C before one D are one submission (bash runs
// each line of a pasted text by itself); D without C ran nothing; A or B without D
// ends a command whose status nobody saw. A command in a shell inside the shell
// (ssh, a container) is followed by a sentinel with a nonce of its own; a shell that
// is given our hooks while it runs continues the row of nonces, and when it ends the
// mark of the shell that started it is known again.
//
// A value: no descriptor, no clock. Offsets count the terminal's bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/reading_state.h"
#include "shell/tracker_events.h"
#include "vt/events.h"

namespace ttyward::shell {

struct TrackerOptions {
  std::string secret;                  // of the marks' nonces; empty: no integration was started
  Quality attainable = Quality::None;  // LaunchPlan::expected
  std::string cwd;                     // where the shell starts
  bool piped = false;                  // on pipes: sentinels are for this shell, and for no other
  ShellKind kind = ShellKind::Other;
};

struct Submission {
  SubmissionId id = 0;
  std::string text;
  std::string line;            // Delivery::line
  uint64_t at = 0;             // bytes of output seen when it was sent
  std::string sentinel_nonce;  // set: it was sent as a sentinel, to whatever reads the terminal now
  bool quiet = false;  // it can change nothing in the shell: its nonce was handed over as quiet_nonce()
};

class CommandTracker {
 public:
  enum class State : uint8_t { Unknown, Prompt, Input, Continuation, Executing, Gone };

  // What the nonce of a command ends with that can change nothing in the shell.
  static constexpr char kQuiet = 'q';
  // Changes of the environment kept from one report; further ones are dropped.
  static constexpr size_t kMaxEnvironmentChanges = 4096;

  explicit CommandTracker(TrackerOptions options);

  // --- what happened, in the order of the terminal's bytes
  void mark(const vt::ShellMark& mark);
  // We sent a command.
  void submitted(Submission submission);
  // It was sent once more.
  void sent_again() { pending_passed_ = false; }
  // It was not sent after all.
  void withdraw(SubmissionId id) {
    if (pending_ && pending_->id == id) pending_.reset();
  }
  // Somebody else's keys went in. Shells that do not mark a command's start are followed by them.
  void typed(std::string_view bytes, uint64_t at);
  // What has to be remembered of them for typed() to have the same effect again: nothing of what a program
  // reads, which may be a password, and of a shell's line only what the shell does not tell itself.
  std::string needed_of(std::string_view bytes) const;
  // What was typed is gone, and the shell said nothing of it: an empty line was interrupted.
  void line_abandoned() {
    line_begun_ = false;
    typed_line_.clear();
    typed_line_known_ = true;
  }
  // The shell was interrupted at its prompt: a prompt with that status follows, or one for several of them.
  void interrupted() { ++breaks_; }
  // Bytes of the output are missing here: a mark may have been among them.
  void bytes_missed() { pending_missed_ = pending_.has_value(); }
  // No mark came in time: foreign marks are understood from now on.
  void integration_timed_out();
  // A shell waits for a command, without a mark: its hooks are gone (an emptied PROMPT_COMMAND), or it is
  // another one (`exec zsh`, `bash`, `ssh host`). What ran has ended, how is unknown. `inside`: the shell
  // before it is still there, and its marks will come again.
  void prompt_seen_unmarked(uint64_t at, std::string why, bool inside);
  // The shell that reads now is given hooks, with the nonce that nonce() has from here on.
  void integrate(ShellKind kind, Quality attainable);
  // The outermost shell waits for a command, whatever the marks so far said: what came before is not known in
  // full any more. For whoever reads back from a place where this was so.
  struct AtPrompt {
    ShellKind kind = ShellKind::Other;
    Quality quality = Quality::None;
    std::string cwd;
    uint64_t nonces_used = 0;
  };
  void resume(AtPrompt from);
  // The shell's process ended.
  void shell_gone(std::optional<int> exit_code, std::optional<int> signal, uint64_t at);

  // --- what is so now
  State state() const { return state_; }
  Quality quality() const { return quality_; }
  // A command may be sent: the shell waits for one, and nothing sent before is on its way.
  bool ready() const { return state_ == State::Input && !pending_; }
  // After a command was sent the shell prompted for an interrupt from before. If it waits now, it threw away
  // what was sent together with that.
  bool passed_over() const { return pending_ && pending_passed_ && state_ == State::Input; }
  // A person has typed part of a line; a command sent now would be appended to it.
  bool line_begun() const { return line_begun_; }
  const std::string& cwd() const { return cwd_; }
  // The shell that reads now, as far as it was started or integrated by us.
  ShellKind kind() const { return shell_.kind; }
  // How many shells stand behind it, whose marks will come again when it ends.
  size_t depth() const { return outer_.size(); }
  // What the shell said of how it reads a line.
  const ReadingState& reading() const { return reading_; }
  // Of the command that runs or ran last; what a shell being integrated begins with.
  const std::string& nonce() const { return shell_.nonce; }
  // Of the next command, if it can change nothing in the shell: the shell does not look for changes then.
  std::string quiet_nonce() const { return next_nonce_ + kQuiet; }
  // How many nonces were used. A reader of old marks, of which some are lost, says how many there must have
  // been.
  uint64_t nonces_used() const { return nonce_index_; }
  void nonces_used_at_least(uint64_t count);
  // For the next command: the shell is to be given it before.
  const std::string& next_nonce() const { return next_nonce_; }
  // The running command, or else the last that ended.
  const std::optional<std::string>& last_command() const { return last_command_; }
  // Marks that were ignored for want of the nonce.
  uint64_t foreign_marks() const { return foreign_marks_; }

  std::vector<TrackerEvent> take_events() { return std::exchange(events_, {}); }

 private:
  enum class Origin : uint8_t { Ours, Foreign, Sentinel, Ignored };
  struct Shell {
    std::string nonce;  // of its last command
    ShellKind kind = ShellKind::Other;
    Quality attainable = Quality::None;
  };
  struct Open {
    std::optional<SubmissionId> submission;
    std::optional<std::string> line;
    std::string cwd;
    uint64_t output_begin = 0;
    bool has_echo = false;
    bool incomplete = false;
    bool executed = true;
    bool by_file = false;  // what the shell was given is a line that fetches it
  };
  struct End {
    std::optional<int> exit_code;
    std::optional<int> signal;
    std::vector<int> pipeline;
    uint64_t at = 0;
    KnownBy known_by = KnownBy::Nothing;
    bool trusted = false;
    bool alternate = false;
    bool shell_gone = false;
  };

  // Ended, nobody saw how.
  static End ended_at(uint64_t at) {
    End end;
    end.at = at;
    return end;
  }

  Origin origin(const vt::ShellMark& mark);
  bool is_ours(const std::string& nonce);
  bool takes_back_start(const vt::ShellMark& mark) const;
  void next_command();
  void retire(const std::string& nonce);
  void reading(const vt::ShellMark& mark);
  void sentinel_mark(const vt::ShellMark& mark);
  void prompt_start(const vt::ShellMark& mark);
  void prompt_end(const vt::ShellMark& mark);
  void continuation();
  void command_start(const vt::ShellMark& mark);
  void command_end(const vt::ShellMark& mark, Origin origin);
  void property(const vt::ShellMark& mark);
  void environment(const vt::ShellMark& mark);

  void open(Open command);
  void close(std::optional<Open>& command, End end);
  void close_unknown(uint64_t at);
  Open from_pending();
  bool is_pending(const std::string& marked_line) const;
  void set_quality(Quality quality, std::string reason);
  void emit(TrackerEvent event) { events_.push_back(std::move(event)); }

  TrackerOptions options_;
  Shell shell_;
  std::vector<Shell> outer_;  // those that started it, outermost first
  uint64_t nonce_index_ = 0;
  std::string next_nonce_;
  std::string nonce_before_;          // the last of retired_ while a command of this shell runs
  std::vector<std::string> retired_;  // nonces of ours that say nothing any more, the latest
  ReadingState reading_;
  ByteRange cwd_mark_;  // the last
  State state_ = State::Unknown;
  Quality quality_ = Quality::None;
  bool nonce_seen_ = false;            // the shell with our nonce is at work
  bool foreign_allowed_;               // marks without a nonce may speak
  bool own_start_ = false;             // C was seen from our shell: starts need not be derived
  std::optional<Submission> pending_;  // sent, its start not yet seen
  bool pending_incomplete_ = false;
  bool pending_passed_ = false;  // a prompt came that was not its end
  bool pending_missed_ = false;  // its start may be among bytes nobody has
  int breaks_ = 0;               // interrupts at the prompt whose prompt may still come
  std::optional<Open> command_;  // runs in the shell
  std::optional<Submission> sentinel_submission_;
  std::optional<Open> sentinel_;            // runs in whatever the shell's command is
  std::optional<std::string> marked_line_;  // E, for the next C
  std::string typed_line_;
  bool typed_line_known_ = true;
  bool line_begun_ = false;
  std::string cwd_;
  std::optional<std::string> last_command_;
  std::vector<EnvironmentChange> environment_;
  uint64_t foreign_marks_ = 0;
  std::vector<TrackerEvent> events_;
};

}  // namespace ttyward::shell
