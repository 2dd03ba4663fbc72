#include "terminal/result.h"

#include "base/json_text.h"
#include "base/rfc3339.h"
#include "pty/exit_status.h"

namespace ttyward::terminal {
namespace {

using base::JsonObject;

void text_or_null(JsonObject& object, const char* name, const std::string& value) {
  value.empty() ? object.null(name) : object.text(name, value);
}

template <typename T>
void number_or_null(JsonObject& object, const char* name, const std::optional<T>& value) {
  value ? object.number(name, *value) : object.null(name);
}

// Members that most results do not have are left out.
void number_if_any(JsonObject& object, const char* name, const std::optional<int64_t>& value) {
  if (value) object.number(name, *value);
}

template <typename T, typename F>
std::string array_of(const std::vector<T>& items, F to_json) {
  std::string out = "[";
  for (const T& item : items) out += (out.size() > 1 ? "," : "") + to_json(item);
  return out + "]";
}

std::string waiting_json(const WaitingFor& waiting) {
  return JsonObject()
      .text("kind", waiting.kind)
      .text("prompt", waiting.prompt)
      .text("program", waiting.program)
      .number("pid", waiting.pid)
      .text("evidence", waiting.evidence)
      .str();
}

std::string omitted_json(const Omitted& omitted) {
  return JsonObject()
      .number("bytes", static_cast<int64_t>(omitted.bytes))
      .number("lines", static_cast<int64_t>(omitted.lines))
      .number("first_line", static_cast<int64_t>(omitted.first_line))
      .number("last_line", static_cast<int64_t>(omitted.last_line))
      .str();
}

}  // namespace

const char* command_state_name(CommandState state) {
  switch (state) {
    case CommandState::PendingApproval:
      return "pending_approval";
    case CommandState::Queued:
      return "queued";
    case CommandState::Running:
      return "running";
    case CommandState::AwaitingInput:
      return "awaiting_input";
    case CommandState::Exited:
      return "exited";
    case CommandState::Signaled:
      return "signaled";
    case CommandState::TimedOut:
      return "timed_out";
    case CommandState::Interrupted:
      return "interrupted";
    case CommandState::Denied:
      return "denied";
    case CommandState::Skipped:
      return "skipped";
    case CommandState::FailedToStart:
      return "failed_to_start";
    case CommandState::Lost:
      return "lost";
  }
  return "lost";
}

std::string CommandResult::to_json() const {
  JsonObject object;
  text_or_null(object, "command_id", command_id);
  text_or_null(object, "terminal_id", terminal_id);
  object.text("command", command);
  text_or_null(object, "cwd", cwd);
  text_or_null(object, "cwd_after", cwd_after);
  object.text("state", command_state_name(state));
  number_or_null(object, "exit_code", exit_code);
  text_or_null(object, "signal", signal);
  core_dumped ? object.boolean("core_dumped", *core_dumped) : object.null("core_dumped");
  text_or_null(object, "known_by", known_by);
  pipeline.empty()
      ? object.null("pipeline")
      : object.raw("pipeline", array_of(pipeline, [](int code) { return std::to_string(code); }));
  text_or_null(object, "reason", reason);
  waiting ? object.raw("waiting", waiting_json(*waiting)) : object.null("waiting");
  object.text("output", output.text);
  output.omitted ? object.raw("omitted", omitted_json(*output.omitted)) : object.null("omitted");
  object.number("total_bytes", static_cast<int64_t>(total_bytes));
  object.number("total_lines", static_cast<int64_t>(total_lines));
  object.number("lost_bytes", static_cast<int64_t>(lost_bytes));
  object.boolean("binary", binary);
  if (no_newline) object.boolean("no_newline", true);
  text_or_null(object, "encoding", encoding);
  started_at_ms != 0 ? object.text("started_at", base::rfc3339(started_at_ms)) : object.null("started_at");
  object.number("duration_ms", duration_ms);
  number_if_any(object, "time_left_ms", time_left_ms);
  number_if_any(object, "idle_left_ms", idle_left_ms);
  number_if_any(object, "pid", pid);
  number_if_any(object, "process_group", process_group);
  number_or_null(object, "cpu_ms", cpu_ms);
  number_or_null(object, "max_rss_kib", max_rss_kib);
  const auto process_json = [](const BackgroundProcess& process) {
    return JsonObject().number("pid", process.pid).text("command", process.command).str();
  };
  object.raw("background", array_of(background, process_json));
  if (!ended_background.empty()) object.raw("ended_background", array_of(ended_background, process_json));
  object.raw("ports", array_of(ports, [](const OpenPort& port) {
               return JsonObject().number("port", port.port).number("pid", port.pid).str();
             }));
  text_or_null(object, "provider", provider);
  text_or_null(object, "fallback_reason", fallback_reason);
  text_or_null(object, "integration", integration);
  verdict_json.empty() ? object.null("verdict") : object.raw("verdict", verdict_json);
  text_or_null(object, "approval", approval);
  return object.str();
}

void CommandResult::decode_shell_code() {
  constexpr int kLastSignal = 64;
  if (!signal.empty() || !exit_code || *exit_code <= 128 || *exit_code > 128 + kLastSignal) return;
  signal = pty::signal_name(*exit_code - 128);
  core_dumped.reset();
  if (reason.empty())
    reason = "by the shell's convention, code " + std::to_string(*exit_code) + " means " + signal;
}

int CommandResult::shell_code() const {
  switch (state) {
    case CommandState::TimedOut:
      return 124;
    case CommandState::FailedToStart:
      return start_failure_code.value_or(125);
    case CommandState::Denied:
      return 126;
    case CommandState::Skipped:
      return 0;
    default:
      break;
  }
  if (exit_code) return *exit_code;
  if (!signal.empty()) {
    for (int number = 1; number <= 64; number++) {
      if (pty::signal_name(number) == signal) return 128 + number;
    }
  }
  return state == CommandState::Interrupted ? 130 : 125;
}

}  // namespace ttyward::terminal
