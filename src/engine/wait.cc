#include "engine/wait.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>

namespace ttyward::engine {
namespace {

using Condition = WaitOutcome::Condition;
using Ms = WaitSpec::Ms;

// A server opens its port soon or takes long.
constexpr Ms kFirstPortPause{50};
constexpr Ms kLastPortPause{250};
constexpr Ms kFilePause{100};

// What a person sees, as a number.
size_t look_of(const vt::Screen& screen) {
  const auto mix = [](size_t hash, size_t value) { return hash * 1'099'511'628'211U ^ value; };
  const vt::Cursor cursor = screen.cursor();
  size_t hash = mix(static_cast<size_t>(cursor.row), static_cast<size_t>(cursor.col));
  hash = mix(hash, screen.is_alternate() ? 1 : 0);
  for (int r = 0; r < screen.rows(); r++) hash = mix(hash, std::hash<std::string>()(screen.line(r).text));
  return hash;
}

}  // namespace

const char* condition_name(Condition condition) {
  switch (condition) {
    case Condition::Exit:
      return "exit";
    case Condition::Pattern:
      return "pattern";
    case Condition::Port:
      return "port";
    case Condition::File:
      return "file";
    case Condition::Quiet:
      return "quiet";
    case Condition::Stable:
      return "stable";
    case Condition::Input:
      return "input";
    case Condition::Prompt:
      return "prompt";
    case Condition::Timeout:
      return "timeout";
    case Condition::Closed:
      return "closed";
  }
  return "closed";
}

base::Result<void> Wait::check(const Terminal& terminal, const WaitSpec& spec) {
  if (!spec.exit && spec.pattern.empty() && !spec.port && spec.file.empty() && spec.quiet.count() == 0 &&
      spec.stable.count() == 0 && !spec.input && !spec.prompt) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "no condition to wait for: name one of exit, pattern, port, file, quiet_ms, stable_ms, "
                      "input, prompt");
  }
  if (spec.quiet.count() < 0 || spec.stable.count() < 0 || spec.timeout.count() < 0) {
    return base::fail(base::ErrorCode::InvalidArgument, "a time to wait cannot be negative");
  }
  if (!spec.command_id.empty() && terminal.find(spec.command_id) == nullptr) {
    return base::fail(base::ErrorCode::NotFound,
                      "terminal " + terminal.id() + " has no command " + spec.command_id);
  }
  if (spec.prompt && terminal.spec().temporary()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "terminal " + terminal.id() + " runs one command and has no prompt; wait for exit");
  }
  if (spec.prompt && terminal.live() && terminal.ready() && !terminal.can_follow()) {
    return base::fail(base::ErrorCode::Unsupported,
                      "terminal " + terminal.id() +
                          " has no shell integration, so its prompt is not seen; wait for a pattern or for "
                          "quiet_ms");
  }
  return {};
}

base::Result<std::unique_ptr<Wait>> Wait::start(io::Loop& loop, Terminal& terminal, WaitSpec spec,
                                                Done done) {
  if (auto checked = check(terminal, spec); !checked) return tl::unexpected(checked.error());
  std::unique_ptr<re2::RE2> pattern;
  if (!spec.pattern.empty()) {
    auto compiled = compile_pattern(spec.pattern);
    if (!compiled) return tl::unexpected(compiled.error());
    pattern = std::move(*compiled);
  }
  if (!spec.file.empty() && spec.file.front() != '/') spec.file = terminal.cwd() + "/" + spec.file;
  std::unique_ptr<Wait> wait(new Wait(loop, terminal, std::move(spec), std::move(done)));
  wait->pattern_ = std::move(pattern);
  if (wait->spec_.timeout.count() > 0) {
    wait->deadline_ = loop.after(wait->spec_.timeout, [w = wait.get()] {
      w->deadline_ = 0;
      w->answer(Condition::Timeout);
    });
  }
  // What came before this moment is old; what holds already is found from the loop.
  if (wait->pattern_ && wait->spec_.from) {
    wait->scan_.mark_place(*wait->spec_.from);
  } else if (wait->pattern_ && !wait->spec_.from_start) {
    LineScan::Finished finished{};
    const terminal::Output* output = wait->output(&finished);
    wait->spec_.from.emplace();
    if (output != nullptr) {
      wait->scan_.mark_all(*output, finished);
      wait->spec_.from = LineScan::end_of(*output, finished);
    }
  }
  if (wait->spec_.stable.count() > 0) wait->screen_look_ = look_of(terminal.output().screen());
  loop.post([w = wait.get(), alive = wait->alive_] {
    if (*alive) w->look(~0U);
  });
  return wait;
}

