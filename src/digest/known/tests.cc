// Test runners: tests that passed are counted, those that did not are facts.
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

constexpr const char* kPassed[] = {
    R"(^\s*\d+/\d+ Test +#\d+: .* Passed +[\d.]+ sec)",                                        // ctest
    R"(^\s+Start +\d+: )",                                                                     // ctest
    R"(^\[ RUN      \] |^\[       OK \] |^\[----------\] )",                                   // gtest
    R"(^\S+::\S.* PASSED( |$))",                                                               // pytest -v
    R"(^\w+ \([\w.]+\)( \.\.\.|\n.*\.\.\.) ok$|^\w+ \([\w.]+\) \.\.\. ok$|^\S.* \.\.\. ok$)",  // unittest,
                                                                                               // cargo
    R"(^\s*(✓|✔|√) )",                                              // jest, mocha, vitest, node
    R"(^\s*ok \d+ |^\s*# Subtest: )",                               // TAP
    R"(^ok +\S+ +(\(cached\)|[\d.]+s)|^\?  .*\[no test files\]$)",  // go, by package
    R"(\.{3,}(Passed|Skipped|OK|ok)$)",                             // pre-commit and others
    R"(^\s*--- PASS: |^=== (RUN|PAUSE|CONT|NAME) )",                // go
    R"(^ok: |^PASS: |^PASS$|^\[PASS\]|^\[ok\] |^PASSED \S+::)",
};

const RE2::Set& passed_set() {
  static const RE2::Set* const kSet = [] {
    auto* set = new RE2::Set(RE2::Options(), RE2::UNANCHORED);
    for (const char* pattern : kPassed) set->Add(pattern, nullptr);
    set->Compile();
    return set;
  }();
  return *kSet;
}

struct Failing {
  const char* pattern;  // groups: name, message (may be empty)
  const char* outcome;
};
constexpr Failing kFailing[] = {
    {R"(^FAILED (\S+::\S+?)(?: - (.*))?$)", "failed"},                                  // pytest
    {R"(^ERROR (\S+\.py\S*)(?: - (.*))?$)", "error"},                                   // pytest
    {R"(^FAIL: (\w+ \(.*\))()$)", "failed"},                                            // unittest
    {R"(^ERROR: (\w+ \(.*\))()$)", "error"},                                            // unittest
    {R"(^\[  FAILED  \] (\w\S*\.\S+?)(, where .*)? \(\d+ ms\)$)", "failed"},            // gtest
    {R"(^\s*\d+/\d+ Test +#\d+: (\S+) \.*\*\*\*(?:Failed|Exception)(.*)$)", "failed"},  // ctest
    {R"(^\s*\d+/\d+ Test +#\d+: (\S+) \.*\*\*\*Timeout(.*)$)", "timeout"},              // ctest
    {R"(^\s*--- FAIL: (\S+)() \(.*\)$)", "failed"},                                     // go
    {R"(^test (\S+) \.\.\. FAILED()$)", "failed"},                                      // cargo
    {R"(^\s*● (.*\S) *()$)", "failed"},                                                 // jest
    {R"(^\s*(?:✖|✕|×) (.*?)()(?: \([\d.]+ ?ms\))?$)", "failed"},                        // node, jest, vitest
    {R"(^\s*not ok \d+ - (.*)()$)", "failed"},                                          // TAP
    {R"(^ {2,}\d+\) (.+[^:])()$)", "failed"},                                           // mocha
};

// Which of kFailing a line may be: one look for all of them.
const RE2::Set& failing_set() {
  static const RE2::Set* const kSet = [] {
    auto* set = new RE2::Set(RE2::Options(), RE2::ANCHOR_BOTH);
    for (const Failing& failing : kFailing) set->Add(failing.pattern, nullptr);
    set->Compile();
    return set;
  }();
  return *kSet;
}

// pytest quotes the whole function that failed: the line marked > and those with E say what matters.
void hide_functions(Page& page) {
  static const RE2 kSection(R"(^=+ (FAILURES|ERRORS) =+$)");
  static const RE2 kEnd(R"(^=+ .* =+$)");
  static const RE2 kKeep(R"(^(>|E |_{3,} )|^\S+:\d+:)");
  static const RE2 kCaptured(R"(^-+ Captured .* -+$)");
  bool inside = false;
  bool captured = false;
  for (Line& line : page.lines) {
    if (line.blank || line.shielded || line.fold >= 0 || line.text.size() > 1000) continue;
    if (RE2::FullMatch(line.text, kSection)) {
      inside = true;
    } else if (RE2::FullMatch(line.text, kEnd)) {
      inside = false;
    } else if (RE2::FullMatch(line.text, kCaptured)) {
      captured = true;  // what the test printed
    } else if (line.text.starts_with("___")) {
      captured = false;
    } else if (inside && !captured && !line.alarm && line.rank < Rank::Warning &&
               !RE2::PartialMatch(line.text, kKeep)) {
      line.rank = Rank::Quote;
      line.settled = true;
    }
  }
}

}  // namespace

void know_tests(Page& page) {
  static const std::vector<RE2*>* const kPatterns = [] {
    auto* patterns = new std::vector<RE2*>;
    for (const Failing& failing : kFailing) patterns->push_back(new RE2(failing.pattern));
    return patterns;
  }();
  std::vector<size_t> passed;
  std::vector<size_t> failed;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (line.blank || line.shielded || line.fold >= 0 || line.text.size() > 1000) continue;
    if (passed_set().Match(line.text, nullptr)) {
      passed.push_back(i);
      // TAP says the time and more of each.
      if (i + 1 < page.lines.size() && page.lines[i + 1].text == "  ---" && line.text.starts_with("ok ")) {
        while (i + 1 < page.lines.size() && page.lines[i + 1].text.starts_with("  ") &&
               page.lines[i + 1].fold < 0 && !page.lines[i + 1].shielded) {
          passed.push_back(++i);
          if (page.lines[i].text == "  ...") break;
        }
      }
      continue;
    }
    if (!failing_set().Match(line.text, nullptr)) continue;
    std::string name, message;
    for (size_t k = 0; k < kPatterns->size(); ++k) {
      if (!RE2::FullMatch(line.text, *(*kPatterns)[k], &name, &message)) continue;
      const auto same = [&](const TestOutcome& t) { return t.name == name; };
      if (page.facts.tests.size() < 200 &&
          std::none_of(page.facts.tests.begin(), page.facts.tests.end(), same)) {
        page.facts.tests.push_back({name, kFailing[k].outcome, message, line.number});
      }
      failed.push_back(i);
      break;
    }
  }
  if (!page.small()) hide_functions(page);
  if (passed.size() + failed.size() < 3) {
    page.facts.tests.clear();
    return;
  }
  page.quotes = page.quotes || !failed.empty();
  for (const size_t i : failed) {
    page.lines[i].rank = Rank::Summary;
    page.lines[i].settled = failed.size() <= 40;
  }
  if (passed.size() >= 2 && !page.tiny()) {
    for (const size_t i : passed) page.lines[i].rank = Rank::Plain;
    fold_lines(page, passed, 1, false, "passed");
    Fold& fold = page.folds.back();
    fold.bare = fold.alarms == 0;
  }
}

}  // namespace ttyward::digest
