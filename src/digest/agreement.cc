// Where exit status and text disagree, the digest says so: either alone would mislead.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "digest/page.h"

namespace ttyward::digest {
namespace {

const RE2& failure_pattern() {
  static const RE2 kPattern(
      R"(^(FAILED|FAIL|FAILURE|BUILD FAILED|BUILD FAILURE)\b|^make(\[\d+\])?: \*\*\* |\b[1-9]\d* (tests? |examples? )?(failed|failures?|failing)\b|^(fatal|FATAL|error|ERROR|Error)(\[\w+\])?: |^[\w./+-]+:\d+:(\d+:)? (fatal )?error: |^Traceback \(most recent call last\)|^npm ERR!|^npm error |^E: |^panic: |Segmentation fault|\(core dumped\)|^Aborted$|^Killed$|\bcommand not found$)");
  return kPattern;
}

const RE2& success_pattern() {
  static const RE2 kPattern(
      R"((?i)^\W*(ok|success|successful|successfully|passed|done|build success\w*|all (tests|checks)( have)? passed|all \d+ tests passed|0 failed|completed( successfully)?|build succeeded)\W*$|(?i)\b(all (tests|checks) passed|100% tests passed|build succeeded|finished successfully)\b)");
  return kPattern;
}

// What the shell says of a program that a signal ended.
bool crashed(std::string_view text) {
  return text.find("Segmentation fault") != std::string_view::npos ||
         text.find("core dumped") != std::string_view::npos || text == "Aborted" || text == "Killed";
}

}  // namespace

void check_agreement(Page& page) {
  if (!page.options.exit_status || page.content) return;
  // These print what others have said.
  static constexpr std::array kQuoting = {"grep",    "egrep", "rg",      "ag",   "ack",  "journalctl",
                                          "dmesg",   "git",   "kubectl", "logs", "jq",   "diff",
                                          "strings", "cat",   "bat",     "head", "tail", "sed",
                                          "awk",     "less",  "more",    "zcat", "zgrep"};
  if (!page.writers.empty() &&
      std::all_of(page.writers.begin(), page.writers.end(), [](const std::string& program) {
        return std::find(kQuoting.begin(), kQuoting.end(), program) != kQuoting.end();
      }))
    return;
  const int status = *page.options.exit_status;
  const Line* failure = nullptr;
  const Line* success = nullptr;
  size_t from_end = 0;
  for (size_t i = page.lines.size(); i-- > 0;) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.text.size() > 2000) continue;
    ++from_end;
    if (success == nullptr && from_end <= 5 && RE2::PartialMatch(line.text, success_pattern()))
      success = &line;
    if (failure == nullptr && (line.alarm || crashed(line.text)) &&
        RE2::PartialMatch(line.text, failure_pattern()))
      failure = &line;
    if (failure != nullptr && from_end > 5) break;
  }
  if (status == 0 && failure != nullptr) {
    page.notes.push_back({Piece::Kind::Note, failure->number, failure->number,
                          fmt::format("[exit status 0, but line {} reports a failure]", failure->number), 0});
  } else if (status != 0 && success != nullptr) {
    page.notes.push_back(
        {Piece::Kind::Note, success->number, success->number,
         fmt::format("[exit status {}, although line {} reports success]", status, success->number), 0});
  }
}

}  // namespace ttyward::digest
