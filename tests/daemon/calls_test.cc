// Client and server together: answers, parts, events, cancels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include <boost/json/serialize.hpp>

#include "client/connection.h"
#include "daemon/testing.h"

namespace ttyward {
namespace {

using client::CallFailure;
using client::Connection;
using daemon::testing::ScratchFolder;
using daemon::testing::ToyServer;
using std::chrono::milliseconds;
namespace json = boost::json;

client::Options options_for(const ScratchFolder& scratch) {
  client::Options options;
  options.folders = scratch.folders();
  options.client = "test";
  options.start_daemon = false;
  options.patience = milliseconds(60'000);
  return options;
}

class Calls : public ::testing::Test {
 protected:
  Connection connect(const std::string& role = "person") {
    auto options = options_for(scratch_);
    options.role = role;
    auto opened = Connection::open(options);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }

  ScratchFolder scratch_;
  ToyServer server_{scratch_.folders().runtime};
};

TEST_F(Calls, AnAnswerComesBack) {
  auto connection = connect();
  EXPECT_EQ(connection.welcome().pid, ::getpid());
  EXPECT_EQ(connection.welcome().version, TTYWARD_VERSION);
  auto answer = connection.call("echo", {{"a", 1}, {"b", "\xC3\xA9"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(json::serialize(*answer), R"({"a":1,"b":"é"})");
}

TEST_F(Calls, AnErrorKeepsItsCode) {
  auto connection = connect();
  auto answer = connection.call("nonsense", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, wire::Code::InvalidArgument);
  EXPECT_EQ(answer.error().fate, CallFailure::Fate::Answered);
  EXPECT_THAT(answer.error().message, ::testing::HasSubstr("nonsense"));
}

TEST_F(Calls, PartsComeBeforeTheAnswer) {
  auto connection = connect();
  int parts = 0;
  auto answer = connection.call("parts", {{"count", 100}}, [&](const json::object& part) {
    EXPECT_EQ(part.at("n").as_int64(), parts++);
  });
  ASSERT_TRUE(answer);
  EXPECT_EQ(parts, 100);
}

TEST_F(Calls, EventsGoToTheHandlerOrWait) {
  auto connection = connect();
  int events = 0;
  client::CallOptions with_events;
  with_events.on_event = [&](const json::object&) { ++events; };
  ASSERT_TRUE(connection.call("flood", {{"events", 3}, {"bytes", 10}}, {}, with_events));
  EXPECT_EQ(events, 3);
  ASSERT_TRUE(connection.call("flood", {{"events", 2}, {"bytes", 10}}));
  for (int i = 0; i < 2; ++i) {
    auto next = connection.next(milliseconds(0));
    ASSERT_TRUE(next && *next && std::holds_alternative<client::Event>(**next));
  }
  EXPECT_FALSE(*connection.next(milliseconds(0)));
}

TEST_F(Calls, AnswersInAnyOrder) {
  auto connection = connect();
  const uint64_t slow = *connection.start("never", {});
  const uint64_t fast = *connection.start("echo", {{"n", 7}});
  auto first = connection.next(milliseconds(-1));
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(std::get<client::Reply>(**first).id, fast);
  ASSERT_TRUE(connection.call("finish", {}));
  auto second = connection.next(milliseconds(-1));
  ASSERT_TRUE(second && *second);
  EXPECT_EQ(std::get<client::Reply>(**second).id, slow);
}

TEST_F(Calls, ACancelledCallAnswersAtOnceAndTheHandlerKnows) {
  auto connection = connect();
  const uint64_t id = *connection.start("never", {});
  connection.cancel(id);
  connection.cancel(id);  // the second finds nothing
  auto next = connection.next(milliseconds(-1));
  ASSERT_TRUE(next && *next);
  const auto& reply = std::get<client::Reply>(**next);
  EXPECT_EQ(reply.id, id);
  EXPECT_EQ(reply.result.error().code, wire::Code::Cancelled);
  ASSERT_TRUE(connection.call("finish", {}));  // answers a call that is closed: nothing happens
  EXPECT_EQ(server_.handler.cancelled, 1);
  EXPECT_FALSE(*connection.next(milliseconds(0)));
}

TEST_F(Calls, ADeadlineCancels) {
  auto connection = connect();
  client::CallOptions options;
  options.deadline = milliseconds(20);
  auto answer = connection.call("never", {}, {}, options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fate, CallFailure::Fate::TimedOut);
  EXPECT_TRUE(connection.call("echo", {}));
  EXPECT_EQ(server_.handler.open, 0);
}

TEST_F(Calls, ADescriptorCancels) {
  auto connection = connect();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  client::CallOptions options;
  options.cancel_fd = ends[0];
  auto answer = connection.call("never", {}, {}, options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, wire::Code::Cancelled);
  EXPECT_EQ(answer.error().fate, CallFailure::Fate::Answered);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Calls, WhatIsNotUtf8IsRepairedAndDoesNotCostTheConnection) {
  auto connection = connect();
  auto answer = connection.call("binary", {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->at("text").as_string(),
            "a\xEF\xBF\xBD\xEF\xBF\xBD"
            "b");
}

TEST_F(Calls, AnAnswerThatIsTooLargeIsAnError) {
  auto connection = connect();
  auto answer = connection.call("large", {{"bytes", (16 << 20) + 1}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, wire::Code::Exhausted);
  answer = connection.call("large", {{"bytes", 15 << 20}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->at("text").as_string().size(), size_t{15} << 20);
}

TEST_F(Calls, ACallThatIsTooLargeIsNotSent) {
  auto connection = connect();
  auto answer = connection.call("echo", {{"text", std::string((16 << 20) + 1, 'x')}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, wire::Code::InvalidArgument);
  answer = connection.call("echo", {{"text", std::string(15 << 20, 'x')}});
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(Calls, TheHandlerDecidesTheRole) {
  EXPECT_EQ(connect("viewer").welcome().role, "viewer");
  server_.on_loop([&](daemon::Server&) { server_.handler.forced = daemon::Role::Agent; });
  auto connection = connect("person");
  EXPECT_EQ(connection.welcome().role, "agent");
  EXPECT_EQ(connection.call("role", {})->at("role").as_string(), "agent");
  EXPECT_EQ(connection.call("role", {})->at("reader").as_string(), "test");
}

TEST_F(Calls, FiftyClientsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&, i] {
      auto connection = Connection::open(options_for(scratch_));
      if (!connection) return;
      for (int n = 0; n < 100; ++n) {
        auto answer = connection->call("echo", {{"client", i}, {"n", n}});
        if (!answer || answer->at("client").as_int64() != i || answer->at("n").as_int64() != n) return;
      }
      ++good;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 50);
}

}  // namespace
}  // namespace ttyward
