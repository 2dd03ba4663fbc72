// What a screen reports besides its contents: one closed set.
//
// Everything here comes from the program in the terminal and proves nothing by
// itself; whoever acts on an event checks it first (a nonce, a host name).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ttyward::vt {

// A row's number for as long as the screen lives: rows that scroll away keep theirs.
using StableRow = uint64_t;

struct Bell {
  bool operator==(const Bell&) const = default;
};

struct TitleChanged {
  std::string title;
  bool operator==(const TitleChanged&) const = default;
};

// OSC 7, OSC 9;9 and OSC 1337;CurrentDir. `host` is empty where the form has none.
struct CwdReported {
  std::string host;
  std::string path;
  bool operator==(const CwdReported&) const = default;
};

// OSC 133 and OSC 633.
struct ShellMark {
  enum class Protocol : uint8_t { Osc133, Osc633 };
  Protocol protocol = Protocol::Osc133;
  std::string kind;                 // "A", "B", …, "P", "EnvJson", …
  std::vector<std::string> fields;  // what follows the kind; 633's escapes are undone
  std::vector<std::pair<std::string, std::string>> options;  // those of the fields that read key=value
  std::optional<int> exit_code;                              // of D, if it has a numeric one
  bool alternate = false;                                    // sent while the alternate screen was on
  StableRow row = 0;                                         // where the cursor stood
  int col = 0;
  uint64_t begin = 0;  // the sequence's own bytes in all input so far
  uint64_t end = 0;
  bool operator==(const ShellMark&) const = default;
};

// OSC 9;4
struct Progress {
  enum class State : uint8_t { None, Normal, Error, Indeterminate, Paused };
  State state = State::None;
  int percent = 0;
  bool operator==(const Progress&) const = default;
};

// OSC 9, OSC 99, OSC 777
struct Notification {
  std::string title;
  std::string body;
  bool operator==(const Notification&) const = default;
};

// OSC 52 with data. A request to read the clipboard is never reported and never answered.
struct ClipboardWrite {
  std::string selection;
  std::string base64;
  bool operator==(const ClipboardWrite&) const = default;
};

// The program asked for another size. The screen itself does not change it.
struct ResizeRequested {
  enum class By : uint8_t {
    ColumnMode,  // DECCOLM, which ?40 allowed
    Window,      // XTWINOPS 8, DECSLPP, DECSCPP, DECSNLS
  };
  int cols = 0;
  int rows = 0;
  By by = By::Window;
  bool operator==(const ResizeRequested&) const = default;
};

using Event = std::variant<Bell, TitleChanged, CwdReported, ShellMark, Progress, Notification, ClipboardWrite,
                           ResizeRequested>;

}  // namespace ttyward::vt
