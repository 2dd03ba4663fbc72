// How to start a shell so that it tells us what it does: a decision as data.
//
// Nothing of the user's is edited and all of their start-up files run, in their
// order. The caller writes `files` (each with its mode, into a folder of its own
// that only the user may enter), starts `argv` with `environment` applied, and
// removes `remove_when_ready` at the first prompt mark, at the integration
// timeout, or when the terminal closes, whichever is first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/shell_kind.h"

namespace ttyward::shell {

enum class History : uint8_t {
  LeaveOut,  // what we run does not enter the user's history; what a person types does
  Record,
};

enum class ReportEnvironment : uint8_t { No, Yes };

// What bash runs before a prompt: the first and the last of its hooks. Output goes nowhere, so a trap of the
// user's (DEBUG) prints nothing on their account. With `set -v` bash prints these lines.
constexpr std::string_view kBashHooks[] = {"{ __ttyward_first; } >/dev/null 2>&1",
                                           "{ __ttyward_last 3; } 3>&2 >/dev/null 2>&1"};

struct ShellSpec {
  std::vector<std::string> argv;  // as the user would start it; argv[0] may begin with '-'
  std::string real_path;          // where argv[0] leads, links followed; may be empty
  bool login = false;
  std::string private_folder;               // absolute, 0700, this terminal's alone
  std::string nonce;                        // of its marks up to the first command's: mark_nonce(secret, 0)
  std::optional<std::string> user_zdotdir;  // ZDOTDIR of the environment the shell gets
  std::optional<std::string> user_env;      // its ENV
  History history = History::LeaveOut;
  ReportEnvironment report_environment = ReportEnvironment::Yes;
};

struct PlannedFile {
  std::string path;
  std::string content;
  uint32_t mode = 0600;
};

struct LaunchPlan {
  ShellIdentity identity;
  Quality expected = Quality::None;  // what to hope for; None: no marks will come, do not wait for them
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // to set
  std::vector<PlannedFile> files;
  std::vector<std::string> remove_when_ready;
};

LaunchPlan prepare(const ShellSpec& spec);

// The file in the private folder from which a shell takes the nonce of the command it begins. Who
// started the shell writes the next nonce into it before each prompt is used, and blanks it (with line feeds)
// once it was taken.
inline constexpr char kNextNonceFile[] = "next";
// If there is such a file when a command ends, the shell throws away whatever is typed and unread before it
// prompts.
inline constexpr char kTypedFile[] = "typed";
// Where bash notes the names of its variables and functions. Made before the shell starts, because the shell
// would make it with the user's umask.
inline constexpr char kNamesFile[] = "names";

// How to give hooks to a shell that waits at its prompt: `file` is to be written, then `line` typed.
struct LateIntegration {
  PlannedFile file;
  std::string line;
  Quality expected = Quality::None;
};
// Nothing for shells we have no hooks for. `spec`: private_folder, nonce, history and report_environment
// count.
std::optional<LateIntegration> integrate_later(ShellKind kind, const ShellSpec& spec);

}  // namespace ttyward::shell
