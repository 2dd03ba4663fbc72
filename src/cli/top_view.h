// What `top` shows, as a value: questions that wait for a person, terminals, which one is selected, a look
// at its screen; and how that is drawn. Nothing here reads or writes.
//
//   headline
//   questions, if there are any, with titles
//   agents whose own shell is not governed
//   terminals that match the filter, with titles
//   the selected one's screen, or the list of keys
//   keys, a message, or the filter that is being typed
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/colour.h"
#include "cli/terminal_use.h"
#include "wire/types/daemon_calls.h"
#include "wire/types/objects.h"

namespace ttyward::cli {

class TopView {
 public:
  explicit TopView(Paint paint = {}) : paint_(paint) {}

  // What was selected stays so, or its neighbour is.
  void set_terminals(std::vector<wire::Terminal> terminals);
  // Returns whether there is one that was not there before.
  bool set_approvals(std::vector<wire::Approval> approvals);
  // Agents that have a shell of their own which ttyward does not govern are named.
  void set_agents(std::vector<wire::ServedAgent> agents) { agents_ = std::move(agents); }
  void set_uses(TerminalUses uses) { uses_ = std::move(uses); }
  // What the selected terminal shows, as text.
  void set_preview(const std::string& terminal, std::string text);
  void set_message(std::string text) { message_ = std::move(text); }
  // Only terminals with this text in their id, name, task, owner, state, folder or command; any case.
  void set_filter(std::string text);
  const std::string& filter() const { return filter_; }
  void set_help(bool shown) { help_ = shown; }
  bool help() const { return help_; }

  void move(int by);
  void select_first();
  void select_last();

  // null: there is none
  const wire::Terminal* selected() const;
  std::string selected_id() const;
  std::string selected_name() const;
  // All, whatever the filter says.
  const std::vector<wire::Terminal>& terminals() const { return terminals_; }
  const std::vector<wire::Approval>& approvals() const { return approvals_; }

  // Exactly `rows` rows; none is wider than `cols`.
  std::vector<std::string> rows(int cols, int rows, int64_t now_ms) const;
  // The same as bytes for a terminal, in colour, the selected row inverted.
  std::string paint(int cols, int rows, int64_t now_ms) const;

 private:
  struct Line {
    std::string text;
    std::string painted;  // empty: as the text is
    bool marked = false;
  };
  bool matches(const wire::Terminal& terminal) const;
  std::vector<const wire::Terminal*> shown() const;
  std::string headline() const;
  std::string footer() const;
  std::vector<Line> lines(int cols, int rows, int64_t now_ms) const;
  void add_approvals(std::vector<Line>& out, size_t width, size_t height, int64_t now_ms) const;
  void add_agents(std::vector<Line>& out, size_t width, size_t height) const;
  void add_terminals(std::vector<Line>& out, size_t width, size_t height, int64_t now_ms) const;
  void add_below(std::vector<Line>& out, size_t width, size_t height) const;

  Paint paint_;
  std::vector<wire::Terminal> terminals_;
  std::vector<wire::Approval> approvals_;
  std::vector<wire::ServedAgent> agents_;
  TerminalUses uses_;
  size_t selected_ = 0;  // among those shown
  std::string filter_;
  bool help_ = false;
  std::string preview_of_;
  std::string preview_;
  std::string message_;
};

inline constexpr const char* kTopKeys =
    "Enter attach  w watch  i interrupt  k kill  a answer  / filter  ? help  q quit";

}  // namespace ttyward::cli
