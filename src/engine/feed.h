// A terminal's journal, turned into its screen and transcript.
//
//   journal ─► pieces ─► terminal::Output (screen, transcript)
//                │              │
//                │              └─► shell marks, screen events, replies ─► Sink
//                └─► bytes, output between marks, gaps ─────────────────► Sink
//
// Reads on from where it was, within a budget, so that a flood in one terminal does
// not starve the others. Offsets are the journal's. Everything is told in the order
// of the bytes, and while a mark is told read_to() stands right behind it.
//
// Bytes that cannot be read are counted as lost and passed over. Also reads ranges
// again, for the output of one command.
//
// No loop and no timer; the clock is only asked how long something took. Thread rule:
// one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/reader.h"
#include "terminal/output.h"

namespace ttyward::engine {

class Feed {
 public:
  using Clock = std::chrono::steady_clock;

  class Sink {
   public:
    // Before they reach the screen.
    virtual void feed_bytes(uint64_t offset, std::string_view bytes) = 0;
    // The same without marks.
    virtual void feed_output(uint64_t offset, std::string_view bytes) = 0;
    virtual void feed_mark(const vt::ShellMark& mark) = 0;
    virtual void feed_event(const vt::Event& event) = 0;
    // Bytes are missing here, with so many line feeds among them.
    virtual void feed_gap(uint64_t newlines) = 0;
    // What programs asked their terminal is to be answered with this.
    virtual void feed_replies(std::string replies) = 0;

   protected:
    ~Sink() = default;
  };

  enum class Marks : uint8_t { Follow, Ignore };  // ignored ones are output
  struct Budget {
    uint64_t bytes = UINT64_MAX;
    Clock::duration time = Clock::duration::max();
  };
  // Of what has just come: more than this is worked off in slices. A few bytes can be much work (repeat a
  // character 65535 times), so it is time that counts in the end.
  static constexpr Budget kAtOnce{256 << 10, std::chrono::microseconds(500)};

  Feed(terminal::OutputOptions options, Marks marks, Sink& sink);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // The journal; from its beginning on. `options`: what the output is like turned out to be different.
  void follow(journal::Reader reader) { reader_ = std::move(reader); }
  void begin_again(terminal::OutputOptions options);
  bool following() const { return reader_.has_value(); }
  journal::Reader& reader() { return *reader_; }
  const journal::Reader& reader() const { return *reader_; }

  // Reads up to `limit`. False: the budget is used up before that.
  bool read(uint64_t limit, const Budget& budget);
  // All there is now.
  bool read_all(const Budget& budget) { return read(reader_->end(), budget); }
  uint64_t end() const { return reader_ ? reader_->end() : 0; }
  // For transcripts of what is fed: plain lines stay where they are, in the journal. Outlives them.
  terminal::KeptBytes& kept() { return kept_; }

  const terminal::Output& output() const { return *output_; }
  terminal::Output& output() { return *output_; }
  uint64_t read_to() const { return read_to_; }
  // Line feeds below `offset`, which must be in the piece that is being told, or read_to().
  std::optional<uint64_t> newlines_below(uint64_t offset) const;
  uint64_t newlines() const { return newlines_; }

  // Printed and not kept (a quota, a full disk), or not readable: of all bytes, and of a range.
  uint64_t lost_bytes() const;
  uint64_t lost_in(journal::Range range) const;

  base::Result<std::string> raw(uint64_t offset, size_t most, uint64_t* next);
  // Feeds a range to another output, a slice at a time.
  class Again {
   public:
    Again(Feed& feed, journal::Range range, std::optional<uint64_t> newlines_before);
    // True: all of it was fed.
    bool step(terminal::Output& output, const Budget& budget);
    // The end of the range is missing.
    bool end_missing() const { return end_missing_; }

   private:
    Feed* feed_;
    uint64_t at_;
    uint64_t end_;
    std::optional<uint64_t> newlines_;  // below at_, if known
    bool end_missing_ = false;
  };

 private:
  static std::string_view next_piece(std::string_view bytes, size_t most);
  std::string_view up_to_start_mark(std::string_view piece) const;
  bool feed_chunk(std::string_view bytes, const std::function<bool()>& time_over);
  void feed(std::string_view piece);
  void skip_gap(const journal::Reader::Chunk& chunk, uint64_t limit);

  Sink& sink_;
  const Marks marks_;
  mutable std::optional<journal::Reader> reader_;
  struct Kept final : terminal::KeptBytes {
    explicit Kept(std::optional<journal::Reader>& from) : reader(from) {}
    bool read(uint64_t offset, std::span<char> into) override;
    std::optional<journal::Reader>& reader;
  } kept_{reader_};
  std::unique_ptr<terminal::Output> output_;
  uint64_t read_to_ = 0;
  std::vector<journal::Range> unreadable_;  // the journal is damaged there
  uint64_t unfed_bytes_ = 0;                // of read_to_, that never reached the output: they were gone
  uint64_t newlines_ = 0;       // line feeds below read_to_, or while a piece is fed, below the piece
  bool newlines_exact_ = true;  // no gap was passed of which nobody knows how many it had
  size_t piece_bytes_ = 4096;   // to be fed at once
  std::string_view piece_;      // that is being fed
  uint64_t piece_at_ = 0;
};

}  // namespace ttyward::engine
