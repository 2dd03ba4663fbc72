#include "gate/typed_to.h"

#include <algorithm>
#include <array>
#include <span>

#include "policy/program_table.h"
#include "shell/shell_kind.h"

namespace ttyward::gate {
namespace {

// Options that make a language ask for more after its script.
constexpr std::array<std::string_view, 8> kStaysOpen = {"-i", "--interactive", "inspect", "-d", "-e:i",
                                                        "-a", "--repl",        "-W:i"};

bool lists(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// "python3.11" is "python", "vim.basic" is "vim", "tmux: client" is "tmux".
std::string_view stem(std::string_view name) {
  name = name.substr(0, name.find(':'));
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (name.starts_with('-')) name.remove_prefix(1);
  if (policy::find_program(name) != nullptr) return name;
  if (name.starts_with("vim.") || name.starts_with("emacs-")) return name.substr(0, name.find_first_of(".-"));
  const size_t last = name.find_last_not_of("0123456789.");
  return last == std::string_view::npos ? name : name.substr(0, last + 1);
}

// What the table of programs says about keys, for any of the names.
bool takes(const std::vector<std::string>& names, policy::Interactive how) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const policy::ProgramRow* row = policy::find_program(stem(name));
    return row != nullptr && row->interactive == how;
  });
}

bool is_any(const std::vector<std::string>& names, std::span<const std::string_view> list) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return lists(list, stem(name)); });
}

bool is_shell(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return shell::identify_shell({std::string(stem(name))}).kind != shell::ShellKind::Other ||
           stem(name) == "csh" || stem(name) == "tcsh" || stem(name) == "rbash" || stem(name) == "nu" ||
           stem(name) == "xonsh";
  });
}

// A script, -c or -m: what runs is that, not what is typed.
bool has_program(const std::vector<std::string>& arguments, bool shell) {
  for (size_t i = 1; i < arguments.size(); i++) {
    const std::string& word = arguments[i];
    if (word == "-" || word == "-s") return false;
    if (word == "--rcfile" || word == "--init-file" || word == "-o" || word == "-O" || word == "+O") {
      i++;
      continue;
    }
    if (!word.starts_with('-') && !word.starts_with('+')) return true;
    if (word == "-c" || word == "-m" || word == "-e" || word == "-E" || word == "-n" || word == "--eval" ||
        word == "-p") {
      return true;
    }
    if (shell && !word.starts_with("--") && word.find('c') != std::string::npos) return true;  // bundled: -lc
  }
  return false;
}

}  // namespace

TypedTo typed_to(const ReaderFacts& facts) {
  const auto& [names, arguments, raw, secure_pager] = facts;
  using policy::Interactive;
  if (takes(names, Interactive::Pager)) return TypedTo::Pager;
  if (takes(names, Interactive::Secured)) return secure_pager ? TypedTo::Prompt : TypedTo::Pager;
  if (takes(names, Interactive::Yes)) {
    // Before they have a session they ask in line mode: whether a host is known, for a name.
    const bool asks = !raw && is_any(names, std::array<std::string_view, 3>{"ssh", "sftp", "mosh-client"});
    return asks ? TypedTo::Prompt : TypedTo::Runner;
  }
  if (is_shell(names)) {
    if (!has_program(arguments, true)) return TypedTo::Shell;
    return raw ? TypedTo::Runner
               : TypedTo::Prompt;  // `read -e` edits its line with readline, which runs programs
  }
  if (takes(names, Interactive::Language)) {
    if (!has_program(arguments, false)) return TypedTo::Runner;
    for (size_t i = 1; i < arguments.size(); i++) {
      if (lists(kStaysOpen, arguments[i]) || takes({arguments[i]}, Interactive::Yes)) return TypedTo::Runner;
      if (!arguments[i].starts_with('-') && i > 1 && arguments[i - 1] != "-m")
        break;  // the script's own arguments
    }
  }
  return TypedTo::Prompt;
}

bool only_moves_in_pager(std::string_view bytes) {
  constexpr std::string_view kKeys = " qQjkdufbgGhHnNzw\r\n\x02\x04\x05\x06\x0b\x0c\x0e\x10\x15\x16\x19";
  while (!bytes.empty()) {
    if (kKeys.find(bytes.front()) != std::string_view::npos) {
      bytes.remove_prefix(1);
      continue;
    }
    bool sequence = false;
    for (const std::string_view key :
         {"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD", "\x1b[H", "\x1b[F",
          "\x1bOH", "\x1bOF", "\x1b[5~", "\x1b[6~"}) {
      if (!bytes.starts_with(key)) continue;
      bytes.remove_prefix(key.size());
      sequence = true;
      break;
    }
    if (!sequence) return false;
  }
  return true;
}

bool only_leaves_editor(std::string_view bytes) {
  while (bytes.starts_with('\x1b')) bytes.remove_prefix(1);
  if (bytes.empty()) return true;
  return bytes == ":q\r" || bytes == ":q!\r" || bytes == ":qa\r" || bytes == ":qa!\r" || bytes == "ZQ";
}

bool starts_interactive(const std::string& simple_command) {
  std::vector<std::string> words;
  for (size_t at = 0; at < simple_command.size();) {
    const size_t end = std::min(simple_command.find(' ', at), simple_command.size());
    if (end > at) words.push_back(simple_command.substr(at, end - at));
    at = end + 1;
  }
  if (words.empty()) return false;
  if (is_shell({words.front()})) return false;  // with a script it is that script; else each line is judged
  return typed_to({{words.front()}, words, true, false}) != TypedTo::Prompt;
}

}  // namespace ttyward::gate
