#include "engine/shell_at_prompt.h"

#include "shell/launch.h"

namespace ttyward::engine {
namespace {

constexpr size_t kShown = 80;  // bytes of a command line

}  // namespace

bool opens_shell_elsewhere(const std::vector<std::string>& argv) {
  if (argv.empty()) return false;
  const std::string name = argv[0].substr(argv[0].rfind('/') + 1);
  if (name == "ssh") {
    size_t words = 0;
    for (size_t i = 1; i < argv.size(); i++) {
      if (argv[i] == "-N" || argv[i] == "-f" || argv[i] == "-W") return false;
      if (words == 0 && argv[i].size() == 2 && argv[i][0] == '-' &&
          std::string_view("bcDEeFIiJLlmOopQRSw").find(argv[i][1]) != std::string_view::npos) {
        i++;
      } else if (!argv[i].starts_with('-') || words > 0) {
        words++;
      }
    }
    return words == 1;
  }
  return argv.size() > 1 && shell::identify_shell({argv.back()}).kind != shell::ShellKind::Other;
}

bool reads_commands(const std::vector<std::string>& argv) {
  const bool multi_call = !argv.empty() && argv[0].ends_with("busybox");
  for (size_t i = multi_call ? 2 : 1; i < argv.size(); i++) {
    const std::string& word = argv[i];
    if (word == "--init-file" || word == "--rcfile" || word == "--init-command" || word == "-C" ||
        word == "-o" || word == "-O" || word == "+O" || word == "+o") {
      i++;
    } else if (word.starts_with("--")) {
      if (word == "--" || word == "--command") return false;
    } else if (word.size() < 2 || (word[0] != '-' && word[0] != '+') || word.find('c') != std::string::npos) {
      return false;
    }
  }
  return true;
}

bool ends_like_a_prompt(std::string_view line) {
  while (line.ends_with(' ')) line.remove_suffix(1);
  return !line.empty() && std::string_view("$#%>").find(line.back()) != std::string_view::npos;
}

std::optional<ShellAtPrompt> shell_at_prompt(const place::Place& place, const pty::RunState& state,
                                             const std::string& cursor_line) {
  if (!state.terminal) return std::nullopt;
  const pty::TerminalMode& mode = *state.terminal;
  if (!state.waiting) {
    if (!state.listened || !mode.line_editor || mode.foreground <= 0 || !ends_like_a_prompt(cursor_line))
      return std::nullopt;
    const auto front = place::process_now(place, mode.foreground, place::kArguments | place::kCommandLine);
    if (!front || !opens_shell_elsewhere(front->arguments)) return std::nullopt;
    return ShellAtPrompt{mode.foreground, shell::ShellKind::Other, front->command_line.substr(0, kShown)};
  }
  const pid_t pid = state.waiting->pid;
  const auto reader = place::process_now(place, pid, place::kArguments | place::kProgramFile);
  if (!reader) return std::nullopt;
  const auto identity = shell::identify_shell(reader->arguments, reader->program_file);
  if (identity.kind == shell::ShellKind::Other || !reads_commands(reader->arguments)) return std::nullopt;
  bool prompts = mode.line_editor;
  if (identity.kind == shell::ShellKind::Dash || identity.kind == shell::ShellKind::PosixSh) {
    prompts = mode.line_editor || mode.canonical;
  } else if (identity.kind == shell::ShellKind::BusyboxAsh || identity.kind == shell::ShellKind::Ksh ||
             identity.kind == shell::ShellKind::Mksh) {
    prompts = !mode.canonical && !mode.echo;
  }
  if (!prompts) return std::nullopt;
  return ShellAtPrompt{pid, identity.kind, state.waiting->program};
}

}  // namespace ttyward::engine
