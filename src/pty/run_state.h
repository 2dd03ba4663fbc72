// What a command is doing right now, as the kernel knows it: asked for on demand,
// never polled, and each answer with the evidence it rests on.
//
// Flow at a glance: one scan of /proc finds the command's processes; those in the
// terminal's foreground group are looked into thread by thread (tty_wait); the
// terminal's settings and the program's name say what kind of input is wanted.
//
// A false alarm is worse than silence. A program that computes, sleeps, reads a
// pipe or waits for a child waits for nobody; what cannot be seen is `unknown`.
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

struct RunState {
  Activity activity = Activity::Unknown;
  std::string evidence;  // for the activity
  std::optional<Waiting> waiting;
  // False: some process that could be waiting could not be looked into, so the
  // absence of `waiting` means nothing.
  bool input_known = true;
  std::optional<TerminalStop> stopped_for_terminal;
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

// A program that listens with a timeout below this goes on by itself and is not
// waiting for anybody: top redraws every three seconds.
constexpr std::chrono::milliseconds kShortTimeout{10'000};

}  // namespace ttyward::pty
