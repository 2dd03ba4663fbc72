// What a path is: inside the workspace or not, a device, a secret, a file that
// controls agents, editors, shells or git.
//
// Paths come as text with the marks of words.h. A mark makes the answer
// cautious: a glob counts as everything it could match.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/file_view.h"
#include "policy/shell_reading.h"

namespace ttyward::policy {

// Where commands run and whose machine it is.
struct Place {
  std::string workspace;  // absolute; what the agent was given to work on
  std::string cwd;        // absolute
  std::string home;       // absolute
  const FileView* files = nullptr;
  const ShellReading* shell = nullptr;  // the shell that will read the line; none: a fresh bash
  std::vector<std::string> own = {};    // where ttyward itself keeps tokens, journals and sockets; absolute
  const std::string* input = nullptr;   // the whole standard input of the line; none: the terminal
};

enum class Zone : uint8_t { Workspace, Temporary, Home, OtherHome, System, Kernel, Device, Unknown };

struct PathFacts {
  std::string path;  // absolute if it could be worked out, otherwise as written
  Zone zone = Zone::Unknown;
  bool harmless_device = false;  // /dev/null, /dev/stdout, …
  bool disk = false;             // a block device, memory, or a kernel switch that kills the machine
  bool terminal = false;         // another reader's or writer's tty
  bool network = false;          // bash's /dev/tcp and /dev/udp
  bool secret = false;
  bool sandbox = false;      // other processes' files, the way out of a sandbox
  bool control = false;      // read by a program that will then do what it says
  bool agent = false;        // a control file of an agent: the gravest of them
  bool absolute = false;     // written as an absolute path
  bool known = false;        // no unknown part
  bool vital = false;        // a tree whose loss is the loss of the machine or of somebody's home
  bool may_be_root = false;  // an unknown prefix that could be empty: $UNSET/
  bool too_many = false;     // a glob that matches more than can be looked at
};

// `text` as an argument would be, `cwd` absolute or empty when unknown.
PathFacts look_at(std::string_view text, std::string_view cwd, const Place& place);

// Whether `pattern` with live marks can stand for `name`; a wildcard does not match a leading dot, as in
// bash.
bool glob_matches(std::string_view pattern, std::string_view name);

// Whether the last name of a path without marks is one that holds credentials, or a folder on the way is. A
// quick look at names alone.
bool names_secret(std::string_view path);

// Removes ".", ".." and doubled slashes.
std::string normalize(std::string_view absolute);

// A directory whose files include secrets: searching it recursively reads them.
bool holds_secrets(const PathFacts& facts, const Place& place);

}  // namespace ttyward::policy
