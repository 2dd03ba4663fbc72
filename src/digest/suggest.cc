// Commands that may come next, only where the output itself says what would help. At most two.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr size_t kMost = 2;

bool is_plain_word(std::string_view word) {
  return !word.empty() && word.size() < 200 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@+-[]") ==
             std::string_view::npos;
}

void add(Page& page, std::string command) {
  std::vector<std::string>& all = page.facts.suggestions;
  if (all.size() < kMost && std::find(all.begin(), all.end(), command) == all.end())
    all.push_back(std::move(command));
}

// The failing test alone.
void suggest_test(Page& page) {
  if (page.facts.tests.empty()) return;
  const std::string& name = page.facts.tests.front().name;
  if (!is_plain_word(name)) return;
  if (name.find(".py::") != std::string::npos) {
    // In brackets the shell would look for files.
    add(page, name.find('[') == std::string::npos ? "pytest " + name : "pytest '" + name + "'");
  } else if (page.runs("go", "test")) {
    add(page, fmt::format("go test -run '^{}$' ./...", name.substr(0, name.find('/'))));
  } else if (page.runs("cargo", "test")) {
    add(page, "cargo test " + name);
  } else if (page.runs("ctest")) {
    add(page, fmt::format("{} -R '^{}$'", page.options.command, name));
  }
}

void suggest_from(Page& page, const std::string& text) {
  static const RE2 kPython(R"(^(?:E +)?ModuleNotFoundError: No module named '(\w+)'$)");
  static const RE2 kNode(R"(^Error: Cannot find module '([@\w][\w/.-]*)'$)");
  static const RE2 kPort(
      R"(EADDRINUSE.*?:(\d{2,5})\b|(?i:address already in use).*?:(\d{2,5})\b|:(\d{2,5})\b.*(?i:address already in use)|(?i:port) (\d{2,5}) (?i:is )?(?i:already )?in use)");
  static const RE2 kFixable(R"(potentially fixable with the `--fix` option)");
  std::string a, b, c, d;
  if (RE2::FullMatch(text, kPython, &a)) {
    add(page, "python3 -m pip install " + a);
  } else if (RE2::FullMatch(text, kNode, &a) && a.find("..") == std::string::npos) {
    add(page, "npm install " + a);
  } else if (RE2::PartialMatch(text, kPort, &a, &b, &c, &d)) {
    add(page, fmt::format("ss -ltnp 'sport = :{}'", a + b + c + d));
  } else if (RE2::PartialMatch(text, kFixable) && page.runs("eslint") &&
             page.options.command.find_first_of("|;&<>`$") == std::string::npos) {
    add(page, page.options.command + " --fix");
  }
}

}  // namespace

void suggest_commands(Page& page) {
  if (page.content || page.options.exit_status == 0) return;
  suggest_test(page);
  for (const Line& line : page.lines) {
    if (page.facts.suggestions.size() >= kMost) return;
    const bool telling = line.alarm || line.rank >= Rank::Hint;
    if (telling && !line.shielded && !line.blank && line.text.size() <= 1000) suggest_from(page, line.text);
  }
}

}  // namespace ttyward::digest
