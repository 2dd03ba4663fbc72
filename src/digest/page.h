// The lines a digest is made from, and what each part of the module has decided about them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "digest/digest.h"

namespace ttyward::digest {

// What happens to a line when there is not room for all. Higher stays longer.
enum class Rank : uint8_t {
  Noise,  // shown only if everything fits
  Quote,  // source text and marks under a diagnostic
  Plain,
  Heading,
  Hint,    // words that often matter
  Detail,  // explains the alarm beside it
  Warning,
  Alarm,    // never left out
  Summary,  // never left out: counts and outcomes
};

struct Line {
  uint64_t number = 0;
  uint64_t repeat = 1;
  std::string text;
  uint64_t whole_bytes = 0;  // of the line before it was cut to fit into memory
  Rank rank = Rank::Plain;
  bool alarm = false;
  bool shielded = false;  // quoted or diffed text and data: never folded
  bool blank = false;
  bool settled = false;  // a recogniser has decided; the general folds leave it alone
  bool lost = false;     // stands for `repeat` lines that are no longer kept
  uint64_t stands = 0;   // for so many lines of its kind, in the middle of a flood
  int32_t under = -1;    // belongs to this line: shown only if that one is
  int32_t fold = -1;     // index into Page::folds
  bool example = false;  // of its fold: shown
  bool shown = false;
};

struct Fold {
  std::string noun;    // what they are; may be empty: lines alike
  uint64_t lines = 0;  // all members, examples among them
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t alarms = 0;  // of them, lines that tell of an error
  uint64_t parts = 0;   // other lines, which say a part of what the example says
  std::string others;   // in what the members differ, for those that matter
  bool same = false;    // they do not differ at all
  bool quiet = false;   // not worth a note
  bool bare = false;    // the count alone says enough: the example is not shown
  size_t anchor = 0;    // index of the example that carries the count
};

// One program that the command line runs, as far as it can be read without a shell.
struct SimpleCommand {
  std::string program;  // without its folder
  std::vector<std::string> arguments;
  bool piped = false;       // what it prints goes to the next one
  bool reads_pipe = false;  // and the reverse
  bool to_file = false;     // what it prints goes into a file
};

struct Page {
  Options options;
  std::vector<Line> lines;
  std::vector<Fold> folds;
  std::vector<size_t> kinds;  // lines that stand for all of their kind in the middle of a flood
  Facts facts;
  std::vector<Piece> notes;  // go to the end
  std::vector<SimpleCommand> commands;
  std::vector<std::string> writers;  // the programs whose output this is
  std::vector<std::string> argv;     // all words of the command line, without their folders
  uint64_t total_lines = 0;
  uint64_t total_bytes = 0;
  uint64_t alarms = 0;                         // lines that tell of an error
  size_t chars = 0;                            // of all lines
  bool content = false;                        // the command shows a text that somebody wants to read
  bool quotes = false;                         // tools quote the source under what they say
  bool labels = false;                         // and write into it, as rustc does
  bool altered = false;                        // lines are not, or not all, as they were printed
  std::string replacement;                     // stands for all lines, if not empty
  bool tiny() const { return chars <= 300; }   // shown as it is
  bool small() const { return chars <= 350; }  // shown but for noise and long folds
  bool runs(std::string_view program) const;   // the command line runs this program
  bool runs(std::string_view program, std::string_view verb) const;  // and with this word
};

// Folds the members (indexes in rising order): the first `examples` and, with `with_last`, the last are
// shown. One of them carries the count: the last of the first ones.
void fold_lines(Page& page, const std::vector<size_t>& members, size_t examples, bool with_last,
                std::string noun);

// Folds a line into that of another line, which is shown instead.
void fold_into(Page& page, size_t member, size_t example);

// Leaves them out, as far as they tell of no error; those that do are folded.
void hide_lines(Page& page, const std::vector<size_t>& members, const char* noun);

// The parts, in the order they run.
void read_command(Page& page);
void shield_quotes(Page& page);
void recognise(Page& page);
void rank_lines(Page& page);
void fold_alike(Page& page);
void fold_parts(Page& page);
void shorten_tables(Page& page);
void rank_ends(Page& page);
void check_agreement(Page& page);
void suggest_commands(Page& page);
Digest compose(Page& page);

}  // namespace ttyward::digest
