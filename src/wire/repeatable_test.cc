#include "wire/repeatable.h"

#include <gtest/gtest.h>

#include <string>

#include <boost/json/parse.hpp>

#include "base/ids.h"

namespace ttyward::wire {
namespace {

bool may_repeat(std::string_view call, const char* args = "{}") {
  return repeatable(call, boost::json::parse(args).as_object());
}

TEST(Repeatable, what_only_looks) {
  for (const char* call : {"list", "show", "status", "screen", "result", "history", "decisions", "approvals"})
    EXPECT_TRUE(may_repeat(call)) << call;
  EXPECT_TRUE(may_repeat("read", R"({"tail":5})"));
  EXPECT_TRUE(may_repeat("read", R"({"new":false})"));
  EXPECT_FALSE(may_repeat("read", R"({"new":true})")) << "a second one would miss it";
}

TEST(Repeatable, nothing_that_happens_twice) {
  for (const char* call : {"input", "interrupt", "kill", "signal", "open", "acquire", "answer", "batch",
                           "subscribe", "attach", "withdraw", "stop", "a call nobody knows"})
    EXPECT_FALSE(may_repeat(call)) << call;
}

TEST(Repeatable, commands_with_an_id_of_their_own) {
  for (const char* call : {"exec", "run"}) {
    EXPECT_FALSE(may_repeat(call, R"({"command":"make"})"));
    EXPECT_FALSE(may_repeat(call, R"({"command":"make","command_id":null})"));
    EXPECT_TRUE(may_repeat(call, R"({"command":"make","command_id":"caaaaaaaaaaaa"})"));
  }
}

TEST(Repeatable, waits_that_mean_the_same_later) {
  EXPECT_FALSE(may_repeat("wait", R"({"exit":true})")) << "of which command?";
  EXPECT_FALSE(may_repeat("wait", R"({"pattern":"x"})")) << "from where?";
  EXPECT_TRUE(may_repeat("wait", R"({"exit":true,"command":"caaaaaaaaaaaa"})"));
  EXPECT_TRUE(may_repeat("wait", R"({"pattern":"x","from":"start"})"));
  EXPECT_TRUE(may_repeat("wait", R"({"pattern":"x","from_place":{"line":3}})"));
  EXPECT_TRUE(may_repeat("wait", R"({"port":8080})"));
  EXPECT_TRUE(may_repeat("wait", R"({"approval":"a1"})"));
}

TEST(Repeatable, an_id_is_added_where_none_is) {
  boost::json::object args{{"command", "make"}};
  make_repeatable("exec", args);
  EXPECT_TRUE(base::is_id(std::string(args.at("command_id").as_string()), 'c'));
  EXPECT_TRUE(repeatable("exec", args));
  boost::json::object chosen{{"command_id", "caaaaaaaaaaaa"}};
  make_repeatable("run", chosen);
  EXPECT_EQ(chosen.at("command_id").as_string(), "caaaaaaaaaaaa");
  boost::json::object input{{"text", "y"}};
  make_repeatable("input", input);
  EXPECT_EQ(input.size(), 1U);
}

}  // namespace
}  // namespace ttyward::wire
