// What verbs ask the daemon, and what they make of its answers. The daemon here is a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing.h"

namespace ttyward::cli {
namespace {

using daemon::Responder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Verbs : public testing::VerbTest {};

constexpr const char* kTerminals = R"({"terminals":[
  {"id":"tabcdefghijkl","name":"build","owner":"user","task":"t1","state":"busy","cwd":"/srv/app","created_at":"1970-01-01T00:00:00.000Z",
   "command":{"command_id":"cqrstuvwxyzab","terminal_id":"tabcdefghijkl","command":"make"}},
  {"id":"tabzzzzzzzzzz","name":null,"owner":"agent","task":null,"state":"idle","cwd":"/","created_at":"1970-01-01T00:00:00.000Z",
   "last_command":"ls"}]})";

std::string result_json(const std::string& members) {
  return R"({"command_id":"cqrstuvwxyzab","terminal_id":"tabcdefghijkl","command":"x",)" + members + "}";
}

TEST_F(Verbs, OpenPrintsTheId) {
  daemon.on("open", R"({"terminal":{"id":"tabcdefghijkl","integration":"rich"}})");
  const auto done = run({"open", "--name", "build", "--cwd", "/", "--env", "A=b=c", "--size", "100x30"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "tabcdefghijkl\n");
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(daemon.calls(), ElementsAre(::testing::StartsWith(
                                  R"(open {"name":"build","cwd":"/","owner":"user","env":{"A":"b=c"},)"
                                  R"("size":{"cols":100,"rows":30},"request":")")));
}

TEST_F(Verbs, OpenReuseAcquires) {
  daemon.on("acquire", R"({"terminal":{"id":"tabcdefghijkl","integration":"rich"},"created":false})");
  EXPECT_EQ(run({"open", "--reuse", "--cwd", "/", "--task", "t1"}).out, "tabcdefghijkl\n");
  EXPECT_THAT(daemon.calls(), ElementsAre(R"(acquire {"cwd":"/","task":"t1"})"));
  EXPECT_EQ(run({"open", "--reuse", "--name", "x"}).code, 2);
}

TEST_F(Verbs, ExecStreamsAndPassesTheCodeOn) {
  daemon.on("exec", [](const auto&, const Responder& responder) {
    responder.part({{"output", "one\n"}});
    responder.part({{"output", "two\n"}});
    responder.ok(boost::json::parse(result_json(R"("state":"exited","exit_code":7,"output":"one\ntwo\n")"))
                     .as_object());
  });
  const auto done = run({"exec", "build", "make", "--timeout", "1.5"});
  EXPECT_EQ(done.code, 7);
  EXPECT_EQ(done.out, "one\ntwo\n");
  EXPECT_EQ(done.err, "");
  ASSERT_EQ(daemon.calls().size(), 1U);
  EXPECT_THAT(daemon.calls()[0], HasSubstr(R"("terminal":"build","command":"make","timeout_ms":1500)"));
  EXPECT_THAT(daemon.calls()[0], HasSubstr(R"("yield_after_ms":0)"));
  EXPECT_THAT(daemon.calls()[0], HasSubstr(R"("stream":true)"));
  EXPECT_THAT(daemon.calls()[0], ::testing::Not(HasSubstr("on_cancel")));  // as the daemon does by itself
}

TEST_F(Verbs, ExecShowsTheResultsOutputWhereNothingWasStreamed) {
  daemon.on("exec", result_json(R"("state":"exited","exit_code":0,"output":"all of it\n")"));
  EXPECT_EQ(run({"exec", "build", "make"}).out, "all of it\n");
}

TEST_F(Verbs, ExecInJsonIsTheResultAlone) {
  const std::string result = result_json(R"("state":"exited","exit_code":3,"output":"x\n")");
  daemon.on("exec", result);
  const auto done = run({"--json", "exec", "build", "make"});
  EXPECT_EQ(done.code, 3);
  const boost::json::value told = boost::json::parse(done.out);
  const boost::json::value given = boost::json::parse(result);
  for (const auto& each : given.as_object()) EXPECT_EQ(told.as_object().at(each.key()), each.value());
  EXPECT_EQ(done.out.find('\n'), done.out.size() - 1);  // nothing but the result, on one line
  EXPECT_THAT(daemon.calls()[0], ::testing::Not(HasSubstr("stream")));
}

TEST_F(Verbs, ExecQuotesAProgramsArguments) {
  daemon.on("exec", result_json(R"("state":"exited","exit_code":0)"));
  run({"exec", "build", "--", "echo", "a b", "--yield"});
  EXPECT_THAT(daemon.calls()[0], HasSubstr(R"("command":"echo 'a b' --yield")"));
}

TEST_F(Verbs, ExitCodesOfEveryEnd) {
  const std::pair<const char*, int> kEnds[] = {{R"("state":"exited","exit_code":0)", 0},
                                               {R"("state":"exited","exit_code":255)", 255},
                                               {R"("state":"signaled","signal":"SIGKILL")", 137},
                                               {R"("state":"timed_out")", 124},
                                               {R"("state":"denied","reason":"no")", 126},
                                               {R"("state":"failed_to_start")", 125},
                                               {R"("state":"lost")", 125},
                                               {R"("state":"interrupted")", 130},
                                               {R"("state":"running")", 75},
                                               {R"("state":"awaiting_input")", 75},
                                               {R"("state":"pending_approval","approval":"a1")", 75}};
  for (const auto& [members, code] : kEnds) {
    daemon.on("exec", result_json(members));
    EXPECT_EQ(run({"exec", "build", "x"}).code, code) << members;
  }
}

TEST_F(Verbs, ACommandThatGoesOnIsNamed) {
  daemon.on("exec", result_json(R"("state":"running","output":"")"));
  const auto done = run({"exec", "build", "x", "--yield", "2"});
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err,
            "ttyward exec: it keeps running as cqrstuvwxyzab: ttyward wait cqrstuvwxyzab waits for its end, "
            "ttyward read "
            "cqrstuvwxyzab shows its output\n");
}

TEST_F(Verbs, AQuestionIsToldWithHowToAnswer) {
  daemon.on(
      "exec",
      result_json(
          R"("state":"awaiting_input","waiting":{"kind":"password","prompt":"[sudo] password:\u001b[31m","program":"sudo"})"));
  const auto done = run({"exec", "my term", "sudo x"});
  EXPECT_THAT(done.err, HasSubstr("sudo asks for a password: [sudo] password:^[[31m\n"));
  EXPECT_THAT(done.err, HasSubstr("ttyward send 'my term' --secret\n"));
  EXPECT_THAT(done.err, Not(HasSubstr("\033")));
}

TEST_F(Verbs, AQuestionWhileItStreamsIsToldOnce) {
  daemon.on("exec", [](const auto&, const Responder& responder) {
    const boost::json::object waiting{{"kind", "line"}, {"prompt", "name? "}, {"program", "x"}};
    responder.part({{"state", "awaiting_input"}, {"waiting", waiting}});
    responder.part({{"state", "awaiting_input"}, {"waiting", waiting}});
    responder.ok({{"state", "exited"}, {"exit_code", 0}});
  });
  const auto done = run({"exec", "build", "x"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err,
            "ttyward exec: x waits for input: name? \n"
            "ttyward exec: to answer: ttyward send build --text ANSWER --enter; or: ttyward attach build\n");
}

TEST_F(Verbs, WhatWaitsForConsentIsToldAtOnce) {
  daemon.on("exec", [](const auto&, const Responder& responder) {
    responder.part({{"state", "pending_approval"}, {"approval", "a1"}, {"reason", "it deletes things"}});
    responder.ok({{"state", "exited"}, {"exit_code", 0}});
  });
  const auto done = run({"exec", "build", "x"});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.err,
            "ttyward exec: it deletes things\n"
            "ttyward exec: it waits for approval a1: ttyward approvals allow a1, or deny\n");
}

TEST_F(Verbs, WhatIsWrongIsSaidInOneLine) {
  daemon.on("exec", [](const auto&, const Responder& responder) {
    responder.fail({wire::Code::NotFound, "there is no terminal 'x'"});
  });
  auto done = run({"exec", "x", "ls"});
  EXPECT_EQ(done.code, 2);
  EXPECT_EQ(done.err, "ttyward exec: there is no terminal 'x'\n");
  daemon.on("exec", [](const auto&, const Responder& responder) {
    responder.fail({wire::Code::Busy, "it is busy"});
  });
  EXPECT_EQ(run({"exec", "x", "ls"}).code, 125);
  daemon.on("exec",
            [](const auto&, const Responder& responder) { responder.fail({wire::Code::Denied, "no"}); });
  EXPECT_EQ(run({"exec", "x", "ls"}).code, 126);
}

TEST_F(Verbs, NoDaemonIsAFailureOfOurs) {
  stop_daemon();
  for (const char* verb : {"ls", "open"}) {
    const auto done = run({verb});
    EXPECT_EQ(done.code, 125);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_THAT(done.err, StartsWith(std::string("ttyward ") + verb + ": "));
  }
}

TEST_F(Verbs, BadOptionsNeverReachTheDaemon) {
  const std::vector<std::vector<std::string>> kWrong = {
      {"exec", "t"},
      {"exec", "t", "  "},
      {"exec", "t", "ls", "-l"},
      {"exec", "t", "ls", "more"},
      {"exec", "t", "ls", "--yield", "-1"},
      {"exec", "t", "ls", "--cwd", "/no/such/folder"},
      {"exec", "t", "ls", "--on-input", "maybe"},
      {"open", "--env", "novalue"},
      {"open", "--size", "12"},
      {"send", "t"},
      {"send", "t", "--text", "a", "--keys", "Enter"},
      {"send", "t", "--keys", "C-NoSuchKey"},
      {"expect", "t", "ls"},
      {"expect", "t", "ls", "--when", "a"},
      {"expect", "t", "ls", "--reply", "a"},
      {"expect", "t", "ls", "--when", "a", "--reply", "b", "--keys", "c"},
      {"expect", "t", "ls", "--when", "a", "--secret-from", "/no/such/file"},
      {"wait", "t", "--port", "70000"},
      {"wait", "t", "--quiet", "0"},
      {"read", "t", "--lines", "0:3"},
      {"read", "t", "--lines", "5:3"},
      {"read", "t", "--tail", "3", "--new"},
      {"read", "t", "--context", "3"},
      {"screen", "t", "--format", "png"},
      {"resize", "t", "0x3"},
      {"kill", "t", "--force", "--signal", "TERM"},
      {"kill"},
      {"attach", "t"},
      {"top"},
  };
  for (const auto& words : kWrong) {
    const auto done = run(words);
    EXPECT_EQ(done.code, 2) << ::testing::PrintToString(words);
    EXPECT_EQ(done.out, "") << ::testing::PrintToString(words);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  }
  EXPECT_THAT(daemon.calls(), IsEmpty());
}

TEST_F(Verbs, ExpectKeepsEachAnswerWithItsQuestion) {
  daemon.on("exec", result_json(R"("state":"exited","exit_code":0)"));
  ::setenv("TTYWARD_TEST_SECRET", "hush", 1);
  const auto done = run({"expect",   "t",      "--when",        "a",
                         "--reply",  "1",      "setup",         "--when",
                         "b",        "--keys", "Down Enter",    "--repeat",
                         "--when",   "c",      "--secret-from", "env:TTYWARD_TEST_SECRET",
                         "--when",   "d",      "--reply",       "2",
                         "--within", "9"});
  EXPECT_EQ(done.code, 0) << done.err;
  ASSERT_EQ(daemon.calls().size(), 1U);
  EXPECT_THAT(
      daemon.calls()[0],
      HasSubstr(
          R"("replies":[{"when":"a","text":"1","repeat":false},{"when":"b","keys":"Down Enter","repeat":true},)"
          R"({"when":"c","secret":"hush","repeat":false},{"when":"d","text":"2","repeat":false}],)"
          R"("replies_timeout_ms":9000)"));
  EXPECT_THAT(daemon.calls()[0], HasSubstr(R"("command":"setup")"));
}

TEST_F(Verbs, SendTypesAndPressesEnter) {
  daemon.on("input", R"({"bytes":3})");
  EXPECT_EQ(run({"send", "t", "--text", "yes", "--enter"}).code, 0);
  EXPECT_THAT(daemon.calls(), ElementsAre(R"(input {"terminal":"t","text":"yes"})",
                                          R"(input {"terminal":"t","keys":"Enter"})"));
  EXPECT_EQ(run({"--json", "send", "t", "--keys", "C-c Down"}).out, "{\"bytes\":3}\n");
}

TEST_F(Verbs, WaitSaysWhatHeld) {
  daemon.on("list", kTerminals);
  const std::pair<const char*, std::pair<const char*, int>> kAnswers[] = {
      {R"({"condition":"pattern","match":{"line":12,"text":"Listening"}})", {"pattern 12:Listening\n", 0}},
      {R"({"condition":"port","port":8080})", {"port 8080\n", 0}},
      {R"({"condition":"file","file":"/x"})", {"file /x\n", 0}},
      {R"({"condition":"quiet"})", {"quiet\n", 0}},
      {R"({"condition":"exit","result":{"state":"exited","exit_code":4}})", {"exit 4\n", 4}},
      {R"({"condition":"exit","result":{"state":"signaled","signal":"SIGTERM"}})", {"SIGTERM\n", 143}},
      {R"({"condition":"timeout"})", {"", 124}}};
  for (const auto& [answer, expected] : kAnswers) {
    daemon.on("wait", answer);
    const auto done = run({"wait", "build", "--for", "List", "--port", "8080"});
    EXPECT_EQ(done.out, expected.first) << answer;
    EXPECT_EQ(done.code, expected.second) << answer;
  }
  EXPECT_EQ(daemon.calls().back(),
            R"(wait {"terminal":"tabcdefghijkl","pattern":"List","port":8080,"stream":true})");
  run({"wait", "build", "--for", "List", "--timeout", "2"});
  EXPECT_THAT(daemon.calls().back(), HasSubstr(R"("timeout_ms":2000)"));
}

TEST_F(Verbs, WaitAloneIsForTheEndOfWhatRunsOrRan) {
  daemon.on("list", kTerminals);
  daemon.on("wait", R"({"condition":"prompt","result":{"state":"exited","exit_code":9}})");
  const auto done = run({"wait", "build"});
  EXPECT_EQ(done.out, "exit 9\n");
  EXPECT_EQ(done.code, 9);
  EXPECT_THAT(daemon.calls().back(), HasSubstr(R"("terminal":"tabcdefghijkl","exit":true,"prompt":true)"));
}

TEST_F(Verbs, TargetsByNameIdAndPrefix) {
  daemon.on("list", kTerminals);
  daemon.on("interrupt", R"({"interrupted":true})");
  for (const char* word : {"build", "tabcdefghijkl", "tabc"}) {
    EXPECT_EQ(run({"interrupt", word}).code, 0) << word;
    EXPECT_EQ(daemon.calls().back(), R"(interrupt {"terminal":"tabcdefghijkl"})") << word;
  }
  for (const char* word : {"cqrstuvwxyzab", "cq"}) {
    EXPECT_EQ(run({"interrupt", word}).code, 0) << word;
    EXPECT_EQ(daemon.calls().back(), R"(interrupt {"command":"cqrstuvwxyzab"})") << word;
  }
  auto done = run({"interrupt", "tab"});
  EXPECT_EQ(done.code, 2);
  EXPECT_EQ(done.err,
            "ttyward interrupt: 'tab' matches tabcdefghijkl, tabzzzzzzzzzz: write more of the id\n");
  done = run({"interrupt", "nobody"});
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("there is no terminal or command 'nobody'"));
}

TEST_F(Verbs, OldCommandsAreFoundInTheHistory) {
  daemon.on("list", kTerminals);
  daemon.on("history", R"({"commands":[{"command_id":"c222222222222"},{"command_id":"c333333333333"}]})");
  daemon.on("read", R"({"text":"old\n"})");
  EXPECT_EQ(run({"read", "c33"}).out, "old\n");
  EXPECT_EQ(daemon.calls().back(), R"(read {"command":"c333333333333"})");
}

TEST_F(Verbs, ReadAsksForParts) {
  daemon.on("list", kTerminals);
  daemon.on("read", R"({"text":"a\nb","first_line":1,"last_line":2,"total_lines":9,"more":true})");
  const auto done = run({"read", "build", "--lines", "1:2"});
  EXPECT_EQ(done.out, "a\nb\n");
  EXPECT_THAT(done.err, HasSubstr("--lines 3:"));
  EXPECT_EQ(daemon.calls().back(),
            R"(read {"terminal":"tabcdefghijkl","range":[1,2],"view":"full","chars":2097152})");
  run({"read", "build", "--new", "--reader", "me"});
  EXPECT_EQ(daemon.calls().back(), R"(read {"terminal":"tabcdefghijkl","new":true,"reader":"me"})");
}

TEST_F(Verbs, ReadGrepEndsAsGrepDoes) {
  daemon.on("list", kTerminals);
  daemon.on("read", R"({"text":"4:x\n","matches":[{"line":4,"text":"x"}]})");
  EXPECT_EQ(run({"read", "build", "--grep", "x"}).code, 0);
  daemon.on("read", R"({"text":"","matches":[]})");
  const auto done = run({"read", "build", "--grep", "x"});
  EXPECT_EQ(done.code, 1);
  EXPECT_EQ(done.out, "");
}

TEST_F(Verbs, ReadRawIsEveryByte) {
  daemon.on("list", kTerminals);
  daemon.on("read", [](const boost::json::object& args, const Responder& responder) {
    const int64_t offset = args.at("raw").as_object().at("offset").as_int64();
    if (offset == 0) return responder.ok({{"base64", "AAH/"}, {"next_offset", 3}, {"more", true}});
    responder.ok({{"base64", "Cg=="}, {"next_offset", 4}, {"more", false}});
  });
  EXPECT_EQ(run({"read", "build", "--raw"}).out, std::string("\0\1\xFF\n", 4));
}

TEST_F(Verbs, LsIsATable) {
  daemon.on("list", kTerminals);
  const auto done = run({"ls", "--all", "--owner", "user"});
  EXPECT_THAT(done.out, StartsWith("ID             NAME   OWNER  TASK  STATE  CWD       COMMAND  AGE\n"
                                   "tabcdefghijkl  build  user   t1    busy   /srv/app  make     "));
  EXPECT_THAT(done.out, HasSubstr("tabzzzzzzzzzz  -      agent  -     idle   /         ls"));
  EXPECT_THAT(daemon.calls(), Contains(R"(list {"owner":"user","all":true})"));
  daemon.on("list", R"({"terminals":[]})");
  EXPECT_EQ(run({"ls"}).out, "");
}

TEST_F(Verbs, LsShowsQuestionsFirst) {
  daemon.on("list", kTerminals);
  daemon.on("approvals", R"({"approvals":[{"id":"aqrstuvwxyzab","shown":"rm -rf build","cwd":"/srv/app",
    "asked_by":"claude\u001b[2J","expires_at":null,"verdict":{"risk":"high"}}]})");
  const auto done = run({"ls"});
  EXPECT_THAT(done.out, StartsWith("APPROVAL       RISK  COMMAND       CWD       ASKED BY     LEFT\n"
                                   "aqrstuvwxyzab  high  rm -rf build  /srv/app  claude^[[2J  -\n"
                                   "answer with: ttyward approvals watch\n\nID  "));
  const auto json = run({"--json", "ls"});
  EXPECT_THAT(json.out, HasSubstr(R"("approvals":[{"id":"aqrstuvwxyzab")"));
  EXPECT_THAT(json.out, HasSubstr(R"("cpu_ms":null,"ports":[])"));
}

