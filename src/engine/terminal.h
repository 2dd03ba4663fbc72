// One terminal: a holder and its journal, followed and understood.
//
// Flow at a glance
//   holder says "output"  → TerminalModel reads on: screen, transcript, marks, commands
//   submit()              → Typist: logged, then typed when the shell is ready
//   holder says "exited"  → the shell, or the one command this terminal is for, has ended
//   recover()             → replay() makes the same TerminalModel from log and journal
//
// Coordinates parts with one purpose each: TerminalModel (what bytes and log say; pure),
// Typist (types commands), ShellCare (keeps the shell's marks coming), Interrupter (ends
// commands), CommandWatch (time limits, waiting for input), QueryReplies (answers
// programs), LogWriter, Watchers. What happens in the model is told to them from here.
//
// Everything that must outlive this process is in the journal or the log before it
// has an effect.
//
// Watchers are told of changes a little later, from the loop, never from within
// a call of theirs. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/holder_process.h"
#include "engine/command.h"
#include "engine/command_watch.h"
#include "engine/holder_port.h"
#include "engine/interrupter.h"
#include "engine/launcher.h"
#include "engine/live_terminal.h"
#include "engine/output_maker.h"
#include "engine/query_replies.h"
#include "engine/replay.h"
#include "engine/settings.h"
#include "engine/shell_care.h"
#include "engine/slices.h"
#include "engine/terminal_spec.h"
#include "engine/timer.h"
#include "engine/typist.h"
#include "engine/watchers.h"
#include "io/loop.h"
#include "terminal/output.h"
#include "terminal/output_view.h"

namespace ttyward::engine {

// What a terminal needs of the engine. Outlives every terminal.
struct TerminalHost {
  io::Loop& loop;
  Slices& slices;
  Launcher& launcher;
  const place::Place& place;  // where its terminals live
  const Settings& settings;
  int logs = -1;          // folder of terminal logs
  std::string logs_path;  // the same, by name: shells' private folders are in it
  std::string sockets;    // folder of the holders' sockets
  std::string journals;   // folder
  int journals_fd = -1;
  // A command's record is final, or changed for good.
  std::function<void(const Terminal&, const Command&)> on_record;
  std::function<void(const Terminal&, shell::Quality from, shell::Quality to, const std::string&)> on_quality;
  // A command's record goes: it is too long ago.
  std::function<void(const std::string& command_id)> on_command_forgotten;
};

class Terminal final : private command::HolderProcess::Observer, private TerminalModel::Observer {
 public:
  using Clock = std::chrono::steady_clock;
  using Lease = engine::Lease;
  enum class State : uint8_t { Starting, Idle, Busy, AwaitingInput, Finished, Lost };
  static const char* state_name(State state);

  // At once; that it could not be started is told as kClosed, with start_error().
  // `log_file` is from TerminalLog::make_ahead, or invalid.
  static base::Result<std::unique_ptr<Terminal>> open(TerminalHost& host, TerminalSpec spec,
                                                      base::UniqueFd log_file = {});
  // One that an engine before us opened, as its log and journal tell. On any thread, several at once; nothing
  // else may be done with it until settle(), on the loop, has made it a terminal like any other.
  static base::Result<std::unique_ptr<Terminal>> recover(TerminalHost& host, const std::string& id);
  void settle();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // --- what it is
  const std::string& id() const { return spec().id; }
  const TerminalSpec& spec() const { return model_->spec(); }
  State state() const;
  bool live() const { return !model_->closed(); }
  int64_t closed_at_ms() const { return end_.closed_at_ms; }
  bool holder_alive() const { return holder_.connected(); }
  bool launching() const { return live() && !holder_alive() && !model_->feed().following(); }
  bool ready() const { return model_->ready(); }  // started, one way or the other
  bool busy() const { return model_->busy(); }
  // Handed out to somebody who is about to use it: nobody else's until a command came, or none did for a
  // while.
  void promise() { model_->access().promise(Clock::now()); }
  void release_promise() { model_->access().release_promise(); }
  bool promised() const { return model_->access().promised(Clock::now()); }
  const std::optional<pty::SpawnError>& start_error() const { return start_error_; }
  const std::string& cwd() const { return model_->cwd(); }
  const char* cwd_known_by() const { return has_shell() ? model_->shell().cwd_known_by() : "start"; }
  shell::Quality quality() const { return model_->quality(); }
  bool integration_failed() const { return has_shell() && model_->shell().integration_failed(); }
  // The shell that reads commands now: the one it was opened with, or one that took its place.
  const shell::ShellIdentity& shell() const;
  pid_t shell_pid() const { return model_->shell_pid(); }
  // What changes how that shell reads a line, as of its last prompt.
  const shell::ReadingState& reading() const;
  // False between the end of a command and the prompt that follows: what the shell says of itself (folder,
  // environment, aliases) is not up to date. kPrompt follows, or kClosed.
  bool settled() const;
  const std::string& fallback_reason() const { return model_->fallback_reason(); }
  pty::Provider provider() const { return model_->provider(); }
  // A shell without a terminal: commands go in one after the other, and nothing else does.
  bool on_pipes() const { return model_->on_pipes(); }
  // Whether ends of commands in it are seen, one way or the other.
  bool can_follow() const;
  const place::Place& place() const { return host_.place; }
  pid_t pid() const { return model_->child_pid(); }
  pid_t holder_pid() const { return holder_pid_; }
  int64_t created_at_ms() const { return birth_.created_at_ms; }
  int64_t last_output_at_ms() const { return last_output_at_ms_; }
  const std::string& title() const { return model_->title(); }
  const std::optional<vt::Progress>& progress() const { return model_->progress(); }
  const std::map<std::string, std::string>& environment_changes() const;
  const terminal::Output& output() const { return model_->feed().output(); }
  uint64_t read_to() const { return model_->read_to(); }
  // Printed, and not kept: a quota, or a full disk.
  uint64_t lost_bytes() const { return model_->feed().lost_bytes(); }
  const std::optional<journal::ExitRecord>& exit() const { return end_.exit; }
  Clock::time_point last_output() const { return live_.last_output; }
  bool hot() const;
  const std::vector<std::string>& typed_meanwhile() const { return model_->typed_meanwhile(); }
  void forget_typed_meanwhile() { model_->typed_meanwhile().clear(); }