Wait::Wait(io::Loop& loop, Terminal& terminal, WaitSpec spec, Done done)
    : loop_(loop),
      terminal_(&terminal),
      spec_(std::move(spec)),
      done_(std::move(done)),
      port_pause_(kFirstPortPause) {
  terminal.watch(*this);
  // A shell without marks is found at its prompt by asking the kernel who reads.
  if (wants_input_state()) terminal.want_input_state(1);
}

Wait::~Wait() {
  *alive_ = false;
  stop_looking();
  leave();
}

void Wait::stop_looking() {
  for (io::Loop::TimerId* timer : {&deadline_, &quiet_timer_, &stable_timer_, &port_timer_, &file_timer_}) {
    loop_.cancel(*timer);
  }
  if (terminal_ != nullptr && wants_input_state()) terminal_->want_input_state(-1);
  spec_.input = false;
  spec_.prompt = false;
}

void Wait::leave() {
  if (terminal_ != nullptr) terminal_->unwatch(*this);
  terminal_ = nullptr;
}

void Wait::answer(WaitOutcome outcome) {
  if (answered_) return;
  answered_ = true;
  stop_looking();
  // Watched until then: a terminal that ended is kept as long as somebody has to be told.
  loop_.post([this, alive = alive_, outcome = std::move(outcome), done = std::move(done_)] {
    if (!*alive) return;
    leave();
    done(outcome);
  });
}

void Wait::on_destroyed() {
  terminal_ = nullptr;
  answer(Condition::Closed);
}

void Wait::on_change(Terminal&, uint32_t changes) {
  look(changes);
}

Command* Wait::command() const {
  return spec_.command_id.empty() ? nullptr : terminal_->find(spec_.command_id);
}

// A record that is not there any more is of a command that ended long ago.
bool Wait::command_over() const {
  if (spec_.command_id.empty()) return false;
  const Command* found = command();
  return found == nullptr || found->over();
}

// Whose lines are meant; none for a command that has not begun.
const terminal::Output* Wait::output(LineScan::Finished* finished) const {
  *finished = LineScan::Finished::No;
  if (spec_.command_id.empty() || terminal_->spec().temporary()) return &terminal_->output();
  Command* found = command();
  if (found == nullptr || !found->started_seen) return nullptr;
  if (found->over()) *finished = LineScan::Finished::Yes;
  return &terminal_->output_of(*found);
}

void Wait::look(uint32_t changes) {
  if (answered_ || searching_) return;
  // What a shell shows while a command is typed is not output; its start brings us back.
  if (pattern_ && !(whole() && terminal_->typing())) {
    const Looked looked = look_for_pattern();
    if (looked == Looked::Found) return;
    // Nothing else is answered before what is there already was looked at.
    if (looked == Looked::NotDone) {
      searching_ = true;
      return terminal_->slices().add([this, alive = alive_, changes](Slices::Clock::time_point) {
        if (!*alive) return true;
        searching_ = false;
        if (terminal_ != nullptr) look(changes);
        return true;
      });
    }
  }
  if (look_at_command()) return;
  const bool first = changes == ~0U;
  if (spec_.quiet.count() > 0 && quiet_timer_ == 0) arm_quiet();
  if (spec_.stable.count() > 0 && (first || (changes & kOutput) != 0)) look_at_screen();
  if (spec_.port && first) poll_ports();
  if (!spec_.file.empty() && first) poll_file();
}

Wait::Looked Wait::look_for_pattern() {
  LineScan::Finished finished{};
  const terminal::Output* lines = output(&finished);
  if (lines == nullptr) return Looked::Nothing;
  WaitOutcome found;
  found.condition = Condition::Pattern;
  bool matched = false;
  const auto visit = [&](LineScan::Line line) {
    if (whole() && line.number != 0) {
      line.known = std::max(line.known, terminal_->typed_part(line.number, line.text));
      if (line.known >= line.text.size() && !line.text.empty()) return true;
    }
    matched = match_new(*pattern_, line).has_value();
    if (matched) {
      found.line = line.number;
      found.text = std::string(line.text);
    }
    return !matched;
  };
  const bool all = scan_.scan(*lines, finished, visit, Clock::now() + Slices::kSlice);
  if (matched) answer(std::move(found));
  return matched ? Looked::Found : all ? Looked::Nothing : Looked::NotDone;
}

