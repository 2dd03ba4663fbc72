// One terminal: a holder and its journal, followed and understood.
//
// Flow at a glance
//   holder says "output"  → journal read from where we were → Output (screen, transcript, replies)
//                         → shell marks → CommandTracker → commands begin and end
//   submit()              → logged, then typed when the shell is ready
//   holder says "exited"  → the shell, or the one command this terminal is for, has ended
//
// Everything that must outlive this process is in the journal or the log before it
// has an effect, so recover() rebuilds the same terminal from them.
//
// Watchers are told of changes a little later, from the loop, never from within
// a call of theirs. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/command.h"
#include "engine/holder_link.h"
#include "engine/launcher.h"
#include "engine/settings.h"
#include "engine/terminal_log.h"
#include "io/loop.h"
#include "journal/reader.h"
#include "shell/command_line.h"
#include "shell/command_tracker.h"
#include "shell/launch.h"
#include "terminal/output.h"
#include "terminal/output_view.h"

namespace ttyward::engine {

struct TerminalSpec {
  std::string id;
  std::string name;
  Owner owner = Owner::Agent;
  std::string session;  // of the agent that opened it; empty: of one without a session, or a person's
  std::string task;
  std::string cwd;
  std::vector<std::string> argv;         // a shell; or, if `command_id` is set, the one command
  std::vector<std::string> environment;  // complete, NAME=value
  pty::WindowSize size;
  pty::Provider provider = pty::Provider::Pty;
  bool login = false;
  bool integrate = true;
  bool pooled = false;  // started ahead; nobody's yet
  std::string request;  // chosen by whoever asked for it: asking again by this gets the same one
  // A terminal for one command, which goes when that ends.
  std::string command_id;
  std::string command;  // as the caller wrote it
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  std::optional<std::string> stdin_text;  // typed, then end of file
  bool keep_background = true;            // what it leaves behind goes on
  std::string verdict_json;

  bool temporary() const { return !command_id.empty(); }
};

// A person lets agents at a terminal that is not theirs.
struct Loan {
  enum class Use : uint8_t { Read, Act };
  Use use = Use::Act;
  std::string to;  // a session; empty: every agent
  std::string by;
  int64_t since_ms = 0;
};

class Terminal;

// What changed; several at once.
enum Change : uint32_t {
  kOutput = 1U << 0,
  kCommandStarted = 1U << 1,
  kCommandState = 1U << 2,  // awaits input, or not any more
  kCommandFinished = 1U << 3,
  kPrompt = 1U << 4,  // a command may be sent
  kMeta = 1U << 5,    // name, task, cwd, title, lease, loan, integration
  kClosed = 1U << 6,
  kReady = 1U << 7,      // started: usable, or known to be without integration
  kUnwatched = 1U << 8,  // it has ended, and one less waits to be told
};

class Watcher {
 public:
  virtual void on_change(Terminal& terminal, uint32_t changes) = 0;
  // Bytes of a command's output as they are read. Must not call the terminal.
  virtual void on_command_bytes(const Command& command, std::string_view bytes) {
    (void)command;
    (void)bytes;
  }
  // All bytes, from `offset` on. Must not call the terminal.
  virtual void on_bytes(uint64_t offset, std::string_view bytes) {
    (void)offset;
    (void)bytes;
  }
  // Last call: the terminal is being destroyed and must not be called any more.
  virtual void on_destroyed() {}

 protected:
  ~Watcher() = default;
};

// What a terminal needs of the engine. Outlives every terminal.
struct TerminalHost {
  io::Loop& loop;
  Launcher& launcher;
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

class Terminal final : private HolderLink::Observer {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : uint8_t { Starting, Idle, Busy, AwaitingInput, Finished, Lost };
  static const char* state_name(State state);

