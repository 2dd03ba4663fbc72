#include "rpc/stdio.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "mcp/conformance/fixtures.h"
#include "mcp/testing.h"

namespace ttyward::mcp {
namespace {

// A server with the fixtures on a pair of pipes, run until it ends by itself.
std::string text_of(const std::string& input) {
  auto loop = std::move(io::Loop::create().value());
  Notices notices;
  conformance::Fixtures fixtures(notices);
  Server server(*loop, fixtures, notices);
  int in[2];
  int out[2];
  EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  std::thread writer([&] {
    size_t sent = 0;
    while (sent < input.size()) {
      const ssize_t n = ::write(in[1], input.data() + sent, input.size() - sent);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    ::close(in[1]);
  });
  std::string text;
  std::thread reader([&] {
    char bytes[65536];
    for (ssize_t n = ::read(out[0], bytes, sizeof bytes); n > 0; n = ::read(out[0], bytes, sizeof bytes))
      text.append(bytes, static_cast<size_t>(n));
  });
  {
    auto stdio = rpc::Stdio::start(
        *loop, in[0], out[1],
        [&](std::shared_ptr<Outlet> to) { return std::make_shared<Peer>(server, "stdio", std::move(to)); },
        [&] { loop->stop(); });
    EXPECT_TRUE(stdio);
    loop->run();
  }
  ::close(out[1]);
  ::close(in[0]);
  writer.join();
  reader.join();
  ::close(out[0]);
  return text;
}

std::vector<json::object> talk(const std::string& input) {
  const std::string text = text_of(input);
  std::vector<json::object> messages;
  size_t from = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; from = end + 1, end = text.find('\n', from))
    messages.push_back(testing::parse(std::string_view(text).substr(from, end - from)));
  EXPECT_EQ(from, text.size());
  return messages;
}

constexpr const char* kPing = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";

TEST(Stdio, AnswersWhatIsBadAndGoesOn) {
  const auto messages = talk("nonsense\n\n[1]\n{\"id\":3}\r\n" + std::string(kPing) + "\r\n");
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(integer_at(messages[0].at("error").as_object(), "code"), rpc::kParseError);
  EXPECT_EQ(integer_at(messages[1].at("error").as_object(), "code"), rpc::kInvalidRequest);
  EXPECT_EQ(integer_at(messages[2].at("error").as_object(), "code"), rpc::kInvalidRequest);
  EXPECT_EQ(messages[2].at("id"), json::value(3));
  EXPECT_TRUE(messages[3].contains("result"));
}

TEST(Stdio, ALineThatIsTooLongIsSkippedAndAnswered) {
  const auto messages = talk("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + std::string(33u << 20, 'x') +
                             "\"}\n" + kPing + "\n");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(text_or(messages[0].at("error").as_object(), "message").find("longer than 32 MiB"),
            std::string::npos);
  EXPECT_EQ(messages[1].at("id"), json::value(7));
}

TEST(Stdio, ALastLineWithoutItsEndCounts) {
  EXPECT_EQ(talk(kPing).size(), 1u);
}

TEST(Stdio, WhatIsAlmostDoneAtTheEndOfInputIsStillAnswered) {
  const auto messages = talk(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_tool_with_progress","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})"
      "\n");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(messages[0].contains("result"));
}

TEST(Stdio, LargeAnswersToAClientThatReadsSlowly) {
  std::string input;
  for (int i = 0; i < 300; i++)
    input +=
        R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
        R"(,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})"
        "\n";
  EXPECT_EQ(talk(input).size(), 300u);
}

TEST(Stdio, TakesBatchesInTheOneRevisionThatHasThem) {
  const auto initialize = [](const char* version) {
    return std::string(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")") +
           version + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})" + "\n";
  };
  const std::string batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}])"
      "\n";
  const std::string taken = text_of(initialize("2025-03-26") + batch);
  EXPECT_NE(taken.find(R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}])"
                       "\n"),
            std::string::npos)
      << taken;
  EXPECT_NE(text_of(initialize("2025-06-18") + batch).find("batches are not part of this protocol version"),
            std::string::npos);
}

}  // namespace
}  // namespace ttyward::mcp
