// ttyward history: what was run, and what was decided about it. Reads the store itself; needs no daemon.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "app/objects.h"
#include "base/folders.h"
#include "base/json_text.h"
#include "cli/colour.h"
#include "cli/time_text.h"
#include "cli/verbs/verbs.h"
#include "policy/escaped_view.h"
#include "store/store.h"
#include "wire/encoder.h"

namespace ttyward::cli {
namespace history_verb {
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

std::string shown(const store::CommandRow& row, Paint paint) {
  const std::string end = how_it_ended(row);
  std::string out =
      fmt::format("{}  {}  {}\n", paint(Colour::Dim, time_text(row.started_at_ms)),
                  paint(colour_of_state(end), fmt::format("{:<10}", end)), policy::escape_text(row.command));
  if (!row.cwd.empty() && !row.cwd.starts_with('/'))
    out += fmt::format("{:>33}{}\n", "", paint(Colour::Dim, "in " + policy::escape_text(row.cwd)));
  if (!row.description.empty())
    out += fmt::format("{:>33}{}\n", "", paint(Colour::Dim, policy::escape_text(row.description)));
  return out;
}

std::string shown(const store::DecisionRow& row, Paint paint) {
  const std::string decision(store::decision_name(row.decision));
  std::string out =
      fmt::format("{}  {}  {}  {}\n", paint(Colour::Dim, time_text(row.at_ms)),
                  paint(colour_of_decision(decision), fmt::format("{:<9}", decision)),
                  paint(colour_of_risk(row.risk), fmt::format("{:<8}", row.risk)),
                  (row.action == "run" ? "" : row.action + ": ") + policy::escape_text(row.command));
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
    for (const Row& row : *rows) out += (out.empty() ? "" : ",") + wire::json_text(app::row_object(row));
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

// Whether the decisions are all there and as they were written.
int verify(const Globals& globals) {
  std::error_code error;
  const std::string path = base::user_folders().history();
  if (!std::filesystem::exists(path, error)) {
    globals.json ? fmt::print("{{\"rows\":0,\"problems\":[]}}\n")
                 : fmt::print("nothing has been recorded yet\n");
    return 0;
  }
  auto opened = store::Store::open(path);
  if (!opened) return complain("history", opened.error().message, kExitFailure);
  for (const std::string& notice : opened->take_notices()) complain("history", notice, 0);
  const auto report = opened->verify_decisions();
  if (!report) return complain("history", report.error().message, kExitFailure);
  const int code = report->problems.empty() ? 0 : 1;
  if (globals.json) {
    std::string problems;
    for (const store::ChainProblem& each : report->problems) {
      problems += (problems.empty() ? "" : ",") +
                  base::JsonObject().number("row", each.number).text("problem", each.what).str();
    }
    base::JsonObject out;
    out.number("rows", report->rows)
        .number("pruned", report->anchor.number)
        .number("head", report->head.number);
    out.text("hash", report->head.hash).raw("problems", "[" + problems + "]");
    fmt::print("{}\n", out.str());
    return code;
  }
  for (const store::ChainProblem& each : report->problems) fmt::print("row {}: {}\n", each.number, each.what);
  if (code != 0) return code;
  fmt::print("{} decisions are unchanged", report->rows);
  if (report->anchor.number > 0)
    fmt::print("; {} older ones were removed because of their age or number", report->anchor.number);
  fmt::print("\nthe newest is row {}, hash {}\n", report->head.number, report->head.hash);
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TEXT", args->text, "Only commands that contain this text");
  app.add_flag("--failed", args->failed, "Only those that failed");
  app.add_option("--cwd", args->cwd, "Only those in this folder or below");
  app.add_option("--since", args->since, "Only those since: 90s, 15m, 2h, 7d, or a date");
  app.add_option("--terminal", args->terminal, "Only those in this terminal")->type_name("TERM");
  app.add_option("--task", args->task, "Only those of this task");
  app.add_flag("--decisions", args->decisions, "Show decisions instead of commands");
  app.add_option("--limit", args->limit, "Show at most this many, the newest")->capture_default_str();
  const CLI::App* verifying =
      app.add_subcommand("verify", "Check whether decisions are missing or were changed; exit code 1 if so");
  return [args, verifying, &globals] { return verifying->parsed() ? verify(globals) : show(*args, globals); };
}

}  // namespace
}  // namespace history_verb

const Verb kHistory = {"history", "Show what was run, and what was decided about it", &history_verb::declare};

}  // namespace ttyward::cli
