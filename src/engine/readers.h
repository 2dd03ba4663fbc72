// Who has read how far: a place for each reader in each output, on disk.
//
// While an output grows, only lines that have ended are handed out; once it has
// ended, all of it is. A line on the screen that was handed out and has changed
// since (a progress bar, a screen that was cleared) is handed out again, with
// what follows it. A reader is told everything at least once: its place is
// written after the answer was made. Thread rule: the loop's.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "engine/read.h"

namespace ttyward::engine {

class Readers {
 public:
  // Places remembered at most; beyond, the one not used for longest goes.
  static constexpr size_t kMostPlaces = 4096;

  // Only in memory.
  Readers() = default;
  // A file of places, read back if it is there.
  static base::Result<Readers> open(const std::string& path);

  // What this reader has not seen yet; it has seen it then. `digest` has read some of these lines already; it
  // counts if it began with the first of them.
  ReadResult read_new(const std::string& reader, const OutputSource& source, const terminal::ViewLimits& view,
                      terminal::DigestReader* digest = nullptr);
  // How many lines that would be.
  uint64_t unread_lines(const std::string& reader, const OutputSource& source) const;
  // Puts the reader behind everything there is now.
  void skip_all(const std::string& reader, const OutputSource& source);
  // Whether the reader was given all of an output that has ended.
  bool has_all(const std::string& reader, const std::string& source_id) const;
  // The output (by OutputSource::id) is gone for good.
  void forget(const std::string& source_id);

  size_t size() const { return places_.size(); }

 private:
  struct Place {
    std::string reader;
    std::string source;
    terminal::LineNumber settled = 0;  // lines that will never change, of those read
    std::vector<uint64_t> marks;       // of the lines read after those
    uint64_t bytes = 0;                // of binary output, that were told
    bool all = false;                  // it has ended and was read to its end
  };
  using Places = std::list<Place>;  // the one used last comes first

  const Place* find(const std::string& reader, const std::string& source) const;
  Place& touch(const std::string& reader, const std::string& source);
  static terminal::LineNumber first_unread(const Place* place, const OutputSource::Lines& lines);
  static void advance(Place& place, const OutputSource::Lines& lines);
  static std::string record_of(const Place& place);
  void write(const Place& place);
  void rewrite();
  void take(std::string_view record);

  Places places_;
  std::unordered_map<std::string, std::map<std::string, Places::iterator>> by_source_;  // and reader
  std::string path_;
  base::UniqueFd file_;
  size_t records_ = 0;  // in the file
};

}  // namespace ttyward::engine