  // At once; that it could not be started is told as kClosed, with start_error().
  static base::Result<std::unique_ptr<Terminal>> open(TerminalHost& host, TerminalSpec spec);
  // One that an engine before us opened, as its log and journal tell. On any thread, several at once; nothing
  // else may be done with it until settle(), on the loop, has made it a terminal like any other.
  static base::Result<std::unique_ptr<Terminal>> recover(TerminalHost& host, const std::string& id);
  void settle();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // --- what it is
  const std::string& id() const { return spec_.id; }
  const TerminalSpec& spec() const { return spec_; }
  State state() const;
  bool live() const { return !closed_; }
  int64_t closed_at_ms() const { return closed_at_ms_; }
  bool holder_alive() const { return link_ != nullptr; }
  bool launching() const { return !closed_ && !link_ && !reader_; }
  bool ready() const { return ready_; }  // started, one way or the other
  bool busy() const;
  // Handed out to somebody who is about to use it: nobody else's until a command came, or none did for a
  // while.
  void promise();
  void release_promise() { promised_until_ = {}; }
  bool promised() const { return Clock::now() < promised_until_; }
  const std::optional<pty::SpawnError>& start_error() const { return start_error_; }
  const std::string& cwd() const { return cwd_; }
  const char* cwd_known_by() const { return cwd_known_by_; }
  shell::Quality quality() const;
  bool integration_failed() const { return integration_failed_; }
  // The shell that reads commands now: the one it was opened with, or one that took its place.
  const shell::ShellIdentity& shell() const { return identity_; }
  pid_t shell_pid() const { return inner_shells_.empty() ? child_pid_ : inner_shells_.back(); }
  // What changes how that shell reads a line, as of its last prompt.
  const shell::ReadingState& reading() const;
  // False between the end of a command and the prompt that follows: what the shell says of itself (folder,
  // environment, aliases) is not up to date. kPrompt follows, or kClosed.
  bool settled() const;
  const std::string& fallback_reason() const { return fallback_reason_; }
  pty::Provider provider() const { return provider_; }
  // A shell without a terminal: commands go in one after the other, and nothing else does.
  bool on_pipes() const { return provider_ == pty::Provider::Pipe && !spec_.temporary(); }
  // Whether ends of commands in it are seen, one way or the other.
  bool can_follow() const { return on_pipes() || marks_lost_ || quality() != shell::Quality::None; }
  pid_t pid() const { return child_pid_; }
  pid_t holder_pid() const { return holder_pid_; }
  int64_t created_at_ms() const { return created_at_ms_; }
  int64_t last_output_at_ms() const { return last_output_at_ms_; }
  const std::string& title() const { return title_; }
  const std::optional<vt::Progress>& progress() const { return progress_; }
  const std::map<std::string, std::string>& environment_changes() const { return environment_; }
  const terminal::Output& output() const { return *output_; }
  uint64_t read_to() const { return read_to_; }
  // Printed, and not kept: a quota, or a full disk.
  uint64_t lost_bytes() const;
  const std::optional<journal::ExitRecord>& exit() const { return exit_; }
  Clock::time_point last_output() const { return last_output_; }
  bool hot() const;
  const std::vector<std::string>& typed_meanwhile() const { return typed_meanwhile_; }
  void forget_typed_meanwhile() { typed_meanwhile_.clear(); }

  // --- commands
  // Oldest first; the running one is the last.
  const std::deque<std::unique_ptr<Command>>& commands() const { return commands_; }
  Command* current() const { return current_; }
  const Command* queued() const { return queued_; }  // accepted, not yet typed
  Command* find(std::string_view command_id) const;
  const Command* last() const { return commands_.empty() ? nullptr : commands_.back().get(); }
  // The terminal is busy from now on; the command is sent when the shell is ready.
  base::Result<Command*> submit(CommandRequest request);
  // As it is now, with output.
  terminal::CommandResult result(const Command& command, const terminal::ViewLimits& view);
  // Without output.
  terminal::CommandResult facts(const Command& command) const;
  // The output of a command on its own, made from the journal if need be. `finished`: lines still on its
  // screen count as final.
  const terminal::Output& output_of(Command& command);
  // The same, with colours: made anew from the journal, for one reader. Null command: the whole terminal's.
  std::unique_ptr<terminal::Output> styled_output(const Command* command);
  base::Result<std::string> raw(uint64_t offset, size_t most, uint64_t* next);

