// Inputs that would take for ever if something were not bounded.
#include <gtest/gtest.h>

#include <chrono>

#include "policy/evaluate.h"

namespace ttyward::policy {
namespace {

// Generous: sanitizers and busy machines. Without bounds each of these takes minutes or years.
constexpr std::chrono::seconds kBound{10};

void expect_bounded(const std::string& command) {
  const FakeFiles files;
  const Place place{"/home/me/project", "/home/me/project", "/home/me", &files};
  const auto begin = std::chrono::steady_clock::now();
  const Verdict verdict = check(command, place, RuleSet{}, Settings{});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kBound) << command.substr(0, 80);
  EXPECT_NE(verdict.rule, "");
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Bounds, many_stars) {
  expect_bounded("cat " + repeated("*", 80) + "tb");
  expect_bounded("cat " + repeated("*a", 80));
  RuleSet rules;
  EXPECT_FALSE(matches_wildcards(repeated("**a", 40), repeated("a", 200) + "b"));
}

TEST(Bounds, many_braces) {
  expect_bounded("echo " + repeated("{", 5000));
  expect_bounded("echo " + repeated("{a,b}", 60));
  expect_bounded("echo {1..999999999}");
}

TEST(Bounds, wrappers_around_wrappers) {
  expect_bounded(repeated("watch ", 60) + "ls");
  expect_bounded(repeated("unknown_wrapper ls ", 60));
  expect_bounded(repeated("sudo env nice ", 60) + "ls");
}

TEST(Bounds, functions_that_call_each_other) {
  std::string text = "f0() { ls; }; ";
  for (int i = 1; i < 12; ++i) {
    text += "f" + std::to_string(i) + "() { " + repeated("f" + std::to_string(i - 1) + "; ", 10) + "}; ";
  }
  expect_bounded(text + "f11");
}

TEST(Bounds, loops_in_loops) {
  std::string text = "ls";
  for (int i = 0; i < 8; ++i) text = "for i" + std::to_string(i) + " in {1..30}; do " + text + "; done";
  expect_bounded(text);
}

TEST(Bounds, text_inside_text) {
  std::string text = "ls";
  for (int i = 0; i < 8; ++i) text = "eval \"$(echo " + text + ")\"; " + text;
  expect_bounded(text);
  expect_bounded("python3 -c \"" + repeated("'rm -rf x y z' ", 300) + "\"");
}

TEST(Bounds, unfinished_quotes_and_substitutions) {
  for (const char* text : {"echo `touch /", "echo $(", "echo \"$(", "echo ${x", "cat <<EOF", "cat <(",
                           "echo $((", "a=(", "echo \\", "$'\\0$'\\164"})
    expect_bounded(text);
}

}  // namespace
}  // namespace ttyward::policy
