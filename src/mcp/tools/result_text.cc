#include "mcp/tools/result_text.h"

#include <fmt/format.h>

namespace ttyward::mcp::tools {
namespace {

constexpr size_t kShownCommand = 200;  // characters of a command repeated in an answer
constexpr size_t kShownProcesses = 10;
constexpr size_t kShownReasons = 3;
constexpr int64_t kTellTimeMs = 1000;

std::string id_of(const json::object& result) {
  const std::string command = text_or(result, "command_id");
  return command.empty() ? text_or(result, "terminal_id") : command;
}

std::string how_to_answer(const json::object& result, const json::object& waiting) {
  const std::string kind = text_or(waiting, "kind");
  const std::string terminal = text_or(result, "terminal_id");
  if (kind == "password")
    return fmt::format(
        "It asks for a secret. Do not guess one: a person can type it with `ttyward send {} --secret`.",
        terminal);
  if (kind == "pager")
    return fmt::format("It is a pager: send_input with id {} and keys \"q\" leaves it, \"Space\" pages on.",
                       terminal);
  if (kind == "editor" || kind == "fullscreen")
    return fmt::format(
        "It draws a whole screen: get_screen with id {} shows it, send_input with `keys` drives it.",
        terminal);
  if (kind == "key") return fmt::format("It reads single keys: send_input with id {} and `keys`.", terminal);
  return fmt::format("Answer with send_input: id {}, `text`. Or stop it: interrupt_command.", terminal);
}

std::string waiting_text(const json::object& result) {
  const json::object* waiting = object_at(result, "waiting");
  if (waiting == nullptr) return "It waits for input.";
  std::string program = visible_line(text_or(*waiting, "program", "the command"), 60);
  std::string prompt = visible_line(text_or(*waiting, "prompt"), kShownCommand);
  return fmt::format("Waiting for input ({}): {}{}.", text_or(*waiting, "kind", "input"), program,
                     prompt.empty() ? "" : " shows \"" + prompt + "\"");
}

std::string why_asked(const json::object& result) {
  const json::object* verdict = object_at(result, "verdict");
  const json::array* reasons = verdict != nullptr ? array_at(*verdict, "reasons") : nullptr;
  std::string text;
  for (size_t i = 0; reasons != nullptr && i < reasons->size() && i < kShownReasons; i++) {
    if (const json::object* reason = (*reasons)[i].if_object())
      text += (text.empty() ? " It " : "; ") + visible_line(text_or(*reason, "text"), kShownCommand);
  }
  return text.empty() ? text : text + ".";
}

// " (the parts of the pipe: 1, 0)", where one of them failed.
std::string pipeline_text(const json::object& result) {
  const json::array* codes = array_at(result, "pipeline");
  if (codes == nullptr || codes->size() < 2) return {};
  std::string text;
  bool failed = false;
  for (const json::value& code : *codes) {
    if (!code.is_int64()) return {};
    failed = failed || code.get_int64() != 0;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", code.get_int64());
  }
  return failed ? " (the parts of the pipe: " + text + ")" : "";
}

// When a command that goes on would be stopped.
std::string limits_text(const json::object& result) {
  std::string text;
  if (const auto left = integer_at(result, "time_left_ms"))
    text += fmt::format(" It is stopped at its time limit in {}.", duration_text(*left));
  if (const auto left = integer_at(result, "idle_left_ms"))
    text += fmt::format(" If it prints nothing, it is stopped in {}.", duration_text(*left));
  return text;
}

// " after 1.2 s"; nothing for what took no time worth telling.
std::string after_text(const json::object& result) {
  const int64_t ms = integer_at(result, "duration_ms").value_or(0);
  return ms < kTellTimeMs ? "" : " after " + duration_text(ms);
}

std::string usual_text(const json::object& result) {
  const json::object* usual = object_at(result, "usual");
  if (usual == nullptr) return {};
  return fmt::format(" It usually takes {} (of {} runs).",
                     duration_text(integer_at(*usual, "duration_ms").value_or(0)),
                     integer_at(*usual, "runs").value_or(0));
}

// What happened.
std::string status_text(const json::object& result) {
  const std::string state = text_or(result, "state");
  const std::string time = after_text(result);
  const std::string reason = visible_line(text_or(result, "reason"), 400);
  const auto code = integer_at(result, "exit_code");
  const std::string because = reason.empty() ? "" : " " + sentence(reason);
  if (state == "exited") {
    std::string text = code ? fmt::format("Exit code {}{}{}.", *code, time, pipeline_text(result))
                            : fmt::format("It ended{}; its exit code was not observed.", time);
    return text + (code && *code != 0 ? because : "");
  }
  if (state == "signaled") {
    return fmt::format("Killed by {}{}{}.{}", text_or(result, "signal", "a signal"), time,
                       flag_at(result, "core_dumped") ? " (core dumped)" : "", because);
  }
  if (state == "timed_out") return fmt::format("Stopped{}: it reached its time limit.{}", time, because);
  if (state == "interrupted") return fmt::format("Interrupted{}.{}", time, because);
  if (state == "denied") return "Not run: denied." + because;
  if (state == "skipped") return "Not run: a person skipped it." + because;
  if (state == "failed_to_start") return "Not run: it could not be started." + because;
  if (state == "pending_approval")
    return fmt::format("Not run yet: a person has to allow it, and has been asked (approval {}).{}",
                       text_or(result, "approval"), why_asked(result));
  if (state == "awaiting_input") return waiting_text(result) + limits_text(result);
  if (state == "running")
    return fmt::format("Still running{}. It keeps running.{}{}", time, usual_text(result),
                       limits_text(result));
  if (state == "queued") return "Not started yet." + because + " It runs when the keyboard is given back.";
  return "Its end was not observed: the outcome is unknown." + because;
}

// What to do about it; empty: nothing follows from it.
std::string next_text(const json::object& result) {
  const std::string state = text_or(result, "state");
  if (state == "timed_out") return "Raise timeout_ms, or run it in a persistent terminal.";
  if (state == "denied") return "Do not try to do the same in another way; ask the person you work for.";
  if (state == "skipped") return "Go on without it.";
  if (state == "pending_approval") {
    const std::string approval = text_or(result, "approval");
    return fmt::format(
        "Wait for the answer with wait_for, id {0}, or do other work meanwhile. A person answers with "
        "`ttyward approvals allow {0}` (or deny). Do not run it in another way.",
        approval);
  }
  if (state == "awaiting_input") {
    const json::object* waiting = object_at(result, "waiting");
    return how_to_answer(result, waiting != nullptr ? *waiting : json::object());
  }
  if (state == "running")
    return fmt::format("wait_for with id {} waits for its end, interrupt_command stops it.", id_of(result));
  if (state == "queued")
    return fmt::format("wait_for with id {} waits for its end, interrupt_command cancels it.", id_of(result));
  return {};
}

// " 4711 (sleep 9), 4712 (make)"; empty: there are none.
std::string process_list(const json::array* processes) {
  std::string text;
  const size_t count = processes != nullptr ? processes->size() : 0;
  for (size_t i = 0; i < count && i < kShownProcesses; i++) {
    if (const json::object* process = (*processes)[i].if_object())
      text += fmt::format("{} {} ({})", text.empty() ? "" : ",", integer_at(*process, "pid").value_or(0),
                          visible_line(text_or(*process, "command"), 60));
  }
  if (count > kShownProcesses) text += fmt::format(" and {} more", count - kShownProcesses);
  return text;
}

std::string processes_text(const json::object& result) {
  std::string text;
  if (const std::string left = process_list(array_at(result, "background")); !left.empty())
    text += fmt::format("Left running in the background:{}. kill_persistent_terminal with id {} ends them.\n",
                        left, text_or(result, "terminal_id"));
  if (const std::string ended = process_list(array_at(result, "ended_background")); !ended.empty())
    text += "Stopped with the command, because keep_background is false:" + ended + ".\n";
  if (const json::array* ports = array_at(result, "ports"); ports != nullptr && !ports->empty()) {
    text += "Listens on port";
    for (size_t i = 0; i < ports->size() && i < kShownProcesses; i++) {
      if (const json::object* port = (*ports)[i].if_object())
        text += fmt::format(" {}", integer_at(*port, "port").value_or(0));
    }
    text += "\n";
  }
  return text;
}

// Null: nothing confined it, or it did well there and there is nothing to know.
const json::object* telling_sandbox(const json::object& result) {
  const json::object* sandbox = object_at(result, "sandbox");
  if (sandbox == nullptr || integer_at(result, "exit_code").value_or(0) != 0) return sandbox;
  for (const char* list : {"denied", "notes"}) {
    const json::array* entries = array_at(*sandbox, list);
    if (entries != nullptr && !entries->empty()) return sandbox;
  }
  return nullptr;
}

// What a command changed that ran with `try`.
std::string changes_text(const json::object& result) {
  const json::object* changes = object_at(result, "changes");
  if (changes == nullptr || text_or(*changes, "state") == "running") return {};
  if (const std::string problem = text_or(*changes, "problem"); !problem.empty())
    return "Changes: " + visible_line(problem, kShownCommand) + "\n";
  const auto count = [&](const char* name) { return integer_at(*changes, name).value_or(0); };
  std::string text = fmt::format(
      "Changes ({}): {} added, {} changed, {} deleted, +{} -{} lines\n",
      text_or(*changes, "state") == "finished" ? "not applied; the project is as it was"
                                               : text_or(*changes, "state"),
      count("added"), count("changed"), count("deleted"), count("lines_added"), count("lines_removed"));
  const json::array* list = array_at(*changes, "list");
  for (size_t i = 0; list != nullptr && i < list->size(); i++) {
    const json::object* change = (*list)[i].if_object();
    if (change == nullptr) continue;
    const std::string kind = text_or(*change, "kind");
    text += fmt::format("{} {}{}",
                        kind == "added"     ? "A"
                        : kind == "deleted" ? "D"
                                            : "M",
                        visible_line(text_or(*change, "path"), kShownCommand),
                        text_or(*change, "type") == "folder" ? "/" : "");
    if (const auto added = integer_at(*change, "lines_added"))
      text += fmt::format(" +{} -{}", *added, integer_at(*change, "lines_removed").value_or(0));
    if (flag_at(*change, "binary")) text += " binary";
    if (const std::string note = text_or(*change, "note"); !note.empty()) text += " (" + note + ")";
    text += "\n";
  }
  if (count("more") > 0) text += fmt::format("and {} more\n", count("more"));
  if (text_or(*changes, "state") == "finished" && count("added") + count("changed") + count("deleted") > 0)
    text += fmt::format("A person can apply them: ttyward apply {}\n", id_of(result));
  return text;
}

// What confined it, where that may be why it failed.
std::string sandbox_text(const json::object& result) {
  const json::object* sandbox = telling_sandbox(result);
  if (sandbox == nullptr) return {};
  std::string text = "Sandbox: " + text_or(*sandbox, "profile");
  const bool failed = integer_at(result, "exit_code").value_or(0) != 0;
  if (failed) {
    text += fmt::format(
        " (only {} and private /tmp and home folders {}; {})",
        visible_line(text_or(*sandbox, "workspace"), kShownCommand),
        text_or(*sandbox, "profile").starts_with("read-only") ? "are visible, and only the latter "
                                                                "can be changed"
                                                              : "can be changed",
        text_or(*sandbox, "profile").find("+net") == std::string::npos ? "no network" : "with network");
    const json::object* verdict = object_at(result, "verdict");
    if (verdict != nullptr && text_or(*verdict, "decision") == "allow_confined")
      text +=
          "; if that is why it failed, run it with sandbox \"workspace+net\" (for network) or \"none\", "
          "and a person is asked";
  }
  for (const char* list : {"denied", "notes"}) {
    const json::array* entries = array_at(*sandbox, list);
    for (size_t i = 0; entries != nullptr && i < entries->size() && i < kShownProcesses; i++)
      if ((*entries)[i].is_string())
        text += (std::string_view(list) == "denied" ? "; not allowed: " : "; ") +
                visible_line(view((*entries)[i].get_string()), kShownCommand);
  }
  return text + "\n";
}

}  // namespace

std::string omitted_text(const json::object& omitted, int64_t total_lines, const std::string& id) {
  const int64_t lines = integer_at(omitted, "lines").value_or(0);
  const int64_t bytes = integer_at(omitted, "bytes").value_or(0);
  const int64_t first = integer_at(omitted, "first_line").value_or(0);
  if (lines == 0)
    return fmt::format(
        "Left out: {} bytes of line {}, which is long. Get them with read_output, id {}: from_line {}, "
        "from_column and to_column.\n",
        bytes, first, id, first);
  return fmt::format(
      "Left out: {} lines ({} bytes) between lines {} and {} of {}. Get them with read_output, id {}: "
      "from_line and to_line, or search.\n",
      lines, bytes, first, integer_at(omitted, "last_line").value_or(0), total_lines, id);
}

namespace {

// What is missing of the output, unless the output says so itself.
const json::object* omitted_of(const json::object& result) {
  const json::object* omitted = object_at(result, "omitted");
  return omitted != nullptr && !text_or(result, "output").ends_with(kDigestCut) ? omitted : nullptr;
}

std::string output_text(const json::object& result, const Fence& fence) {
  if (flag_at(result, "binary"))
    return fmt::format("The output is binary, {} bytes: write it to a file instead.\n",
                       integer_at(result, "total_bytes").value_or(0));
  const std::string output = text_or(result, "output");
  const bool said_before = integer_at(result, "total_lines").value_or(0) > 0;
  std::string text = !output.empty() ? fence.around("output", visible_text(output))
                     : said_before   ? "No new output.\n"
                                     : "No output.\n";
  if (flag_at(result, "no_newline")) text += "The last line has no newline at its end.\n";
  if (const json::object* omitted = omitted_of(result)) {
    text += omitted_text(*omitted, integer_at(result, "total_lines").value_or(0), id_of(result));
  }
  if (const auto lost = integer_at(result, "lost_bytes"); lost && *lost > 0)
    text += fmt::format(
        "{} bytes of output were dropped, because the command printed more than ttyward keeps.\n", *lost);
  return text;
}

}  // namespace

std::string duration_text(int64_t ms) {
  if (ms < 1000) return fmt::format("{} ms", ms);
  if (ms < 10'000) return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
  if (ms < 120'000) return fmt::format("{} s", ms / 1000);
  return fmt::format("{} min {} s", ms / 60'000, ms % 60'000 / 1000);
}

bool did_not_run(const json::object& result) {
  const std::string state = text_or(result, "state");
  return state == "denied" || state == "failed_to_start";
}

json::value visible_value(const json::value& value) {
  if (value.is_string()) return json::value(visible_text(view(value.get_string())));
  if (const json::array* array = value.if_array()) {
    json::array out;
    for (const json::value& item : *array) out.push_back(visible_value(item));
    return out;
  }
  if (const json::object* object = value.if_object()) {
    json::object out;
    for (const auto& [key, item] : *object) out[key] = visible_value(item);
    return out;
  }
  return value;
}

namespace {

// Whether the terminal is still good for something.
bool terminal_matters(const json::object& result) {
  const std::string state = text_or(result, "state");
  if (state == "running" || state == "awaiting_input" || state == "queued") return true;
  for (const char* left : {"background", "ports"}) {
    const json::array* list = array_at(result, left);
    if (list != nullptr && !list->empty()) return true;
  }
  return false;
}

bool has_output(const json::object& result) {
  const std::string state = text_or(result, "state");
  return state != "pending_approval" && state != "queued" && state != "skipped" && !did_not_run(result);
}

// Copies members that say something.
void take(json::object& out, const json::object& from, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const json::value* value = member(from, name);
    if (value == nullptr || value->is_null()) continue;
    if (value->is_string() && value->get_string().empty()) continue;
    if (value->is_array() && value->get_array().empty()) continue;
    if (value->is_bool() && !value->get_bool()) continue;
    if (value->is_object() && value->get_object().empty()) continue;
    out[name] = lean_value(*value);
  }
}

}  // namespace

json::value lean_value(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    json::array out;
    for (const json::value& item : *array) out.push_back(lean_value(item));
    return out;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return visible_value(value);
  json::object out;
  for (const auto& [name, item] : *object) take(out, *object, {std::string(name).c_str()});
  return out;
}

json::object lean_result(const json::object& result) {
  json::object out;
  take(out, result, {"state", "exit_code", "signal"});
  if (flag_at(result, "core_dumped")) out["core_dumped"] = true;
  if (!pipeline_text(result).empty()) take(out, result, {"pipeline"});
  if (integer_at(result, "exit_code").value_or(1) != 0) take(out, result, {"reason"});
  if (const json::object* waiting = object_at(result, "waiting")) {
    json::object asks;
    take(asks, *waiting, {"kind", "prompt", "program"});
    out["waiting"] = std::move(asks);
  }
  if (has_output(result)) take(out, result, {"output", "no_newline"});
  if (text_or(result, "encoding") != "UTF-8") take(out, result, {"encoding"});
  if (flag_at(result, "binary")) take(out, result, {"binary", "total_bytes"});
  if (const json::object* omitted = omitted_of(result)) {
    out["omitted"] = lean_value(*omitted);
    take(out, result, {"total_lines"});
  }
  if (integer_at(result, "lost_bytes").value_or(0) > 0) take(out, result, {"lost_bytes"});
  if (integer_at(result, "duration_ms").value_or(0) >= kTellTimeMs) take(out, result, {"duration_ms"});
  take(out, result,
       {"time_left_ms", "idle_left_ms", "background", "ended_background", "ports", "approval", "place",
        "fallback_reason", "typed_meanwhile", "dialogue", "usual", "suggestions", "command_id"});
  if (const json::object* sandbox = telling_sandbox(result)) {
    json::object confined;
    take(confined, *sandbox, {"profile", "workspace", "denied", "notes"});
    out["sandbox"] = std::move(confined);
  }
  if (terminal_matters(result)) take(out, result, {"terminal_id"});
  const std::string after = text_or(result, "cwd_after");
  if (!after.empty() && after != text_or(result, "cwd")) take(out, result, {"cwd_after"});
  if (text_or(result, "state") == "pending_approval") {
    if (const std::string why = why_asked(result); !why.empty()) out["reason"] = why.substr(1);
  }
  if (const std::string next = next_text(result); !next.empty()) out["next"] = next;
  return out;
}

std::string result_text(const json::object& result, const Fence& fence, Echo echo) {
  std::string text;
  if (echo == Echo::Command) text = "$ " + visible_line(text_or(result, "command"), kShownCommand) + "\n";
  text += status_text(result);
  if (const std::string next = next_text(result); !next.empty()) text += " " + next;
  if (!text_or(result, "command_id").empty() && text_or(result, "state") != "denied")
    text += " Command " + text_or(result, "command_id") + ".";
  text += "\n";
  const std::string cwd = text_or(result, "cwd");
  const std::string after = text_or(result, "cwd_after");
  if (!after.empty() && after != cwd)
    text += "The folder is now " + visible_line(after, kShownCommand) + "\n";
  text += changes_text(result);
  text += sandbox_text(result);
  text += processes_text(result);
  if (has_output(result)) text += output_text(result, fence);
  const json::array* suggestions = array_at(result, "suggestions");
  for (size_t i = 0; suggestions != nullptr && i < suggestions->size(); i++) {
    if ((*suggestions)[i].is_string())
      text += "May help: " + visible_line(view((*suggestions)[i].get_string()), kShownCommand) + "\n";
  }
  return text;
}

json::object lean_terminal(const json::object& terminal) {
  json::object out;
  take(out, terminal, {"id", "name", "state", "place", "link_lost"});
  out["cwd"] = visible_line(text_or(terminal, "cwd"), kShownCommand);
  if (const json::object* command = object_at(terminal, "command")) {
    json::object runs;
    runs["command"] = visible_line(text_or(*command, "command"), 80);
    take(runs, *command, {"command_id", "state"});
    out["command"] = std::move(runs);
  }
  if (object_at(terminal, "lease") != nullptr) out["keyboard"] = "a person's";
  return out;
}

std::string terminal_line(const json::object& terminal) {
  std::string text = text_or(terminal, "id");
  const std::string name = visible_line(text_or(terminal, "name"), 60);
  if (!name.empty()) text += " \"" + name + "\"";
  text += ": " + text_or(terminal, "state", "unknown");
  const std::string cwd = visible_line(text_or(terminal, "cwd"), kShownCommand);
  if (!cwd.empty()) text += ", in " + cwd;
  if (const json::object* command = object_at(terminal, "command"))
    text += fmt::format(", runs `{}` ({})", visible_line(text_or(*command, "command"), 80),
                        text_or(*command, "command_id"));
  if (object_at(terminal, "lease") != nullptr) text += ", a person has the keyboard";
  if (const json::object* queued = object_at(terminal, "queued"))
    text += fmt::format(", `{}` ({}) waits for it", visible_line(text_or(*queued, "command"), 80),
                        text_or(*queued, "command_id"));
  return text;
}

}  // namespace ttyward::mcp::tools
