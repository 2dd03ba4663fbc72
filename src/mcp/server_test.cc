#include <gtest/gtest.h>

#include "mcp/error_codes.h"
#include "mcp/testing.h"

namespace ttyward::mcp {
namespace {

using testing::Client;
using testing::parse;

TEST(Rpc, TellsMessagesApart) {
  EXPECT_EQ(rpc::parse(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").kind, rpc::Kind::Request);
  EXPECT_EQ(rpc::parse(R"({"jsonrpc":"2.0","method":"x"})").kind, rpc::Kind::Notification);
  EXPECT_EQ(rpc::parse(R"({"jsonrpc":"2.0","id":"a","result":{}})").kind, rpc::Kind::Response);
  for (const char* bad :
       {"", "{", "[]", "1", R"({"id":1})", R"({"jsonrpc":"2.0","id":null,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})",
        "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"}) {
    EXPECT_EQ(rpc::parse(bad).kind, rpc::Kind::Bad) << bad;
  }
  EXPECT_EQ(rpc::parse(std::string(200, '[')).kind, rpc::Kind::Bad);
}

TEST(Legacy, AnswersWithTheVersionAskedForOrTheNewest) {
  for (const auto& [asked, got] : std::map<std::string, std::string>{{"2024-11-05", "2024-11-05"},
                                                                     {"2025-06-18", "2025-06-18"},
                                                                     {"2026-07-28", "2025-11-25"},
                                                                     {"1999-01-01", "2025-11-25"}}) {
    Client client;
    EXPECT_EQ(text_or(Client::result(client.initialize(asked.c_str())), "protocolVersion"), got);
  }
}

TEST(Legacy, NothingButInitializeAndPingBeforeTheHandshake) {
  Client client;
  EXPECT_EQ(Client::error(client.call("tools/list", {})), rpc::kInvalidRequest);
  EXPECT_TRUE(Client::result(client.call("ping", {})).empty());
}

TEST(Legacy, InstructionsFitWhatClientsKeep) {
  Client client;
  EXPECT_LT(text_or(Client::result(client.initialize()), "instructions").size(), 2048u);
}

TEST(Legacy, TasksAreOfferedToTheNewestRevisionOnly) {
  Client old;
  EXPECT_FALSE(object_at(Client::result(old.initialize("2025-06-18")), "capabilities")->contains("tasks"));
  Client fresh;
  EXPECT_TRUE(object_at(Client::result(fresh.initialize()), "capabilities")->contains("tasks"));
}

TEST(Modern, DiscoverThenInitializeOnOneConversation) {
  Client client;
  const json::object discovered = Client::result(client.call("server/discover", Client::modern({})));
  EXPECT_EQ(text_or(discovered, "resultType"), "complete");
  EXPECT_TRUE(discovered.contains("ttlMs"));
  EXPECT_EQ(text_or(Client::result(client.initialize()), "protocolVersion"), "2025-11-25");
  EXPECT_FALSE(Client::result(client.call("tools/list", {})).contains("resultType"));
  EXPECT_TRUE(Client::result(client.call("tools/list", Client::modern({}))).contains("resultType"));
}

TEST(Modern, RefusesWhatIsMissingUnknownOrGone) {
  Client client;
  json::object params = Client::modern({});
  params["_meta"].as_object().erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(Client::error(client.call("tools/list", params)), rpc::kInvalidParams);
  params = Client::modern({});
  params["_meta"].as_object()["io.modelcontextprotocol/protocolVersion"] = "2031-01-01";
  EXPECT_EQ(Client::error(client.call("tools/list", params)), kUnsupportedVersion);
  for (const char* gone :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "tasks/result"})
    EXPECT_EQ(Client::error(client.call(gone, Client::modern({}))), rpc::kMethodNotFound) << gone;
}

TEST(Server, IdsComeBackAsTheyWereSent) {
  Client client;
  client.send({{"jsonrpc", "2.0"},
               {"id", "server-discover-probe-1"},
               {"method", "server/discover"},
               {"params", Client::modern({})}});
  EXPECT_EQ(client.out->messages.back().at("id"), json::value("server-discover-probe-1"));
}

TEST(Server, AnIdInUseIsRefusedAndTheFirstCallGoesOn) {
  Client client;
  client.initialize();
  client.last_id = 10;
  const int64_t first = client.start("tools/call", Client::tool("list_terminals", {}));
  client.last_id = 10;
  client.start("ping", {});
  EXPECT_EQ(Client::error(client.answer(first)), rpc::kInvalidRequest);
  client.out->messages.clear();
  testing::ScriptedBackend::finish(*client.agent.calls.back(), parse(R"({"terminals":[]})"));
  EXPECT_EQ(Client::text(client.answer(first)), "No terminal is open.\n");
}

TEST(Server, SubscriptionsHearWhatTheyAskedFor) {
  Client client;
  client.agent.on("subscribe", R"({"subscription":1})");
  client.agent.on("unsubscribe", "{}");
  client.agent.connect();
  client.initialize();
  client.call("resources/subscribe", {{"uri", "ttyward://terminals/t1/screen"}});
  const int64_t listen = client.start(
      "subscriptions/listen",
      Client::modern(
          {{"notifications", json::object{{"toolsListChanged", true}, {"resourcesListChanged", true}}}}));
  client.agent.event(parse(R"({"event":"output","id":"t1","lines":1})"));
  client.agent.event(parse(R"({"event":"output","id":"t1","lines":2})"));
  client.agent.event(parse(R"({"event":"terminal_opened","terminal":{"id":"t2"}})"));
  while (client.notifications("notifications/resources/list_changed").size() < 2)
    client.loop->turn(std::chrono::seconds(1));
  EXPECT_EQ(client.notifications("notifications/resources/updated").size(), 1u);
  const auto acknowledged = client.notifications("notifications/subscriptions/acknowledged");
  ASSERT_EQ(acknowledged.size(), 1u);
  const json::object& params = acknowledged.front().at("params").as_object();
  EXPECT_EQ(params.at("notifications"), json::value(json::object{{"resourcesListChanged", true}}));
  EXPECT_EQ(params.at("_meta").as_object().at("io.modelcontextprotocol/subscriptionId"), json::value(listen));
  client.call("resources/unsubscribe", {{"uri", "ttyward://terminals/t1/screen"}});
  EXPECT_EQ(client.agent.count("unsubscribe"), 1u);
  client.peer->end_listening();
  EXPECT_EQ(text_or(Client::result(client.answer(listen)), "resultType"), "complete");
}

TEST(Server, ListsHaveOnePage) {
  Client client;
  client.initialize();
  EXPECT_EQ(Client::error(client.call("tools/list", {{"cursor", "x"}})), rpc::kInvalidParams);
}

}  // namespace
}  // namespace ttyward::mcp
