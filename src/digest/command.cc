// Reading the command line, as far as it helps to know what the output is.
#include <algorithm>
#include <array>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr std::array kReaders = {"cat", "bat", "head", "tail", "sed", "less",    "more", "man",
                                 "awk", "cut", "help", "nl",   "xxd", "hexdump", "od"};

std::string_view base_name(std::string_view word) {
  const size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

}  // namespace

bool Page::runs(std::string_view program) const {
  return std::any_of(argv.begin(), argv.end(), [&](const std::string& word) { return word == program; });
}

void read_command(Page& page) {
  bool begins = true;
  for (std::string_view word : words_of(page.options.command, 200)) {
    const bool ends = word.ends_with(';') || word == "|" || word == "||" || word == "&&";
    while (word.ends_with(';')) word.remove_suffix(1);
    if (word == "|" || word == "||" || word == "&&" || word.empty()) {
      begins = true;
      continue;
    }
    const std::string name(base_name(word));
    if (begins && std::find(kReaders.begin(), kReaders.end(), name) != kReaders.end()) {
      // `cmd | head` prints what cmd printed; `cat file` is there to be read.
      page.content = page.content || page.argv.empty();
    }
    if (word == "--help" || word == "-h") page.content = true;
    page.argv.push_back(name);
    begins = ends;
  }
}

}  // namespace ttyward::digest
