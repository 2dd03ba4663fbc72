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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "command/holder_process.h"
#include "engine/command_watch.h"
#include "engine/interrupter.h"
#include "engine/live_terminal.h"
#include "engine/output_maker.h"
#include "engine/query_replies.h"
#include "engine/replay.h"
#include "engine/shell_care.h"
#include "engine/slices.h"
#include "engine/terminal_facts.h"
#include "engine/timer.h"
#include "engine/typist.h"
#include "engine/watchers.h"
#include "terminal/output.h"
#include "terminal/output_view.h"

namespace ttyward::engine {

class Terminal final : public TerminalFacts,
                       private command::HolderProcess::Observer,
                       private TerminalModel::Observer {
 public:
  using Lease = engine::Lease;

  // At once; that it could not be started is told as kClosed, with start_error().
  // `log_file` is from TerminalLog::make_ahead, or invalid.
  static base::Result<std::unique_ptr<Terminal>> open(TerminalHost& host, TerminalSpec spec,
                                                      base::UniqueFd log_file = {});
  // One that an engine before us opened, as its log and journal tell. On any thread, several at once; nothing
  // else may be done with it until settle(), on the loop, has made it a terminal like any other. Null if that
  // engine died before it described it: nothing was started, and nothing is left of it.
  static base::Result<std::unique_ptr<Terminal>> recover(TerminalHost& host, const std::string& id);
  void settle();
  // An engine before us opened it.
  bool was_recovered() const { return recovered_; }
  ~Terminal();

  // --- commands
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
  // A reader of its own for the journal, for whoever reads more than bytes.
  base::Result<journal::Reader> open_journal() const;

  // --- acting on it
  // `bytes` as typed by `by`.
  void input(std::string_view bytes, Owner by, command::Source::Done done);
  // Only while a program reads with echo off; leaves no trace.
  void secret(std::string text, command::Source::Done done);
  // Before a reply given ahead is typed: it is not typed again, whatever becomes of us.
  void note_reply(Command& command, GivenReply reply);
  void interrupt(const command::Source::Done& done);
  void signal(int number, command::Source::Target target, command::Source::Done done);
  void resize(const pty::WindowSize& size, command::Source::Done done);
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
  // It prints: within the last seconds, or longer while it says that something is being built.
  bool hot() const;
  Clock::time_point last_output() const { return live_.last_output; }
  using Looked = HolderPort::Looked;
  // Asks the kernel what it is doing now, and notes what it waits for.
  void look(Looked done = {}) { watch_.look(std::move(done)); }
  void processes(std::function<void(base::Result<std::vector<command::Source::Process>>)> done);

  // An engine before us died before it launched it.
  bool never_started() const { return never_started_; }

  // --- who may use it
  // Handed out to somebody who is about to use it: nobody else's until a command came, or none did for a
  // while.
  void promise() { model_->access().promise(Clock::now()); }
  void release_promise() { model_->access().release_promise(); }
  // A person has the keyboard.
  void set_lease(std::optional<Lease> lease);
  // A person lets agents at it. Nothing: it is taken back. Kept over the engine's death.
  void set_loan(std::optional<Loan> loan);
  void forget_typed_meanwhile() { model_->typed_meanwhile().clear(); }

  // --- who wants to know
  void watch(Watcher& watcher) { watchers_.add(watcher); }
  // Somebody beside `me` is still to be told how it ended.
  bool watched_beside(const Watcher& me) const { return watchers_.any_beside(me); }
  void unwatch(Watcher& watcher);
  // While somebody wants to know, the kernel is asked about input whenever it is silent.
  void want_input_state(int by) { watch_.want_input_state(by); }

 private:
  Terminal(TerminalHost& host, TerminalLog log, Replayed past);
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
  bool reach_again();
  void cannot_follow(const base::Error& error);
  void settle_living(const Replayed& past);
  void resend_if_unsent(uint64_t accepted);

  // terminal_follow.cc: the holder's word
  void on_welcome(const hold::StatusMessage& status) override;
  void on_output(uint64_t end) override;
  void on_paused() override;
  void on_exited(const journal::ExitRecord& record) override;
  void on_closed() override;
  void on_link(const hold::LinkMessage& link) override;
  void on_lost(const std::string& why) override;
  void on_gone() override;
  void remove_command_file(const Command& command) const;
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

  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  LogWriter log_;
  Watchers watchers_;
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
  bool never_started_ = false;    // nor was it launched by that one, and it never will be
  bool resend_unsent_ = false;    // a command was logged; whether it was typed the holder knows
  boost::json::object prompt_;    // what was known at the last prompt
  std::string lost_reason_;       // of one in another place, when its end will never be known
  int reached_again_ = 0;         // times, since it was connected
  bool reading_ = false;          // more is to be read in the next turn
  Timer frame_timer_;             // a frame that a program began and does not end
  Timer ending_timer_;            // a command ended, and its record is kept open
  Timer kill_timer_;              // the shell was asked to exit
};

}  // namespace ttyward::engine
