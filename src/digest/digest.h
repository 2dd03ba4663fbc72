// What a command's output says, in few characters.
//
//   lines ─► Builder ─► Page ─► known/* (tools) ─► folds ─► selection ─► Digest
//             (bounded: the first lines, the last lines, and kinds of lines in between)
//
// Pure: no file, clock or process. Lines that say something went wrong are shown, or counted in a fold
// whose example is shown. Everything else may be left out, and every cut says how many lines it took and
// which ones. Nothing is said that the output does not say, except for notes about the exit status.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::digest {

struct Options {
  std::string command;             // as it was typed; chooses recognisers, never trusted alone
  std::optional<int> exit_status;  // unknown: nothing is said about it
  uint64_t max_chars = 8000;       // of the text; lines that must be shown are folded harder, never dropped
  uint64_t max_lines = 0;          // of the text, as far as nothing must be shown; 0: no limit
  uint64_t first_line = 1;         // the number of the first line
  std::string handle = "read_output";  // how a reader gets the lines that are not shown
};

struct Piece {
  enum class Kind : uint8_t { Text, Fold, Gap, Note };
  Kind kind = Kind::Text;
  uint64_t first_line = 0;  // 0: stands for no line
  uint64_t last_line = 0;
  std::string text;     // without a line end
  uint64_t alarms = 0;  // lines it stands for that tell of an error

  bool operator==(const Piece&) const = default;
};

struct Diagnostic {
  std::string file;
  uint64_t line = 0;    // 0: not said
  uint64_t column = 0;  // 0: not said
  std::string severity;
  std::string code;
  std::string message;
  uint64_t at = 0;  // line of the output

  bool operator==(const Diagnostic&) const = default;
};

struct TestOutcome {
  std::string name;
  std::string outcome;  // failed, error, timeout
  std::string message;
  uint64_t at = 0;

  bool operator==(const TestOutcome&) const = default;
};

struct Count {
  std::string what;
  uint64_t number = 0;

  bool operator==(const Count&) const = default;
};

// A file of a listing, of a repository's state, or of a change.
struct Entry {
  std::string name;
  std::string state;  // git: modified, new file, deleted, renamed, untracked, conflict. Listing: file,
                      // directory, link; empty where the listing does not say
  uint64_t size = 0;
  // NOLINTBEGIN(readability-redundant-member-init): listings leave them out
  uint64_t added{};    // lines, of a change
  uint64_t removed{};  // the same
  // NOLINTEND(readability-redundant-member-init)

  bool operator==(const Entry&) const = default;
};

struct Commit {
  std::string hash;
  std::string author;
  std::string date;  // as git wrote it
  std::string subject;

  bool operator==(const Commit&) const = default;
};

struct Facts {
  std::vector<Diagnostic> diagnostics;
  std::vector<TestOutcome> tests;  // those that did not pass
  std::vector<Count> counts;
  std::vector<Entry> entries;
  std::vector<Commit> commits;
  std::vector<std::string> suggestions;  // commands that may help, at most two

  bool empty() const {
    return diagnostics.empty() && tests.empty() && counts.empty() && entries.empty() && commits.empty() &&
           suggestions.empty();
  }
  bool operator==(const Facts&) const = default;
};

struct Digest {
  std::vector<Piece> pieces;
  Facts facts;
  uint64_t total_lines = 0;
  uint64_t total_bytes = 0;  // without line ends
  uint64_t shown_lines = 0;  // whole lines in the text
  uint64_t shown_bytes = 0;  // of them, without line ends
  uint64_t cut_lines = 0;    // lines that are only counted
  uint64_t fingerprint = 0;  // of all lines, shown or not
  bool exact = false;        // a text, a change or matches in a text: every digit of it counts

  // The pieces, each ended by \n.
  std::string text() const;
};

std::string to_json(const Digest& digest);

class Builder {
 public:
  explicit Builder(Options options);
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  // The next line, `repeat` times. Lines are numbered from 1.
  void add(std::string_view line, uint64_t repeat = 1);
  // Lines that are no longer kept anywhere.
  void add_lost(uint64_t lines);
  // Of what the lines are, where that is known only at their end.
  void describe(std::string command, std::optional<int> exit_status);
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of a whole text; for tests and short outputs.
Digest make_digest(std::string_view text, const Options& options);

}  // namespace ttyward::digest
