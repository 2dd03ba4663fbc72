// How long a decision takes. Prints one JSON object; bench/README.md says what the numbers mean.
//   policy_bench [FILE.tsv…]   corpora as tests/policy/corpus_rows.h reads them; tests/policy/everyday.tsv if
//   none
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "../tests/policy/corpus_rows.h"
#include "policy/evaluate.h"

namespace {

using ttyward::policy::Place;
using ttyward::policy::RealFiles;
using ttyward::policy::RuleSet;
using ttyward::policy::Settings;

double micros(const std::string& command, const Place& place) {
  const RuleSet rules;
  const Settings settings;
  double best = 1e9;
  for (int i = 0; i < 15; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto verdict = ttyward::policy::check(command, place, rules, settings);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() + (verdict.effects.size() > 100000 ? 1.0 : 0.0));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const RealFiles files;
  const Place place{"/tmp", "/tmp", "/root", &files};
  std::vector<std::pair<double, std::string>> times;
  std::vector<std::string> corpora(argv + 1, argv + argc);
  if (corpora.empty()) corpora.push_back(ttyward::policy::everyday_path());
  for (const std::string& corpus : corpora) {
    for (const ttyward::policy::CorpusRow& row : ttyward::policy::read_corpus(corpus)) {
      times.emplace_back(micros(row.command, place), row.command.substr(0, 60));
    }
  }
  std::string list;
  while (list.size() < 10'000) list += "grep -n 'some text' src/file.c | head -5 && echo \"$x done\"; ";
  std::string quoted = "echo '" + std::string(10'000, 'a') + "'";
  std::string heredoc = "cat <<EOF\n";
  while (heredoc.size() < 10'000) heredoc += "a line of text with $variable and more\n";
  heredoc += "EOF\n";
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times.empty() ? 0.0
                         : times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))].first;
  };
  std::printf(
      "{\"commands\": %zu, \"median_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
      "\"list_10k_us\": %.1f, "
      "\"quoted_10k_us\": %.1f, \"heredoc_10k_us\": %.1f}\n",
      times.size(), at(0.5), at(0.9), at(0.99), at(1.0), micros(list, place), micros(quoted, place),
      micros(heredoc, place));
  return 0;
}
