#include "client/inside_terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace ttyward::client {

namespace {

namespace fs = std::filesystem;

constexpr int kMostAncestors = 256;

std::string folder_of(long pid) {
  return "/proc/" + std::to_string(pid);
}

long parent_of(long pid) {
  // pid (name) state parent …; the name may hold anything.
  std::ifstream file(folder_of(pid) + "/stat", std::ios::binary);
  const std::string stat(std::istreambuf_iterator<char>(file), {});
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return 0;
  return std::strtol(stat.c_str() + name_end + 4, nullptr, 10);
}

bool is_ours(long pid) {
  std::error_code failed;
  std::string program = fs::read_symlink(folder_of(pid) + "/exe", failed).filename().string();
  constexpr std::string_view kReplaced = " (deleted)";
  if (program.ends_with(kReplaced)) program.resize(program.size() - kReplaced.size());
  return program == "ttyward-hold" || program == "ttyward";
}

// Whoever keeps a command has its journal open.
bool keeps_a_journal_in(long pid, const std::string& journals) {
  std::error_code failed;
  for (fs::directory_iterator at(folder_of(pid) + "/fd", failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    if (fs::read_symlink(at->path(), gone).string().starts_with(journals + "/")) return true;
  }
  return false;
}

}  // namespace

bool is_inside_a_terminal(const base::Folders& folders) {
  std::error_code failed;
  const std::string journals = fs::weakly_canonical(folders.journals(), failed).string();
  long pid = ::getppid();
  for (int i = 0; i < kMostAncestors && pid > 1; ++i, pid = parent_of(pid)) {
    if (is_ours(pid) && keeps_a_journal_in(pid, journals)) return true;
  }
  return false;
}

}  // namespace ttyward::client
