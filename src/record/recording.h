// A recording: what a terminal showed, and when.
//
//   bytes with times ─► Maker ─► Recording ─► write_asciicast, write_html, write_svg, write_text, write_json
//                        │ Visible        leaves only what changes the screen, as valid UTF-8
//                        │ SecretFinder   finds secrets on the screen, however their characters came
//
// Input is in no recording. Times are microseconds since the recording began and never go back.
//
// Thread rule: one thread per object.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::record {

struct Size {
  int cols = 80;
  int rows = 24;
  bool operator==(const Size&) const = default;
};

struct Header {
  Size size;
  int64_t started_at_ms = 0;  // since the epoch; 0: not known
  std::string id;             // of the terminal or the command
  std::string title;
  std::string command;                  // empty: of a whole terminal
  std::optional<double> idle_limit_s;   // pauses are shown no longer than this
  std::string term = "xterm-256color";  // what programs took the terminal for
  bool operator==(const Header&) const = default;
};

struct Event {
  enum class Kind : uint8_t {
    Output,  // text for the screen: UTF-8, sequences and characters are whole
    Resize,
    Marker,  // text says what happened
    Exit,    // text is the exit status
  };
  Kind kind = Kind::Output;
  uint64_t at_us = 0;
  std::string text;
  Size size;  // Resize
  bool operator==(const Event&) const = default;
};

// More output than this is refused: it is kept in memory.
inline constexpr uint64_t kMostOutputBytes = uint64_t{1} << 30;

// Characters of the output that are not to be seen.
struct Mask {
  uint64_t begin = 0;   // of the character, in all output
  uint8_t bytes = 0;    // of its UTF-8
  uint8_t columns = 0;  // what stands for it is as wide
  bool operator==(const Mask&) const = default;
};

class Recording {
 public:
  const Header& header() const { return header_; }
  uint64_t duration_us() const { return entries_.empty() ? 0 : entries_.back().at_us; }
  size_t events() const { return entries_.size(); }
  // In order, secrets masked. `visit` returns false to stop.
  void for_each(const std::function<bool(const Event&)>& visit) const;

  // The same with pauses of at most this long.
  void limit_idle(double seconds);
  void set_idle_limit(std::optional<double> seconds) { header_.idle_limit_s = seconds; }

 private:
  friend class Maker;
  struct Entry {
    Event::Kind kind;
    uint64_t at_us;
    uint64_t begin;  // of its text
    uint64_t end;
    Size size;
  };

  Header header_;
  std::vector<Entry> entries_;
  std::string text_;         // of Output
  std::string notes_;        // of Marker and Exit
  std::vector<Mask> masks_;  // in order
};

enum class LineFeeds : uint8_t { AsTheyAre, ReturnTheCarriage };  // the second for output of pipes

class Maker {
 public:
  Maker(Header header, LineFeeds line_feeds);
  Maker(Maker&&) noexcept;
  Maker& operator=(Maker&&) noexcept;
  ~Maker();

  // A time before that of the last event counts as that time.
  base::Result<void> output(uint64_t at_us, std::string_view bytes);
  void resize(uint64_t at_us, Size size);
  void marker(uint64_t at_us, std::string_view label);
  void exit(uint64_t at_us, std::string_view status);
  // Bytes are missing here, with so many line feeds, if that is known. A marker says so; a sequence that had
  // begun is over, and the screen goes on as a terminal shows it that was read again.
  void gap(uint64_t at_us, uint64_t bytes, uint64_t newlines);

  Recording finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ttyward::record
