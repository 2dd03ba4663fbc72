#include "engine/live_stream.h"

#include <gtest/gtest.h>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using terminal::CommandState;
using testing::Bench;

struct Heard {
  Heard(Bench& bench, Terminal& terminal)
      : stream(LiveStream::start(bench.loop(), terminal, terminal.last()->facts.command_id,
                                 [this](const StreamPart& part) {
                                   parts.push_back(part);
                                   text += part.output;
                                 })
                   .value()) {}
  std::vector<StreamPart> parts;
  std::string text;
  std::unique_ptr<LiveStream> stream;
};

TEST(LiveStream, LinesComeWhileItRunsAndAllOfThemInTheEnd) {
  Bench bench;
  Terminal& t = bench.shell();
  Command* command =
      *t.submit(bench.request("echo one; printf 'x\\rtwo\\n'; read -p 'more? ' x; printf end"));
  Heard heard(bench, t);
  bench.until([&] { return heard.text == "one\ntwo\n"; });
  bench.until(
      [&] { return !heard.parts.empty() && heard.parts.back().state == CommandState::AwaitingInput; });
  ASSERT_TRUE(heard.parts.back().waiting);
  EXPECT_EQ(heard.parts.back().waiting->prompt, "more?");
  t.input("y\r", Owner::Agent, [](auto) {});
  bench.until([&] { return command->over(); });
  heard.stream->finish();
  EXPECT_EQ(heard.text, "one\ntwo\nmore? y\nend\n");
  const size_t parts = heard.parts.size();
  bench.exec(t, "echo other");
  EXPECT_EQ(heard.parts.size(), parts);
}

TEST(LiveStream, AFloodIsCutAndCoalesced) {
  Bench bench;
  Terminal& t = bench.run("seq 1 1000000");
  Heard heard(bench, t);
  bench.until([&] { return !t.live(); });
  heard.stream->finish();
  EXPECT_TRUE(heard.text.starts_with("1\n2\n3\n"));
  for (const StreamPart& part : heard.parts) EXPECT_LT(part.output.size(), LiveStream::kMostText + 200);
}

TEST(LiveStream, WhatWasPrintedLongAgoComesInSlicesAndBeforeTheEnd) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "seq 1 500000");
  Heard heard(bench, t);
  bool told = false;
  heard.stream->finish([&] { told = true; });
  bench.until([&] { return told; });
  EXPECT_TRUE(heard.text.starts_with("1\n2\n3\n"));
  EXPECT_TRUE(heard.text.ends_with("499999\n500000\n"));
  EXPECT_EQ(heard.parts.back().lines, 500'000U);
}

TEST(LiveStream, WhatIsPrintedWhileItCatchesUpIsNeitherLostNorTwice) {
  Bench bench;
  Terminal& t = bench.shell();
  const Command* command = *t.submit(bench.request("seq 1 200000; read x; seq 200001 200100"));
  bench.until([&] { return t.output().cursor_line().empty() && t.output().transcript().size() > 199'000; });
  Heard heard(bench, t);
  t.input("\r", Owner::Agent, [](auto) {});
  bench.until([&] { return command->over(); });
  bool told = false;
  heard.stream->finish([&] { told = true; });
  bench.until([&] { return told; });
  EXPECT_EQ(heard.parts.back().lines, 200'101U);
  EXPECT_TRUE(heard.text.ends_with("200099\n200100\n"));
}

TEST(LiveStream, BinaryOutputIsCountedAndNotShown) {
  Bench bench;
  Terminal& t = bench.run("head -c 100000 /dev/zero");
  Heard heard(bench, t);
  bench.until([&] { return !t.live(); });
  heard.stream->finish();
  EXPECT_EQ(heard.text, "");
  ASSERT_FALSE(heard.parts.empty());
  EXPECT_EQ(heard.parts.back().binary_bytes, 100'000U);
}

TEST(LiveStream, ProgressIsTold) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(
      t.submit(bench.request("printf '\\033]9;4;1;42\\007'; read x; printf '\\033]9;4;0\\007'; read x")));
  Heard heard(bench, t);
  const auto last = [&]() -> std::optional<vt::Progress> {
    for (auto part = heard.parts.rbegin(); part != heard.parts.rend(); ++part) {
      if (part->progress) return part->progress;
    }
    return std::nullopt;
  };
  bench.until([&] { return last() && last()->percent == 42; });
  t.input("\r", Owner::Agent, [](auto) {});
  bench.until([&] { return last()->state == vt::Progress::State::None; });
}

TEST(LiveStream, ATerminalThatGoesLeavesNothingDangling) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = t.id();
  ASSERT_TRUE(t.submit(bench.request("echo one; read x")));
  Heard heard(bench, t);
  bench.until([&] { return heard.text == "one\n"; });
  bench.forget_all();
  heard.stream->finish();
  bench.recover(id);
}

}  // namespace
}  // namespace ttyward::engine
