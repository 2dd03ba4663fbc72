#include "command/batch.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/json_text.h"
#include "command/command_life.h"

namespace ttyward::command {

using terminal::CommandResult;
using terminal::CommandState;

namespace {

// $1 nonce, $2 "stop" or "go", the rest are the commands. Names are unlikely enough not to clash. Each
// command is evaluated at the top level and outside any loop, so that return and break mean what they mean in
// a script; its `set -x` is taken off in between, so that nobody sees these lines traced; `$?` is what it
// would be.
constexpr const char* kPrelude = R"bash(
__ttyward_nonce=$1 __ttyward_mode=$2; shift 2
__ttyward_list=("$@"); set --
if { : >/dev/tty; } 2>/dev/null; then __ttyward_to=/dev/tty; else __ttyward_to=/dev/stdout; fi
__ttyward_status=0 __ttyward_trace=
__ttyward_begin() {
  __ttyward_pipe=()
  printf '\033]633;C;%s;%s;%s\007' "$1" "$__ttyward_nonce" "${EPOCHREALTIME-}" >"$__ttyward_to"
  return "$__ttyward_status"
}
__ttyward_end() {
  __ttyward_status=$?
  __ttyward_trace=
  case $- in *x*) __ttyward_trace=$'set -x\n'; set +x ;; esac
  if [ "${#__ttyward_pipe[@]}" -gt 0 ]; then __ttyward_status=${__ttyward_pipe[0]}; fi
  __ttyward_cwd=${PWD//\\/\\\\}
  __ttyward_cwd=${__ttyward_cwd//;/\\x3b}
  __ttyward_cwd=${__ttyward_cwd//$'\n'/\\x0a}
  printf '\033]633;D;%s;%s;%s;%s;%s;%s\007' "$__ttyward_status" "$1" "$__ttyward_nonce" \
    "${EPOCHREALTIME-}" "${__ttyward_pipe[*]:1}" "$__ttyward_cwd" >"$__ttyward_to"
  if [ "$__ttyward_status" -ne 0 ] && [ "$__ttyward_mode" = stop ]; then exit "$__ttyward_status"; fi
}
)bash";
// Once for each command, with its number for every #. `&&` keeps errexit from acting on the status handed on.
// The empty line: after an eval that ended within a quote, bash does not know { as the first word of the
// next.
constexpr std::string_view kStep = R"bash(
__ttyward_begin # && :
eval "$__ttyward_trace${__ttyward_list[#]}"$'\n''{ __ttyward_pipe=("$?" "${PIPESTATUS[@]}"); } 2>/dev/null'

{ __ttyward_end #; } 2>/dev/null
)bash";

struct Part {
  std::optional<uint64_t> begin;  // of its output in the journal
  std::optional<uint64_t> end;
  std::optional<int> exit_code;
  double started = 0;  // seconds since the epoch; 0 where the shell cannot tell
  double ended = 0;
  std::vector<int> pipeline;
  std::string cwd_after;
};

std::optional<size_t> index_of(const std::string& text, size_t size) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= size) return std::nullopt;
  return value;
}

std::vector<int> numbers_in(const std::string& text) {
  std::vector<int> numbers;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long value = std::strtol(at, &end, 10);
    if (end == at) break;
    numbers.push_back(static_cast<int>(value));
    at = end;
  }
  return numbers;
}

std::vector<Part> parts_of(const Batch& batch, const std::vector<vt::Event>& events) {
  std::vector<Part> parts(batch.commands.size());
  for (const vt::Event& event : events) {
    const auto* mark = std::get_if<vt::ShellMark>(&event);
    if (mark == nullptr || mark->protocol != vt::ShellMark::Protocol::Osc633) continue;
    const std::vector<std::string>& f = mark->fields;
    if (mark->kind == "C" && f.size() == 3 && f[1] == batch.nonce) {
      if (const auto i = index_of(f[0], parts.size())) {
        parts[*i].begin = mark->end;
        parts[*i].started = std::strtod(f[2].c_str(), nullptr);
      }
    } else if (mark->kind == "D" && f.size() == 6 && f[2] == batch.nonce) {
      const auto i = index_of(f[1], parts.size());
      if (!i) continue;
      Part& part = parts[*i];
      part.end = mark->begin;
      part.exit_code = mark->exit_code;
      part.ended = std::strtod(f[3].c_str(), nullptr);
      part.pipeline = numbers_in(f[4]);
      part.cwd_after = f[5];
    }
  }
  return parts;
}

