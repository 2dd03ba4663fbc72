// The life of one command, from the moment it is accepted to its result.
//
// Everything that depends on time, or on how a command ended, is decided here: the time
// limit, the limit on silence, when to ask the kernel what the command is doing, whether
// it waits for input, what its exit or its shell's mark means, and what counts as left
// behind. The command line (run, batch), the library and the daemon use the same class.
//
// Flow at a glance
//
//   the owner                                   CommandLife
//   accepts a command                   ──►     constructor: time limits run from here
//   hands it over (exec, typed line)    ──►     sent(now): looks at the run state begin
//   knows that it runs                  ──►     begin(offset, now): time limits run from here
//   reads its output                    ──►     output(offset, now); skip(offset) for bytes that are gone
//   hears of its end from the kernel    ──►     exited(record, end, now)
//     … from its shell                  ──►     shell_finished(event, cwd, now), then finish(now)
//     … or that nobody will ever know   ──►     lost(reason, now)
//   ends it itself                      ──►     end(state, reason, now)
//   after each of these, and at deadline() ──►  next(now): what to do
//        Look            ask for the run state; answer with looked() or look_failed()
//        ListProcesses   ask which processes are left; answer with left_behind()
//        Kill            the result is there, the command is not over: bring it down
//        Wait            nothing until deadline() or the next event
//
// It is *answered* when a caller can have its result, and *over* when the command has
// ended and all of its output was read. A time limit answers first and leaves the rest
// to the kill ladder; otherwise both happen at once. Facts about the end that arrive after the answer
// are added, but the state and its reason stay as they were told.
//
// Passive: no descriptor, no timer, no clock. Every call that depends on time gets it
// as an argument. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hold/holder.h"
#include "journal/format.h"
#include "pty/run_state.h"
#include "shell/tracker_events.h"
#include "terminal/output.h"
#include "terminal/output_view.h"
#include "terminal/result.h"

namespace ttyward::command {

// --- when to look at the run state

// A look is a scan of /proc, about a tenth of a millisecond. A command that prints is not looked at; one that
// has been silent for this long may be waiting for input. Shorter, and a compiler between two lines would be
// looked at; longer, and an agent would wait for nothing.
inline constexpr std::chrono::milliseconds kFirstLook{150};
// Two looks in a row must find somebody reading: a program may be on its way to a read it will not block in.
inline constexpr std::chrono::milliseconds kSecondLook{50};
// The pause grows to half of the silence so far, up to this: a long computation costs a look every two
// seconds, and a question that comes late is found within two.
inline constexpr std::chrono::milliseconds kLongestPause{2000};
// At a time limit the run state is asked once more, so that the result can say what the command was stuck on.
// The result does not wait longer than this for the answer.
inline constexpr std::chrono::milliseconds kLastLook{250};

struct LifeOptions {
  // Each is off at zero.
  std::chrono::milliseconds timeout{0};         // for the whole
  std::chrono::milliseconds idle_timeout{0};    // for silence
  std::chrono::milliseconds input_patience{0};  // with a question that nobody will answer
  hold::Survivors survivors = hold::Survivors::Kill;
};

class CommandLife final {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Step : uint8_t { Wait, Look, ListProcesses, Kill };

  // `facts` is what is known before it starts: id, command, folder, wall-clock time, verdict. `accepted` may
  // be in the past, for a command that was accepted by a process before this one.
  CommandLife(const LifeOptions& options, terminal::CommandResult facts, TimePoint accepted);

  // --- what happened
  void sent(TimePoint now);
  // It runs; its output begins at this offset of the journal.
  void begin(uint64_t offset, TimePoint now);
  // It has printed something, which was read up to `read_to`.
  void output(uint64_t read_to, TimePoint now);
  // Bytes up to `read_to` were printed, but are not to be had. They are counted, and are no sign of life.
  void skip(uint64_t read_to, TimePoint now);
  // The kernel's word. `end` is where the journal ended then: all that the command itself printed stands
  // before it, and the command is over once that was read.
  void exited(const journal::ExitRecord& record, uint64_t end, TimePoint now);
  // The word of the shell that ran it. `unmarked`: why there is none, where there is none. The command is
  // over when finish() is called: a shell may have more to say about it (its folder) until its prompt is
  // there.
  void shell_finished(const shell::CommandFinished& event, const std::string& unmarked, TimePoint now);
  void finish(TimePoint now);
  // How it ended cannot be found out any more.
  void lost(std::string reason, TimePoint now);
  // Something was typed to it. Whether that was enough is for the next looks to say.
  void input_given(TimePoint now);
  // It was interrupted, as by Ctrl-C: an end that follows from that is told apart from others.
  void interrupted() { interrupted_ = true; }
  // The owner ends it: the result is there now, and next() says Kill.
  void end(terminal::CommandState state, std::string reason, TimePoint now);
  // It never ran: there is nothing to bring down.
  void fail(terminal::CommandState state, std::string reason, TimePoint now);

