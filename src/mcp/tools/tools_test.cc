#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "mcp/testing.h"
#include "mcp/tools/approval.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/tool.h"
#include "mcp/tools/visible_text.h"
#include "wire/decoder.h"
#include "wire/types/command_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::mcp::tools {
namespace {

using testing::Client;
using testing::parse;
using testing::ScriptedBackend;

constexpr const char* kExited =
    R"({"command_id":"caaaaaaaaaaaa","terminal_id":"tbbbbbbbbbbbb","command":"make","cwd":"/w","state":"exited",
  "exit_code":2,"duration_ms":1234,"output":"one\ntwo\n","total_lines":2,"background":[],"ports":[]})";
constexpr const char* kQuestion =
    R"({"event":"approval_opened","approval":{"id":"aqqqqqqqqqqqq","command_id":"caaaaaaaaaaaa","command":"rm -rf x",
  "shown":"rm -rf x","session":"session","always_words":["allows exactly the line `rm -rf x`, in /w"],
  "always_scope":"session","verdict":{"risk":"high","reasons":[{"text":"deletes a tree"}]}}})";

// The daemon asks a person about the call that was made last.
void ask_a_person(Client& client) {
  json::object event = parse(kQuestion);
  event["approval"].as_object()["command_id"] = text_or(client.agent.last_args("run"), "command_id");
  event["approval"].as_object()["cwd"] = text_or(client.agent.last_args("run"), "cwd");
  client.agent.event(event);
}

// Somebody answered, wherever.
void close_the_question(Client& client) {
  json::object event = parse(kQuestion);
  event["event"] = "approval_closed";
  client.agent.event(event);
}

void let_it_run(Client& client) {
  ScriptedBackend::finish(*client.agent.calls.back(), parse(kExited));
}

json::object elicits() {
  return {{"elicitation", json::object()}};
}

TEST(ToolTable, EveryToolIsSmallPlainAndComplete) {
  std::set<std::string> names;
  for (const Tool& tool : tool_table()) {
    EXPECT_TRUE(names.insert(tool.name).second);
    EXPECT_LE(std::string(tool.name).size(), 40u);
    const std::string schema = json::serialize(input_schema(tool.arguments));
    for (const char* trouble : {"$ref", "anyOf", "oneOf", "allOf", "null"})
      EXPECT_EQ(schema.find(trouble), std::string::npos) << tool.name;
    EXPECT_EQ(text_or(tool.output_schema(), "type"), "object");
  }
  EXPECT_EQ(names, (std::set<std::string>{"run_command", "open_persistent_terminal", "run_persistent_command",
                                          "kill_persistent_terminal", "read_output", "send_input", "wait_for",
                                          "get_screen", "list_terminals", "interrupt_command", "run_batch",
                                          "check_command"}));
}