  // --- commands
  // Oldest first; the running one is the last.
  const CommandBook::Commands& commands() const { return model_->book().commands(); }
  Command* current() const { return model_->book().current(); }
  const Command* queued() const { return model_->book().queued(); }  // accepted, not yet typed
  Command* find(std::string_view command_id) const { return model_->book().find(command_id); }
  const Command* last() const { return commands().empty() ? nullptr : commands().back().get(); }
  // The terminal is busy from now on; the command is sent when the shell is ready.
  base::Result<Command*> submit(CommandRequest request);
  // As it is now, with output: see when_output_ready().
  terminal::CommandResult result(const Command& command, const terminal::ViewLimits& view);
  // Without output.
  terminal::CommandResult facts(const Command& command) const;
  // The output of a command on its own; made at once from the journal if it is not in memory.
  const terminal::Output& output_of(Command& command) { return model_->output_of(command); }
  // See OutputMaker: whoever reads the output of a command that may be long over asks for this first.
  void when_output_ready(Command& command, OutputMaker::Ready ready) {
    maker_.when_ready(command, std::move(ready));
  }
  void styled_output(const Command* command, OutputMaker::StyledReady ready) {
    maker_.make_styled(command, std::move(ready));
  }
  // For other long work on it.
  Slices& slices() { return host_.slices; }
  base::Result<std::string> raw(uint64_t offset, size_t most, uint64_t* next);

  // --- acting on it
  // `bytes` as typed by `by`.
  void input(std::string_view bytes, Owner by, command::Source::Done done);
  // Only while a program reads with echo off; leaves no trace.
  void secret(std::string text, command::Source::Done done);
  void close_input(command::Source::Done done);
  // Before a reply given ahead is typed: it is not typed again, whatever becomes of us.
  void note_reply(Command& command, GivenReply reply);
  void interrupt(const command::Source::Done& done);
  void signal(int number, command::Source::Target target, command::Source::Done done);
  void resize(const pty::WindowSize& size, command::Source::Done done);
  // Its journal is at its quota under `overflow = pause`: nobody reads what it prints, so it stands still.
  bool paused() const;
  // `more` bytes of quota; a paused command goes on.
  void grant(uint64_t more, command::Source::Done done);
  // The quota is at least this from now on.
  void raise_quota(uint64_t to);
  // Ends it: `exit`, hang up, then the ladder; or KILL at once. kClosed follows.
  enum class Force : uint8_t { No, Yes };
  void kill(Force force = Force::No);
  // Ends the running command and nothing else: interrupt, TERM, KILL.
  void end_command(terminal::CommandState state, std::string reason);
  void set_name(std::string name);
  void set_task(std::string task);
  void assign_from_pool(const TerminalSpec& wanted);
  using Looked = HolderPort::Looked;
  // Asks the kernel what it is doing now, and notes what it waits for.
  void look(Looked done = {}) { watch_.look(std::move(done)); }
  void processes(std::function<void(base::Result<std::vector<command::Source::Process>>)> done);

  // --- a person has the keyboard
  const std::optional<Lease>& lease() const { return model_->access().lease(); }
  void set_lease(std::optional<Lease> lease);