  // --- answers to what next() asked for
  // `prompt` is the line the cursor is on.
  void looked(const pty::RunState& state, std::string prompt, TimePoint now);
  // There is no answer, or it is stale: output has arrived since.
  void look_failed(TimePoint now);
  // Living processes, without the command's own.
  void left_behind(std::vector<terminal::BackgroundProcess> processes, std::vector<terminal::OpenPort> ports,
                   TimePoint now);

  // Looks are made while somebody wants to know whether it waits for input. With an input_patience that is
  // always the case until it is answered; on demand they go on until it is over.
  void want_looks(bool wanted, TimePoint now);

  // --- what to do
  // Call until it says Wait.
  Step next(TimePoint now);
  // When next() will have something to say although nothing happened.
  std::optional<TimePoint> deadline() const;

  // --- what it is
  terminal::CommandState state() const { return facts_.state; }
  bool has_begun() const { return begun_; }
  bool answered() const { return answered_; }
  bool over() const { return over_; }
  bool was_interrupted() const { return interrupted_; }
  TimePoint started() const { return started_; }
  TimePoint last_output() const { return last_output_; }
  // Nothing was printed by it, or handed to it, since.
  TimePoint quiet_since() const { return quiet_since_; }
  const LifeOptions& options() const { return options_; }
  const std::optional<journal::ExitRecord>& exit() const { return exit_; }
  // Of the journal's bytes. Until it is over the end is as far as it was read.
  const shell::ByteRange& range() const { return range_; }
  void set_range(const shell::ByteRange& range) { range_ = range; }

  // Everything but the output, as of `now`.
  terminal::CommandResult result(TimePoint now) const;
  // The same with `output`, cut to `view`.
  terminal::CommandResult result(terminal::Output& output, const terminal::ViewLimits& view,
                                 TimePoint now) const;
  // For what the owner knows and this class does not: folders, provider, pipeline, verdict, lost bytes.
  // State, exit, reason, waiting, times and processes are this class's own.
  terminal::CommandResult& facts() { return facts_; }
  const terminal::CommandResult& facts() const { return facts_; }

 private:
  bool looks_wanted() const { return looks_wanted_ || options_.input_patience.count() > 0; }
  bool look_due(TimePoint now) const { return sent_ && !look_open_ && now >= next_look_; }
  void schedule_look(TimePoint now);
  void note_running();
  void note_waiting(const pty::Waiting& waiting, std::string prompt);
  std::optional<std::string> limit_reached(TimePoint now) const;
  std::optional<TimePoint> nearest_limit() const;
  void answer(terminal::CommandState state, std::string reason, TimePoint now);
  bool drained() const { return exit_ && range_.end >= exit_end_; }
  void finish_exit(TimePoint now);
  void apply_exit(TimePoint now);

  // Constant after construction.
  LifeOptions options_;

  terminal::CommandResult facts_;
  shell::ByteRange range_;
  TimePoint started_;
  TimePoint last_output_;
  TimePoint quiet_since_;
  bool sent_ = false;
  bool begun_ = false;
  bool answered_ = false;
  bool ended_ = false;  // its shell says so; finish() follows
  bool over_ = false;
  bool interrupted_ = false;
  bool kill_due_ = false;

  bool looks_wanted_ = false;
  bool look_open_ = false;  // asked for, not answered yet
  TimePoint next_look_;
  int found_waiting_ = 0;  // looks in a row
  TimePoint waiting_since_;
  std::optional<TimePoint> limit_since_;  // a limit is reached, and the last look is on its way

  std::optional<journal::ExitRecord> exit_;
  uint64_t exit_end_ = 0;
  bool listing_ = false;
  bool listed_ = false;
};

// What `output` amounts to, cut to `view`: text, lines, encoding, whether it is binary. `result.total_bytes`
// must be set. `no_more`: no more of it will come.
void describe_output(terminal::Output& output, const terminal::ViewLimits& view, bool no_more,
                     terminal::CommandResult& result);

}  // namespace ttyward::command