TEST(ToolTable, WhatIsTheSameInTheProtocolIsTakenFromIt) {
  const Argument port = argument_of<wire::WaitRequest>("port");
  EXPECT_EQ(port.type, Argument::Type::Integer);
  EXPECT_EQ(port.most, 65'535);
  EXPECT_EQ(port.description, "A process of the command listens on it; 0: on any port");
  const Argument keep = argument_of<wire::RunRequest>("keep_background");
  EXPECT_EQ(keep.type, Argument::Type::Flag);
  EXPECT_EQ(keep.fallback, 1);
}

TEST(RunCommand, AFailedCommandIsAResult) {
  Client client;
  client.initialize();
  client.agent.on("run", kExited);
  const json::object response = client.call(
      "tools/call",
      Client::tool("run_command", {{"command", "make"}, {"cwd", "/tmp"}, {"env", json::array{"A=b=c"}}}));
  EXPECT_FALSE(flag_at(Client::result(response), "isError"));
  EXPECT_EQ(integer_at(*object_at(Client::result(response), "structuredContent"), "exit_code"), 2);
  EXPECT_NE(Client::text(response).find("Exit code 2 after 1.2 s."), std::string::npos)
      << Client::text(response);
  const json::object& args = client.agent.last_args("run");
  EXPECT_EQ(text_or(args, "cwd"), "/tmp");
  EXPECT_EQ(text_or(*object_at(args, "env"), "A"), "b=c");
  const auto asked = wire::decode<wire::RunRequest>(args);
  ASSERT_TRUE(asked) << asked.error();
  EXPECT_EQ(asked->on_cancel, wire::OnCancel::Leave);
  EXPECT_FALSE(asked->wait_for_input);
}

TEST(RunCommand, SaysWhatIsWrongWithItsArguments) {
  Client client;
  client.initialize();
  const auto problem = [&](json::object arguments) {
    const json::object response =
        client.call("tools/call", Client::tool("run_command", std::move(arguments)));
    EXPECT_TRUE(flag_at(Client::result(response), "isError"));
    return Client::text(response);
  };
  EXPECT_EQ(problem({}), "run_command needs `command`: a string.");
  EXPECT_EQ(problem({{"command", " "}}), "`command` is empty: write what to run.");
  EXPECT_EQ(problem({{"command", "ls"}, {"timeout_ms", "soon"}}),
            "`timeout_ms` must be a whole number from 0 to 604800000; it was \"soon\".");
  EXPECT_NE(problem({{"command", "ls"}, {"folder", "/"}})
                .find("has no argument `folder`; it takes `command`, `cwd`"),
            std::string::npos);
  EXPECT_NE(problem({{"command", "ls"}, {"cwd", "/no/such"}}).find("must be an existing folder"),
            std::string::npos);
  EXPECT_NE(problem({{"command", "ls"}, {"env", json::array{"x"}}}).find("NAME=value"), std::string::npos);
  EXPECT_TRUE(client.agent.calls.empty());
}

TEST(Roots, KeepOutWhatIsOutside) {
  const auto roots = Roots::open({"/tmp"}).value();
  EXPECT_EQ(roots.resolve(std::nullopt).value(), "/tmp");
  EXPECT_EQ(roots.resolve("/tmp").value(), "/tmp");
  for (const char* outside : {"/", "/usr", "/tmp/../usr", "..", "/proc/self/root"})
    EXPECT_FALSE(roots.resolve(outside)) << outside;
}

TEST(RunCommand, DeniedAndNotStartedAreErrors) {
  for (const char* state : {"denied", "failed_to_start"}) {
    Client client;
    client.initialize();
    client.agent.on("run", std::string(R"({"command":"x","reason":"it is so","state":")") + state + "\"}");
    const json::object response = client.call("tools/call", Client::tool("run_command", {{"command", "x"}}));
    EXPECT_TRUE(flag_at(Client::result(response), "isError"));
    EXPECT_NE(Client::text(response).find(". It is so."), std::string::npos) << Client::text(response);
  }
}

TEST(RunCommand, UnknownTerminalsAreErrorsWithAWayOut) {
  Client client;
  client.initialize();
  client.agent.on("exec", [](const json::object&) {
    return CallReply(tl::unexpected(call_failure(wire::Code::NotFound, "there is no terminal t9")));
  });
  const json::object response = client.call(
      "tools/call",
      Client::tool("run_persistent_command", {{"persistentTerminalId", "t9"}, {"command", "ls"}}));
  EXPECT_TRUE(flag_at(Client::result(response), "isError"));
  EXPECT_NE(Client::text(response).find("list_terminals"), std::string::npos);
  EXPECT_EQ(text_or(client.agent.last_args("exec"), "terminal"), "t9");
}

TEST(RunCommand, TheSandboxOfTheServerHoldsForEveryCommand) {
  struct Case {
    const char* floor;
    const char* asked;
    const char* given;  // empty: refused
  };
  for (const Case& each :
       {Case{"workspace", "", "workspace"}, Case{"workspace", "read-only", "read-only"},
        Case{"workspace", "workspace", "workspace"}, Case{"workspace", "none", ""},
        Case{"workspace", "workspace+net", ""}, Case{"workspace-landlock", "workspace", "workspace-landlock"},
        Case{"read-only", "workspace", ""}, Case{"none", "workspace+net", "workspace+net"}}) {
    SCOPED_TRACE(std::string(each.floor) + " " + each.asked);
    Client client;
    client.initialize();
    client.catalog.set_sandbox(each.floor);
    client.agent.on("run", kExited);
    client.agent.on("exec", kExited);
    client.agent.on("batch", R"({"results":[],"not_run":[]})");
    client.agent.on("open", R"({"terminal":{"id":"t1"}})");
    const auto ask = [&](const char* tool, json::object arguments, const char* call) {
      SCOPED_TRACE(tool);
      if (*each.asked != '\0') arguments["sandbox"] = each.asked;
      const size_t before = client.agent.calls.size();
      const json::object response = client.call("tools/call", Client::tool(tool, std::move(arguments)));
      if (*each.given != '\0') {
        EXPECT_EQ(text_or(client.agent.last_args(call), "sandbox"), each.given);
        return;
      }
      EXPECT_TRUE(flag_at(Client::result(response), "isError"));
      EXPECT_EQ(client.agent.calls.size(), before);
    };
    ask("run_command", {{"command", "ls"}}, "run");
    ask("run_persistent_command", {{"persistentTerminalId", "t1"}, {"command", "ls"}}, "exec");
    ask("run_batch", {{"commands", json::array{"ls"}}}, "batch");
    if (std::string_view(each.asked) != "none") ask("open_persistent_terminal", {}, "open");
  }
}

TEST(RunCommand, ProgressTellsTheLastLineAndOnlyGrows) {
  Client client;
  client.initialize();
  json::object params = Client::tool("run_command", {{"command", "make"}});
  params["_meta"] = json::object{{"progressToken", "p"}};
  const int64_t id = client.start("tools/call", params);
  EXPECT_TRUE(flag_at(client.agent.last_args("run"), "stream"));
  client.agent.calls.back()->on_part(parse(R"({"output":"a\nb\u001b[1m\n"})"));
  while (client.notifications("notifications/progress").empty()) client.loop->turn(std::chrono::seconds(1));
  const json::object note = client.notifications("notifications/progress").front().at("params").as_object();
  EXPECT_EQ(text_or(note, "message"), "b");
  EXPECT_EQ(text_or(note, "progressToken"), "p");
  ScriptedBackend::finish(*client.agent.calls.back(), parse(kExited));
  client.answer(id);
}

TEST(RunCommand, CancellingTakesTheCallBackAndAnswersNothing) {
  Client client;
  client.initialize();
  const int64_t id = client.start(
      "tools/call", Client::tool("run_command", {{"command", "sleep 9"}, {"interrupt_on_cancel", true}}));
  EXPECT_EQ(text_or(client.agent.last_args("run"), "on_cancel"), "interrupt");
  const size_t before = client.out->messages.size();
  client.notify("notifications/cancelled", {{"requestId", id}});
  EXPECT_EQ(client.agent.cancelled.size(), 1u);
  EXPECT_EQ(client.out->messages.size(), before);
}

TEST(Approval, WithoutADialogueTheModelIsToldHowToWait) {
  Client client;
  client.catalog.set_patience(std::chrono::milliseconds(1));
  client.initialize();
  const int64_t id = client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  ask_a_person(client);
  const json::object response = client.answer(id);
  EXPECT_FALSE(flag_at(Client::result(response), "isError"));
  EXPECT_NE(Client::text(response).find("wait_for, id aqqqqqqqqqqqq"), std::string::npos)
      << Client::text(response);
  EXPECT_NE(Client::text(response).find("ttyward approvals"), std::string::npos);
  EXPECT_EQ(text_or(*object_at(Client::result(response), "structuredContent"), "command_id"),
            text_or(client.agent.last_args("run"), "command_id"));
  EXPECT_TRUE(client.person.calls.empty());
}

TEST(Approval, APersonElsewhereMayBeFaster) {
  Client client;
  client.initialize("2025-11-25", elicits());
  const int64_t id = client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  ask_a_person(client);
  const json::value question = client.notifications("elicitation/create").at(0).at("id");
  EXPECT_TRUE(client.notifications("notifications/cancelled").empty());
  close_the_question(client);
  const auto taken_back = client.notifications("notifications/cancelled");
  ASSERT_EQ(taken_back.size(), 1u) << "the dialogue is closed before the command is over";
  EXPECT_EQ(taken_back.front().at("params").as_object().at("requestId"), question);
  // What a person says now is too late.
  client.send({{"jsonrpc", "2.0"},
               {"id", question},
               {"result", parse(R"({"action":"accept","content":{"decision":"deny"}})")}});
  let_it_run(client);
  EXPECT_NE(Client::text(client.answer(id)).find("Exit code 2"), std::string::npos);
  EXPECT_TRUE(client.person.calls.empty());
}

TEST(Approval, ACancelledCallTakesItsQuestionBack) {
  Client client;
  client.initialize("2025-11-25", elicits());
  const int64_t id = client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  ask_a_person(client);
  client.notify("notifications/cancelled", {{"requestId", id}});
  EXPECT_EQ(client.notifications("notifications/cancelled").size(), 1u);
  EXPECT_EQ(client.agent.cancelled.size(), 1u);
}

TEST(Approval, ADaemonThatDiedAsksAgain) {
  Client client;
  client.initialize("2025-11-25", elicits());
  client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  ask_a_person(client);
  json::object event = parse(kQuestion);
  event["approval"].as_object()["id"] = "arrrrrrrrrrrr";
  event["approval"].as_object()["command_id"] = text_or(client.agent.last_args("run"), "command_id");
  client.agent.event(event);
  EXPECT_EQ(client.notifications("notifications/cancelled").size(), 1u);
  const auto questions = client.notifications("elicitation/create");
  ASSERT_EQ(questions.size(), 2u);
  client.person.on("answer", "{}");
  client.send({{"jsonrpc", "2.0"},
               {"id", questions.back().at("id")},
               {"result", parse(R"({"action":"accept","content":{"decision":"allow_once"}})")}});
  EXPECT_EQ(text_or(client.person.last_args("answer"), "approval"), "arrrrrrrrrrrr");
}

TEST(Approval, ModernAnswerThatComesTooLateGetsTheResult) {
  for (const char* said :
       {R"({"action":"decline"})", R"({"action":"accept","content":{"decision":"deny"}})"}) {
    Client client;
    client.person.on("answer", [](const json::object&) {
      return CallReply(tl::unexpected(call_failure(wire::Code::NotFound, "it is over")));
    });
    json::object params = Client::modern(Client::tool("run_command", {{"command", "rm -rf x"}}), elicits());
    const int64_t first = client.start("tools/call", params);
    ask_a_person(client);
    params["requestState"] = text_or(Client::result(client.answer(first)), "requestState");
    params["inputResponses"] = json::object{{"approval", parse(said)}};
    close_the_question(client);
    const int64_t second = client.start("tools/call", params);
    let_it_run(client);
    EXPECT_NE(Client::text(client.answer(second)).find("Exit code 2"), std::string::npos) << said;
  }
}

TEST(Approval, ATaskGoesOnWhenSomebodyElsewhereAnswered) {
  Client client;
  json::object capabilities = elicits();
  capabilities["extensions"] = json::object{{kTasksExtension, json::object()}};
  const json::object created = Client::result(client.call(
      "tools/call", Client::modern(Client::tool("run_command", {{"command", "rm -rf x"}}), capabilities)));
  const json::object ask = Client::modern({{"taskId", text_or(created, "taskId")}}, capabilities);
  const auto status = [&] { return text_or(Client::result(client.call("tasks/get", ask)), "status"); };
  ask_a_person(client);
  EXPECT_EQ(status(), "input_required");
  close_the_question(client);
  for (int turns = 0; turns < 1000 && status() != "working"; turns++)
    client.loop->turn(std::chrono::milliseconds(1));
  EXPECT_EQ(status(), "working");
  let_it_run(client);
  EXPECT_EQ(status(), "completed");
  EXPECT_EQ(client.agent.count("run"), 1u);
}

TEST(Approval, QuestionsOfOthersAreNotOurs) {
  Client client;
  client.initialize("2025-11-25", elicits());
  client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  const json::object other = parse(kQuestion);
  client.agent.event(other);
  EXPECT_TRUE(client.notifications("elicitation/create").empty());
}

// Runs a command, answers the question that the client is asked with `reply`, and returns the call's number.
int64_t ask_legacy(Client& client, const json::object& reply) {
  client.initialize("2025-11-25", elicits());
  client.person.on("answer", "{}");
  const int64_t id = client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
  ask_a_person(client);
  const auto questions = client.notifications("elicitation/create");
  EXPECT_EQ(questions.size(), 1u);
  EXPECT_NE(text_or(questions.front().at("params").as_object(), "message").find("rm -rf x"),
            std::string::npos);
  client.send({{"jsonrpc", "2.0"}, {"id", questions.front().at("id")}, {"result", reply}});
  return id;
}

TEST(Approval, LegacyYesIsHandedOn) {
  Client client;
  const int64_t id =
      ask_legacy(client, parse(R"({"action":"accept","content":{"decision":"allow_session"}})"));
  EXPECT_EQ(
      client.person.last_args("answer"),
      parse(
          R"({"approval":"aqqqqqqqqqqqq","decision":"allow","always":"session","reason":"answered in the dialogue of the MCP client"})"));
  let_it_run(client);
  EXPECT_NE(Client::text(client.answer(id)).find("Exit code 2"), std::string::npos);
}

TEST(Approval, TheRuleForASessionIsShownAndOfferedOnlyIfThereIsOne) {
  for (const bool offered : {true, false}) {
    Client client;
    client.initialize("2025-11-25", elicits());
    client.start("tools/call", Client::tool("run_command", {{"command", "rm -rf x"}}));
    json::object event = parse(kQuestion);
    json::object& approval = event["approval"].as_object();
    approval["command_id"] = text_or(client.agent.last_args("run"), "command_id");
    if (!offered) approval["always_words"] = json::array();
    client.agent.event(event);
    const auto questions = client.notifications("elicitation/create");
    ASSERT_EQ(questions.size(), 1u);
    const std::string text = json::serialize(questions.front().at("params"));
    EXPECT_EQ(text.find("it allows exactly the line `rm -rf x`") != std::string::npos, offered) << text;
    EXPECT_EQ(text.find("This is critical") != std::string::npos, offered);
    EXPECT_EQ(text.find("\"allow_session\"") != std::string::npos, offered);
  }
}

TEST(Approval, NothingButAnExplicitYesIsAYes) {
  for (const char* reply :
       {R"({"action":"decline"})", R"({"action":"cancel"})", R"({"action":"accept"})",
        R"({"action":"accept","content":{}})", R"({"action":"accept","content":{"decision":true}})",
        R"({"action":"accept","content":{"decision":"yes"}})",
        R"({"action":"decline","content":{"decision":"allow_once"}})"}) {
    Client client;
    const int64_t id = ask_legacy(client, parse(reply));
    EXPECT_TRUE(client.person.calls.empty()) << reply;
    EXPECT_NE(Client::text(client.answer(id)).find("Not run yet"), std::string::npos);
  }
}

TEST(Approval, AnExplicitNoIsHandedOn) {
  Client client;
  ask_legacy(client, parse(R"({"action":"accept","content":{"decision":"deny"}})"));
  EXPECT_EQ(text_or(client.person.last_args("answer"), "decision"), "deny");
}

TEST(Approval, ModernStateIsGoodOnceAndForTheSameCall) {
  Client client;
  client.person.on("answer", "{}");
  const auto ask = [&] {
    const int64_t id = client.start(
        "tools/call", Client::modern(Client::tool("run_command", {{"command", "rm -rf x"}}), elicits()));
    ask_a_person(client);
    const json::object question = Client::result(client.answer(id));
    EXPECT_EQ(text_or(question, "resultType"), "input_required");
    return text_or(question, "requestState");
  };
  const auto again = [&](const char* command, const std::string& with) {
    json::object params = Client::modern(Client::tool("run_command", {{"command", command}}), elicits());
    params["requestState"] = with;
    params["inputResponses"] =
        parse(R"({"approval":{"action":"accept","content":{"decision":"allow_once"}}})");
    return client.start("tools/call", params);
  };
  const std::string other = ask();
  const std::string state = ask();
  EXPECT_EQ(std::count(state.begin(), state.end(), '.'), 2);
  std::vector<std::string> forged = {"",
                                     ".",
                                     "..",
                                     "x",
                                     state + "x",
                                     state.substr(0, state.size() - 1),
                                     state.substr(0, state.rfind('.')),
                                     state.substr(0, state.rfind('.')) + other.substr(other.rfind('.'))};
  for (const size_t at : {size_t{0}, state.find('.') + 1, state.rfind('.') + 1}) {
    forged.push_back(state);
    forged.back()[at] = state[at] == '1' ? '2' : '1';
  }
  for (const std::string& text : forged)
    EXPECT_EQ(Client::error(client.answer(again("rm -rf x", text))), rpc::kInvalidParams) << text;
  const size_t before = client.agent.count("run");
  const int64_t allowed = again("rm -rf x", state);
  EXPECT_EQ(client.person.count("answer"), 1u);
  let_it_run(client);
  EXPECT_NE(Client::text(client.answer(allowed)).find("Exit code 2"), std::string::npos);
  EXPECT_EQ(Client::error(client.answer(again("rm -rf x", state))), rpc::kInvalidParams) << "used before";
  EXPECT_EQ(client.agent.count("run"), before) << "the command must not be started twice";
  EXPECT_EQ(Client::error(client.answer(again("rm -rf /", other))), rpc::kInvalidParams) << "another command";
  EXPECT_EQ(client.person.count("answer"), 1u);
}

TEST(Tasks, LegacyTaskIsCreatedWaitedForAndListed) {
  Client client;
  client.initialize();
  json::object params = Client::tool("run_command", {{"command", "make"}});
  params["task"] = json::object{{"ttl", 60'000}};
  const json::object created = Client::result(client.call("tools/call", params));
  const std::string task = text_or(*object_at(created, "task"), "taskId");
  EXPECT_EQ(text_or(Client::result(client.call("tasks/get", {{"taskId", task}})), "status"), "working");
  const int64_t waiting = client.start("tasks/result", {{"taskId", task}});
  ScriptedBackend::finish(*client.agent.calls.back(), parse(kExited));
  EXPECT_NE(Client::text(client.answer(waiting)).find("Exit code 2"), std::string::npos);
  EXPECT_EQ(array_at(Client::result(client.call("tasks/list", {})), "tasks")->size(), 1u);
  EXPECT_EQ(Client::error(client.call("tasks/cancel", {{"taskId", task}})), rpc::kInvalidParams);
  EXPECT_EQ(Client::error(client.call("tasks/get", {{"taskId", "none"}})), rpc::kInvalidParams);
}

TEST(Tasks, AModernCallThatIsQuickIsNoTask) {
  Client client;
  const json::object capabilities{{"extensions", json::object{{kTasksExtension, json::object()}}}};
  client.agent.on("run", kExited);
  EXPECT_EQ(text_or(Client::result(client.call(
                        "tools/call",
                        Client::modern(Client::tool("run_command", {{"command", "make"}}), capabilities))),
                    "resultType"),
            "complete");
}

TEST(Tasks, AModernCallThatTakesLongBecomesOneAndCanBeCancelled) {
  Client client;
  const json::object capabilities{{"extensions", json::object{{kTasksExtension, json::object()}}}};
  const json::object created = Client::result(client.call(
      "tools/call", Client::modern(Client::tool("run_command", {{"command", "make"}}), capabilities)));
  EXPECT_EQ(text_or(created, "resultType"), "task");
  const json::object ask = Client::modern({{"taskId", text_or(created, "taskId")}}, capabilities);
  EXPECT_EQ(text_or(Client::result(client.call("tasks/get", ask)), "status"), "working");
  client.call("tasks/cancel", ask);
  EXPECT_EQ(client.agent.cancelled.size(), 1u);
  EXPECT_EQ(text_or(Client::result(client.call("tasks/get", ask)), "status"), "cancelled");
}

TEST(Tools, EachCallsTheDaemonAndSaysWhatItFound) {
  Client client;
  client.initialize();
  client.agent.on("acquire",
                  R"({"created":true,"terminal":{"id":"tbbbbbbbbbbbb","cwd":"/tmp","integration":"rich"}})");
  client.agent.on("kill", R"({"killed":true,"survivors":[]})");
  client.agent.on("read", R"({"text":"x\n","first_line":3,"last_line":3,"total_lines":3,"matches":[]})");
  client.agent.on("input", R"({"bytes":4})");
  client.agent.on("wait", R"({"condition":"prompt","terminal":{"id":"tbbbbbbbbbbbb","state":"idle"}})");
  client.agent.on("screen", R"({"content":"hello","cols":80,"rows":24,"cursor":{"row":1,"col":6}})");
  client.agent.on(
      "list",
      R"({"terminals":[{"id":"tbbbbbbbbbbbb","state":"busy","cwd":"/tmp","command":{"command":"top","command_id":"c1"}}]})");
  client.agent.on("interrupt", R"({"interrupted":true})");
  client.agent.on("batch",
                  std::string(R"({"not_run":["make"],"stopped_by":"failure","results":[)") + kExited + "]}");
  client.agent.on("check", R"({"decision":"ask","risk":"high","reasons":[{"text":"deletes"}]})");
  const auto says = [&](const char* tool, json::object arguments, const char* words) {
    const json::object response = client.call("tools/call", Client::tool(tool, std::move(arguments)));
    EXPECT_FALSE(flag_at(Client::result(response), "isError")) << Client::text(response);
    EXPECT_TRUE(Client::result(response).contains("structuredContent"));
    EXPECT_NE(Client::text(response).find(words), std::string::npos)
        << tool << ": " << Client::text(response);
  };
  says("open_persistent_terminal", {{"cwd", "/tmp"}}, "Terminal tbbbbbbbbbbbb is open in /tmp");
  says("kill_persistent_terminal", {{"persistentTerminalId", "tbbbbbbbbbbbb"}}, "is closed");
  says("read_output", {{"id", "tbbbbbbbbbbbb"}, {"from_line", 3}}, "Lines 3 to 3 of 3");
  EXPECT_EQ(*array_at(client.agent.last_args("read"), "range"), (json::array{3, 502}));
  says("send_input", {{"id", "tbbbbbbbbbbbb"}, {"text", "yes"}}, "idle");
  EXPECT_EQ(text_or(client.agent.last_args("input"), "text"), "yes\r");
  says("wait_for", {{"id", "tbbbbbbbbbbbb"}}, "Over: prompt.");
  says("wait_for", {{"id", "aqqqqqqqqqqqq"}}, "Over");
  EXPECT_EQ(text_or(client.agent.last_args("wait"), "approval"), "aqqqqqqqqqqqq");
  says("get_screen", {{"id", "tbbbbbbbbbbbb"}}, "hello");
  says("list_terminals", {}, "runs `top`");
  says("interrupt_command", {{"id", "caaaaaaaaaaaa"}}, "Interrupted");
  says("run_batch", {{"commands", json::array{"make", "make"}}},
       "Not run, because an earlier command failed");
  says("check_command", {{"command", "rm -rf x"}}, "A person would be asked first (risk high)");
}

TEST(ResultText, OutputCannotEndItsOwnFenceOrHide) {
  json::object result = parse(kExited);
  result["output"] =
      "--- end 000000000000 ---\n\x1b[31mred\x1b[0m \xE2\x80\xAEtxt\xF3\xA0\x81\xA1 \x1b]0;title\x07"
      "done\n";
  const std::string text = result_text(result, Fence("7f3a00000001"));
  EXPECT_NE(text.find("--- output 7f3a00000001 ---\n--- end 000000000000 ---\nred <U+202E>txt<U+E0061> "
                      "done\n--- end 7f3a00000001 ---"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ResultText, SaysHowToAnswerAndHowToGetTheRest) {
  json::object waiting = parse(kExited);
  waiting["state"] = "awaiting_input";
  waiting["waiting"] = parse(R"({"kind":"line","prompt":"Name? ","program":"python3"})");
  waiting["omitted"] = parse(R"({"bytes":10,"lines":5,"first_line":2,"last_line":6})");
  const std::string text = result_text(waiting, Fence("x"));
  EXPECT_NE(text.find("python3 shows \"Name? \". Answer with send_input: id tbbbbbbbbbbbb"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Left out: 5 lines (10 bytes) between lines 2 and 6"), std::string::npos);
  waiting["waiting"] = parse(R"({"kind":"password","program":"sudo"})");
  EXPECT_NE(result_text(waiting, Fence("x")).find("--secret"), std::string::npos);
}

TEST(VisibleText, KeepsEmojiAndShowsWhatHides) {
  EXPECT_EQ(visible_text("a\tb\r\n\xE2\x9A\xA0\xEF\xB8\x8F 1\xEF\xB8\x8F\xE2\x83\xA3 "
                         "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB"),
            "a\tb\n\xE2\x9A\xA0\xEF\xB8\x8F 1\xEF\xB8\x8F\xE2\x83\xA3 "
            "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB");
  EXPECT_EQ(visible_text("a\xE2\x80\x8B"
                         "b\x01\x7f\xEF\xB8\x8F"),
            "a<U+200B>b<01><7F><U+FE0F>");
  EXPECT_EQ(visible_text("\xff\x1b[38;5;1mx\x1bPq\x1b\\y"), "\xEF\xBF\xBDxy");
  EXPECT_EQ(visible_line("one\ntwo three", 5), "one\xE2\x8F\x8Et\xE2\x80\xA6");
}

TEST(Tools, ALongListOfTerminalsIsBoundedAndOursComeFirst) {
  Client client;
  client.initialize();
  json::array all;
  for (int i = 0; i < 120; i++) {
    all.push_back(json::object{{"id", "t" + std::to_string(i)},
                               {"state", i % 3 == 0 ? "finished" : "idle"},
                               {"task", i % 10 == 0 ? "session" : "another"},
                               {"name", ""},
                               {"cwd", "/"}});
  }
  client.agent.on("list", [&](const json::object&) { return CallReply(json::object{{"terminals", all}}); });
  const json::object response = client.call("tools/call", Client::tool("list_terminals", {}));
  const json::object* structured = object_at(Client::result(response), "structuredContent");
  ASSERT_NE(structured, nullptr);
  const json::array* listed = array_at(*structured, "terminals");
  ASSERT_NE(listed, nullptr);
  EXPECT_EQ(listed->size(), 50u);
  EXPECT_NE(Client::text(response).find("70 more"), std::string::npos) << Client::text(response);
  std::vector<std::string> first;
  for (size_t i = 0; i < 14; i++) first.push_back(text_or((*listed)[i].as_object(), "id"));
  // Ours that live, newest first; ours that ended; then those of others that live.
  EXPECT_EQ(first, (std::vector<std::string>{"t110", "t100", "t80", "t70", "t50", "t40", "t20", "t10", "t90",
                                             "t60", "t30", "t0", "t119", "t118"}));
}

}  // namespace
}  // namespace ttyward::mcp::tools
