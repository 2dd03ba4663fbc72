// What each reader was last given for each command: the next time, it gets what is different.
//
// Lines that differ only in how long something took, in times of day and addresses count as the same, unless
// they are of a text that somebody reads.
// Bounded: the command that was not run for longest is forgotten. Thread rule: the loop's.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>

namespace ttyward::app {

class ResultMemory {
 public:
  static constexpr size_t kMost = 256;  // commands, of all readers

  struct Given {
    std::string command_id;
    std::string text;
    uint64_t fingerprint = 0;  // of all of the output, shown or not; 0: not known
    bool exact = false;        // every digit counts: a file, a change, matches in a text
  };
  // `reader` gets `now` for the command `line` in `cwd`. Returns what to send: its text, or the difference
  // from the last time.
  std::string since_last(const std::string& reader, const std::string& line, const std::string& cwd,
                         Given now);

 private:
  struct Kept {
    std::string key;
    Given given;
  };
  std::list<Kept> kept_;  // the one used last comes first
  std::map<std::string, std::list<Kept>::iterator> index_;
};

// What `now` says that `before` did not, and the reverse; the text itself where that is not much shorter.
std::string difference(const ResultMemory::Given& before, const ResultMemory::Given& now);

}  // namespace ttyward::app
