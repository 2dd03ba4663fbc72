// What an agent gets of a transcript: head and tail within a budget, and exact counts of the rest.
//
// Pure. Text is cut at line and character boundaries only; a line longer than
// the budget is cut in itself; runs of equal lines are folded into one with a
// count. Errors sit at the end, so by default the tail is the larger part.
// Whatever is shown, shown and omitted add up to the transcript's lines and bytes.
// A digest (digest/) instead shows what the lines say: those of one kind once, with a count.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "digest/digest.h"
#include "terminal/transcript.h"

namespace ttyward::terminal {

struct ViewLimits {
  uint64_t lines = 500;        // 0: no limit
  uint64_t chars = 50'000;     // 0: no limit
  unsigned head_percent = 20;  // of each limit; the rest is the tail's
  bool fold_repeats = true;
  // Written between head and tail. Empty: a line that says how much is missing and where.
  // NOLINTNEXTLINE(readability-redundant-member-init): so that designated initializers may leave it out
  std::string gap{};
  // Whole lines; or exactly so many characters, with 50 set aside for the gap, wherever that cuts.
  enum class Cut : uint8_t { Lines, Characters } cut = Cut::Lines;
  enum class Form : uint8_t { Ends, Digest } form = Form::Ends;
  bool agent = false;       // for an agent that did not ask for anything in particular
  bool since_last = false;  // of a command that this reader ran before: what is different this time

  bool operator==(const ViewLimits&) const = default;
};

// default, digest, head, tail, full, void, roo, gemini.
std::optional<ViewLimits> view_preset(std::string_view name);
std::string view_preset_names(std::string_view separator = ", ");

struct Omitted {
  uint64_t bytes = 0;  // without line ends
  uint64_t lines = 0;  // lines that are not shown at all; those the transcript has dropped are among them
  LineNumber first_line = 0;  // what is missing lies between these two
  LineNumber last_line = 0;

  bool operator==(const Omitted&) const = default;
};

struct View {
  std::string text;  // every line ended by \n, but for one that was cut
  std::optional<Omitted> omitted;
  // NOLINTNEXTLINE(readability-redundant-member-init): so that a view may be made from a text alone
  digest::Facts facts{};  // of a digest
  // NOLINTBEGIN(readability-redundant-member-init): the same
  uint64_t fingerprint{};  // of a digest: of all lines, shown or not
  bool exact{};            // of a digest: every digit counts
  // NOLINTEND(readability-redundant-member-init)
};

// Whose lines they are: what a digest wants to know.
struct Subject {
  std::string command;
  std::optional<int> exit_status;  // empty: not known, or not ended
};

View make_view(const Transcript& transcript, const ViewLimits& limits, const Subject& subject = {});
// Of these lines alone; they are there. Bytes the transcript has dropped are not counted.
View make_view(const Transcript& transcript, const ViewLimits& limits, LineNumber first, LineNumber last,
               const Subject& subject = {});

// A digest of many lines, which are read a few at a time.
class DigestReader {
 public:
  DigestReader(const ViewLimits& limits, LineNumber first);

  LineNumber first() const { return first_; }
  // Reads on, to `last`. Ends early when `stop`, which is asked now and then, says so. True: all was read.
  bool read(const Transcript& transcript, LineNumber last, const std::function<bool()>& stop = {});
  // Makes the view of what was read, on any thread; nothing is read after that, and finish() only returns it.
  void make(const Subject& subject);
  View finish(const Subject& subject);

 private:
  LineNumber first_;
  LineNumber next_;
  digest::Builder builder_;
  std::optional<View> made_;
};

}  // namespace ttyward::terminal
