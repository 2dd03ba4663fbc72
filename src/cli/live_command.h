// A command of the daemon's, followed from here: its output as it comes, Ctrl-C passed on.
//
// The first Ctrl-C interrupts the command, the second leaves it running. Whatever else
// ends us (SIGTERM, a reader that went away, a lost daemon) leaves it running, too: the
// terminal is not ours.
//
// Thread rule: one thread, which blocks its signals while this runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/daemon_verb.h"
#include "cli/out_stream.h"
#include "cli/signal_watch.h"
#include "client/session.h"
#include "wire/types/command_calls.h"
#include "wire/types/parts.h"

namespace ttyward::cli {

class LiveCommand {
 public:
  // `terminal` is how the person calls it. `json`: nothing is shown but the result, as JSON.
  LiveCommand(const char* verb, client::Session& daemon, std::string terminal, bool json);

  // How long a question may stay unanswered before the person is told of it. 0: at once.
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  // The command's exit code, or why there is none.
  Outcome run(wire::ExecRequest request);

 private:
  // More output than this waits for the reader, and we stop reading: the daemon drops whoever
  // does not read, and what was printed can be read again.
  static constexpr size_t kMostWaiting = size_t{256} << 20;

  void turn();
  void take_signals();
  Outcome take_messages();
  void tell_of_question();
  void show_part(const wire::StreamPart& part);
  int finish(const wire::CommandResult& result);
  void flush_output();
  void say(const std::string& words) const;

  const char* verb_;
  client::Session& daemon_;
  std::string terminal_;
  bool json_;
  SignalWatch signals_;
  OutStream out_;
  uint64_t call_ = 0;
  uint64_t interrupt_call_ = 0;
  bool done_ = false;
  bool heard_ = false;  // of the command, by the daemon: it was run
  bool shown_output_ = false;
  bool digest_ = false;  // shown at the end, instead of the lines
  int interrupts_ = 0;
  int told_to_stop_by_ = 0;
  std::chrono::milliseconds patience_{0};
  std::vector<std::string> waiting_;  // to be said at tell_at_, unless somebody answers before
  std::chrono::steady_clock::time_point tell_at_;
  std::vector<std::string> told_;  // what was said last
};

}  // namespace ttyward::cli
