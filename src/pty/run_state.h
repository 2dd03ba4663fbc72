// What a command is doing right now, as the kernel knows it: asked for on demand,
// never polled, and each answer with the evidence it rests on.
//
// Flow at a glance: one scan of /proc finds the command's processes; those in the
// terminal's foreground group are looked into thread by thread (tty_wait); the
// terminal's settings and the program's name say what kind of input is wanted.
//
// A false alarm is worse than silence. A program that computes, sleeps, reads a
// pipe or waits for a child does not wait for input; what cannot be seen is `unknown`. A
// program that has the terminal among what it polls takes input, however short its
// timeout: event loops wake for many reasons.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pty/tty_wait.h"

namespace ttyward::pty {

enum class Activity : uint8_t {
  Running,   // at least one of its processes computes or waits for a disk
  Sleeping,  // all of them wait for something
  Stopped,   // by a signal; nothing goes on until SIGCONT
  Zombie,    // the leader ended; its exit was not collected yet
  Finished,  // the leader is gone
  Unknown,
};

enum class WaitKind : uint8_t {
  Line,        // a line, or a line editor's prompt
  Password,    // a line, with echo off
  Key,         // raw mode
  Pager,       // raw mode, and the program is a pager
  Editor,      // raw mode, and the program is an editor
  Fullscreen,  // raw mode on the alternate screen
};
const char* wait_kind_name(WaitKind kind);

struct Waiting {
  WaitKind kind = WaitKind::Line;
  WaitMode mode = WaitMode::Reads;
  pid_t pid = 0;
  std::string program;
  std::optional<std::chrono::milliseconds> timeout;  // it wakes by itself after this
  std::string evidence;
};

// A process stopped because it used the terminal from the background.
struct TerminalStop {
  pid_t pid = 0;
  std::string program;
  std::string evidence;
};

// How the terminal is set, and for whom.
struct TerminalMode {
  bool canonical = true;
  bool echo = true;
  bool line_editor = false;  // raw, no echo, and Enter as typed: how readline, zle and their kind set it
  pid_t foreground = -1;     // group
};

struct RunState {
  Activity activity = Activity::Unknown;
  std::string evidence;  // for the activity
  std::optional<Waiting> waiting;
  // False: some process that could be waiting could not be looked into, so the
  // absence of `waiting` means nothing.
  bool input_known = true;
  std::optional<TerminalStop> stopped_for_terminal;
  std::optional<TerminalMode> terminal;
  // Somebody in the foreground reads the terminal or has it among what it polls, also on behalf of another
  // (ssh).
  bool listened = false;
  // There was output on its way when this was found out: it may say more than the kernel did.
  bool output_pending = false;
};

enum class AlternateScreen : uint8_t { Off, On };

struct RunStateQuery {
  pid_t leader = 0;
  pid_t tree_root = 0;  // whose descendants belong to the command: the subreaper; 0 = the leader
  int master = -1;      // -1: pipes; nobody can wait for a terminal then
  dev_t slave_device = 0;
  AlternateScreen alternate_screen = AlternateScreen::Off;  // as the screen's emulator knows
};

RunState run_state(const RunStateQuery& query);

}  // namespace ttyward::pty
