#include "cli/terminal_table.h"

#include <algorithm>
#include <chrono>

#include "cli/fields.h"
#include "cli/shown_text.h"
#include "cli/table.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr size_t kShortestId = 4;

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

size_t id_length(const std::vector<const json::object*>& terminals, Ids ids) {
  if (ids == Ids::Whole) return std::string::npos;
  std::vector<std::string> all;
  all.reserve(terminals.size());
  for (const json::object* each : terminals) all.push_back(text_in(*each, "id"));
  std::sort(all.begin(), all.end());
  size_t length = kShortestId;
  for (size_t i = 1; i < all.size(); ++i) {
    const auto differs = std::mismatch(all[i - 1].begin(), all[i - 1].end(), all[i].begin(), all[i].end());
    length = std::max(length, static_cast<size_t>(differs.first - all[i - 1].begin()) + 1);
  }
  return length;
}

// With whom it is lent for use, it is theirs as well.
std::string owner_of(const json::object& terminal) {
  const json::object* lent = object_in(terminal, "lent");
  return text_in(terminal, "owner") + (lent != nullptr ? ", lent" : "");
}

std::string state_of(const json::object& terminal) {
  std::string state = text_in(terminal, "state");
  if (state == "awaiting_input") return "asks";
  if (state == "finished") {
    if (const auto code = number_in(terminal, "exit_code")) return "ended " + std::to_string(*code);
    const std::string signal = text_in(terminal, "signal");
    return signal.empty() ? "ended" : signal;
  }
  return state;
}

}  // namespace

int64_t now_in_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string command_of(const json::object& terminal) {
  for (const char* member : {"command", "last_command"}) {
    if (const json::object* result = object_in(terminal, member)) return text_in(*result, "command");
    if (const std::string text = text_in(terminal, member); !text.empty()) return text;
  }
  return "";
}

std::vector<std::string> terminal_lines(const std::vector<const json::object*>& terminals,
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
  for (const json::object* each : terminals) {
    const auto created = time_in(*each, "created_at");
    const auto use = uses.find(text_in(*each, "id"));
    const std::string state = state_of(*each);
    table.add({text_in(*each, "id").substr(0, length), or_dash(text_in(*each, "name")), owner_of(*each),
               or_dash(text_in(*each, "task")), Cell(state, colour_of_state(state)),
               use != uses.end() ? cpu_text(use->second.cpu_percent) : "-",
               use != uses.end() ? ports_text(use->second.ports) : "-",
               or_dash(short_path(text_in(*each, "cwd"))), or_dash(command_of(*each)),
               Cell(created ? age_text(now_ms - *created) : "-", Colour::Dim)});
  }
  return table.lines(width, paint);
}

std::vector<std::string> approval_lines(const std::vector<const json::object*>& approvals, size_t width,
                                        int64_t now_ms, Paint paint) {
  Table table(
      {{"APPROVAL"}, {"RISK"}, {"COMMAND", true}, {"CWD", true, Cut::Begin}, {"ASKED BY", true}, {"LEFT"}});
  for (const json::object* each : approvals) {
    const json::object* verdict = object_in(*each, "verdict");
    const std::string risk = verdict != nullptr ? text_in(*verdict, "risk") : "";
    const int64_t end = time_in(*each, "expires_at").value_or(0);
    table.add({Cell(text_in(*each, "id"), Colour::Yellow), Cell(or_dash(risk), colour_of_risk(risk)),
               text_in(*each, "shown"), or_dash(short_path(text_in(*each, "cwd"))),
               or_dash(text_in(*each, "asked_by")), end == 0 ? "-" : age_text(end - now_ms)});
  }
  return table.lines(width, paint);
}

}  // namespace ttyward::cli
