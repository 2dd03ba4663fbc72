#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "wire/json.h"
#include "wire/line_reader.h"
#include "wire/messages.h"

namespace ttyward::wire {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

std::string without_end(std::string line) {
  EXPECT_TRUE(line.ends_with('\n'));
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return line;
}

std::string nested(size_t deep) {
  return R"({"id":1,"call":"x","args":{"a":)" + std::string(deep, '[') + std::string(deep, ']') + "}}";
}

TEST(LineReader, LinesInAnyPieces) {
  const std::string text = "one\n\ntwo\nthree";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    LineReader reader;
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size(); at += piece) {
      reader.push(std::string_view(text).substr(at, piece));
      while (auto line = reader.next()) lines.push_back(*line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two"})) << piece;
    EXPECT_EQ(reader.held(), 5U);
  }
}

TEST(LineReader, ALineAtTheLimitAndOneOverIt) {
  LineReader reader(4);
  reader.push("1234\n");
  EXPECT_EQ(reader.next(), "1234");
  reader.push("12345\nok\n");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_TRUE(reader.too_long());
  EXPECT_EQ(reader.held(), 0U);
  reader.push("ok\n");
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST(LineReader, AnUnfinishedLineOverTheLimitIsFoundWithoutItsEnd) {
  LineReader reader(4);
  reader.push("123");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_FALSE(reader.too_long());
  reader.push("45");
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_TRUE(reader.too_long());
}

TEST(Messages, FromTheClientAndBack) {
  const Hello hello{1, "agent", "ttyward \"exec\"", "me", "s1", "a secret", "a token"};
  EXPECT_EQ(std::get<Hello>(*parse_from_client(without_end(encode(hello)))), hello);
  const Hello plain{1, "person", "cli", "", "", "", ""};
  EXPECT_EQ(std::get<Hello>(*parse_from_client(without_end(encode(plain)))), plain);
  const Call call{7, "exec", {{"command", "make\nall"}, {"n", 1}}};
  EXPECT_EQ(std::get<Call>(*parse_from_client(without_end(encode(call)))), call);
  EXPECT_EQ(std::get<Cancel>(*parse_from_client(without_end(encode(Cancel{9})))), Cancel{9});
  const uint64_t largest = ~uint64_t{0};
  EXPECT_EQ(std::get<Cancel>(*parse_from_client(without_end(encode(Cancel{largest})))), Cancel{largest});
}

TEST(Messages, FromTheDaemonAndBack) {
  const Welcome welcome{1, "0.1.0", "dabc", 4711, "agent", "in doubt"};
  const Welcome telling{1, "0.1.0", "dabc", 4711, "person", "", {"rules.toml was changed", "\"x\""}};
  EXPECT_EQ(std::get<Welcome>(*parse_from_daemon(without_end(encode(telling)))), telling);
  EXPECT_EQ(std::get<Welcome>(*parse_from_daemon(without_end(encode(welcome)))), welcome);
  const Part part{3, {{"output", "x"}}};
  EXPECT_EQ(std::get<Part>(*parse_from_daemon(without_end(encode(part)))), part);
  const Ok ok{3, {{"state", "exited"}}};
  EXPECT_EQ(std::get<Ok>(*parse_from_daemon(without_end(encode(ok)))), ok);
  const Failed failed{3, {Code::Busy, "somebody \"else\"\nhas it"}};
  EXPECT_EQ(std::get<Failed>(*parse_from_daemon(without_end(encode(failed)))), failed);
  const Failed about_all{0, {Code::Exhausted, "enough"}};
  EXPECT_EQ(std::get<Failed>(*parse_from_daemon(without_end(encode(about_all)))), about_all);
  const Event event{{{"event", "output"}, {"subscription", 4}}};
  EXPECT_EQ(std::get<Event>(*parse_from_daemon(without_end(encode(event)))), event);
}

TEST(Messages, TheExamplesOfTheProtocolPage) {
  const auto hello = parse_from_client(
      R"({"hello":{"protocol":1,"role":"person","client":"ttyward exec","reader":"cli","session":null}})");
  EXPECT_EQ(std::get<Hello>(*hello), (Hello{1, "person", "ttyward exec", "cli", "", "", ""}));
  const auto call = parse_from_client(R"({"id":1,"call":"exec","args":{"terminal":"t3k","command":"make"}})");
  EXPECT_EQ(std::get<Call>(*call).name, "exec");
  EXPECT_EQ(without_end(encode_unsupported("no")),
            R"({"error":{"code":"unsupported","message":"no","protocols":[1]}})");
}

TEST(Messages, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not JSON"},
      {"nonsense", "not JSON"},
      {"{\"hello\":{}", "not JSON"},
      {"{} {}", "not JSON"},
      {"[1]", "JSON object"},
      {"7", "JSON object"},
      {"{}", "one of 'hello'"},
      {R"({"hello":1})", "'hello' must be"},
      {R"({"hello":{}})", "protocol"},
      {R"({"hello":{"protocol":"1"}})", "protocol"},
      {R"({"hello":{"protocol":1,"role":7}})", "role"},
      {R"({"call":"x"})", "'id'"},
      {R"({"id":0,"call":"x"})", "'id'"},
      {R"({"id":-1,"call":"x"})", "'id'"},
      {R"({"id":1.5,"call":"x"})", "'id'"},
      {R"({"id":"1","call":"x"})", "'id'"},
      {R"({"cancel":"1"})", "'cancel'"},
      {"{\"cancel\":1,\"x\":\"\xff\"}", "not JSON"},
      {"{\"cancel\":1,\"x\":\"\xed\xa0\x80\"}", "not JSON"},
  };
  for (const auto& [line, expected] : cases) {
    const auto parsed = parse_from_client(line);
    ASSERT_FALSE(parsed) << line;
    EXPECT_THAT(parsed.error().message, HasSubstr(expected)) << line;
    EXPECT_EQ(parsed.error().id, 0U);
  }
}

TEST(Messages, ACallThatIsWrongInItselfKeepsItsNumber) {
  EXPECT_EQ(parse_from_client(R"({"id":5,"call":7})").error().id, 5U);
  EXPECT_EQ(parse_from_client(R"({"id":5,"call":""})").error().id, 5U);
  EXPECT_EQ(parse_from_client(R"({"id":5,"call":"x","args":[]})").error().id, 5U);
  EXPECT_TRUE(parse_from_client(R"({"id":5,"call":"x","args":null})"));
}

TEST(Messages, NestedAtTheLimitAndOneOverIt) {
  EXPECT_TRUE(parse_from_client(nested(kDeepest - 2)));
  const auto deeper = parse_from_client(nested(kDeepest - 1));
  ASSERT_FALSE(deeper);
  EXPECT_THAT(deeper.error().message, HasSubstr("32 deep"));
  EXPECT_FALSE(parse_from_client(nested(1'000'000)));
}

TEST(Messages, TooManyValuesAreRefusedBeforeTheyCostMemory) {
  std::string many = R"({"id":1,"call":"x","args":{"a":[0)";
  for (size_t i = 0; i < kMostValues; ++i) many += ",0";
  many += "]}}";
  const auto parsed = parse_from_client(many);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("values"));
  // Commas in text are no values.
  EXPECT_TRUE(parse_from_client(R"({"id":1,"call":"x","args":{"a":"\")" + std::string(kMostValues + 1, ',') +
                                "\"}}"));
}

