#include "base/http_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

using ::testing::HasSubstr;

TEST(HttpEndpoint, has_host_port_and_path) {
  EXPECT_EQ(parse_http_endpoint("http://127.0.0.1:4318").value(), (HttpEndpoint{"127.0.0.1", 4318, ""}));
  EXPECT_EQ(parse_http_endpoint("http://collector.local/").value(),
            (HttpEndpoint{"collector.local", 80, ""}));
  EXPECT_EQ(parse_http_endpoint("http://[::1]:4318/otlp/").value(), (HttpEndpoint{"::1", 4318, "/otlp"}));
  EXPECT_EQ(parse_http_endpoint("http://[::1]:4318").value().authority(), "[::1]:4318");
  EXPECT_EQ(parse_http_endpoint("http://h").value().authority(), "h:80");
}

TEST(HttpEndpoint, says_what_to_write_instead) {
  const auto problem = [](std::string_view text) {
    const auto parsed = parse_http_endpoint(text);
    return parsed ? std::string("none") : parsed.error().message;
  };
  EXPECT_THAT(problem("https://otel.example:4318"), HasSubstr("https is not supported"));
  for (const char* text :
       {"", "127.0.0.1:4318", "ftp://h", "http://", "http:///v1", "http://a b", "HTTP://h"})
    EXPECT_THAT(problem(text), HasSubstr("http://127.0.0.1:4318")) << text;
  for (const char* text : {"http://h:", "http://h:0", "http://h:65536", "http://h:4318x", "http://[::1]4318"})
    EXPECT_THAT(problem(text), HasSubstr("port")) << text;
  EXPECT_THAT(problem("http://u:p@h:1"), HasSubstr("password"));
  EXPECT_THAT(problem("http://[::1"), HasSubstr("IPv6"));
  EXPECT_THAT(problem("http://[x]"), HasSubstr("IPv6"));
  EXPECT_THAT(problem("http://h/a b"), HasSubstr("path"));
  EXPECT_THAT(problem("http://h/a\r\nX: y"), HasSubstr("path"));
  EXPECT_THAT(problem("http://h/a?b"), HasSubstr("path"));
  EXPECT_THAT(problem("http://h\r\n:1"), HasSubstr("address"));
}

}  // namespace
}  // namespace ttyward::base
