// What the parts of a living terminal share. None of them owns any of it.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "engine/holder_port.h"
#include "engine/log_writer.h"
#include "engine/settings.h"
#include "engine/shell_files.h"
#include "engine/terminal_model.h"
#include "engine/watchers.h"
#include "io/loop.h"
#include "place/place.h"

namespace ttyward::engine {

struct LiveTerminal {
  io::Loop& loop;
  const Settings& settings;
  const place::Place& place;
  TerminalModel& model;
  HolderPort& holder;
  ShellFiles& files;
  LogWriter& log;
  Watchers& watchers;
  std::shared_ptr<const bool> alive;  // false: the terminal is gone
  TerminalModel::Clock::time_point last_output = TerminalModel::Clock::now();

  // Runs `task` from the loop, if the terminal is still there then.
  void post(io::Loop::Task task) const {
    loop.post([alive_ = alive, task = std::move(task)] {
      if (*alive_) task();
    });
  }
  void ask_kernel(HolderPort::Looked done) const {
    const bool alternate = model.feed().output().screen().is_alternate();
    holder.run_state(alternate ? pty::AlternateScreen::On : pty::AlternateScreen::Off, std::move(done));
  }
  // Before anything is typed to a running command.
  void note_typed() const {
    if (model.has_shell() && model.shell().executing()) files.note_typed();
  }
  // There is output that was not understood yet: it may be the mark of the command's end.
  bool output_unread(const pty::RunState& state) const {
    return state.output_pending || (model.feed().following() && model.feed().end() > model.read_to());
  }
};

}  // namespace ttyward::engine
