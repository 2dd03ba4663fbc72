// read_output, get_screen, send_input: what a terminal shows, and what is typed into it.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mcp/content.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/tool.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::mcp::tools {
namespace {

using Type = Argument::Type;

constexpr int64_t kColumnsAtOnce = 40'000;  // of a long line, where no end is given
constexpr int64_t kContext = 2;
constexpr int64_t kMostMatches = 50;
constexpr int64_t kTailLines = 200;
constexpr int64_t kInputWaitMs = 30'000;
constexpr int64_t kStableMs = 700;  // a screen that did not change for so long has been drawn

// Which part is wanted; empty: fine.
std::string which_part(const json::object& values, wire::ReadRequest& read) {
  const auto from = integer_at(values, "from_line");
  const auto to = integer_at(values, "to_line");
  const bool range = from || to;
  const int ways = (range ? 1 : 0) + (values.contains("tail") ? 1 : 0) + (values.contains("search") ? 1 : 0) +
                   (flag_at(values, "only_new") ? 1 : 0);
  if (ways > 1) return "Choose one: from_line/to_line, tail, search or only_new.";
  const auto from_column = integer_at(values, "from_column");
  const auto to_column = integer_at(values, "to_column");
  if ((from_column || to_column) && !from) return "`from_column` and `to_column` need `from_line`.";
  if (range) {
    const int64_t first = from.value_or(1);
    const int64_t last = to.value_or(from_column || to_column ? first : first + 499);
    if (last < first) return "`to_line` must not be before `from_line`.";
    read.range = {first, last};
    if (from_column || to_column) {
      const int64_t left = from_column.value_or(1);
      const int64_t right = to_column.value_or(left + kColumnsAtOnce - 1);
      if (right < left) return "`to_column` must not be before `from_column`.";
      read.columns = {left, right};
    }
  } else if (values.contains("search")) {
    read.grep = text_or(values, "search");
    read.context = integer_at(values, "context").value_or(kContext);
    read.most = integer_at(values, "max_matches").value_or(kMostMatches);
  } else if (values.contains("tail")) {
    read.tail = integer_at(values, "tail");
  } else if (!values.contains("view")) {
    read.only_new = true;
  }
  return {};
}

std::string read_text(const json::object& read, const wire::ReadRequest& asked, const std::string& id) {
  const int64_t total = integer_at(read, "total_lines").value_or(0);
  const Fence fence;
  const std::string text = text_or(read, "text");
  if (asked.grep) {
    if (text.empty()) return fmt::format("No line of {} matches ({} lines searched).\n", id, total);
    return fence.around("matching lines", visible_text(text)) +
           (flag_at(read, "more") ? "There are more matches: raise max_matches or use a narrower pattern.\n"
                                  : "");
  }
  const std::string state = text_or(read, "state");
  if (text.empty()) {
    return fmt::format("Nothing new ({}, {} lines). from_line, tail, search or view reads again{}.\n", state,
                       total, state == "running" ? "; wait_for waits" : "");
  }
  std::string out = fmt::format("Lines {} to {} of {}, {}", integer_at(read, "first_line").value_or(0),
                                integer_at(read, "last_line").value_or(0), total, state);
  if (asked.columns)
    out += fmt::format(", columns {} to {} (the longest line has {})", asked.columns->front(),
                       asked.columns->back(), integer_at(read, "longest_line").value_or(0));
  out += ".\n" + fence.around("output", visible_text(text));
  if (const json::object* omitted = object_at(read, "omitted")) out += omitted_text(*omitted, total, id);
  return out;
}

// What a caller needs of it: the text has the numbers of what matched.
json::object lean_read(const json::object& read) {
  json::object out = lean_value(read).as_object();
  for (const char* known : {"total_bytes", "terminal_id", "command_id", "matches"}) out.erase(known);
  if (text_or(read, "text").ends_with(kDigestCut)) out.erase("omitted");
  if (is_null(read, "omitted")) out.erase("more");
  return out;
}

Detached read_output(Context& context, RequestPtr request, json::object values) {
  const std::string id = text_or(values, "id");
  wire::ReadRequest read;
  if (const std::string problem = which_part(values, read); !problem.empty()) {
    request->reply(error_result(problem));
    co_return;
  }
  set_target(read, id);
  const bool by_number = read.range || read.grep || read.tail;
  if (by_number && !values.contains("view")) {
    add_lines_view(values, read.tail ? End::Last : End::First, read.view);
  } else {
    add_view(values, read.view);
  }
  CallReply reply = co_await call_daemon(context, request, read);
  // Whoever asks again for what has ended wants to see it again.
  if (reply && read.only_new && !flag_at(values, "only_new") && text_or(*reply, "text").empty() &&
      !flag_at(*reply, "more")) {
    read.only_new = false;
    read.tail = kTailLines;
    add_lines_view(values, End::Last, read.view);
    reply = co_await call_daemon(context, request, read);
  }
  request->reply(reply ? both(read_text(*reply, read, visible_line(id, 60)),
                              wants_detail(values) ? *reply : lean_read(*reply))
                       : failure_result(reply.error()));
}

Detached get_screen(Context& context, RequestPtr request, json::object values) {
  const std::string id = text_or(values, "id");
  wire::ScreenRequest screen;
  screen.terminal = id;
  screen.history = integer_at(values, "history").value_or(0);
  const CallReply reply = co_await call_daemon(context, request, screen);
  if (!reply) {
    request->reply(failure_result(reply.error()));
    co_return;
  }
  const json::object* cursor = object_at(*reply, "cursor");
  std::string text = fmt::format(
      "Screen of {}, {} columns, {} rows{}{}.\n", visible_line(id, 60),
      integer_at(*reply, "cols").value_or(0), integer_at(*reply, "rows").value_or(0),
      flag_at(*reply, "alternate") ? ", full-screen program" : "",
      cursor != nullptr ? fmt::format(", cursor at row {}, column {}", integer_at(*cursor, "row").value_or(0),
                                      integer_at(*cursor, "col").value_or(0))
                        : "");
  text += Fence().around("screen", visible_text(text_or(*reply, "content")));
  json::object structured = *reply;
  if (!wants_detail(values)) structured = lean_value(structured).as_object();
  request->reply(both(text, structured));
}

// A line end at the end of the text is the Enter that is pressed anyway.
std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

// Types, then waits until the program has said all it has to say: it ended, or asks again.
Detached send_input(Context& context, RequestPtr request, json::object values) {
  const std::string id = text_or(values, "id");
  const auto text = text_at(values, "text");
  const auto keys = text_at(values, "keys");
  if (text.has_value() == keys.has_value()) {
    request->reply(
        error_result("Give one of `text` (typed, then Enter) and `keys` (such as \"C-c\", \"Up Enter\")."));
    co_return;
  }
  const bool secret = flag_at(values, "secret");
  wire::InputRequest input;
  input.terminal = id;
  input.keys = keys;
  if (text) {
    const bool enter = flag_at(values, "enter", true);
    (secret ? input.secret : input.text) = (enter ? without_line_end(*text) : *text) + (enter ? "\r" : "");
  }
  const CallReply typed = co_await call_daemon(context, request, input);
  if (!typed) {
    request->reply(failure_result(typed.error()));
    co_return;
  }
  if (const std::string approval = text_or(*typed, "approval"); !approval.empty()) {
    request->reply(
        both(fmt::format("Not typed yet. {}\nWait for the answer with wait_for and the id {}; once a person "
                         "allows it, it is typed.",
                         sentence(visible_line(text_or(*typed, "reason"), 500)), approval),
             *typed));
    co_return;
  }
  const std::string command = text_or(*typed, "command_id");
  wire::WaitRequest wait;
  (command.empty() ? wait.terminal : wait.command) = command.empty() ? id : command;
  wait.input = true;
  wait.exit = true;
  wait.only_new = true;
  // Keys are for programs that draw; and where no command is known, quiet is all there is to see.
  if (keys || command.empty()) wait.stable = std::chrono::milliseconds(kStableMs);
  wait.timeout =
      std::chrono::milliseconds(std::max<int64_t>(1, integer_at(values, "wait_ms").value_or(kInputWaitMs)));
  add_view(values, wait.view);
  const CallReply waited = co_await call_daemon(context, request, wait);
  if (!waited) {
    request->reply(failure_result(
        call_failure(waited.error().code,
                     "It was typed, but the output after it could not be read: " + waited.error().message)));
    co_return;
  }
  const json::object* result = object_at(*waited, "result");
  json::object structured;
  if (wants_detail(values)) {
    if (result != nullptr) structured = *result;
    for (const auto& [name, value] : *typed) structured[name] = value;
  } else if (result != nullptr) {
    structured = lean_result(*result);
  } else if (const json::object* terminal = object_at(*waited, "terminal")) {
    structured = lean_terminal(*terminal);
  }
  structured["condition"] = text_or(*waited, "condition");
  std::string out = "Typed. ";
  if (result != nullptr) {
    out += result_text(*result, Fence());
  } else if (const json::object* terminal = object_at(*waited, "terminal")) {
    out += terminal_line(*terminal) + "\n";
  }
  request->reply(both(out, structured));
}

}  // namespace

