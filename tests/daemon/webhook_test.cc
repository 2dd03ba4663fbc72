// What a webhook is sent, and how it is handed to curl.
#include "app/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace ttyward::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

gate::Approval approval() {
  gate::Approval made;
  made.id = "aaaaaaaaaaaaa";
  made.command = "deploy --password hunter2 \"a\"\x1b[2J";
  made.cwd = "/srv/\x1b]0;x\a";
  made.asked_by = "claude";
  made.created_at_ms = 5;
  return made;
}

TEST(Webhook, TellsWhatWaitsWithoutSecretsAndControls) {
  const std::string text = webhook_body(approval());
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const auto body = boost::json::parse(text).as_object();
  EXPECT_EQ(body.at("approval").as_string(), "aaaaaaaaaaaaa");
  EXPECT_EQ(body.at("asked_by").as_string(), "claude");
  EXPECT_TRUE(body.at("expires_at").is_null());
  EXPECT_EQ(body.at("text"), body.at("content"));
  EXPECT_THAT(std::string(body.at("text").as_string()), HasSubstr("ttyward approvals allow aaaaaaaaaaaaa"));
}

TEST(Webhook, NothingInAMessageIsAnOptionOfCurl) {
  const std::string text = curl_configuration("https://h/\"\noutput = \"x", "{\"a\":\"b\\n\"}");
  EXPECT_THAT(text, HasSubstr("data-binary = \"{\\\"a\\\":\\\"b\\\\n\\\"}\"\n"));
  EXPECT_THAT(text, HasSubstr("url = \"https://h/\\\""));
  EXPECT_THAT(text, HasSubstr("proto = \"=http,https\"\n"));
}

TEST(Webhook, ALongCommandIsCut) {
  gate::Approval long_one = approval();
  long_one.command = std::string(1 << 20, 'x');
  // It has to fit a pipe, so that handing it over never blocks.
  EXPECT_LT(curl_configuration("https://h/", webhook_body(long_one)).size(), 60'000U);
}

}  // namespace
}  // namespace ttyward::app
