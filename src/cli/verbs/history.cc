// ttyward history: what was run, and what was decided about it. Reads the store itself; needs no daemon.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "base/folders.h"
#include "base/json_text.h"
#include "cli/colour.h"
#include "cli/time_text.h"
#include "cli/verbs/verbs.h"
#include "policy/escaped_view.h"
#include "store/store.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Arguments {
  std::string text;
  bool failed = false;
  bool decisions = false;
  std::string cwd;
  std::string since;
  std::string terminal;
  std::string task;
  int limit = 50;
};

int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

// 90s, 15m, 2h, 7d before now; or 2026-11-15, or 2026-11-15T08:30, in local time.
Result<int64_t> parse_since(const std::string& text) {
  int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && rest + 1 == end && count >= 0 && count < 1'000'000) {
    for (const auto& [unit, seconds] :
         {std::pair('s', 1), std::pair('m', 60), std::pair('h', 3600), std::pair('d', 86'400)}) {
      if (*rest == unit) return now_ms() - count * seconds * 1000;
    }
  }
  for (const char* form :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    tm parts{};
    parts.tm_isdst = -1;
    const char* stop = ::strptime(text.c_str(), form, &parts);
    if (stop != nullptr && *stop == '\0') return static_cast<int64_t>(::mktime(&parts)) * 1000;
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--since {}: write 90s, 15m, 2h, 7d, or a date such as 2026-11-15T08:30", text));
}

std::string how_it_ended(const store::CommandRow& row) {
  if (row.exit_code) return fmt::format("exit {}", *row.exit_code);
  return row.signal.empty() ? row.state : row.signal;
}

void text_or_null(base::JsonObject& object, const char* name, const std::string& value) {
  value.empty() ? object.null(name) : object.text(name, value);
}

std::string to_json(const store::CommandRow& row) {
  base::JsonObject out;
  out.text("command_id", row.id);
  text_or_null(out, "terminal_id", row.terminal_id);
  text_or_null(out, "task", row.task);
  out.text("owner", store::owner_name(row.owner)).text("command", row.command).text("cwd", row.cwd);
  text_or_null(out, "cwd_after", row.cwd_after);
  out.text("state", row.state);
  row.exit_code ? out.number("exit_code", *row.exit_code) : out.null("exit_code");
  text_or_null(out, "signal", row.signal);
  text_or_null(out, "known_by", row.known_by);
  out.number("started_at", row.started_at_ms);
  row.duration_ms ? out.number("duration_ms", *row.duration_ms) : out.null("duration_ms");
  out.number("total_bytes", static_cast<int64_t>(row.total_bytes));
  out.number("total_lines", static_cast<int64_t>(row.total_lines));
  return out.str();
}

std::string to_json(const store::DecisionRow& row) {
  base::JsonObject out;
  out.text("id", row.id).number("at", row.at_ms);
  text_or_null(out, "command_id", row.command_id);
  text_or_null(out, "terminal_id", row.terminal_id);
  text_or_null(out, "asked_by", row.asked_by);
  out.text("command", row.command).text("cwd", row.cwd);
  out.text("decision", store::decision_name(row.decision)).text("decided_by", row.decided_by);
  out.text("risk", row.risk).text("effects", row.effects).text("reason", row.reason);
  text_or_null(out, "answered_by", row.answered_by);
  row.answered_at_ms ? out.number("answered_at", *row.answered_at_ms) : out.null("answered_at");
  return out.str();
}

std::string shown(const store::CommandRow& row, Paint paint) {
  const std::string end = how_it_ended(row);
  return fmt::format("{}  {}  {}\n", paint(Colour::Dim, time_text(row.started_at_ms)),
                     paint(colour_of_state(end), fmt::format("{:<10}", end)),
                     policy::escape_text(row.command));
}

std::string shown(const store::DecisionRow& row, Paint paint) {
  const std::string decision(store::decision_name(row.decision));
  std::string out = fmt::format("{}  {}  {}  {}\n", paint(Colour::Dim, time_text(row.at_ms)),
                                paint(colour_of_decision(decision), fmt::format("{:<9}", decision)),
                                paint(colour_of_risk(row.risk), fmt::format("{:<8}", row.risk)),
                                policy::escape_text(row.command));
  const std::string who = row.answered_by.empty() ? row.decided_by : row.answered_by;
  out += fmt::format("{:>21}{}{}\n", "", policy::escape_text(who),
                     row.reason.empty() ? "" : ": " + policy::escape_text(row.reason));
  return out;
}

template <typename Row>
int print(const Result<std::vector<Row>>& rows, const char* name, bool as_json) {
  if (!rows) return complain("history", rows.error().message, kExitFailure);
  std::string out;
  if (as_json) {
    for (const Row& row : *rows) out += (out.empty() ? "" : ",") + to_json(row);
    out = base::JsonObject().raw(name, "[" + out + "]").str() + "\n";
  } else {
    const Paint paint = Paint::for_stdout();
    // The newest stands where people look: at the end.
    for (auto row = rows->rbegin(); row != rows->rend(); ++row) out += shown(*row, paint);
    if (rows->empty()) complain("history", "nothing recorded matches", 0);
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return 0;
}

int show(const Arguments& args, const Globals& globals) {
  if (args.limit < 1 || args.limit > store::kMaxRows)
    return complain("history", fmt::format("--limit is from 1 to {}", store::kMaxRows), kExitUsage);
  if (args.decisions && (args.failed || !args.task.empty()))
    return complain("history", "decisions have no --failed and no --task", kExitUsage);
  std::optional<int64_t> since;
  if (!args.since.empty()) {
    auto parsed = parse_since(args.since);
    if (!parsed) return complain("history", parsed.error().message, kExitUsage);
    since = *parsed;
  }
  std::error_code error;
  const std::string cwd = args.cwd.empty() ? "" : std::filesystem::weakly_canonical(args.cwd, error).string();
  const std::string path = base::user_folders().history();
  if (!std::filesystem::exists(path, error)) {
    if (!globals.json) fmt::print("nothing has been recorded yet\n");
    if (globals.json) fmt::print("{{\"{}\":[]}}\n", args.decisions ? "decisions" : "commands");
    return 0;
  }
  auto opened = store::Store::open(path);
  if (!opened) return complain("history", opened.error().message, kExitFailure);
  for (const std::string& notice : opened->take_notices()) complain("history", notice, 0);
  if (args.decisions) {
    store::DecisionQuery query;
    query.text = args.text;
    query.cwd = cwd;
    query.terminal = args.terminal;
    query.since_ms = since;
    query.limit = args.limit;
    return print(opened->find_decisions(query), "decisions", globals.json);
  }
  store::HistoryQuery query;
  query.text = args.text;
  query.exit = args.failed ? store::ExitFilter::Failed : store::ExitFilter::Any;
  query.cwd = cwd;
  query.terminal = args.terminal;
  query.task = args.task;
  query.since_ms = since;
  query.limit = args.limit;
  return print(opened->find_commands(query), "commands", globals.json);
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TEXT", args->text, "Only commands that hold this text");
  app.add_flag("--failed", args->failed, "Only those that failed");
  app.add_option("--cwd", args->cwd, "Only those in this folder or below");
  app.add_option("--since", args->since, "Only those since then: 90s, 15m, 2h, 7d, or a date");
  app.add_option("--terminal", args->terminal, "Only those in this terminal")->type_name("TERM");
  app.add_option("--task", args->task, "Only those of this task");
  app.add_flag("--decisions", args->decisions, "What was decided and by whom, instead of what was run");
  app.add_option("--limit", args->limit, "At most so many, the newest")->capture_default_str();
  return [args, &globals] { return show(*args, globals); };
}

}  // namespace

const Verb kHistory = {"history", "What was run, and what was decided about it", &declare};

}  // namespace ttyward::cli
