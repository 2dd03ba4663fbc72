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