// What a mark of the shell means is for CommandLife to say. Only the time between its marks counts, so the
// clock begins at zero.
CommandResult ended_by_mark(const Part& part, const CommandResult& facts) {
  const CommandLife::TimePoint begun{};
  const auto ended = begun + std::chrono::milliseconds(std::llround((part.ended - part.started) * 1000));
  CommandLife life({}, facts, begun);
  life.begin(*part.begin, begun);
  shell::CommandFinished mark;
  mark.exit_code = part.exit_code;
  mark.pipeline = part.pipeline;
  mark.output = {*part.begin, part.end.value_or(*part.begin)};
  mark.known_by = shell::KnownBy::ShellMark;
  life.shell_finished(mark, {}, ended);
  life.finish(ended);
  return life.result(ended);
}

// It took the shell with it, or was still running when the shell was ended.
CommandResult ended_with_shell(const CommandResult& shell, CommandResult facts) {
  facts.state = shell.state;
  facts.exit_code = shell.exit_code;
  facts.signal = shell.signal;
  facts.core_dumped = shell.core_dumped;
  facts.known_by = shell.known_by;
  facts.reason = shell.reason;
  facts.waiting = shell.waiting;
  facts.pid = shell.pid;
  facts.process_group = shell.process_group;
  const int64_t ended = shell.started_at_ms + shell.duration_ms;
  facts.duration_ms = std::max<int64_t>(0, ended - facts.started_at_ms);
  return facts;
}

}  // namespace

std::vector<std::string> Batch::argv(const std::string& bash) const {
  std::string script = kPrelude;
  for (size_t i = 0; i < commands.size(); i++) {
    for (const char c : kStep) script += c == '#' ? std::to_string(i) : std::string(1, c);
  }
  script += "exit \"$__ttyward_status\"\n";
  std::vector<std::string> out = {
      bash,   "--noprofile",   "--norc", "-c",
      script, "ttyward-batch", nonce,    on_failure == OnFailure::Stop ? "stop" : "go"};
  out.insert(out.end(), commands.begin(), commands.end());
  return out;
}

BatchResult split_batch(const Batch& batch, RunningCommand& run, const terminal::ViewLimits& view) {
  BatchResult out;
  out.shell = run.result();
  const std::vector<Part> parts = parts_of(batch, run.take_events());
  std::string cwd = out.shell.cwd;
  for (size_t i = 0; i < parts.size(); i++) {
    const Part& part = parts[i];
    if (!part.begin) {
      out.not_run.push_back(batch.commands[i]);
      continue;
    }
    CommandResult facts;
    facts.command_id = out.shell.command_id + "." + std::to_string(i + 1);
    facts.command = batch.commands[i];
    facts.cwd = cwd;
    facts.provider = out.shell.provider;
    facts.fallback_reason = out.shell.fallback_reason;
    facts.started_at_ms = part.started > 0 ? std::llround(part.started * 1000) : out.shell.started_at_ms;
    facts.cwd_after = part.cwd_after;
    if (part.exit_code) cwd = part.cwd_after;
    CommandResult result = part.exit_code ? ended_by_mark(part, facts) : ended_with_shell(out.shell, facts);
    run.view_of_range(*part.begin, part.end.value_or(out.shell.total_bytes), view, result);
    out.results.push_back(std::move(result));
  }
  return out;
}

int BatchResult::shell_code() const {
  for (const CommandResult& result : results) {
    if (result.shell_code() != 0) return result.shell_code();
  }
  return results.empty() ? shell.shell_code() : 0;
}

}  // namespace ttyward::command
