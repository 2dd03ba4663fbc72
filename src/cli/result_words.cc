#include "cli/result_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/daemon_verb.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "pty/exit_status.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

constexpr size_t kPromptShown = 200;  // columns; a prompt is a line

int signal_number(const std::string& name) {
  for (int number = 1; number <= 64; ++number) {
    if (pty::signal_name(number) == name) return number;
  }
  return 0;
}

}  // namespace

bool is_open(const std::string& state) {
  return state == "running" || state == "queued" || state == "awaiting_input" || state == "pending_approval";
}

int result_code(const wire::CommandResult& result) {
  const std::string& state = result.state;
  if (is_open(state)) return kExitNotYet;
  if (state == "timed_out") return 124;
  if (state == "denied") return 126;
  if (state == "skipped") return 0;
  if (result.exit_code) return static_cast<int>(std::clamp<int64_t>(*result.exit_code, 0, 255));
  if (const int number = signal_number(result.signal); number > 0) return 128 + number;
  return state == "interrupted" ? 130 : kExitFailure;
}

std::vector<std::string> waiting_words(const wire::Waiting& waiting, const std::string& terminal) {
  const std::string& kind = waiting.kind;
  const std::string program = one_line(waiting.program);
  const std::string who = program.empty() ? "it" : program;
  const std::string name = shell::quote_posix(terminal);
  const std::string prompt = cut_to(one_line(waiting.prompt), kPromptShown);
  const std::string said = prompt.empty() ? "" : ": " + prompt;
  if (kind == "password") {
    return {fmt::format("{} asks for a password{}", who, said),
            fmt::format("to answer: ttyward send {} --secret", name)};
  }
  if (kind == "key") {
    return {fmt::format("{} waits for a key{}", who, said),
            fmt::format("to answer: ttyward send {} --keys y", name)};
  }
  if (kind == "pager") {
    return {fmt::format("{} shows its output page by page{}", who, said),
            fmt::format("to leave it: ttyward send {0} --keys q; to read on: ttyward attach {0}", name)};
  }
  if (kind == "editor" || kind == "fullscreen") {
    return {fmt::format("{} has the whole screen and waits for keys", who),
            fmt::format("to use it: ttyward attach {}", name)};
  }
  return {fmt::format("{} waits for input{}", who, said),
          fmt::format("to answer: ttyward send {0} --text ANSWER --enter; or: ttyward attach {0}", name)};
}

std::vector<std::string> result_words(const wire::CommandResult& result, const std::string& terminal) {
  std::vector<std::string> words;
  const std::string& state = result.state;
  if (!result.fallback_reason.empty()) {
    words.push_back(
        fmt::format("it ran on pipes, not in the terminal: {}", one_line(result.fallback_reason)));
  }
  if (result.binary) {
    words.push_back(fmt::format("the output is binary ({} bytes) and is not shown", result.total_bytes));
  }
  if (result.lost_bytes > 0) {
    words.push_back(fmt::format("{} bytes of output could not be kept", result.lost_bytes));
  }
  if (state == "awaiting_input") {
    const auto more = waiting_words(result.waiting.value_or(wire::Waiting()), terminal);
    words.insert(words.end(), more.begin(), more.end());
  }
  if (!result.reason.empty()) words.push_back(one_line(result.reason));
  if (state == "running" || state == "awaiting_input") {
    words.push_back(fmt::format(
        "it keeps running as {0}: ttyward wait {0} waits for its end, ttyward read {0} shows its output",
        result.command_id));
  } else if (state == "pending_approval") {
    words.push_back(
        fmt::format("it waits for approval {0}: ttyward approvals allow {0}, or deny", result.approval));
    // The verb leaves, and the question stays.
    if (!result.command_id.empty())
      words.push_back(fmt::format(
          "ttyward wait {0} waits for the answer; once it runs, ttyward read {0} shows its output",
          result.command_id));
  } else if (state == "signaled" && result.reason.empty()) {
    words.push_back(fmt::format("ended by {}{}", result.signal,
                                result.core_dumped.value_or(false) ? " (core dumped)" : ""));
  } else if (words.empty() && (state == "lost" || state == "denied" || state == "failed_to_start")) {
    words.emplace_back(state == "lost"     ? "its exit status is not known"
                       : state == "denied" ? "it was denied"
                                           : "it could not be started");
  }
  for (const wire::Process& process : result.background)
    words.push_back(fmt::format("still running: {} {}", process.pid, one_line(process.command)));
  return words;
}

std::string how_it_ended(const wire::CommandResult& result) {
  const std::string& state = result.state;
  if (is_open(state) || state == "timed_out" || state == "denied") {
    std::string words = state;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }
  if (result.exit_code) return fmt::format("exit {}", *result.exit_code);
  if (!result.signal.empty()) return result.signal;
  std::string words = state.empty() ? "unknown" : state;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace ttyward::cli
