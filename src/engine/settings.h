// What the engine is told about its surroundings and the user's choices.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/folders.h"
#include "hold/holder.h"
#include "journal/folder.h"
#include "journal/writer.h"
#include "pty/environment.h"
#include "pty/exec_child.h"
#include "pty/kill_ladder.h"
#include "shell/launch.h"

namespace ttyward::engine {

// Whether shells started ahead may run a person's start-up files. Auto: where none of those takes a lock.
enum class PoolStartFiles : uint8_t { Auto, Run, Spare };

struct Settings {
  using Ms = std::chrono::milliseconds;

  base::Folders folders;
  std::string hold_program;  // path of ttyward-hold
  std::string version;
  std::vector<std::string> our_environment;  // NAME=value; what terminals may inherit is chosen from it

  std::vector<std::string> shell{"/bin/bash"};  // of a terminal that names none
  bool shell_integration = true;
  Ms shell_integration_timeout{5000};
  Ms command_delay{0};
  shell::History history = shell::History::LeaveOut;
  shell::ReportEnvironment report_environment = shell::ReportEnvironment::Yes;
  std::vector<std::string> extra_shell_environment;  // NAME=value, for prompt themes
  pty::Inherit inherit = pty::Inherit::AllowList;
  std::vector<std::string> also_inherit;     // names; NAME* is a prefix, here and below
  std::vector<std::string> never_inherit;    // names
  std::vector<std::string> path_first;       // folders
  std::vector<std::string> set_environment;  // NAME=value, for every terminal and command

  std::optional<unsigned> umask;       // of what runs; ours if not set
  std::vector<pty::ExecLimit> limits;  // of what runs

  uint16_t cols = 120;
  uint16_t rows = 40;
  uint64_t journal_quota = journal::kDefaultQuota;
  uint64_t journals_total = journal::kDefaultTotalQuota;
  journal::Overflow overflow = journal::Overflow::DropMiddle;
  std::vector<pty::KillRung> kill_rungs = pty::default_kill_rungs();
  Ms drain = hold::kDefaultDrainTime;  // for output of what a command left behind
  Ms interrupt_grace{500};             // between Ctrl-C, TERM and KILL for a command in a shell

  size_t max_terminals = 64;    // that live; finished ones are pruned first
  size_t max_temporary = 4096;  // commands of their own at once
  size_t pool = 5;              // shells started ahead
  PoolStartFiles pool_start_files = PoolStartFiles::Auto;
  size_t pool_limit = 0;  // terminals of one owner and session up to which acquire() opens one; 0: any
  size_t records = 40;    // commands a terminal remembers with their output
  // Of a terminal's log, beyond which what is not needed any more goes. That is done at once, on the loop.
  uint64_t log_bytes = 256 << 10;
  // Terminals and commands that ended, for those who ask later: the newest few, and more of them for a
  // moment, so that of many that end at once none goes before it was asked about.
  size_t finished_kept = 64;
  size_t finished_most = 512;
  Ms finished_moment{30'000};

  Ms hot{2000};  // after the last output
  Ms hot_compiling{15'000};
};

}  // namespace ttyward::engine
