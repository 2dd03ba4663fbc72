// Runs one command in the foreground of this process: keys in, output out, signals passed on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/out_stream.h"
#include "cli/person_tty.h"
#include "command/journal_place.h"
#include "command/running_command.h"
#include "io/poller.h"
#include "terminal/live_lines.h"

namespace ttyward::cli {

enum class Show : uint8_t {
  Nothing,  // only the result counts
  Lines,    // plain lines as they are finished
  Raw,      // everything, to a person's own terminal
};

// What stands behind our standard input.
enum class Stdin : uint8_t {
  None,   // closed, or /dev/null: nobody can answer a question
  Given,  // a pipe or a file: it becomes the command's own
  Person,
};
Stdin stdin_kind();

class Foreground final : private command::RunObserver, private io::Poller::Handler {
 public:
  struct Outcome {
    terminal::CommandResult result;
    bool started = true;
    int told_to_stop_by = 0;  // SIGTERM or SIGHUP, if we got one

    int shell_code() const { return told_to_stop_by != 0 ? 128 + told_to_stop_by : result.shell_code(); }
  };

  Foreground(command::RunOptions options, Show show, Stdin input);
  ~Foreground() override = default;

  // Runs to the end, cleanup included. `when_done` is called as soon as the result is there; the text it
  // returns is printed while the cleanup goes on, however slow its reader is.
  Outcome run(const std::function<std::string(command::RunningCommand&)>& when_done);

 private:
  command::RunningCommand::Started start(const command::JournalPlace& place);
  void on_data(std::string_view bytes) override;
  void on_link(const hold::LinkMessage& link) override;
  void on_ready(int fd, uint32_t events) override;
  void turn();
  void print_rest(bool settle);
  void read_keys();
  void read_signals();
  bool wants_keys() const;
  void watch(int fd, uint32_t events, bool wanted, bool& watched);
  int wait_ms() const;

  command::RunOptions options_;
  Show show_;
  Stdin input_;
  PersonTty tty_;
  OutStream out_;
  std::unique_ptr<terminal::LiveLines> lines_;
  std::unique_ptr<command::RunningCommand> run_;
  base::UniqueFd signals_;
  std::optional<io::Poller> poller_;
  bool stdin_watched_ = false;
  bool stdout_watched_ = false;
  bool linked_ = true;
  int interrupts_ = 0;
  int signals_seen_ = 0;  // those that ask us to end
  int told_to_stop_by_ = 0;
};

}  // namespace ttyward::cli
