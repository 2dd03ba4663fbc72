// What a terminal's bytes and log say: its screen, its shell, its commands.
//
// Flow at a glance
//   read()                → Feed → screen and transcript
//                         → marks → ShellSession → commands begin and end
//   submitted(), typed()… → what else happened, in its place among the bytes
//
// The same calls in the same order lead to the same state, whether they come from a
// living terminal (Terminal) or from what it left on disk (replay()). What else has to
// happen in the world is told to the Observer: a living terminal writes its log, sets
// timers and types; a replay does nothing of the kind.
//
// No loop, no timer, no descriptor but the journal's, no clock but the Observer's.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/access.h"
#include "engine/command_book.h"
#include "engine/feed.h"
#include "engine/output_making.h"
#include "engine/shell_session.h"
#include "engine/terminal_spec.h"
#include "journal/format.h"

namespace ttyward::engine {

struct ModelOptions {
  terminal::Transcript::Limits transcript;
  size_t records = 40;     // commands that are remembered
  bool hold_ends = false;  // a command's record stays open after its end, until finish_ending()
};

class TerminalModel final : private Feed::Sink {
 public:
  using Clock = std::chrono::steady_clock;

  class Observer {
   public:
    virtual Clock::time_point now() const = 0;
    virtual int64_t unix_ms() const = 0;
    // Before they are understood.
    virtual void on_bytes(uint64_t /*offset*/, std::string_view /*bytes*/) {}
    virtual void on_command_bytes(const Command& /*command*/, std::string_view /*bytes*/) {}
    virtual void on_replies(std::string /*replies*/) {}
    virtual void on_changed(uint32_t /*changes*/) {}
    virtual void on_ready() {}
    virtual void on_prompt() {}
    // A mark began a command, whose record is not there yet.
    virtual void on_start_mark() {}
    // Nobody submitted it: somebody typed it. The id it gets.
    virtual std::string typed_command_id(uint64_t begin) = 0;
    virtual void on_submitted() {}
    virtual void on_started(Command& /*command*/) {}
    // The shell says that it ended; its facts are as before.
    virtual void on_ended(Command& /*command*/, const shell::CommandFinished& /*event*/) {}
    // Ended, and kept open until finish_ending().
    virtual void on_ending(Command& /*command*/) {}
    // Its record becomes final: the last moment to add to it.
    virtual void on_finishing(Command& /*command*/) {}
    virtual void on_finished(Command& /*command*/) {}
    virtual void on_incomplete_input() {}
    virtual void on_quality(const shell::QualityChanged& /*event*/) {}
    virtual void on_shell_integrated() {}
    virtual void on_shell_returned() {}
    virtual void on_resize_wanted(const pty::WindowSize& /*size*/) {}
    // Where the shell is, by the kernel; for shells that do not say.
    virtual std::optional<std::string> kernel_cwd() { return std::nullopt; }

   protected:
    ~Observer() = default;
  };

  TerminalModel(TerminalSpec spec, ModelOptions options, Observer& observer);
  TerminalModel(const TerminalModel&) = delete;
  TerminalModel& operator=(const TerminalModel&) = delete;
  void set_observer(Observer& observer) { observer_ = &observer; }

  // --- its parts
  const TerminalSpec& spec() const { return spec_; }
  TerminalSpec& spec() { return spec_; }
  Feed& feed() { return feed_; }
  const Feed& feed() const { return feed_; }
  uint64_t read_to() const { return feed_.read_to(); }
  bool has_shell() const { return shell_.has_value(); }
  ShellSession& shell() { return *shell_; }
  const ShellSession& shell() const { return *shell_; }
  CommandBook& book() { return book_; }
  const CommandBook& book() const { return book_; }
  Access& access() { return access_; }
  const Access& access() const { return access_; }

  // --- what it is
  bool closed() const { return closed_; }
  bool lost() const { return lost_; }
  bool ready() const { return ready_; }
  bool busy() const;
  shell::Quality quality() const { return shell_ ? shell_->quality() : shell::Quality::None; }
  const std::string& cwd() const { return shell_ ? shell_->cwd() : spec_.cwd; }
  bool on_pipes() const { return provider_ == pty::Provider::Pipe && !spec_.temporary(); }
  pty::Provider provider() const { return provider_; }
  const std::string& fallback_reason() const { return fallback_reason_; }
  void set_fallback_reason(std::string why) { fallback_reason_ = std::move(why); }
  pid_t child_pid() const { return child_pid_; }
  pid_t shell_pid() const { return shell_ ? shell_->pid(child_pid_) : child_pid_; }
  const std::string& title() const { return title_; }
  const std::optional<vt::Progress>& progress() const { return progress_; }
  std::vector<std::string>& typed_meanwhile() { return typed_meanwhile_; }
  const std::vector<std::string>& typed_meanwhile() const { return typed_meanwhile_; }

  // A command is being typed: what the terminal shows until it begins is its own text.
  bool typing() const;
  // How many bytes at the beginning of that line of the terminal's output are a prompt and what was typed
  // there, not output.
  size_t typed_part(terminal::LineNumber number, std::string_view text) const;

