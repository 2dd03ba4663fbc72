// Where a terminal lives: this machine, or another one behind ssh or in a container (relay/far_place.h).
//
// Everything that is asked about a terminal's processes, folders, files and ports goes to its place. Nothing
// above this folder looks at a terminal's processes in /proc; a client is looked up in LocalPlace.
//
// Answers. Every question takes a `then`, which is called exactly once. LocalPlace calls it before the
// question returns, so asking here costs what reading /proc costs. A far place calls it from the loop when
// its answer has come; while its link is down it answers that nothing is known. The caller checks in
// `then` that the terminal it asked for is still there.
//
// Some callers cannot wait: they decide within one turn of the loop. They use at_once(), which takes an
// answer only if it is given before the question returns, and otherwise goes on as for a process that
// cannot be seen. The questions that are asked so are marked (at once). A far place should answer those
// from what its relay sends unasked: the facts of the process that reads the terminal and of the foreground
// group's leader with every run state, the shell's folder with every prompt.
//
// What a far implementation has to give besides:
//   holders   a command::Source for each terminal. Run state, input, interrupts, signals and the process
//             list are the holder's, because it holds the terminal and is the subreaper of all that runs in
//             it; they are asynchronous already.
//   journals  a copy here with the same offsets. Screens, transcripts, search and recovery read only that.
//   numbers   process ids are those of the place. They mean nothing elsewhere: a client of the daemon is
//             looked up in LocalPlace.
//   clocks    start times of processes are compared with each other only.
//
// Thread rule: the loop's thread. LocalPlace has no state and may be used from any.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pty/listening_ports.h"
#include "pty/proc.h"

namespace ttyward::place {

// What of a process is wanted: each part costs a look of its own.
enum Part : uint32_t {
  kStat = 1U << 8,
  kArguments = 1U << 0,
  kCommandLine = 1U << 1,
  kNames = 1U << 2,
  kProgramFile = 1U << 3,
  kFolder = 1U << 4,
  kEnvironment = 1U << 5,
  kImage = 1U << 6,
  kInterrupt = 1U << 7,
};

// A part that was not asked for, or that may not be seen, is empty.
struct ProcessFacts {
  pty::ProcessStat stat;
  std::vector<std::string> arguments;    // with the program's own name first
  std::string command_line;              // the same as one text, for people
  std::vector<std::string> names;        // as pty::program_names
  std::string program_file;              // the path of what it runs
  std::string folder;                    // its working directory
  std::vector<std::string> environment;  // NAME=value, as it was started
  std::optional<uint64_t> image;         // another number after each exec
  bool dies_of_interrupt = false;        // it neither catches nor ignores SIGINT
};

struct LeftBehindQuery {
  pid_t holder = 0;
  pid_t shell = 0;          // the terminal's first process
  pid_t newest_before = 0;  // newest_process() when the command was sent; 0: not known
  // Since the command was sent, when the question is asked: a place that looks later adds the time in
  // between.
  std::chrono::milliseconds ran{0};
  bool shells_group_too = false;  // a shell on pipes has no job control: its jobs are in its own group
};

// What a command in a shell started and did not wait for.
struct LeftBehind {
  struct Process {
    pid_t pid = 0;
    std::string command;
  };
  std::vector<Process> processes;
  std::vector<pty::ListeningPort> ports;
};

enum class FileKind : uint8_t { File, Folder, Other };

class Place {
 public:
  template <typename Answer>
  using Then = std::function<void(Answer)>;
  using Stats = std::vector<pty::ProcessStat>;
  using Ports = std::vector<pty::ListeningPort>;

  virtual ~Place() = default;

  // As `--in` takes it: "local", "ssh:HOST".
  virtual std::string name() const = 0;

  // `parts` are of Part, joined by |. Nothing: there is no such process, or none of
  // that can be seen. (at once)
  virtual void process(pid_t pid, uint32_t parts, const Then<std::optional<ProcessFacts>>& then) const = 0;
  // What runs below `root`, parents first. While processes come and go one may be missed. (at once)
  virtual void descendants(pid_t root, const Then<std::optional<Stats>>& then) const = 0;
  // The TCP ports that these processes listen on, sorted. (at once, for the result of a running command)
  virtual void ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const = 0;
  virtual void left_behind(const LeftBehindQuery& query, const Then<LeftBehind>& then) const = 0;
  // Of all processes, the one that was made last; 0: not known, and left_behind() looks at all of them.
  virtual pid_t newest_process() const = 0;

  // What is at `path`; the error says why nothing is. (at once, when a terminal is opened)
  virtual void file(const std::string& path, const Then<base::Result<FileKind>>& then) const = 0;
  // Its first `most` bytes. (at once, when a terminal is opened)
  virtual void text(const std::string& path, size_t most,
                    const Then<base::Result<std::string>>& then) const = 0;
  // Where a program's name leads: a path, or a name to be found in the folders of `search` (a PATH). Links
  // are followed; empty: nowhere. (at once, when a terminal is opened)
  virtual void program(const std::string& name, const std::string& search,
                       const Then<std::string>& then) const = 0;

  // Things are made in the order they are asked for, and before whatever is started or typed afterwards: a
  // far place may answer when it has sent them off. A new folder that only this user can enter.
  virtual base::Result<void> make_folder(const std::string& path) const = 0;
  // A new file, in the place of an old one; a link there is replaced, not followed.
  virtual base::Result<void> write_file(const std::string& path, std::string_view content,
                                        uint32_t mode = 0600) const = 0;

  // Asks a holder to end and to bring down all it holds; for one that cannot be talked to any more.
  virtual void end_holder(pid_t holder) const = 0;
};

// The answer, if it is given before `ask` returns:
//   at_once<std::optional<Place::Stats>>([&](auto then) { place.descendants(root, then); })
template <typename Answer, typename Ask>
std::optional<Answer> at_once(const Ask& ask) {
  // Kept by the callback: a far place may answer long after we are gone.
  struct Slot {
    bool open = true;
    std::optional<Answer> answer;
  };
  const auto slot = std::make_shared<Slot>();
  ask([slot](Answer answer) {
    if (slot->open) slot->answer = std::move(answer);
  });
  slot->open = false;
  return std::move(slot->answer);
}

// The three that are asked most, at once.
std::optional<ProcessFacts> process_now(const Place& place, pid_t pid, uint32_t parts = kStat);
Place::Stats descendants_now(const Place& place, pid_t root);
Place::Ports ports_now(const Place& place, std::span<const pid_t> pids);

}  // namespace ttyward::place
