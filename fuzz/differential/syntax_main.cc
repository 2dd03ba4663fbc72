// Compares our reading of shell lines with bash's.
//
//   syntax_differential BUDGET [SEED]      lines made from the seed, else from a new one; 120s or 40000 lines
//   syntax_differential --lines FILE       lines of a file, each ended by a NUL byte; "-" is standard input
//
// Every line that we understand is given to `bash --norc --pretty-print`, one process for each, and the two
// readings must be the same. What we do not understand is not compared: it would be asked about. Exit status
// 1 and the line, both readings printed, at the first few differences.
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include "fuzz/differential/line_maker.h"
#include "fuzz/differential/normal_form.h"
#include "syntax/parse.h"

namespace ttyward::fuzz {
namespace {

// What bash prints for the line; nothing if it finds a syntax error.
std::optional<std::string> ask_bash(const std::string& line) {
  static const int input = memfd_create("line", 0);
  static const int output = memfd_create("answer", 0);
  const std::string text = line + "\n";
  if (ftruncate(input, 0) != 0 || ftruncate(output, 0) != 0) std::abort();
  if (pwrite(input, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
  lseek(input, 0, SEEK_SET);
  lseek(output, 0, SEEK_SET);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  const char* argv[] = {"bash", "--norc", "--pretty-print", nullptr};
  const char* environment[] = {"LC_ALL=C.UTF-8", "PATH=/nonexistent", nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/bash", &actions, nullptr, const_cast<char**>(argv),
                  const_cast<char**>(environment)) != 0)
    std::abort();
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  std::string answer(static_cast<size_t>(lseek(output, 0, SEEK_END)), '\0');
  if (pread(output, answer.data(), answer.size(), 0) != static_cast<ssize_t>(answer.size())) std::abort();
  return answer;
}

bool remove_documents(std::string& text, const std::vector<std::string>& documents, bool from_end) {
  for (size_t i = 0; i < documents.size(); ++i) {
    const std::string& document = documents[from_end ? documents.size() - 1 - i : i];
    const size_t at = from_end ? text.rfind("\n" + document) : text.find("\n" + document);
    if (at == std::string::npos) return false;
    text.erase(at + 1, document.size());
  }
  return true;
}

// Inside substitutions bash writes functions with the reserved word.
void remove_function_word(std::string& text) {
  for (size_t at = 0; (at = text.find("function ", at)) != std::string::npos;) {
    const size_t behind = text.find(' ', at + 9);
    if (behind != std::string::npos && text.compare(behind, 3, " ()") == 0) {
      text.erase(at, 9);
    } else {
      ++at;
    }
  }
}

struct Outcome {
  bool understood = false;
  bool equal = true;
  std::string ours;
  std::string theirs;
};

Outcome compare(const std::string& line) {
  Outcome outcome;
  std::vector<syntax::ByteRole> roles;
  const auto tree = syntax::parse(line, {}, &roles);
  if (!tree) return outcome;
  outcome.understood = true;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool gap_byte = line[i] == ' ' || line[i] == '\t' || line[i] == '\n' || line[i] == '\\';
    if (roles[i] == syntax::ByteRole::Unread || (roles[i] == syntax::ByteRole::Gap && !gap_byte)) {
      outcome.equal = false;
      outcome.ours = "byte " + std::to_string(i) + " belongs to nothing";
      return outcome;
    }
  }
  const NormalForm ours = normal_form(line, *tree);
  std::optional<std::string> theirs = ask_bash(line);
  if (!theirs) {
    outcome.equal = false;
    outcome.ours = squeeze(ours.text, false);
    outcome.theirs = "(a syntax error)";
    return outcome;
  }
  const bool loose = !ours.documents.empty();
  outcome.ours = squeeze(ours.text, loose);
  // Where a body's text stands twice in bash's answer, either place may be the body's.
  for (const bool from_end : {true, false}) {
    std::string rest = *theirs;
    if (!remove_documents(rest, ours.documents, from_end)) {
      outcome.equal = false;
      outcome.theirs = rest + "\n(here-document not found)";
      return outcome;
    }
    remove_function_word(rest);
    outcome.theirs = squeeze(rest, loose);
    outcome.equal = outcome.ours == outcome.theirs;
    if (outcome.equal) break;
  }
  return outcome;
}

class Report {
 public:
  void line(const std::string& text) {
    ++lines_;
    const Outcome outcome = compare(text);
    understood_ += outcome.understood;
    last_understood = outcome.understood;
    if (outcome.equal) return;
    if (++different_ > 10) return;
    std::cout << "DIFFERENT\n--- line\n"
              << text << "\n--- ours\n"
              << outcome.ours << "\n--- bash\n"
              << outcome.theirs << "\n===\n";
  }

  int finish() const {
    std::cout << lines_ << " lines, " << understood_ << " understood and compared, " << different_
              << " read differently\n";
    return different_ == 0 && understood_ > 0 ? 0 : 1;
  }

  bool last_understood = false;

 private:
  size_t lines_ = 0;
  size_t understood_ = 0;
  size_t different_ = 0;
};

int run(int argc, char** argv) {
  Report report;
  if (argc == 3 && std::string(argv[1]) == "--lines") {
    const std::string path = argv[2];
    std::ifstream file(path == "-" ? "/dev/stdin" : path);
    for (std::string line; std::getline(file, line, '\0');) report.line(line);
    return report.finish();
  }
  if (argc < 2 || argc > 3 || !Budget(argv[1]).valid()) {
    std::cerr << "usage: syntax_differential 120s|LINES [SEED] | --lines FILE\n";
    return 2;
  }
  Budget budget(argv[1]);
  const uint64_t seed = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::cout << "seed " << seed << "\n";
  LineMaker maker(seed);
  while (budget.take()) {
    const std::string line = maker.next();
    report.line(line);
    if (report.last_understood) maker.keep(line);
  }
  return report.finish();
}

}  // namespace
}  // namespace ttyward::fuzz

int main(int argc, char** argv) {
  return ttyward::fuzz::run(argc, argv);
}
