// Everything that is made of a command's bytes: screen, transcript, replies, events.
//
//   bytes ─► BinarySniffer ─► TextDecoder ─► vt::Screen ─► rows that leave ─► Transcript
//                                              │replies, marks
//
// Plain lines are in the transcript as they were written, with their tabs and the blanks at their end. What
// comes through a pipe was not written for a screen, and such lines do not pass it at all. On a terminal the
// screen makes cells of them, which a program may go on to change: there what was written is noted for the
// row it began in, and counts when the row leaves and still looks so. Lines with control characters, and
// those of more than kLongestWritten bytes, are as the screen shows them, without blanks at their end.
//
// Lines of ASCII text, plain or coloured, that come by the screenful skip the screen: the last rows of
// such a stretch are fed to it, so it ends up the same, and the transcript gets
// the lines directly, or is told where in the journal they are. A value with no descriptor and no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terminal/text_decoder.h"
#include "terminal/transcript.h"
#include "vt/screen.h"

namespace ttyward::terminal {

struct OutputOptions {
  int cols = 80;
  int rows = 24;
  BinarySniffer::Source source = BinarySniffer::Source::Terminal;
  bool bare_lines = false;   // lines end with a line feed alone; so they do in a pipe
  bool with_styles = false;  // lines keep their colours, as SGR sequences; each ends without any
  Transcript::Limits transcript;
};

class Output final : private vt::RowSink {
 public:
  explicit Output(const OutputOptions& options);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // `kept_at` is where these bytes can be read again by way of options.transcript.kept.
  void feed(std::string_view bytes, std::optional<uint64_t> kept_at = std::nullopt);
  // Bytes are missing here, with so many line feeds among them: the lines they ended count as dropped.
  void skip_lost(uint64_t newlines);
  // There were so many lines in all, of which the last are missing.
  void count_lost_end(uint64_t lines);
  void resize(int cols, int rows) {
    screen_.resize(cols, rows);
    written_.clear();  // rows are others now
    if (writing_ == Writing::Plain) writing_ = Writing::Other;
    if (pipe_screen_) pipe_screen_->resize(cols, rows);
  }
  // A program that began a frame and never ended it must not hide what is there.
  void end_synchronized_output() { screen_.end_synchronized_output(); }
  // No more bytes: what is on the screen now is final.
  void finish();

  // Bytes to write back to the program.
  std::string take_replies() { return screen_.take_replies(); }
  // Offsets of shell marks count all bytes fed here.
  std::vector<vt::Event> take_events() { return std::exchange(events_, {}); }

  bool is_binary() const { return sniffer_.is_binary(); }
  const std::string& encoding() const { return decoder_.encoding(); }
  uint64_t total_bytes() const { return total_bytes_; }
  // Of them, what went through a screen to make lines.
  uint64_t emulated_bytes() const { return screen_bytes_; }
  const vt::Screen& screen() const { return pipe_screen_ ? *pipe_screen_ : screen_; }
  // Final lines. Before finish() the lines still on the screen are not among them.
  const Transcript& transcript() const { return transcript_; }
  // The transcript as it would be if the output ended now: lines still on the screen are among it, for as
  // long as `use` runs.
  void as_if_finished(const std::function<void(const Transcript&)>& use);
  // The text of the line the cursor is on: what a program that waits has asked.
  std::string cursor_line() const;
  // The last line has no end yet; or, when all is over, never had one.
  bool ends_in_line() const {
    return !pipe_line_.empty() || (screen_.cursor().col > 0 && !screen_.is_alternate());
  }

 private:
  void row_left(const vt::Line& line) override;
  std::string text_of(const vt::Line& line) const;
  void append_screen(Transcript& transcript, std::string partial) const;
  size_t skip_plain_lines(std::string_view bytes, std::optional<uint64_t> kept_at);
  struct LineText {
    const uint8_t* end;       // where something else begins
    bool coloured = false;    // colour sequences are in it
    bool starts_over = true;  // none of them has an effect on what follows
  };
  LineText scan_line(const uint8_t* begin, const uint8_t* end) const;
  void hand_over(std::string_view bytes, std::optional<uint64_t> kept_at, Transcript::KeptLines lines);
  void feed_text(std::string_view bytes);
  void feed_utf16(std::string_view bytes, uint64_t at);
  void feed_screen(std::string_view text, uint64_t decoded_to);
  void feed_cells(std::string_view text, uint64_t decoded_to);
  void feed_pipe(std::string_view text, uint64_t decoded_to);
  void end_pipe_line(std::string_view line);
  bool at_rest() const;
  bool text_shows_as_written() const;
  bool from_pipe() const { return options_.source == BinarySniffer::Source::Pipe; }
  bool wants_return() const { return !options_.bare_lines && !from_pipe(); }
  void note_written();
  // What was written to the row with this number, if it shows as `shown`; else that, without blanks at its
  // end.
  std::string_view as_written(uint64_t row, std::string_view shown) const;

  OutputOptions options_;
  BinarySniffer sniffer_;
  TextDecoder decoder_;
  vt::Screen screen_;
  Transcript transcript_;
  std::string held_return_;                // UTF-16: a carriage return that the next byte tells about
  std::optional<vt::Screen> pipe_screen_;  // from a pipe: what all of it looks like; screen_ makes lines only
  std::string pipe_line_;                  // from a pipe: a plain line that has not ended yet
  uint64_t pipe_line_at_ = 0;
  bool pipe_line_on_screen_ = false;  // from a pipe: a line has begun that the screen makes
  uint64_t pipe_blanks_ = 0;          // empty lines that count once something follows
  std::string partial_;               // a soft-wrapped line whose beginning has left the screen
  uint64_t partial_row_ = 0;          // the row it began in
  uint64_t left_rows_ = 0;            // rows that have left: the number of the screen's first one
  // Of the line that is being written: at its beginning; plain so far, and kept in line_text_; or anything
  // else.
  enum class Writing : uint8_t { Nothing, Plain, Other };
  Writing writing_ = Writing::Nothing;
  std::string line_text_;
  uint64_t line_row_ = 0;
  std::map<uint64_t, std::string>
      written_;  // by the row it began in: lines that do not look as they were written
  uint64_t total_bytes_ = 0;
  uint64_t taken_bytes_ = 0;   // of the total, up to what is being looked at now
  uint64_t screen_bytes_ = 0;  // fed to the screen: decoded, and without what was skipped
  std::vector<vt::Event> events_;
  bool finished_ = false;
  struct PlainLine {
    uint32_t at = 0;
    uint32_t length = 0;  // without its end
    uint32_t bytes = 0;   // with it
    uint32_t count = 1;   // the same line, so many times in a row
    bool coloured = false;
  };
  std::vector<PlainLine> skipped_;  // found by skip_plain_lines
};

}  // namespace ttyward::terminal