  // --- acting on it
  // `bytes` as typed by `by`.
  void input(std::string_view bytes, Owner by, HolderLink::Done done);
  // Only while a program reads with echo off; leaves no trace.
  void secret(std::string text, HolderLink::Done done);
  void close_input(HolderLink::Done done);
  // Before a reply given ahead is typed: it is not typed again, whatever becomes of us.
  void note_reply(Command& command, GivenReply reply);
  void interrupt(const HolderLink::Done& done);
  void signal(int number, HolderLink::Target target, HolderLink::Done done);
  void resize(const pty::WindowSize& size, HolderLink::Done done);
  // Its journal is at its quota under `overflow = pause`: nobody reads what it prints, so it stands still.
  bool paused() const;
  // `more` bytes of quota; a paused command goes on.
  void grant(uint64_t more, HolderLink::Done done);
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
  using Looked = std::function<void(const base::Result<pty::RunState>&)>;
  // Asks the kernel what it is doing now, and notes what it waits for.
  void look(Looked done = {});
  void processes(std::function<void(base::Result<std::vector<HolderLink::Process>>)> done);

  // --- a person has the keyboard
  struct Lease {
    uint64_t connection = 0;
    std::string by;
    int64_t since_ms = 0;
  };
  const std::optional<Lease>& lease() const { return lease_; }
  void set_lease(std::optional<Lease> lease);

  // --- a person lets agents at it
  const std::optional<Loan>& loan() const { return loan_; }
  // Nothing: it is taken back. Kept over the engine's death.
  void set_loan(std::optional<Loan> loan);
  // Whether agents act in it, or ever did: what runs there may be theirs for as long as it lives.
  bool agents_act() const { return spec_.owner == Owner::Agent || lent_for_acting_; }

  // --- who wants to know
  void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
  // Somebody beside `me` is still to be told how it ended.
  bool watched_beside(const Watcher& me) const {
    for (const Watcher* watcher : watchers_)
      if (watcher != nullptr && watcher != &me) return true;
    return false;
  }
  void unwatch(Watcher& watcher);
  // While somebody wants to know, the kernel is asked about input whenever it is silent.
  void want_input_state(int by);

 private:
  Terminal(TerminalHost& host, TerminalSpec spec);

  // terminal_start.cc
  base::Result<void> prepare_shell(hold::LaunchRequest& request);
  base::Result<void> prepare_pipes(hold::LaunchRequest& request);
  void launched(Launcher::Launched launched);
  void connect();
  void cannot_follow(const base::Error& error);
  void integration_timed_out();
  void remove_start_files();
  void became_ready();
  boost::json::object spec_record() const;
  static TerminalSpec spec_from(const boost::json::object& record);
  void start_one_command();

  // terminal_recover.cc
  base::Result<void> replay(const std::vector<boost::json::object>& records);
  void apply(const boost::json::object& record);
  void settle_after_replay();
  void settle_never_started();
  void settle_damaged();
  static void overlay(Command& command, const boost::json::object& finish);
  void resend_if_unsent(uint64_t accepted);

  // terminal_output.cc
  void on_welcome(const hold::StatusMessage& status) override;
  void on_output(uint64_t end) override;
  void on_paused() override;
  void on_exited(const journal::ExitRecord& record) override;
  void on_closed() override;
  void on_gone() override;
  void begin_output();
  void read_new();
  bool read_up_to(uint64_t limit, uint64_t budget);
  void skip_gap(const journal::Reader::Chunk& chunk, uint64_t limit);
  std::optional<uint64_t> newlines_below(uint64_t offset) const;
  void feed(std::string_view bytes);
  void feed_command(std::string_view bytes);
  void watch_synchronized_output();
  void collect_replies();
  bool may_answer() const;
  void answer_queries();
  void answer_if_read(const base::Result<pty::RunState>& state);
  void send_bytes(std::string_view bytes, HolderLink::Done done);
  tl::unexpected<base::Error> no_keyboard() const;
  void note_output();
  void handle(shell::TrackerEvent event);
  void handle_screen(const vt::Event& event);
  void shell_ended();
  void close(State final);
  terminal::OutputOptions output_options(terminal::BinarySniffer::Source source) const;
  terminal::BinarySniffer::Source source_of_all() const;
  terminal::BinarySniffer::Source source_of_commands() const;
  // True: the end is missing.
  bool feed_from_journal(terminal::Output& output, uint64_t begin, uint64_t end,
                         std::optional<uint64_t> newlines_before);
  uint64_t lost_of(const Command& command) const;
  void look_when_silent();
  void looked(const base::Result<pty::RunState>& state);
  bool output_unread(const pty::RunState& state) const;
  void read_kernel_cwd();

