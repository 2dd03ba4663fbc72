#include "hold/run_state_message.h"

#include <algorithm>

#include "hold/codec.h"
#include "hold/protocol.h"

namespace ttyward::hold {

namespace {

// Evidence is a sentence; whatever a process calls itself, the message stays small.
constexpr size_t kLongestText = 4096;

std::string_view cut(const std::string& text) {
  return std::string_view(text).substr(0, kLongestText);
}

}  // namespace

std::string encode_run_state(const pty::RunState& state) {
  Encoder out;
  out.number(static_cast<uint8_t>(state.activity)).string(cut(state.evidence));
  out.number(static_cast<uint8_t>(state.input_known));
  out.number(static_cast<uint8_t>(state.waiting.has_value()));
  if (const auto& waiting = state.waiting) {
    out.number(static_cast<uint8_t>(waiting->kind)).number(static_cast<uint8_t>(waiting->mode));
    out.number(static_cast<int32_t>(waiting->pid)).string(cut(waiting->program));
    out.number(static_cast<int64_t>(waiting->timeout ? waiting->timeout->count() : -1));
    out.string(cut(waiting->evidence));
  }
  out.number(static_cast<uint8_t>(state.stopped_for_terminal.has_value()));
  if (const auto& stop = state.stopped_for_terminal) {
    out.number(static_cast<int32_t>(stop->pid)).string(cut(stop->program)).string(cut(stop->evidence));
  }
  out.number(static_cast<uint8_t>(state.terminal.has_value()));
  if (const auto& terminal = state.terminal) {
    out.number(static_cast<uint8_t>(terminal->canonical)).number(static_cast<uint8_t>(terminal->echo));
    out.number(static_cast<uint8_t>(terminal->line_editor))
        .number(static_cast<int32_t>(terminal->foreground));
  }
  out.number(static_cast<uint8_t>(state.listened)).number(static_cast<uint8_t>(state.output_pending));
  return out.take();
}

std::optional<pty::RunState> decode_run_state(std::string_view payload) {
  Decoder in(payload);
  pty::RunState state;
  const auto activity = in.number<uint8_t>();
  state.evidence = in.string();
  state.input_known = in.number<uint8_t>() != 0;
  if (activity > static_cast<uint8_t>(pty::Activity::Unknown)) return std::nullopt;
  state.activity = static_cast<pty::Activity>(activity);
  if (in.number<uint8_t>() != 0) {
    pty::Waiting waiting;
    const auto kind = in.number<uint8_t>();
    const auto mode = in.number<uint8_t>();
    if (kind > static_cast<uint8_t>(pty::WaitKind::Fullscreen) ||
        mode > static_cast<uint8_t>(pty::WaitMode::Listens)) {
      return std::nullopt;
    }
    waiting.kind = static_cast<pty::WaitKind>(kind);
    waiting.mode = static_cast<pty::WaitMode>(mode);
    waiting.pid = in.number<int32_t>();
    waiting.program = in.string();
    const auto timeout = in.number<int64_t>();
    if (timeout >= 0) waiting.timeout = std::chrono::milliseconds(timeout);
    waiting.evidence = in.string();
    state.waiting = std::move(waiting);
  }
  if (in.number<uint8_t>() != 0) {
    pty::TerminalStop stop;
    stop.pid = in.number<int32_t>();
    stop.program = in.string();
    stop.evidence = in.string();
    state.stopped_for_terminal = std::move(stop);
  }
  if (in.complete()) return state;  // of an older holder, whose message ends here
  if (in.number<uint8_t>() != 0) {
    pty::TerminalMode terminal;
    terminal.canonical = in.number<uint8_t>() != 0;
    terminal.echo = in.number<uint8_t>() != 0;
    terminal.line_editor = in.number<uint8_t>() != 0;
    terminal.foreground = in.number<int32_t>();
    state.terminal = terminal;
  }
  state.listened = in.number<uint8_t>() != 0;
  state.output_pending = in.number<uint8_t>() != 0;
  if (!in.complete()) return std::nullopt;
  return state;
}

}  // namespace ttyward::hold
