// How a command of any length and content gets into a shell exactly once and exactly as given.
//
// Two ways. Pasted: the text goes to the shell's line editor between the brackets of
// bracketed paste, where nothing is completed, expanded or indented, and a person
// who watches sees it. By file: the text is written to the terminal's private
// folder, and a short line makes the shell evaluate it at its top level; for text
// too long to type, for what a line editor would change (`!` history expansion),
// and for shells without one, whose terminal line holds 4095 bytes.
//
// The rule for both: wait for CommandTracker::ready(). What is typed while a shell
// starts goes through the kernel's line buffer and may be cut there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/launch.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {

// Longer commands are refused: nobody writes them, and every layer would hold a copy.
constexpr size_t kMaxCommandBytes = 16u << 20;
// Up to here a text is pasted; a longer one floods the screen of whoever watches.
constexpr size_t kMaxPastedBytes = 4096;

// Refuses what no shell can take or nobody can mean: NUL and control characters other than tab and line feed,
// nothing at all, too much. The reason names the character and its place.
base::Result<void> check_command_text(std::string_view text);

struct DeliveryContext {
  ShellKind kind = ShellKind::Other;  // with our integration at work
  bool bracketed_paste = false;       // mode 2004, now
  History history = History::LeaveOut;
  std::string nonce;      // of this command's marks; for shells that are told it by the line (tells_nonce)
  std::string file_name;  // for a file in the terminal's private folder: [A-Za-z0-9._-]+, new each time
};

struct Delivery {
  std::string bytes;  // to send, once `file_content` (if any) is in place with mode 0600
  std::optional<std::string> file_content;
  std::string line;  // what the shell will say it was given; for Submission::line
};

base::Result<Delivery> deliver(std::string_view text, const DeliveryContext& context);

// What ends a line. A shell without a line editor may read a terminal that does not make a line feed of
// Enter.
constexpr char enter(ShellKind kind) {
  return kind == ShellKind::Dash || kind == ShellKind::PosixSh ? '\n' : '\r';
}

// The rule's second half, for shells with a line editor: bracketed paste is switched on within a few bytes of
// the prompt's last mark. Waiting up to this long for it keeps commands visible; without it they go by file.
constexpr int kEditorGraceMs = 100;

// What brings a shell that asks for more (IncompleteInput) back to its prompt. A line editor that is just
// starting may miss it: send it again every kAbandonRetryMs until the command is reported as ended.
constexpr int kAbandonRetryMs = 250;
constexpr std::string_view kAbandonInput = "\x03";
// Ctrl-U: line editors, and the terminal itself in line mode, drop what is on the line.
constexpr std::string_view kClearLine = "\x15";

}  // namespace ttyward::shell