TEST_F(Verbs, ErrorsAreJsonWhereResultsAre) {
  daemon.on("list", R"({"terminals":[]})");
  auto done = run({"--json", "interrupt", "no\x1b[2Jbody"});
  EXPECT_EQ(done.code, 2);
  EXPECT_EQ(done.out, "");
  const auto error = boost::json::parse(done.err).at("error").as_object();
  EXPECT_EQ(error.at("verb").as_string(), "interrupt");
  EXPECT_EQ(error.at("exit_code").as_int64(), 2);
  EXPECT_THAT(std::string(error.at("message").as_string()), HasSubstr("there is no terminal or command"));
  // Before and while words are parsed, too.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--json", "frobnicate"}, {"ls", "--json", "--owner", "nobody"}}) {
    done = run(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_NE(boost::json::parse(done.err).at("error").as_object().if_contains("message"), nullptr)
        << done.err;
  }
  // What is no failure is a notice, and without --json everything is text.
  daemon.on("read", R"({"text":"","matches":[{"line":1}],"more":true})");
  daemon.on("list", kTerminals);
  done = run({"ls", "--owner", "nobody"});
  EXPECT_THAT(done.err, StartsWith("ttyward ls: "));
}

TEST_F(Verbs, ErrorsEscapeWhatTheyQuote) {
  daemon.on("list", R"({"terminals":[]})");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"interrupt", "a\x1b[2J\nttyward: all is well\xC2\x9B"},
        {"frob\x1b]0;x\a"},
        {"open", "--cwd", "/no/\x1b[31m\nsuch"}}) {
    const auto done = run(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_THAT(done.err, Not(HasSubstr("\033")));
    EXPECT_THAT(done.err, Not(HasSubstr("\xC2\x9B")));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  }
}

