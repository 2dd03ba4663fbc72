#include "cli/terminal_table.h"

#include <algorithm>
#include <chrono>

#include "cli/shown_text.h"
#include "cli/table.h"
#include "wire/decoder.h"

namespace ttyward::cli {
namespace {

constexpr size_t kShortestId = 4;

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

size_t id_length(const std::vector<const wire::Terminal*>& terminals, Ids ids) {
  if (ids == Ids::Whole) return std::string::npos;
  std::vector<std::string> all;
  all.reserve(terminals.size());
  for (const wire::Terminal* each : terminals) all.push_back(each->id);
  std::sort(all.begin(), all.end());
  size_t length = kShortestId;
  for (size_t i = 1; i < all.size(); ++i) {
    const auto differs = std::mismatch(all[i - 1].begin(), all[i - 1].end(), all[i].begin(), all[i].end());
    length = std::max(length, static_cast<size_t>(differs.first - all[i - 1].begin()) + 1);
  }
  return length;
}

// With whom it is lent for use, it is theirs as well.
std::string owner_of(const wire::Terminal& terminal) {
  return terminal.owner + (terminal.lent ? ", lent" : "");
}

std::string state_of(const wire::Terminal& terminal) {
  if (terminal.state == "awaiting_input") return "asks";
  if (terminal.state != "finished") return terminal.state;
  if (terminal.exit_code) return "ended " + std::to_string(*terminal.exit_code);
  return terminal.signal.empty() ? "ended" : terminal.signal;
}

// In another place, with its name.
std::string folder_of(const wire::Terminal& terminal) {
  if (terminal.place.empty()) return short_path(terminal.cwd);
  return terminal.place + ":" + terminal.cwd;
}

}  // namespace

int64_t now_in_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string command_of(const wire::Terminal& terminal) {
  return terminal.command ? terminal.command->command : terminal.last_command.value_or("");
}

std::vector<std::string> terminal_lines(const std::vector<const wire::Terminal*>& terminals,
                                        const TerminalUses& uses, Ids ids, size_t width, int64_t now_ms,
                                        Paint paint) {
  Table table({{"ID"},
               {"NAME", true},
               {"OWNER"},
               {"TASK", true},
               {"STATE"},
               {"CPU", false, Cut::End, true},
               {"PORTS", true, Cut::End, true},
               {"CWD", true, Cut::Begin},
               {"COMMAND", true},
               {"AGE"}});
  const size_t length = id_length(terminals, ids);
  for (const wire::Terminal* each : terminals) {
    const int64_t created = each->created_at.ms;
    const auto use = uses.find(each->id);
    const std::string state = state_of(*each);
    table.add(
        {each->id.substr(0, length), or_dash(each->name), owner_of(*each), or_dash(each->task),
         Cell(state, colour_of_state(state)), use != uses.end() ? cpu_text(use->second.cpu_percent) : "-",
         use != uses.end() ? ports_text(use->second.ports) : "-", or_dash(folder_of(*each)),
         or_dash(command_of(*each)), Cell(created != 0 ? age_text(now_ms - created) : "-", Colour::Dim)});
  }
  return table.lines(width, paint);
}

std::vector<std::string> approval_lines(const std::vector<const wire::Approval*>& approvals, size_t width,
                                        int64_t now_ms, Paint paint) {
  Table table(
      {{"APPROVAL"}, {"RISK"}, {"COMMAND", true}, {"CWD", true, Cut::Begin}, {"ASKED BY", true}, {"LEFT"}});
  for (const wire::Approval* each : approvals) {
    const std::string risk = wire::decode(each->verdict).value_or(wire::Verdict()).risk;
    table.add({Cell(each->id, Colour::Yellow), Cell(or_dash(risk), colour_of_risk(risk)), each->shown,
               or_dash(short_path(each->cwd)), or_dash(each->asked_by),
               each->expires_at ? age_text(each->expires_at->ms - now_ms) : "-"});
  }
  return table.lines(width, paint);
}

}  // namespace ttyward::cli
