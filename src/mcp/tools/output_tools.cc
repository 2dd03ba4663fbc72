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
  } else if (flag_at(values, "only_new")) {
    read.only_new = true;
  } else {
    read.tail = integer_at(values, "tail").value_or(200);
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
  if (text.empty()) return fmt::format("Nothing to read, or nothing new; {} has {} lines.\n", id, total);
  std::string out = fmt::format("Lines {} to {} of {}", integer_at(read, "first_line").value_or(0),
                                integer_at(read, "last_line").value_or(0), total);
  if (asked.columns)
    out += fmt::format(", columns {} to {} (the longest line has {})", asked.columns->front(),
                       asked.columns->back(), integer_at(read, "longest_line").value_or(0));
  out += ".\n" + fence.around("output", visible_text(text));
  if (const json::object* omitted = object_at(read, "omitted")) out += omitted_text(*omitted, total, id);
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
  add_view(values, read.view);
  const CallReply reply = co_await call_daemon(context, request, read);
  request->reply(reply ? both(read_text(*reply, read, visible_line(id, 60)), *reply)
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
  request->reply(both(text, *reply));
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
  json::object structured = result != nullptr ? *result : json::object();
  for (const auto& [name, value] : *typed) structured[name] = value;
  structured["condition"] = text_or(*waited, "condition");
  std::string out = "Typed.\n";
  if (result != nullptr) {
    out += result_text(*result, Fence());
  } else if (const json::object* terminal = object_at(*waited, "terminal")) {
    out += terminal_line(*terminal) + "\n";
  }
  request->reply(both(out, structured));
}

json::object read_schema() {
  return answer_schema(wire::shape_of<wire::ReadAnswer>(),
                       {"text", "first_line", "last_line", "total_lines", "total_bytes", "more", "matches"});
}
json::object screen_schema() {
  return answer_schema(wire::shape_of<wire::ScreenContent>(),
                       {"content", "cols", "rows", "cursor", "alternate", "title"});
}
// A Result, and how it came; without a command there is only the latter.
json::object input_schema_out() {
  json::object schema = result_schema();
  json::object& properties = schema["properties"].get_object();
  properties["bytes"] = json::object{{"type", "integer"}};
  properties["condition"] = json::object{{"type", "string"}};
  schema.erase("required");
  return schema;
}

}  // namespace

std::vector<Tool> output_tools() {
  return {
      {"read_output",
       "Read output",
       "Read any part of what a command or terminal printed, as a person would have seen it: the end "
       "(default), a range of lines, "
       "what is new since you last asked, or the lines that match.",
       {id_argument("The id of a command or terminal"),
        {.name = "tail",
         .type = Type::Integer,
         .description = "The number of lines to read from the end (default 200)",
         .least = 1,
         .most = 20'000},
        {.name = "from_line", .type = Type::Integer, .description = "First line, from 1", .least = 1},
        {.name = "to_line", .type = Type::Integer, .description = "Last line", .least = 1},
        {.name = "from_column",
         .type = Type::Integer,
         .description = "For a long line: the first column to read, from 1",
         .least = 1},
        {.name = "to_column", .type = Type::Integer, .description = "The last column to read", .least = 1},
        {.name = "search",
         .type = Type::Text,
         .description = "Lines that match this regular expression (RE2), with their numbers"},
        {.name = "context",
         .type = Type::Integer,
         .description = "Lines around each match",
         .fallback = kContext,
         .least = 0,
         .most = 50},
        {.name = "max_matches",
         .type = Type::Integer,
         .description = "Most matches",
         .fallback = kMostMatches,
         .least = 1,
         .most = 1000},
        {.name = "only_new",
         .type = Type::Flag,
         .description = "Only output you have not read yet",
         .fallback = 0},
        max_lines_argument(),
        max_chars_argument()},
       {.read_only = true, .destructive = false, .idempotent = false, .open_world = false},
       read_schema,
       TaskSupport::Never,
       read_output},
      {"get_screen",
       "See a terminal's screen",
       "Return what a terminal's screen shows now. For editors, pagers, menus and other full-screen "
       "programs.",
       {id_argument("The terminal's id"),
        {.name = "history",
         .type = Type::Integer,
         .description = "How many lines above the screen to include",
         .fallback = 0,
         .least = 0,
         .most = 5000}},
       {.read_only = true, .destructive = false, .idempotent = true, .open_world = false},
       screen_schema,
       TaskSupport::Never,
       get_screen},
      {"send_input",
       "Type into a terminal",
       "Type into a terminal: an answer to a program that asks, or keys for a full-screen program. Returns "
       "when the command ends or asks again, or after wait_ms, with the new lines it printed, its state and "
       "its exit code. To run a command use run_persistent_command instead.",
       {id_argument("The terminal's id"),
        {.name = "text",
         .type = Type::Text,
         .description = "Text to type; a line end at its end is the Enter"},
        {.name = "enter",
         .type = Type::Flag,
         .description = "Press Enter after the text",
         .fallback = 1,
         .aliases = {"submit"}},
        {.name = "keys",
         .type = Type::Text,
         .description =
             "Keys instead of text, separated by spaces: \"C-c\", \"Up Up Enter\", \"Escape\", \"q\""},
        {.name = "secret",
         .type = Type::Flag,
         .description =
             "The text is a secret: it is typed only while the program hides its input, and never recorded",
         .fallback = 0},
        {.name = "wait_ms",
         .type = Type::Integer,
         .description = "Return after this time even if the command has neither ended nor asked again",
         .fallback = kInputWaitMs,
         .least = 0,
         .most = 600'000},
        max_lines_argument(),
        max_chars_argument()},
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
       input_schema_out,
       TaskSupport::Never,
       send_input},
  };
}

}  // namespace ttyward::mcp::tools