TEST_F(Verbs, VersionIsAVerbAndAnOption) {
  const std::string text = run({"--version"}).out;
  EXPECT_THAT(text, StartsWith("ttyward " TTYWARD_VERSION "\n"));
  EXPECT_EQ(run({"-V"}).out, text);
  EXPECT_EQ(run({"version"}).out, text);
  EXPECT_EQ(boost::json::parse(run({"--json", "version"}).out).at("version").as_string(), TTYWARD_VERSION);
}

TEST_F(Verbs, CompletionNamesTerminals) {
  daemon.on("list", kTerminals);
  EXPECT_EQ(run({"completion", "terminals"}).out, "build\ntabzzzzzzzzzz\n");
  daemon.on("list", [](const auto&, const Responder& responder) {
    responder.fail({wire::Code::Unavailable, "not now"});
  });
  const auto done = run({"completion", "terminals"});
  EXPECT_EQ(done.out + done.err, "");
}

TEST_F(Verbs, ReadGivesAllLinesOfARangeHoweverManyAnswersItTakes) {
  daemon.on("list", kTerminals);
  daemon.on("read", [](const boost::json::object& args, const Responder& responder) {
    const int64_t first = args.at("range").as_array()[0].as_int64();
    const int64_t asked = args.at("range").as_array()[1].as_int64();
    const int64_t last = std::min<int64_t>(asked, 40'000);
    // A daemon that has room for 4000 lines.
    if (last - first >= 4000) {
      return responder.ok(
          {{"text", "cut"}, {"omitted", boost::json::object{{"lines", 1}}}, {"total_lines", 50'000}});
    }
    std::string text;
    for (int64_t line = first; line <= last; ++line) text += std::to_string(line) + "\n";
    responder.ok({{"text", text},
                  {"first_line", first},
                  {"last_line", last},
                  {"total_lines", 50'000},
                  {"more", true}});
  });
  std::string all;
  for (int line = 1; line <= 40'000; ++line) all += std::to_string(line) + "\n";
  EXPECT_EQ(run({"read", "build", "--lines", "1:40000"}).out, all);
  EXPECT_EQ(
      boost::json::parse(run({"--json", "read", "build", "--lines", "1:40000"}).out).at("text").as_string(),
      all);
}

TEST_F(Verbs, NothingInANameReachesTheTerminal) {
  daemon.on("list", R"({"terminals":[{"id":"t1","name":"a\u001b]0;x\u0007\n\u009b31m","state":"idle"}]})");
  const auto done = run({"ls"});
  EXPECT_THAT(done.out, Not(HasSubstr("\033")));
  EXPECT_THAT(done.out, Not(HasSubstr("\xC2\x9B")));
  EXPECT_EQ(std::count(done.out.begin(), done.out.end(), '\n'), 2);
}

TEST_F(Verbs, ShowIsAPage) {
  daemon.on(
      "show",
      R"({"terminal":{"id":"t1","name":"build","state":"busy","cwd":"/x","cwd_known_by":"shell","cols":80,
    "rows":24,"lease":{"by":"ttyward attach","since":"1970-01-01T00:00:00.001Z"}},
    "commands":[{"command_id":"c1","state":"exited","exit_code":2,"duration_ms":1500,"command":"make"}],
    "processes":[{"pid":42,"command":"make"}],"ports":[{"port":8080,"pid":42}],"environment":{"A":"b"}})");
  const auto done = run({"show", "build", "--environment"});
  EXPECT_EQ(done.code, 0);
  for (const char* line :
       {"name         build\n", "cwd          /x (from the shell)\n", "keyboard     with ttyward attach\n",
        "  c1  exit 2  1.5s  make\n", "  42   make\n", "  8080  42\n", "  A     b\n"}) {
    EXPECT_THAT(done.out, HasSubstr(line));
  }
}

TEST_F(Verbs, KillTellsOfSurvivorsAndGoesOnAfterAMistake) {
  daemon.on("list", kTerminals);
  daemon.on("kill", R"({"killed":true,"survivors":[]})");
  const auto done = run({"kill", "nobody", "build", "--force"});
  EXPECT_EQ(done.code, 2);
  EXPECT_EQ(daemon.calls().back(), R"(kill {"terminal":"tabcdefghijkl","force":true})");
  daemon.on("kill", R"({"killed":false,"survivors":[{"pid":7}]})");
  const auto left = run({"kill", "build"});
  EXPECT_EQ(left.code, 1);
  EXPECT_EQ(left.err, "ttyward kill: still running: process 7\n");
}

TEST_F(Verbs, KillSignalIsSentByName) {
  daemon.on("list", kTerminals);
  daemon.on("signal", "{}");
  EXPECT_EQ(run({"kill", "build", "--signal", "15", "--to", "all"}).code, 0);
  EXPECT_EQ(daemon.calls().back(), R"(signal {"terminal":"tabcdefghijkl","signal":"SIGTERM","to":"all"})");
}

TEST_F(Verbs, SmallOnes) {
  daemon.on("resize", "{}");
  daemon.on("resume", R"({"resumed":true,"terminal":{}})");
  daemon.on("rename", R"({"terminal":{}})");
  daemon.on("assign", R"({"terminal":{}})");
  daemon.on("release", R"({"terminals":[{"id":"t1"},{"id":"t2"}]})");
  daemon.on("screen", R"({"format":"text","content":"$ "})");
  EXPECT_EQ(run({"resize", "t", "100x30"}).code, 0);
  EXPECT_EQ(run({"resume", "t", "--mib", "2"}).code, 0);
  EXPECT_EQ(run({"rename", "t", "new"}).code, 0);
  EXPECT_EQ(run({"assign", "t", "task"}).code, 0);
  EXPECT_EQ(run({"release", "task"}).out, "t1\nt2\n");
  EXPECT_EQ(run({"screen", "t", "--history", "9"}).out, "$ \n");
  EXPECT_THAT(
      daemon.calls(),
      ElementsAre(R"(resize {"terminal":"t","cols":100,"rows":30})",
                  R"(resume {"terminal":"t","bytes":2097152})", R"(rename {"terminal":"t","name":"new"})",
                  R"(assign {"terminal":"t","task":"task"})", R"(release {"task":"task"})",
                  R"(screen {"terminal":"t","history":9})"));
}

}  // namespace
}  // namespace ttyward::cli