  // --- a person lets agents at it
  const std::optional<Loan>& loan() const { return model_->access().loan(); }
  // Nothing: it is taken back. Kept over the engine's death.
  void set_loan(std::optional<Loan> loan);
  // Whether agents act in it, or ever did: what runs there may be theirs for as long as it lives.
  bool agents_act() const { return spec().owner == Owner::Agent || model_->access().lent_for_acting(); }

  // --- who wants to know
  void watch(Watcher& watcher) { watchers_.add(watcher); }
  // Somebody beside `me` is still to be told how it ended.
  bool watched_beside(const Watcher& me) const { return watchers_.any_beside(me); }
  void unwatch(Watcher& watcher);
  // While somebody wants to know, the kernel is asked about input whenever it is silent.
  void want_input_state(int by) { watch_.want_input_state(by); }

 private:
  // The end of the process this terminal is for, as the holder tells it.
  struct ProcessEnd {
    std::optional<journal::ExitRecord> exit;
    uint64_t output_end = 0;  // where the journal ended when the process did
    bool handled = false;
    bool holder_closed = false;  // nothing of it is left
    bool holder_lost = false;    // the holder went, and how the process ended is not known
    int64_t closed_at_ms = 0;
  };

  Terminal(TerminalHost& host, TerminalLog log, Replayed past);
  bool has_shell() const { return model_->has_shell(); }
  // Its caller has an answer; the terminal is free once it has ended.
  void bring_down(Command& command);
  // Fails `done` and says false if nothing can be typed.
  bool has_keyboard(const command::Source::Done& done) const;
  tl::unexpected<base::Error> ended() const;
  void note(boost::json::object record);  // in the log, with the place
  void note_meta(boost::json::object changes);

  // terminal_start.cc
  void launched(Launcher::Launched launched);
  void connect();
  void cannot_follow(const base::Error& error);
  void settle_living(const Replayed& past);
  void resend_if_unsent(uint64_t accepted);

  // terminal_follow.cc: the holder's word
  void on_welcome(const hold::StatusMessage& status) override;
  void on_output(uint64_t end) override;
  void on_paused() override;
  void on_exited(const journal::ExitRecord& record) override;
  void on_closed() override;
  void on_gone() override;
  void read_new();
  bool read_on(const Feed::Budget& budget);
  void read_all_there_is();
  void watch_synchronized_output();
  void shell_ended();
  void list_left_behind(Command& command);
  enum class Logged : uint8_t { No, Yes };
  void close(State final, Logged logged = Logged::No);

  // terminal_follow.cc: what the model says
  Clock::time_point now() const override { return Clock::now(); }
  int64_t unix_ms() const override;
  void on_bytes(uint64_t offset, std::string_view bytes) override;
  void on_command_bytes(const Command& command, std::string_view bytes) override;
  void on_replies(std::string replies) override { replies_.add(std::move(replies)); }
  void on_changed(uint32_t changes) override { watchers_.changed(changes); }
  void on_ready() override { care_.started(); }
  void on_prompt() override;
  void on_start_mark() override;
  std::string typed_command_id(uint64_t begin) override;
  void on_submitted() override { watch_.drive(); }
  void on_started(Command& command) override;
  void on_ended(Command& command, const shell::CommandFinished& event) override;
  void on_ending(Command& command) override;
  void on_finishing(Command& command) override;
  void on_finished(Command& command) override;
  void on_incomplete_input() override { typist_.abandon_input(); }
  void on_quality(const shell::QualityChanged& event) override;
  void on_shell_integrated() override { care_.integration_over(); }
  void on_shell_returned() override { care_.integration_over(); }
  void on_resize_wanted(const pty::WindowSize& size) override;
  std::optional<std::string> kernel_cwd() override;
  void tell_forgotten();
  void record(const Command& command);

  // terminal_result.cc
  void add_live_facts(const Command& command, terminal::CommandResult& result) const;

  // Constant after construction.
  TerminalHost& host_;
  const Birth birth_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<TerminalModel> model_;
  LogWriter log_;
  Watchers watchers_;
  HolderPort holder_;
  ShellFiles files_;
  LiveTerminal live_;
  Typist typist_;
  ShellCare care_;
  Interrupter interrupter_;
  CommandWatch watch_;
  QueryReplies replies_;
  OutputMaker maker_;

  std::optional<Replayed> past_;  // until settle()
  bool recovered_ = false;        // an engine before us opened it
  bool resend_unsent_ = false;    // a command was logged; whether it was typed the holder knows
  std::optional<pty::SpawnError> start_error_;
  pid_t holder_pid_ = 0;
  int64_t last_output_at_ms_ = 0;
  boost::json::object prompt_;  // what was known at the last prompt
  bool reading_ = false;        // more is to be read in the next turn
  ProcessEnd end_;
  Timer frame_timer_;   // a frame that a program began and does not end
  Timer ending_timer_;  // a command ended, and its record is kept open
  Timer kill_timer_;    // the shell was asked to exit
};

}  // namespace ttyward::engine
