// Reading any part of what a terminal or one of its commands has printed.
//
// Lines are numbered from 1 and keep their numbers. What is still on the screen
// counts as if the output ended now. Whatever limits cut away is counted exactly.
// Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/terminal.h"
#include "terminal/output_view.h"

namespace ttyward::engine {

// The output of a command, or of everything in the terminal if no command is named.
class OutputSource {
 public:
  static base::Result<OutputSource> find(Terminal& terminal, const std::string& command_id);

  Terminal& terminal() const { return *terminal_; }
  const Command* command() const { return command_; }
  // For a view of its lines.
  terminal::Subject subject() const;
  // What a reader's place is remembered by.
  const std::string& id() const;
  bool ended() const;
  bool binary() const;
  uint64_t total_bytes() const;
  // Its own bytes in the terminal's journal.
  uint64_t begin() const;
  uint64_t end() const { return begin() + total_bytes(); }

  struct Lines {
    const terminal::Transcript& all;
    terminal::LineNumber settled = 0;   // those up to here never change
    terminal::LineNumber complete = 0;  // those up to here have ended; all of them once the source has
  };
  // With colours, which are SGR sequences among the text: from an output that was made for it
  // (Terminal::styled_output()), if there are not too many bytes.
  static constexpr uint64_t kMostStyledBytes = 64 << 20;
  base::Result<void> check_styled() const;
  OutputSource with(std::shared_ptr<terminal::Output> styled) const;
  // Valid within `use` only.
  void with_lines(const std::function<void(const Lines&)>& use) const;

 private:
  OutputSource(Terminal& terminal, Command* command) : terminal_(&terminal), command_(command) {}
  bool has_output() const;

  Terminal* terminal_;
  Command* command_;
  std::shared_ptr<terminal::Output> styled_;  // set: lines come from here
};

struct ReadResult {
  std::string text;
  terminal::LineNumber first_line = 0;  // 0: no line
  terminal::LineNumber last_line = 0;
  uint64_t total_lines = 0;
  uint64_t total_bytes = 0;
  bool more = false;  // there is something behind what was asked for
  bool binary = false;
  std::vector<terminal::Transcript::Match> matches;
  std::optional<terminal::Omitted> omitted;
  std::string bytes;  // raw
  std::optional<uint64_t> next_offset;
  std::optional<uint64_t> longest_line;  // of those asked for, in columns; when columns were asked for
};

// Lines [from, to], as far as they are there.
base::Result<ReadResult> read_range(const OutputSource& source, terminal::LineNumber from,
                                    terminal::LineNumber to, const terminal::ViewLimits& view);
// Of each of these lines the characters [first, last], counted from 1. At most view.chars in all: `more`
// tells that there is something behind them.
base::Result<ReadResult> read_columns(const OutputSource& source, terminal::LineNumber from,
                                      terminal::LineNumber to, uint64_t first, uint64_t last,
                                      const terminal::ViewLimits& view);
base::Result<ReadResult> read_tail(const OutputSource& source, uint64_t lines,
                                   const terminal::ViewLimits& view);

// All lines, of which `digest` has read some.
base::Result<ReadResult> read_all(const OutputSource& source, terminal::DigestReader& digest);

struct Grep {
  std::string pattern;  // RE2
  uint64_t context = 0;
  size_t most = 100;
};
// The text has line numbers: "12:a match", "13-beside it", "--" between places apart. Of the limits, those on
// lines and characters end the search early, which `more` tells. Gigabytes are searched a slice at a time, so
// that others get their turn.
class GrepSearch {
 public:
  static base::Result<GrepSearch> begin(Grep grep, const terminal::ViewLimits& view);
  GrepSearch(GrepSearch&&) noexcept;
  ~GrepSearch();

  // Searches on for about so long. True: it is done. The source is the same each time.
  bool step(const OutputSource& source, std::chrono::steady_clock::duration time);
  ReadResult take_result();

 private:
  struct State;
  explicit GrepSearch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Bytes as they were printed, from `offset` of this output on. At most kMostRawBytes.
constexpr size_t kMostRawBytes = 4 << 20;
base::Result<ReadResult> read_raw(const OutputSource& source, uint64_t offset, size_t most);

}  // namespace ttyward::engine
