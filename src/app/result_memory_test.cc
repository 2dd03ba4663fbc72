#include "app/result_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ttyward::app {
namespace {

std::string suite(int failed, const char* time) {
  std::string text;
  for (int i = 0; i < 30; i++) text += fmt::format("test number {} of the suite passed in {}\n", i, time);
  return text + fmt::format("{} failed, {} passed in {}\n", failed, 30 - failed, time);
}

TEST(ResultMemory, ASecondRunIsToldByWhatChanged) {
  ResultMemory memory;
  const std::string first = suite(2, "0.31s");
  EXPECT_EQ(memory.since_last("agent", "make test", "/w", {"c1", first}), first);
  EXPECT_EQ(memory.since_last("agent", "make test", "/w", {"c2", suite(1, "0.47s")}),
            "[shown lines as of command c1, but for: (all of it: read_output c2, view digest)]\n"
            "- 2 failed, 28 passed in 0.31s\n+ 1 failed, 29 passed in 0.47s\n");
  EXPECT_EQ(memory.since_last("agent", "make test", "/w", {"c3", suite(1, "0.50s")}),
            "[shown lines as of command c2, but for times and addresses (all of it: read_output c3, view "
            "digest)]\n");
}

TEST(ResultMemory, SaysAsBeforeOnlyOfWhatIsTheSame) {
  ResultMemory memory;
  const std::string text = suite(0, "1 ms");
  memory.since_last("a", "x", "/", {"c1", text, 7});
  EXPECT_EQ(memory.since_last("a", "x", "/", {"c2", text, 7}),
            "[as command c1 printed before (all of it: read_output c2, view digest)]\n");
  EXPECT_EQ(memory.since_last("a", "x", "/", {"c3", text, 8}),
            "[shown lines as of command c2, other lines differ (all of it: read_output c3, view digest)]\n");
}

TEST(ResultMemory, ComparesTextsThatAreReadToTheLastDigit) {
  ResultMemory memory;
  std::string text;
  for (int i = 0; i < 30; i++) text += fmt::format("option_{} is the {}th of them\n", i, i);
  memory.since_last("a", "cat conf", "/", {"c1", text + "timeout: 30s\nmask: 0xFF\n", 1, true});
  EXPECT_EQ(memory.since_last("a", "cat conf", "/", {"c2", text + "timeout: 60s\nmask: 0x0F\n", 2, true}),
            "[shown lines as of command c1, but for: (all of it: read_output c2, view digest)]\n"
            "- timeout: 30s\n- mask: 0xFF\n+ timeout: 60s\n+ mask: 0x0F\n");
}

TEST(ResultMemory, OthersAndShortTextsGetAll) {
  ResultMemory memory;
  const std::string text = suite(0, "1 ms");
  for (const char* reader : {"one", "two"})
    EXPECT_EQ(memory.since_last(reader, "make", "/w", {"c1", text}), text);
  EXPECT_EQ(memory.since_last("one", "make", "/other", {"c2", text}), text);
  EXPECT_EQ(memory.since_last("one", "make all", "/w", {"c2", text}), text);
  EXPECT_EQ(memory.since_last("one", "echo", "/w", {"c3", "hi\n"}), "hi\n");
  EXPECT_EQ(memory.since_last("one", "echo", "/w", {"c4", "hi\n"}), "hi\n");
}

TEST(ResultMemory, WhatIsMostlyNewIsSentWhole) {
  ResultMemory memory;
  memory.since_last("a", "x", "/", {"c1", std::string(600, 'a') + "\n"});
  const std::string other = std::string(600, 'b') + "\n";
  EXPECT_EQ(memory.since_last("a", "x", "/", {"c2", other}), other);
}

TEST(ResultMemory, IsBounded) {
  ResultMemory memory;
  const std::string text = suite(0, "1 s");
  for (size_t i = 0; i <= ResultMemory::kMost; i++)
    memory.since_last("a", fmt::format("cmd {}", i), "/", {"c", text});
  EXPECT_EQ(memory.since_last("a", "cmd 0", "/", {"c", text}), text);
}

}  // namespace
}  // namespace ttyward::app
