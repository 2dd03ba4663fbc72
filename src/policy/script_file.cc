#include "policy/script_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/hex.h"
#include "base/sha256.h"
#include "policy/judge.h"

namespace ttyward::policy {
namespace {

struct Interpreter {
  std::string_view name;   // without a version
  std::string_view flags;  // short options without a value that leave the script the first argument
};

constexpr auto kInterpreters = std::to_array<Interpreter>({
    {"bash", "euxvnp"}, {"sh", "euxvn"},  {"dash", "euxvn"}, {"zsh", "euxvnf"},       {"ksh", "euxvn"},
    {"mksh", "euxvn"},  {"ash", "euxvn"}, {"fish", ""},      {"python", "uBOsSEIbq"}, {"pypy", "uBOsSEI"},
    {"perl", "wTtW"},   {"ruby", "wW"},   {"node", ""},      {"nodejs", ""},          {"php", ""},
    {"lua", ""},        {"luajit", ""},   {"tclsh", ""},     {"Rscript", ""},         {"source", ""},
    {".", ""},
});

const Interpreter* find_interpreter(std::string_view program) {
  while (!program.empty() && (std::isdigit(static_cast<unsigned char>(program.back())) != 0 ||
                              (program.back() == '.' && program.size() > 1))) {
    program.remove_suffix(1);  // python3.11
  }
  const auto* const found = std::find_if(kInterpreters.begin(), kInterpreters.end(),
                                         [&](const Interpreter& row) { return row.name == program; });
  return found == kInterpreters.end() ? nullptr : found;
}

std::string absolute(const CommandFact& fact, size_t word) {
  if (word >= fact.known.size() || fact.known[word] != Known::All || fact.argv[word].empty()) return {};
  const std::string& text = fact.argv[word];
  if (text.front() == '/') return normalize(text);
  return fact.cwd.empty() ? std::string() : normalize(fact.cwd + "/" + text);
}

}  // namespace

bool is_interpreter(std::string_view program) {
  return find_interpreter(program) != nullptr;
}

bool is_system_program(std::string_view program) {
  const size_t slash = program.rfind('/');
  return slash == std::string_view::npos || is_trusted_folder(program.substr(0, slash + 1));
}

std::string content_hash(const FileView* files, const std::string& absolute) {
  if (files == nullptr || absolute.empty()) return {};
  const FileText file = files->read(absolute, kMostHashed);
  return file.state == FileText::State::Text ? base::to_hex(base::sha256(file.text)) : std::string();
}

std::string script_of(const CommandFact& fact) {
  if (fact.argv.empty() || fact.program.empty()) return {};
  if (!is_system_program(fact.argv.front())) return absolute(fact, 0);
  const Interpreter* row = find_interpreter(fact.program);
  if (row == nullptr) return {};
  for (size_t i = 1; i < fact.argv.size(); ++i) {
    const std::string_view word = fact.argv[i];
    if (!word.starts_with("-")) return absolute(fact, i);
    // "-", "--" and every option that could take the script's place or load something else.
    if (word.size() < 2 || word.find_first_not_of(row->flags, 1) != std::string_view::npos) return {};
  }
  return {};
}

}  // namespace ttyward::policy
