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

std::vector<std::string> terminal_lines(const std::vector<const json::object*>& terminals, Ids ids,
                                        size_t width, int64_t now_ms) {
  Table table({{"ID"},
               {"NAME", true},
               {"OWNER"},
               {"TASK", true},
               {"STATE"},
               {"CWD", true, Cut::Begin},
               {"COMMAND", true},
               {"AGE"}});
  const size_t length = id_length(terminals, ids);
  for (const json::object* each : terminals) {
    const auto created = number_in(*each, "created_at");
    table.add({text_in(*each, "id").substr(0, length), or_dash(text_in(*each, "name")), owner_of(*each),
               or_dash(text_in(*each, "task")), state_of(*each), or_dash(short_path(text_in(*each, "cwd"))),
               or_dash(command_of(*each)), created ? age_text(now_ms - *created) : "-"});
  }
  return table.lines(width);
}

}  // namespace ttyward::cli