  // terminal_marks.cc
  base::Result<void> open_nonce_file();
  void hand_over_nonce();
  void blank_nonce();
  void note_typed();
  void forget_typed();
  void ask_kernel(Looked done);
  struct ShellAtPrompt {
    pid_t pid = 0;
    shell::ShellKind kind = shell::ShellKind::Other;
    std::string program;
  };
  std::optional<ShellAtPrompt> shell_at_prompt(const pty::RunState& state) const;
  std::optional<std::string> why_unmarked(const ShellAtPrompt& reader, const Command* command) const;
  bool consider_unmarked(const pty::RunState& state);
  void look_for_prompt(int looks);
  void marks_lost(const ShellAtPrompt& reader, const std::string& why);
  void integrate(const ShellAtPrompt& reader);
  void shell_integrated();
  void integration_given_up();
  void shell_returned();

  // terminal_commands.cc
  void pump();
  base::Result<void> send_command(Command& command);
  base::Result<std::string> sentinel_bytes(Command& command);
  base::Result<void> write_command_file(Command& command, std::string_view content);
  std::string with_cwd(const std::string& text, const std::string& cwd) const;
  Command& add_command(std::string id, Owner by, std::string text);
  void command_started(const shell::CommandStarted& event);
  void command_finished(const shell::CommandFinished& event);
  void finish(Command& command);
  void forget_outputs();
  void note_from_text(const Command& command);
  // ssh, a container's client: what reads the terminal is not on this machine, or not ours to ask.
  bool shell_elsewhere() const { return marks_lost_ && identity_.kind == shell::ShellKind::Other; }
  void finish_ending();
  void tell_forgotten();
  void list_background(Command& command);
  static void list_ports(terminal::CommandResult& facts, std::span<const pid_t> pids);
  void add_live_facts(const Command& command, terminal::CommandResult& result) const;
  void fill_exit(Command& command, const journal::ExitRecord& exit);
  void arm_times();
  void check_times();
  void abandon_input();
  void note_break();
  void settle_after_break();
  void send_interrupt();
  void interrupt_again(const std::string& command_id, bool shell_was_in_front, int looks);
  pid_t foreground_group() const;
  void climb(int rung);
  void log(const boost::json::object& record);
  // Once a command was typed: no secret of it stays in the log, and the log stays small. terminal_tidy.cc
  void tidy_log(const Command& command);
  void compact(TerminalLog::Records& records) const;
  boost::json::object at_prompt() const;
  void resume_from(const boost::json::object& state);
  void record(const Command& command);
  void skip_echo(Command& command);

  void changed(uint32_t changes);
  void tell();

  TerminalHost& host_;
  TerminalSpec spec_;
  std::string private_folder_;
  std::string secret_;  // of the marks' nonces
  shell::ShellIdentity identity_;
  shell::Quality expected_ = shell::Quality::None;
  std::vector<std::string> remove_when_ready_;
  int64_t created_at_ms_ = 0;
  std::optional<TerminalLog> log_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  std::unique_ptr<HolderLink> link_;
  mutable std::optional<journal::Reader> reader_;
  std::unique_ptr<terminal::Output> output_;
  std::optional<shell::CommandTracker> tracker_;
  pid_t holder_pid_ = 0;
  pid_t child_pid_ = 0;
  pid_t pid_before_ = 0;  // the newest process when the last command was sent; 0: not known
  pty::Provider provider_ = pty::Provider::Pty;
  std::string fallback_reason_;