TEST(Messages, UnknownCodesOfANewerDaemonAreKeptAsErrors) {
  const auto failed = parse_from_daemon(R"({"id":1,"error":{"code":"melted","message":"hot"}})");
  EXPECT_EQ(std::get<Failed>(*failed).error, (CallError{Code::Io, "hot"}));
}

TEST(Messages, BytesThatAreNoTextAreRepairedOnTheWayOut) {
  const std::string line = without_end(encode(Ok{1, {{"name", std::string("a\xff") + "b"}}}));
  EXPECT_EQ(std::get<Ok>(*parse_from_daemon(line)).value.at("name").as_string(),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(CallErrors, CodesHaveNamesAndBaseErrorsKeepTheirs) {
  for (int i = 0; i <= static_cast<int>(Code::Cancelled); ++i) {
    const auto code = static_cast<Code>(i);
    EXPECT_EQ(code_named(code_name(code)), code);
  }
  for (int i = 0; i <= static_cast<int>(base::ErrorCode::Io); ++i) {
    const base::Error error{static_cast<base::ErrorCode>(i), 0, "m"};
    EXPECT_STREQ(code_name(call_error(error).code), base::error_code_name(error.code));
    EXPECT_EQ(base_error(call_error(error)), error);
  }
  EXPECT_EQ(code_named("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace ttyward::wire