  // --- how it comes to life
  void set_shell(ShellSession::Options options);
  void started(pid_t child, pty::Provider provider);
  void became_ready();
  // A terminal for one command is busy with it from the beginning.
  void start_one_command(int64_t created_at_ms);

  // --- what happens to it
  bool read(uint64_t limit, const Feed::Budget& budget) { return feed_.read(limit, budget); }
  void resize(const pty::WindowSize& size);
  void end_synchronized_output();
  Command& add_command(std::string id, Owner by, std::string text, const command::LifeOptions& limits = {});
  // It was typed, or is about to be.
  void submitted(Command& command);
  void typed(std::string_view bytes);
  void unmarked(const ShellSession::Unmarked& what);
  void start_timed_out();
  // Ctrl-C went to the prompt.
  void interrupted() { shell_->tracker().interrupted(); }
  // The `exit` that is typed to end the shell is nobody's command.
  void expect_exit() { exit_expected_ = true; }
  bool exit_expected() const { return exit_expected_; }
  // Commands before this offset are not known any more; where the log begins again, resume() is told.
  void forget_before(uint64_t offset) { known_from_ = offset; }
  void resume(const shell::CommandTracker::AtPrompt& from);
  // The process ended, and all it printed was read.
  void shell_gone(const journal::ExitRecord& exit);
  // The same for a terminal of one command. If that left something behind, it is over once left_behind() was
  // told what.
  void command_exited(Command& command, const journal::ExitRecord& exit);
  void left_behind(Command& command, std::vector<terminal::BackgroundProcess> processes,
                   std::vector<terminal::OpenPort> ports);
  // It is over; what had not ended is lost. `lost`: how the process ended will never be known.
  void close(bool lost);
  // What the shell said since is worked off.
  void handle_events();

  // --- commands' ends
  void finish_ending();
  // Its record is as it will stay; nothing happens the second time.
  void finish(Command& command);
  // It never ran, or did not get to its end.
  void fail(Command& command, terminal::CommandState state, std::string reason);
  // How it ended cannot be found out any more.
  void lose(Command& command, std::string reason);
  uint64_t lost_of(const Command& command) const;
  // Nothing of the journal can be read.
  void lose_journal() { journal_lost_ = true; }
  bool journal_lost() const { return journal_lost_; }

  // --- outputs
  // Of one command on its own; made at once from the journal if it is not in memory, however long that takes.
  terminal::Output& output_of(Command& command);
  enum class Colours : uint8_t { Without, With };
  // The same in slices, of `command` or, if that is null, of the whole terminal. Null: output_of() has
  // nothing to make.
  std::unique_ptr<OutputMaking> make_output(const Command* command, Colours colours);
  // What was made of a command's output, without colours.
  static void keep_output(Command& command, std::unique_ptr<terminal::Output> output);

 private:
  void feed_bytes(uint64_t offset, std::string_view bytes) override;
  void feed_output(uint64_t offset, std::string_view bytes) override;
  void feed_mark(const vt::ShellMark& mark) override;
  void feed_event(const vt::Event& event) override;
  void feed_gap(uint64_t newlines) override;
  void feed_replies(std::string replies) override;

  void handle(const shell::TrackerEvent& event);
  void prompt_ready();
  void command_started(const shell::CommandStarted& event);
  void command_finished(const shell::CommandFinished& event);
  void skip_echo(Command& command);
  void cut_hook_line(Command& command);
  // The line of the output in which that row of the screen is; 0: it is not on the screen.
  terminal::LineNumber line_at(vt::StableRow row) const;
  terminal::LineNumber cursor_line() const;
  void note_typed_lines(Command& command);
  OutputMaking::Source source_of(const Command& command) const;
  // The command that prints now, if one does.
  Command* printing() const;
  enum class Of : uint8_t { All, Command };
  terminal::OutputOptions output_options(Of what) const;
  // Of a command in a shell, whose lines are kept in the journal.
  terminal::OutputOptions command_options();

  TerminalSpec spec_;
  const ModelOptions options_;
  Observer* observer_;
  pty::Provider provider_;
  Feed feed_;
  std::optional<ShellSession> shell_;  // not in a terminal for one command
  CommandBook book_;
  Access access_;
  pid_t child_pid_ = 0;
  std::string fallback_reason_;
  bool ready_ = false;
  bool closed_ = false;
  bool lost_ = false;
  bool exit_expected_ = false;
  std::optional<vt::StableRow> mark_row_;  // of the mark that is being told
  terminal::LineNumber prompt_line_ = 0;   // where the last prompt stands; 0: not known
  bool keys_since_start_ = false;          // somebody types: at the prompt, or ahead of it
  uint64_t known_from_ = 0;                // commands that ended before this offset are not known any more
  bool journal_lost_ = false;
  std::string title_;
  std::optional<vt::Progress> progress_;
  std::vector<std::string> typed_meanwhile_;
};

}  // namespace ttyward::engine