  bool ready_ = false;
  bool closed_ = false;
  int64_t closed_at_ms_ = 0;
  Clock::time_point promised_until_;
  bool lost_ = false;
  bool killing_ = false;
  bool replaying_ = false;
  bool integration_failed_ = false;
  bool holder_closed_ = false;
  std::optional<pty::SpawnError> start_error_;
  std::optional<journal::ExitRecord> exit_;
  uint64_t read_to_ = 0;
  std::vector<journal::Range> unreadable_;  // the journal is damaged there
  uint64_t replied_to_ = 0;                 // replies to what stands before this offset were sent
  uint64_t unfed_bytes_ = 0;                // of read_to_, that never reached the output: they were gone
  uint64_t newlines_ = 0;      // line feeds below read_to_, or while a piece is fed, below the piece
  size_t piece_bytes_ = 4096;  // to be fed at once
  std::string_view piece_;     // that is being fed
  uint64_t piece_at_ = 0;
  uint64_t exit_end_ = 0;  // where the journal ended when the process did
  bool exit_handled_ = false;
  bool holder_lost_ = false;
  bool recovered_ = false;      // an engine before us opened it
  bool closed_before_ = false;  // replay: it had ended already
  bool resend_unsent_ = false;
  uint64_t input_sent_ = 0;  // bytes handed to the holder, ever
  std::string replies_;      // to what programs asked the terminal; not sent yet
  Clock::time_point replies_since_;
  bool replies_asking_ = false;  // the kernel, whether somebody reads
  io::Loop::TimerId replies_timer_ = 0;
  base::UniqueFd replied_file_;
  std::vector<boost::json::object> damaged_records_;  // the log of one whose journal cannot be read
  std::optional<base::Error> damage_;                 // why not

  base::UniqueFd nonce_file_;        // shell::kNextNonceFile
  bool typed_ = false;               // shell::kTypedFile is there
  bool clear_line_ = false;          // something may stand on the shell's line that nobody wants there
  std::optional<uint64_t> image_;    // of the shell's process, at its first prompt
  std::vector<pid_t> inner_shells_;  // shells that took the place of the first, innermost last
  bool marks_lost_ = false;          // the shell that reads now prints none: commands go by sentinel
  bool integrating_ = false;         // it was told to, and its first mark is awaited
  int failed_integrations_ = 0;      // since a command ended with its mark
  int prompt_looks_ = 0;             // in a row that found a shell without marks
  std::string unmarked_reason_;      // for the command that is being closed because of it
  io::Loop::TimerId integrate_timer_ = 0;
  io::Loop::TimerId prompt_timer_ = 0;
  std::optional<base::Error> log_error_;
  uint64_t tidy_beyond_ = 0;    // bytes of log
  boost::json::object prompt_;  // what is known at the last prompt, to begin again from
  uint64_t compacted_to_ = 0;   // replay: commands before this offset are not known any more
  bool reading_ = false;

  std::string cwd_;
  const char* cwd_known_by_ = "start";
  std::string title_;
  std::optional<vt::Progress> progress_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> forgotten_;  // commands, of which the engine is yet to be told
  Clock::time_point last_output_;
  int64_t last_output_at_ms_ = 0;
  std::vector<std::string> typed_meanwhile_;

  std::deque<std::unique_ptr<Command>> commands_;
  Command* queued_ = nullptr;   // accepted, not yet typed
  Command* current_ = nullptr;  // typed or running
  Command* ending_ = nullptr;   // ended; the prompt is on its way
  io::Loop::TimerId ending_timer_ = 0;
  std::map<uint64_t, std::string> typed_ids_;  // replay: ids of commands a person typed, by where they began
  std::map<std::string, boost::json::object> finished_records_;  // replay
  shell::SubmissionId last_submission_ = 0;
  int interest_ = 0;
  int input_looks_ = 0;  // in a row that found somebody waiting
  std::optional<Lease> lease_;
  std::optional<Loan> loan_;
  bool lent_for_acting_ = false;  // now, or at any time before

  io::Loop::TimerId start_timer_ = 0;
  io::Loop::TimerId editor_timer_ = 0;
  io::Loop::TimerId times_timer_ = 0;
  io::Loop::TimerId look_timer_ = 0;
  io::Loop::TimerId abandon_timer_ = 0;
  io::Loop::TimerId climb_timer_ = 0;
  io::Loop::TimerId frame_timer_ = 0;
  io::Loop::TimerId kill_timer_ = 0;
  bool editor_waited_ = false;
  // Ctrl-C went to the prompt: until the shell has dealt with it, what is typed may go with the line.
  io::Loop::TimerId break_timer_ = 0;  // runs as long as that
  Clock::time_point break_at_;
  bool prompt_after_break_ = false;
  io::Loop::TimerId interrupt_timer_ = 0;
  bool interrupt_due_ = false;  // once it has begun

  std::vector<Watcher*> watchers_;
  uint32_t changes_ = 0;
  bool telling_ = false;
};

}  // namespace ttyward::engine
