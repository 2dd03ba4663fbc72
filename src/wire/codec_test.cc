// Values of wire/types to JSON and back, and what is said about JSON that does not fit.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "wire/decoder.h"
#include "wire/encoder.h"
#include "wire/types/arguments.h"
#include "wire/types/parts.h"
#include "wire/types/policy_calls.h"

namespace ttyward::wire {
namespace {

namespace json = boost::json;

json::object object(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size())).as_object();
}

template <class T>
std::string error_of(std::string_view text) {
  const auto came = decode<T>(object(text));
  return came ? "" : came.error();
}

// One field of every kind there is.
struct Everything {
  std::string name;
  bool flag = true;
  int64_t number = 7;
  uint16_t small = 1;
  std::chrono::milliseconds patience{250};
  std::optional<Time> at;
  OnCancel cancel = OnCancel::Leave;
  std::optional<Size> size;
  std::vector<Port> ports;
  std::vector<std::string> words;
  Variables env;
  Bytes bytes;
  NumberOrName signal = int64_t{2};
  std::optional<std::array<int64_t, 2>> range;
  Encoded<Verdict> verdict;
  std::string rarely;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "a name", kRequired);
    v.field("flag", self.flag, "on or off");
    v.field("number", self.number, "a number", Range{1, 10});
    v.field("small", self.small, "16 bits");
    v.field("patience_ms", self.patience, "a time");
    v.field("at", self.at, "a moment");
    v.field("on_cancel", self.cancel, "a word");
    v.field("size", self.size, "an object");
    v.field("ports", self.ports, "objects");
    v.field("words", self.words, "texts");
    v.field("env", self.env, "variables");
    v.field("bytes", self.bytes, "bytes");
    v.field("signal", self.signal, "either", Range{1, 64});
    v.field("range", self.range, "two numbers");
    v.field("verdict", self.verdict, "made elsewhere");
    v.field("rarely", self.rarely, "mostly not there", kLeftOut);
  }
};

TEST(Encoder, WritesEveryKindOfValue) {
  Everything value;
  value.name = "a \"b\"\n\xff";
  value.at = Time{1'794'800'220'123};
  value.size = Size{120, 40};
  value.ports = {{80, 1}, {443, 2}};
  value.words = {"x", ""};
  value.env.entries = {"A=1", "B=x=y"};
  value.bytes.bytes = std::string("\0\1", 2);
  value.signal = std::string("TERM");
  value.range = {3, 9};
  value.verdict.json = R"({"decision":"allow"})";
  EXPECT_EQ(
      json_text(value),
      "{\"name\":\"a \\\"b\\\"\\n\xef\xbf\xbd\",\"flag\":true,\"number\":7,\"small\":1,\"patience_ms\":250,"
      "\"at\":\"2026-11-16T03:37:00.123Z\",\"on_cancel\":\"leave\",\"size\":{\"cols\":120,\"rows\":40},"
      "\"ports\":[{\"port\":80,\"pid\":1},{\"port\":443,\"pid\":2}],\"words\":[\"x\",\"\"],"
      "\"env\":{\"A\":\"1\",\"B\":\"x=y\"},\"bytes\":\"AAE=\",\"signal\":\"TERM\",\"range\":[3,9],"
      "\"verdict\":{\"decision\":\"allow\"}}");
}

TEST(Encoder, NullsAreWrittenInAnswersAndLeftOutOfArguments) {
  HistoryRow row;
  row.command = "make";
  EXPECT_NE(json_text(row).find("\"cwd\":null"), std::string::npos);
  EXPECT_NE(json_text(row).find("\"exit_code\":null"), std::string::npos);
  AnswerRequest request;
  request.approval = "a1";
  EXPECT_EQ(arguments_text(request),
            R"({"approval":"a1","always":"no","wider":false,"rules":"","reason":""})");
}

TEST(Encoder, APartTellsNullFromNotThere) {
  StreamPart part;
  part.output = "x\n";
  EXPECT_EQ(json_text(part), R"({"output":"x\n"})");
  part.output.clear();
  part.state = "running";
  part.waiting.emplace(std::nullopt);
  EXPECT_EQ(json_text(part), R"({"state":"running","waiting":null})");
}

