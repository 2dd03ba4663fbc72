#include "proxy/allow_list.h"

#include <gtest/gtest.h>

namespace ttyward::proxy {
namespace {

std::string host(std::string_view text) {
  const auto parsed = parse_host(text);
  return parsed ? parsed->text() : "refused";
}

TEST(Host, HasOneForm) {
  EXPECT_EQ(host("Example.COM"), "example.com");
  EXPECT_EQ(host("example.com."), "example.com");
  EXPECT_EQ(host("b\xc3\xbc"
                 "cher.example"),
            "xn--bcher-kva.example");
  EXPECT_EQ(host("B\xc3\x9c"
                 "CHER.example"),
            "xn--bcher-kva.example");
  EXPECT_EQ(host("bu\xcc\x88"
                 "cher.example"),
            "xn--bcher-kva.example");  // u and a combining mark
  EXPECT_EQ(host("\xe4\xbe\x8b\xe3\x81\x88.\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88"), "xn--r8jz45g.xn--zckzah");
  EXPECT_EQ(host("example\xe3\x80\x82"
                 "com"),
            "example.com");                                  // an ideographic full stop
  EXPECT_EQ(host("\xef\xbd\x85xample.com"), "example.com");  // a full-width e
  EXPECT_EQ(host("_srv.example"), "_srv.example");
}

TEST(Host, WhatAnyProgramTakesForAnAddressIsOne) {
  for (const char* text :
       {"127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.01",
        "127.0.0.1.", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"})
    EXPECT_EQ(host(text), "127.0.0.1") << text;
  EXPECT_EQ(host("[::1]"), "[::1]");
  EXPECT_EQ(host("[2001:DB8::1]"), "[2001:db8::1]");
  EXPECT_EQ(host("\xef\xbc\x91.1"), "1.0.0.1");  // a full-width one
}

TEST(Host, WhatIsNoNameIsRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv,
                                      "."sv,
                                      ".."sv,
                                      "a..b"sv,
                                      ".a"sv,
                                      "a b"sv,
                                      "a\0b"sv,
                                      "a%2eb"sv,
                                      "a/b"sv,
                                      "a@b"sv,
                                      "a#b"sv,
                                      "a?b"sv,
                                      "a\\b"sv,
                                      "a:b"sv,
                                      "[::1"sv,
                                      "[127.0.0.1]"sv,
                                      "[fe80::1%eth0]"sv,
                                      "1.2.3.4.5"sv,
                                      "256.1.1.1"sv,
                                      "1.2.3.0x100"sv,
                                      "a.0x"sv,
                                      "09.1"sv,
                                      "\xff\xfe"sv,
                                      "a\nb"sv})
    EXPECT_EQ(host(text), "refused") << text;
  EXPECT_EQ(host(std::string(64, 'a') + ".com"), "refused");
  EXPECT_EQ(host(std::string(63, 'a') + ".com"), std::string(63, 'a') + ".com");
  std::string longest;
  for (int i = 0; i < 100; i++) longest += "abc.";
  EXPECT_EQ(host(longest), "refused");
}

TEST(Address, KnowsWhereItLeads) {
  const auto reach = [](const char* text) { return parse_address(text)->reach(); };
  for (const char* text : {"1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1",
                           "2606:4700::1", "2002:808:808::"})
    EXPECT_EQ(reach(text), Reach::Public) << text;
  for (const char* text :
       {"10.1.1.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.100.100.200",
        "fd00:ec2::254", "fc00::1", "64:ff9b::a00:1", "2002:a00:1::", "::a00:1", "fec0::1", "64:ff9b:1::1"})
    EXPECT_EQ(reach(text), Reach::Private) << text;
  for (const char* text :
       {"127.0.0.1", "127.255.255.255", "::1", "64:ff9b::7f00:1", "::ffff:127.0.0.1", "::127.0.0.1"})
    EXPECT_EQ(reach(text), Reach::Loopback) << text;
  for (const char* text : {"169.254.169.254", "fe80::1"}) EXPECT_EQ(reach(text), Reach::LinkLocal) << text;
  for (const char* text :
       {"0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "::", "ff02::1", "2001:db8::1", "4000::1"})
    EXPECT_EQ(reach(text), Reach::Reserved) << text;
}

class Rules : public ::testing::Test {
 protected:
  void set(const std::vector<std::string>& rules) {
    auto parsed = AllowList::parse(rules);
    ASSERT_TRUE(parsed) << parsed.error().message;
    list = std::move(*parsed);
  }
  bool may(std::string_view wanted, const char* address = "1.1.1.1") const {
    const auto parsed = parse_host_port(wanted, 443);
    if (!parsed || list.refusal(*parsed)) return false;
    return !list.refusal(*parsed, parsed->host.address.value_or(*parse_address(address)));
  }
  AllowList list;
};

TEST_F(Rules, NamesAreWholeNames) {
  set({"Example.com", "*.below.example",
       "b\xc3\xbc"
       "cher.example"});
  EXPECT_TRUE(may("example.com"));
  EXPECT_TRUE(may("EXAMPLE.COM.:80"));
  EXPECT_FALSE(may("www.example.com"));
  EXPECT_FALSE(may("badexample.com"));
  EXPECT_FALSE(may("example.com.evil.com"));
  EXPECT_TRUE(may("a.below.example"));
  EXPECT_TRUE(may("a.b.below.example"));
  EXPECT_FALSE(may("below.example"));
  EXPECT_FALSE(may("abelow.example"));
  EXPECT_TRUE(may("xn--bcher-kva.example"));
}

TEST_F(Rules, PortsHaveToBeNamed) {
  set({"example.com", "git.example:22", "any.example:*"});
  EXPECT_TRUE(may("example.com:443"));
  EXPECT_FALSE(may("example.com:22"));
  EXPECT_TRUE(may("git.example:22"));
  EXPECT_FALSE(may("git.example:443"));
  EXPECT_TRUE(may("any.example:12345"));
}

TEST_F(Rules, ANameDoesNotAllowAddressesThatAreNotPublic) {
  set({"*", "corp.example:8080", "10.1.0.0/16:8080", "[fd00::1]:443"});
  EXPECT_TRUE(may("any.example"));
  EXPECT_FALSE(may("any.example", "10.1.2.3"));
  EXPECT_TRUE(may("corp.example:8080", "10.1.2.3"));
  EXPECT_FALSE(may("corp.example:8080", "10.2.2.3"));
  EXPECT_FALSE(may("corp.example:443", "10.1.2.3"));
  EXPECT_TRUE(may("8.8.8.8"));
  EXPECT_FALSE(may("10.1.2.3"));
  EXPECT_TRUE(may("10.1.2.3:8080"));
  EXPECT_TRUE(may("[fd00::1]"));
  EXPECT_FALSE(may("[fd00::2]"));
  EXPECT_FALSE(may("localhost", "127.0.0.1"));
}

TEST_F(Rules, AddressesHaveToBeNamed) {
  set({"example.com", "9.9.9.9"});
  EXPECT_TRUE(may("9.9.9.9"));
  EXPECT_FALSE(may("8.8.8.8"));
  EXPECT_FALSE(may("[::ffff:8.8.8.8]"));
}

TEST_F(Rules, MistakesAreNamed) {
  for (const char* rule : {"", "http://example.com", "example.com/path", "*.*.com", "a*b.com", "*.",
                           "example.com:0", "example.com:x", "10.0.0.0/33", "10.0.0.0/0", "*.10.0.0.1"}) {
    const auto parsed = AllowList::parse({rule});
    ASSERT_FALSE(parsed) << rule;
    EXPECT_NE(parsed.error().message.find(rule), std::string::npos);
  }
  EXPECT_FALSE(AllowList{}.refusal(HostPort{{"a", {}}, 443}) == std::nullopt);
}

}  // namespace
}  // namespace ttyward::proxy
