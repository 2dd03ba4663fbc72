#include "mcp/tools/result_text.h"

#include <fmt/format.h>

namespace ttyward::mcp::tools {
namespace {

constexpr size_t kShownCommand = 200;  // characters of a command repeated in an answer
constexpr size_t kShownProcesses = 10;
constexpr size_t kShownReasons = 3;

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
  return fmt::format("Waiting for input ({}): {}{}. {}", text_or(*waiting, "kind", "input"), program,
                     prompt.empty() ? "" : " shows \"" + prompt + "\"", how_to_answer(result, *waiting));
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

std::string pending_text(const json::object& result) {
  const std::string approval = text_or(result, "approval");
  return fmt::format(
      "Not run yet: a person has to allow it, and has been asked (approval {}).{} Wait for the answer with "
      "wait_for, id {}, or do other work meanwhile. A person answers with `ttyward approvals allow {}` (or "
      "deny). Do not run it in another way.",
      approval, why_asked(result), approval, approval);
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

std::string status_text(const json::object& result) {
  const std::string state = text_or(result, "state");
  const std::string time = duration_text(integer_at(result, "duration_ms").value_or(0));
  const std::string reason = visible_line(text_or(result, "reason"), 400);
  const auto code = integer_at(result, "exit_code");
  const std::string because = reason.empty() ? "" : " " + sentence(reason);
  if (state == "exited") {
    std::string text = code ? fmt::format("Exit code {} after {}{}.", *code, time, pipeline_text(result))
                            : fmt::format("It ended after {}; its exit code was not observed.", time);
    return text + (code && *code != 0 ? because : "");
  }
  if (state == "signaled") {
    return fmt::format("Killed by {} after {}{}.{}", text_or(result, "signal", "a signal"), time,
                       flag_at(result, "core_dumped") ? " (core dumped)" : "", because);
  }
  if (state == "timed_out")
    return fmt::format(
        "Stopped after {}: it reached its time limit.{} Raise timeout_ms, or run it in a persistent "
        "terminal.",
        time, because);
  if (state == "interrupted") return fmt::format("Interrupted after {}.{}", time, because);
  if (state == "denied")
    return fmt::format(
        "Not run: denied.{} Do not try to do the same in another way; ask the person you work for.", because);
  if (state == "skipped") return "Not run: a person skipped it." + because + " Go on without it.";
  if (state == "failed_to_start") return "Not run: it could not be started." + because;
  if (state == "pending_approval") return pending_text(result);
  if (state == "awaiting_input") return waiting_text(result) + limits_text(result);
  if (state == "running") {
    return fmt::format(
        "Still running after {}. It keeps running: wait_for with id {} waits for its end, read_output with "
        "only_new shows what is new, interrupt_command stops it.{}",
        time, id_of(result), limits_text(result));
  }
  if (state == "queued") {
    return fmt::format(
        "Not started yet.{} It runs when the keyboard is given back: wait_for with id {} waits for its end, "
        "interrupt_command cancels it.",
        because, id_of(result));
  }
  return "Its end was not observed: the outcome is unknown." + because;
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

// What confined it, where that may be why it failed.
std::string sandbox_text(const json::object& result) {
  const json::object* sandbox = object_at(result, "sandbox");
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

std::string output_text(const json::object& result, const Fence& fence) {
  if (flag_at(result, "binary"))
    return fmt::format("The output is binary, {} bytes: write it to a file instead.\n",
                       integer_at(result, "total_bytes").value_or(0));
  const std::string output = text_or(result, "output");
  std::string text = output.empty() ? "No output.\n" : fence.around("output", visible_text(output));
  if (flag_at(result, "no_newline")) text += "The last line has no newline at its end.\n";
  if (const json::object* omitted = object_at(result, "omitted")) {
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

std::string result_text(const json::object& result, const Fence& fence) {
  std::string text =
      fmt::format("$ {}\n{}\n", visible_line(text_or(result, "command"), kShownCommand), status_text(result));
  const std::string state = text_or(result, "state");
  const std::string cwd = visible_line(text_or(result, "cwd"), kShownCommand);
  const std::string after = visible_line(text_or(result, "cwd_after"), kShownCommand);
  if (!cwd.empty())
    text += "Folder: " + cwd + (after.empty() || after == cwd ? "" : ", afterwards " + after) + "\n";
  if (!text_or(result, "command_id").empty() && state != "denied") {
    text += "Command " + text_or(result, "command_id");
    const std::string terminal = text_or(result, "terminal_id");
    if (!terminal.empty()) text += " in terminal " + terminal;
    if (const auto group = integer_at(result, "process_group"))
      text += fmt::format(", process group {}", *group);
    text += "\n";
  }
  text += sandbox_text(result);
  text += processes_text(result);
  const bool nothing =
      state == "pending_approval" || state == "queued" || state == "skipped" || did_not_run(result);
  if (!nothing) text += output_text(result, fence);
  return text;
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