TEST(Decoder, ReadsBackWhatWasWritten) {
  Everything value;
  value.name = "n";
  value.flag = false;
  value.number = 3;
  value.at = Time{1'794'800'220'123};
  value.cancel = OnCancel::Interrupt;
  value.size = Size{120, 40};
  value.ports = {{80, 1}};
  value.words = {"x"};
  value.env.entries = {"A=1"};
  value.bytes.bytes = "bytes";
  value.signal = int64_t{9};
  value.range = {3, 9};
  value.verdict.json = R"({"decision":"allow"})";
  value.rarely = "r";
  const std::string text = json_text(value);
  const auto back = decode<Everything>(object(text));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(json_text(*back), text);
}

TEST(Decoder, WhatIsNotThereKeepsItsDefault) {
  const auto came = decode<Everything>(object(R"({"name":"n","number":null})"));
  ASSERT_TRUE(came) << came.error();
  EXPECT_TRUE(came->flag);
  EXPECT_EQ(came->number, 7);
  EXPECT_EQ(came->patience.count(), 250);
  EXPECT_FALSE(came->at);
}

TEST(Decoder, SaysWhichFieldIsWrongAndWhatToWrite) {
  EXPECT_EQ(error_of<Everything>("{}"), "'name' is missing or empty");
  EXPECT_EQ(error_of<Everything>(R"({"name":""})"), "'name' is missing or empty");
  EXPECT_EQ(error_of<Everything>(R"({"name":5})"), "'name' must be a string, not 5");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","flag":1})"), "'flag' must be true or false, not 1");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","number":11})"),
            "'number' must be a whole number from 1 to 10, not 11");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","number":1.5})"),
            "'number' must be a whole number from 1 to 10, not 1.5E0");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","small":70000})"),
            "'small' must be a whole number from 0 to 65535, not 70000");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","patience_ms":-1})"),
            "'patience_ms' must be a whole number from 0 to 31536000000, not -1");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","at":1794800220123})"),
            "'at' must be a time such as \"2026-11-16T08:30:00Z\", not 1794800220123");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","on_cancel":"stop"})"),
            "'on_cancel' must be one of leave, interrupt, not \"stop\"");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","words":["a",1]})"), "'words[1]' must be a string, not 1");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","env":{"A":1}})"), "'env' must map names to strings");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","env":{"A=B":"c"}})"),
            "'env' has a name that is empty or holds a '='");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","bytes":"?"})"), "'bytes' is not base64");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","range":[2,1]})"),
            "'range' must be two numbers, the first at least 1 and not above the second");
  EXPECT_EQ(error_of<AnswerRequest>(R"({"approval":"a"})"), "'decision' is missing");
}

TEST(Decoder, NamesThePlaceInsideAnObject) {
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","size":{"cols":0}})"),
            "'size.cols' must be a whole number from 1 to 1000, not 0");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","size":{"cols":8,"colour":1}})"),
            "there is no argument 'size.colour'; there is cols, rows");
  EXPECT_EQ(error_of<Everything>(R"({"name":"n","ports":[{"port":1},7]})"), "'ports[1]' must be an object");
}

TEST(Decoder, UnknownFieldsAreRefusedOfClientsAndIgnoredOfDaemons) {
  EXPECT_EQ(error_of<Size>(R"({"row":3})"), "there is no argument 'row'; there is cols, rows");
  EXPECT_EQ(error_of<Nothing>(R"({"x":3})"), "there is no argument 'x'; this takes none");
  EXPECT_TRUE(decode<Size>(object(R"({"row":3})"), Unknown::Ignore));
}

TEST(Decoder, ANewerDaemonsWordsAreRead) {
  const auto came = decode<CommandResult>(object(R"({"state":"frozen","more":1})"), Unknown::Ignore);
  ASSERT_TRUE(came) << came.error();
  EXPECT_EQ(came->state, "frozen");
}

TEST(Decoder, HugeNumbersAreNoOverflow) {
  EXPECT_NE(error_of<Everything>(R"({"name":"n","number":1e300})"), "");
  EXPECT_NE(error_of<Everything>(R"({"name":"n","number":18446744073709551615})"), "");
  EXPECT_NE(error_of<Everything>(R"({"name":"n","patience_ms":9223372036854775807})"), "");
}

}  // namespace
}  // namespace ttyward::wire
