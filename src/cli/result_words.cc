#include "cli/result_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "pty/exit_status.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr size_t kPromptShown = 200;  // columns; a prompt is a line

int signal_number(const std::string& name) {
  for (int number = 1; number <= 64; ++number) {
    if (pty::signal_name(number) == name) return number;
  }
  return 0;
}

bool is_open(const std::string& state) {
  return state == "running" || state == "queued" || state == "awaiting_input" || state == "pending_approval";
}

}  // namespace

int result_code(const json::object& result) {
  const std::string state = text_in(result, "state");
  if (is_open(state)) return kExitNotYet;
  if (state == "timed_out") return 124;
  if (state == "denied") return 126;
  if (state == "skipped") return 0;
  if (const auto code = number_in(result, "exit_code"))
    return static_cast<int>(std::clamp<int64_t>(*code, 0, 255));
  if (const int number = signal_number(text_in(result, "signal")); number > 0) return 128 + number;
  return state == "interrupted" ? 130 : kExitFailure;
}

std::vector<std::string> waiting_words(const json::object& waiting, const std::string& terminal) {
  const std::string kind = text_in(waiting, "kind");
  const std::string program = one_line(text_in(waiting, "program"));
  const std::string who = program.empty() ? "it" : program;
  const std::string name = shell::quote_posix(terminal);
  const std::string prompt = cut_to(one_line(text_in(waiting, "prompt")), kPromptShown);
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

std::vector<std::string> result_words(const json::object& result, const std::string& terminal) {
  std::vector<std::string> words;
  const std::string state = text_in(result, "state");
  const std::string id = text_in(result, "command_id");
  if (const std::string fallback = text_in(result, "fallback_reason"); !fallback.empty()) {
    words.push_back(fmt::format("it ran on pipes, not in the terminal: {}", one_line(fallback)));
  }
  if (flag_in(result, "binary")) {
    words.push_back(fmt::format("the output is binary ({} bytes) and is not shown",
                                number_in(result, "total_bytes").value_or(0)));
  }
  if (const int64_t lost = number_in(result, "lost_bytes").value_or(0); lost > 0) {
    words.push_back(fmt::format("{} bytes of output could not be kept", lost));
  }
  if (state == "awaiting_input") {
    const json::object* waiting = object_in(result, "waiting");
    const auto more = waiting_words(waiting != nullptr ? *waiting : json::object(), terminal);
    words.insert(words.end(), more.begin(), more.end());
  }
  if (const std::string reason = text_in(result, "reason"); !reason.empty())
    words.push_back(one_line(reason));
  if (state == "running" || state == "awaiting_input") {
    words.push_back(fmt::format(
        "it keeps running as {0}: ttyward wait {0} waits for its end, ttyward read {0} shows its output",
        id));
  } else if (state == "pending_approval") {
    words.push_back(fmt::format("it waits for approval {0}: ttyward approvals allow {0}, or deny",
                                text_in(result, "approval")));
  } else if (state == "signaled" && text_in(result, "reason").empty()) {
    words.push_back(fmt::format("ended by {}{}", text_in(result, "signal"),
                                flag_in(result, "core_dumped") ? " (core dumped)" : ""));
  } else if (words.empty() && (state == "lost" || state == "denied" || state == "failed_to_start")) {
    words.emplace_back(state == "lost"     ? "its exit status is not known"
                       : state == "denied" ? "it was denied"
                                           : "it could not be started");
  }
  for (const json::object* process : objects_in(result, "background")) {
    words.push_back(fmt::format("still running: {} {}", number_in(*process, "pid").value_or(0),
                                one_line(text_in(*process, "command"))));
  }
  return words;
}

std::string how_it_ended(const json::object& result) {
  const std::string state = text_in(result, "state");
  if (is_open(state) || state == "timed_out" || state == "denied") {
    std::string words = state;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
  }
  if (const auto code = number_in(result, "exit_code")) return fmt::format("exit {}", *code);
  if (const std::string signal = text_in(result, "signal"); !signal.empty()) return signal;
  std::string words = state.empty() ? "unknown" : state;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

}  // namespace ttyward::cli
