#include "telemetry/otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/prometheus.h"

namespace ttyward::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Resource kResource{"1.2.3", "box", 42, 1000};

CommandSpan span() {
  CommandSpan out;
  out.command_id = "cabc";
  out.terminal_id = "tabc";
  out.owner = "agent";
  out.outcome = "failed";
  out.verdict = "ask_allow";
  out.approval_wait_ms = 1500;
  out.exit_code = 3;
  out.started_at_ms = 1'700'000'000'123;
  out.duration_ms = 877;
  out.output_bytes = 10;
  return out;
}

TEST(Otlp, a_span_is_the_json_that_collectors_take) {
  const std::string json = otlp_traces(kResource, std::vector{span()});
  EXPECT_EQ(
      json,
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"ttyward"}},)"
      R"({"key":"service.version","value":{"stringValue":"1.2.3"}},{"key":"host.name","value":{"stringValue":"box"}},)"
      R"({"key":"process.pid","value":{"intValue":"42"}}]},"scopeSpans":[{"scope":{"name":"ttyward","version":"1.2.3"},)"
      R"("spans":[{"traceId":")" +
          trace_id("cabc") + R"(","spanId":")" + span_id("cabc") +
          R"(","name":"ttyward.command","kind":1,"startTimeUnixNano":"1700000000123000000",)"
          R"("endTimeUnixNano":"1700000001000000000","attributes":[)"
          R"({"key":"ttyward.command.id","value":{"stringValue":"cabc"}},)"
          R"({"key":"ttyward.terminal.id","value":{"stringValue":"tabc"}},)"
          R"({"key":"ttyward.owner","value":{"stringValue":"agent"}},)"
          R"({"key":"ttyward.outcome","value":{"stringValue":"failed"}},)"
          R"({"key":"ttyward.verdict","value":{"stringValue":"ask_allow"}},)"
          R"({"key":"ttyward.approval.wait_ms","value":{"intValue":"1500"}},)"
          R"({"key":"process.exit.code","value":{"intValue":"3"}},)"
          R"({"key":"ttyward.output.bytes","value":{"intValue":"10"}},)"
          R"({"key":"ttyward.output.lines","value":{"intValue":"0"}}],)"
          R"("status":{"code":2,"message":"failed"}}]}]}]})");
}

TEST(Otlp, ids_depend_on_the_command_alone) {
  EXPECT_EQ(trace_id("cabc"), trace_id("cabc"));
  EXPECT_NE(trace_id("cabc"), trace_id("cabd"));
  EXPECT_EQ(trace_id("cabc").size(), 32U);
  EXPECT_EQ(span_id("cabc").size(), 16U);
  EXPECT_EQ(trace_id("cabc").find(span_id("cabc")), std::string::npos);
}

TEST(Otlp, what_went_well_has_no_error_and_texts_are_escaped) {
  CommandSpan good = span();
  good.outcome = "ok";
  good.terminal_name = "a\"b\xff";
  const std::string json = otlp_traces(kResource, std::vector{good});
  EXPECT_THAT(json, HasSubstr(R"("status":{})"));
  EXPECT_THAT(json, HasSubstr("\"stringValue\":\"a\\\"b\xef\xbf\xbd\""));
}

TEST(Metrics, are_counted_by_outcome_and_in_buckets) {
  Metrics metrics;
  metrics.command_ended({"ok", true, 20, 100});
  metrics.command_ended({"ok", true, 50, 1});
  metrics.command_ended({"denied", false, 0, 0});
  metrics.command_ended({"something new", true, 4'000'000, 0});
  metrics.question_closed("allowed", 2000);
  const auto families = metrics.families({1, 2, 3, 4}, {5, 6});
  const std::string text = prometheus_text(families, "1.2.3", 1500);
  for (const char* line : {"ttyward_build_info{version=\"1.2.3\"} 1\n",
                           "ttyward_start_time_seconds 1.500\n",
                           "# TYPE ttyward_commands_total counter\n",
                           "\nttyward_commands_total{outcome=\"ok\"} 2\n",
                           "\nttyward_commands_total{outcome=\"failed\"} 0\n",
                           "\nttyward_commands_total{outcome=\"denied\"} 1\n",
                           "\nttyward_commands_total{outcome=\"unknown\"} 1\n",
                           "\nttyward_commands_running 1\n",
                           "\nttyward_terminals 2\n",
                           "\nttyward_approvals_waiting 3\n",
                           "\nttyward_journals_bytes 4\n",
                           "# TYPE ttyward_command_duration_seconds histogram\n",
                           "\nttyward_command_duration_seconds_bucket{le=\"0.01\"} 0\n",
                           "\nttyward_command_duration_seconds_bucket{le=\"0.05\"} 2\n",
                           "\nttyward_command_duration_seconds_bucket{le=\"3600\"} 2\n",
                           "\nttyward_command_duration_seconds_bucket{le=\"+Inf\"} 3\n",
                           "\nttyward_command_duration_seconds_count 3\n",
                           "\nttyward_command_output_bytes_total 101\n",
                           "\nttyward_approvals_total{answer=\"allowed\"} 1\n",
                           "\nttyward_approval_wait_seconds_sum 2\n",
                           "\nttyward_telemetry_spans_total{result=\"sent\"} 5\n",
                           "\nttyward_telemetry_spans_total{result=\"dropped\"} 6\n"})
    EXPECT_THAT(text, HasSubstr(line));
  const std::string json = otlp_metrics(kResource, families, 2000);
  EXPECT_THAT(json,
              HasSubstr(R"({"name":"ttyward.commands.running","description":"Commands that run now.",)"
                        R"("unit":"{command}","gauge":{"dataPoints":[{"attributes":[],)"
                        R"("startTimeUnixNano":"1000000000","timeUnixNano":"2000000000","asInt":"1"}]}})"));
  EXPECT_THAT(json, HasSubstr(R"("aggregationTemporality":2,"isMonotonic":true)"));
  EXPECT_THAT(json, HasSubstr(R"("bucketCounts":["0","2","0","0","0","0","0","0","0","0","1"],)"
                              R"("explicitBounds":[0.01,0.05,0.25,1,5,15,60,300,900,3600])"));
  EXPECT_THAT(json, Not(HasSubstr("e+")));
}

}  // namespace
}  // namespace ttyward::telemetry
