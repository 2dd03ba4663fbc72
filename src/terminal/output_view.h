// What an agent gets of a transcript: head and tail within a budget, and exact counts of the rest.
//
// Pure. Text is cut at line and character boundaries only; a line longer than
// the budget is cut in itself; runs of equal lines are folded into one with a
// count. Errors sit at the end, so by default the tail is the larger part.
// Whatever is shown, shown and omitted add up to the transcript's lines and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

  bool operator==(const ViewLimits&) const = default;
};

// default, void, roo, gemini, full.
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
};

View make_view(const Transcript& transcript, const ViewLimits& limits);
// Of these lines alone; they are there. Bytes the transcript has dropped are not counted.
View make_view(const Transcript& transcript, const ViewLimits& limits, LineNumber first, LineNumber last);

}  // namespace ttyward::terminal