std::vector<Tool> output_tools() {
  return {
      {"read_output",
       "Read output",
       "Read what a command or terminal printed: what is new to you (default), a range of lines, the last "
       "ones (tail), those that match (search), or all of it again (view).",
       with_view({id_argument("Of a command or terminal"),
                  {.name = "tail", .type = Type::Integer, .description = "", .least = 1, .most = 20'000},
                  {.name = "from_line", .type = Type::Integer, .description = "", .least = 1},
                  {.name = "to_line", .type = Type::Integer, .description = "", .least = 1},
                  {.name = "from_column", .type = Type::Integer, .description = "For long lines", .least = 1},
                  {.name = "to_column", .type = Type::Integer, .description = "", .least = 1},
                  {.name = "search", .type = Type::Text, .description = "RE2"},
                  {.name = "context",
                   .type = Type::Integer,
                   .description = "Lines around each match (2)",
                   .fallback = kContext,
                   .least = 0,
                   .most = 50},
                  {.name = "max_matches",
                   .type = Type::Integer,
                   .description = "Default 50",
                   .fallback = kMostMatches,
                   .least = 1,
                   .most = 1000},
                  {.name = "only_new", .type = Type::Flag, .description = "", .fallback = 0}}),
       {.read_only = true, .destructive = false, .idempotent = false, .open_world = false},
       any_schema,
       TaskSupport::Never,
       read_output},
      {"get_screen",
       "See a terminal's screen",
       "Return what a terminal's screen shows now: for full-screen programs.",
       {id_argument("The terminal's"),
        {.name = "history",
         .type = Type::Integer,
         .description = "Lines above it (0)",
         .fallback = 0,
         .least = 0,
         .most = 5000},
        {.name = "detail", .type = Type::Flag, .description = "", .fallback = 0, .told = false}},
       {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
       any_schema,
       TaskSupport::Never,
       get_screen},
      {"send_input",
       "Type into a terminal",
       "Type into a terminal: an answer to a program that asks, or keys for a full-screen program. Returns "
       "what is new when the command ends or asks again, or after wait_ms.",
       with_view(
           {id_argument("The terminal's"),
            {.name = "text", .type = Type::Text, .description = ""},
            {.name = "enter",
             .type = Type::Flag,
             .description = "Press Enter after the text (true)",
             .fallback = 1,
             .aliases = {"submit"}},
            {.name = "keys", .type = Type::Text, .description = "Instead of text: \"C-c\", \"Up Up Enter\""},
            {.name = "secret",
             .type = Type::Flag,
             .description = "Typed only where input is hidden; never recorded",
             .fallback = 0},
            {.name = "wait_ms",
             .type = Type::Integer,
             .description = "Default 30000",
             .fallback = kInputWaitMs,
             .least = 0,
             .most = 600'000}},
           false),
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       any_schema,
       TaskSupport::Never,
       send_input},
  };
}

}  // namespace ttyward::mcp::tools