bool Wait::look_at_command() {
  const bool over = command_over();
  const bool closed = !terminal_->live();
  if (spec_.exit && (over || (spec_.command_id.empty() && closed))) {
    answer(Condition::Exit);
    return true;
  }
  const Command* current = terminal_->current();
  const bool ours =
      spec_.command_id.empty() || (current != nullptr && current->facts.command_id == spec_.command_id);
  if (spec_.input && ours && terminal_->state() == Terminal::State::AwaitingInput) {
    answer(Condition::Input);
    return true;
  }
  if (spec_.prompt && terminal_->state() == Terminal::State::Idle && terminal_->settled()) {
    answer(Condition::Prompt);
    return true;
  }
  const bool only_its_own = !spec_.port && spec_.file.empty() && spec_.quiet.count() == 0 &&
                            spec_.stable.count() == 0 && !spec_.prompt;
  if (over && only_its_own) {
    answer(Condition::Exit);
    return true;
  }
  // What stands in a folder stays true without a terminal; everything else cannot come any more.
  if (closed && !spec_.file.empty()) {
    look_for_file([this] { answer(Condition::Closed); });
  } else if (closed) {
    answer(Condition::Closed);
  }
  return closed;
}

void Wait::arm_quiet() {
  const auto since = std::max(begun_, terminal_->last_output());
  quiet_timer_ = loop_.at(since + spec_.quiet, [this] {
    quiet_timer_ = 0;
    const auto silent = Clock::now() - std::max(begun_, terminal_->last_output());
    if (silent >= spec_.quiet) return answer(Condition::Quiet);
    arm_quiet();
  });
}

void Wait::look_at_screen() {
  const size_t now = look_of(terminal_->output().screen());
  if (now != screen_look_) {
    screen_look_ = now;
    screen_since_ = Clock::now();
  }
  if (stable_timer_ == 0) arm_stable();
}

void Wait::arm_stable() {
  stable_timer_ = loop_.at(screen_since_ + spec_.stable, [this] {
    stable_timer_ = 0;
    if (Clock::now() - screen_since_ >= spec_.stable) return answer(Condition::Stable);
    arm_stable();
  });
}

void Wait::poll_ports() {
  terminal_->processes(
      [this, alive = alive_](const base::Result<std::vector<command::Source::Process>>& list) {
        if (!*alive || answered_) return;
        std::vector<pid_t> pids;
        for (const command::Source::Process& process : list.value_or(std::vector<command::Source::Process>()))
          pids.push_back(process.pid);
        terminal_->place().ports(pids, [this, alive](const std::optional<place::Place::Ports>& ports) {
          if (*alive && !answered_) look_at_ports(ports.value_or(place::Place::Ports()));
        });
      });
}

void Wait::look_at_ports(const place::Place::Ports& ports) {
  for (const pty::ListeningPort& open : ports) {
    if (*spec_.port == 0 || *spec_.port == open.port) {
      return answer(WaitOutcome{Condition::Port, 0, "", open.port});
    }
  }
  port_timer_ = loop_.after(port_pause_, [this] {
    port_timer_ = 0;
    port_pause_ = std::min(port_pause_ * 3 / 2, kLastPortPause);
    poll_ports();
  });
}

void Wait::look_for_file(const std::function<void()>& otherwise) {
  terminal_->place().file(spec_.file,
                          [this, alive = alive_, otherwise](const base::Result<place::FileKind>& found) {
                            if (!*alive || answered_) return;
                            if (!found) return otherwise();
                            answer(WaitOutcome{Condition::File, 0, spec_.file, 0});
                          });
}

void Wait::poll_file() {
  look_for_file([this] {
    file_timer_ = loop_.after(kFilePause, [this] {
      file_timer_ = 0;
      poll_file();
    });
  });
}

}  // namespace ttyward::engine
