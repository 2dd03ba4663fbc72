#include "command/pipe_report.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "syntax/parse.h"

namespace ttyward::command {
namespace {

using syntax::AndOr;
using syntax::Command;
using syntax::CommandKind;
using syntax::List;
using syntax::Part;
using syntax::PartKind;
using syntax::Pipeline;
using syntax::Word;

// The kernel takes 128 KiB for one argument.
constexpr size_t kLongestLine = 100 * 1024;
constexpr size_t kLongestReport = 64 * 1024;

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Text that shows what bash was given, or decides where and how it is traced.
constexpr auto kTelling =
    std::to_array<std::string_view>({"BASH_EXECUTION_STRING", "BASH_XTRACEFD", "PS4", "/proc"});
// Programs that show the arguments of others.
constexpr auto kListing = std::to_array<std::string_view>(
    {"ps", "pgrep", "pkill", "pidof", "killall", "pstree", "top", "htop", "lsof", "fuser", "ttyward"});
// What changes how bash runs what comes next, or runs what cannot be seen here.
constexpr auto kChanging = std::to_array<std::string_view>(
    {"trap", "eval", "enable", "shopt", "alias", "unalias", "builtin", "ulimit", "prlimit", "history", "fc",
     "mapfile", "readarray", "suspend", "coproc"});
// Programs' own files for a shell, which set variables and functions.
constexpr auto kHarmlessFiles = std::to_array<std::string_view>({"activate", "nvm.sh", "conda.sh"});
constexpr auto kHarmlessOptions = std::to_array<std::string_view>(
    {"pipefail", "errexit", "nounset", "noglob", "xtrace", "noclobber", "allexport"});

std::optional<std::string> constant(const Word& word) {
  std::string text;
  for (const Part& part : word.parts) {
    if (part.kind != PartKind::Text) return std::nullopt;
    text += part.text;
  }
  return text;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Where a command runs: a process of its own cannot change the shell that started it.
enum class In : uint8_t { Shell, OwnProcess };

class Walk {
 public:
  bool list(const List& list, In in) const {
    return std::all_of(list.items.begin(), list.items.end(), [&](const AndOr& item) {
      const In where = item.background ? In::OwnProcess : in;
      return std::all_of(item.pipelines.begin(), item.pipelines.end(),
                         [&](const Pipeline& each) { return pipeline(each, where); });
    });
  }

 private:
  bool pipeline(const Pipeline& pipeline, In in) const {
    const In where = pipeline.commands.size() > 1 ? In::OwnProcess : in;
    return std::all_of(pipeline.commands.begin(), pipeline.commands.end(),
                       [&](const Command& each) { return command(each, where); });
  }

  bool command(const Command& command, In in) const {
    const In inside = command.kind == CommandKind::Subshell ? In::OwnProcess : in;
    if (command.kind == CommandKind::Simple && !simple(command, in)) return false;
    if (command.kind == CommandKind::Function &&
        (command.name == "builtin" || !command.body || !this->command(*command.body, In::Shell))) {
      return false;
    }
    for (const auto& redirect : command.redirects) {
      if (!word(redirect.target) || (redirect.here && !word(redirect.here->content))) return false;
    }
    for (const auto& assignment : command.assignments)
      if (!word(assignment.value)) return false;
    for (const Word& each : command.words)
      if (!word(each)) return false;
    for (const auto& token : command.test)
      if (!word(token.left) || !word(token.right)) return false;
    for (const auto& item : command.cases) {
      if (!list(item.body, inside)) return false;
      for (const Word& pattern : item.patterns)
        if (!word(pattern)) return false;
    }
    return std::all_of(command.lists.begin(), command.lists.end(),
                       [&](const List& each) { return list(each, inside); });
  }

  // Lists inside a word run in processes of their own.
  bool word(const Word& word) const {
    const auto text = constant(word);
    if (text && among(kListing, base_name(*text))) return false;
    return parts(word.parts) && std::all_of(word.elements.begin(), word.elements.end(),
                                            [&](const Word& each) { return this->word(each); });
  }

  bool parts(const std::vector<Part>& list) const {
    return std::all_of(list.begin(), list.end(), [&](const Part& part) {
      if (!part.expansion) return true;
      const syntax::Expansion& e = *part.expansion;
      return (!e.list || this->list(*e.list, In::OwnProcess)) && parts(e.argument) && parts(e.replacement);
    });
  }

  static bool simple(const Command& command, In in) {
    if (command.words.empty()) return true;
    const auto name = constant(command.words.front());
    if (!name) return in == In::OwnProcess;
    const auto argument = [&](size_t i) {
      return i < command.words.size() ? constant(command.words[i]) : std::nullopt;
    };
    // These list all variables, one of which has the text that bash was given.
    if (*name == "set" && command.words.size() == 1) return false;
    if (*name == "compgen") return false;
    if (*name == "declare" || *name == "typeset" || *name == "local") {
      const auto last = argument(command.words.size() - 1);
      if (command.words.size() == 1 || (last && last->starts_with('-'))) return false;
    }
    if (in == In::OwnProcess) return true;
    if (*name == "set") return harmless_set(command);
    if (*name == "source" || *name == ".") {
      const auto file = argument(1);
      return file && among(kHarmlessFiles, base_name(*file));
    }
    if (*name == "command") {
      const auto option = argument(1);
      return option && (*option == "-v" || *option == "-V");
    }
    return !among(kChanging, *name);
  }

  static bool harmless_set(const Command& command) {
    for (size_t i = 1; i < command.words.size(); i++) {
      const auto option = constant(command.words[i]);
      if (!option) return false;
      if (*option == "--") return true;
      if (option->size() < 2 || (option->front() != '-' && option->front() != '+')) return false;
      if (option->find_first_not_of("euxfaCo", 1) != std::string::npos) return false;
      if (option->find('o') == std::string::npos) continue;
      const auto named = ++i < command.words.size() ? constant(command.words[i]) : std::nullopt;
      if (!named || !among(kHarmlessOptions, *named)) return false;
    }
    return true;
  }
};

bool ends_with_pipeline(const List& program) {
  if (program.items.empty()) return false;
  const AndOr& last = program.items.back();
  return !last.background && !last.pipelines.empty() && last.pipelines.back().commands.size() > 1;
}

}  // namespace

bool is_bash_line(const std::vector<std::string>& argv) {
  return argv.size() == 3 && argv[1] == "-c" && base_name(argv[0]) == "bash";
}

std::optional<std::string> reporting_line(std::string_view line, const std::string& path) {
  if (line.find('|') == std::string_view::npos || line.size() > kLongestLine) return std::nullopt;
  if (path.find_first_of("'\n") != std::string::npos) return std::nullopt;
  // A backslash at the end would join the lines.
  const size_t last = line.find_last_not_of(" \t\n");
  if (last == std::string_view::npos || line[last] == '\\') return std::nullopt;
  for (const std::string_view telling : kTelling)
    if (line.find(telling) != std::string_view::npos) return std::nullopt;
  const auto program = syntax::parse(line, {});
  if (!program || !ends_with_pipeline(*program) || !Walk().list(*program, In::Shell)) return std::nullopt;
  // What follows is a line of its own, and not part of a here-document that this one leaves open.
  const auto followed = syntax::parse(std::string(line) + "\n:", {});
  if (!followed || followed->items.size() != program->items.size() + 1) return std::nullopt;
  // stderr is away, or `set -x` would show this. `||`: no `set -e` acts on a file that cannot be written.
  return std::string(line) + "\n{ __ttyward_p=(\"$?\" \"${PIPESTATUS[@]}\"); builtin printf '%s ' " +
         "\"${__ttyward_p[@]}\" . >|'" + path + "' || :; builtin exit \"$__ttyward_p\"; } 2>/dev/null";
}

std::vector<int> statuses_in(std::string_view report, int exit_code) {
  std::vector<int> numbers;
  const char* at = report.data();
  const char* const end = at + report.size();
  while (at != end && *at != '.') {
    int value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || next == end || *next != ' ' || value < 0 || value > 255) return {};
    numbers.push_back(value);
    at = next + 1;
  }
  // The dot says that it is whole.
  if (at == end || numbers.size() < 3 || numbers.front() != exit_code) return {};
  numbers.erase(numbers.begin());
  return numbers;
}

std::string read_report(int fd) {
  std::string text(kLongestReport, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return text;
}

std::optional<PipeReport> PipeReport::add_to(std::vector<std::string>& argv) {
  if (!is_bash_line(argv) || argv[2].find('|') == std::string::npos) return std::nullopt;
  base::UniqueFd memory(::memfd_create("statuses", MFD_CLOEXEC));
  if (!memory) return std::nullopt;
  auto line =
      reporting_line(argv[2], "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory.get()));
  if (!line) return std::nullopt;
  argv[2] = std::move(*line);
  return PipeReport(std::move(memory));
}

std::vector<int> PipeReport::statuses(int exit_code) const {
  return statuses_in(read_report(memory_.get()), exit_code);
}

}  // namespace ttyward::command
