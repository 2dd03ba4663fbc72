#include "rpc/peer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ttyward::rpc {
namespace {

class Recorder final : public Outlet {
 public:
  void send(const json::object& message, Last) override { sent.push_back(json::serialize(message)); }
  void send_batch(const json::array& answers) override { sent.push_back(json::serialize(answers)); }
  void close() override { ++closed; }
  std::vector<std::string> sent;
  int closed = 0;
};

// Answers "echo" at once and keeps everything else.
class Methods final : public Handler {
 public:
  void on_request(const RequestPtr& request) override {
    if (request->method == "echo") return request->reply(request->params);
    if (request->method == "unknown") return request->fail(kMethodNotFound, "there is no such method");
    kept[request->method] = request;
  }
  void on_notification(const Message& message) override { heard.push_back(message.method); }
  bool may_cancel(const Request& request) const override { return request.method != "firm"; }
  std::map<std::string, RequestPtr> kept;
  std::vector<std::string> heard;
};

class PeerTest : public ::testing::Test {
 protected:
  void receive(const std::string& text) { peer->receive(parse(text), out); }
  void cancel(const std::string& id) {
    receive(R"({"jsonrpc":"2.0","method":"cancel","params":{"requestId":)" + id + "}}");
  }
  std::string last() const { return out->sent.empty() ? "" : out->sent.back(); }

  std::unique_ptr<io::Loop> loop = std::move(io::Loop::create().value());
  Methods methods;
  std::shared_ptr<Recorder> out = std::make_shared<Recorder>();
  std::shared_ptr<Peer> peer = std::make_shared<Peer>(*loop, Dialect{"cancel"}, methods, out);
};

TEST(Message, told_apart) {
  EXPECT_EQ(parse(R"({"jsonrpc":"2.0","id":1,"method":"ping"})").kind, Kind::Request);
  EXPECT_EQ(parse(R"({"jsonrpc":"2.0","method":"x"})").kind, Kind::Notification);
  EXPECT_EQ(parse(R"({"jsonrpc":"2.0","id":"a","result":null})").kind, Kind::Response);
  EXPECT_EQ(parse(R"({"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}})").kind, Kind::Response);
  EXPECT_EQ(parse(R"([{"jsonrpc":"2.0","method":"x"}])").kind, Kind::Batch);
  for (const char* bad :
       {"", "{", "[]", "1", R"({"id":1})", R"({"jsonrpc":"2.0","id":null,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"x"})", R"({"jsonrpc":"2.0","id":1,"method":7})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})", R"({"jsonrpc":"2.0","result":1})",
        "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"}) {
    EXPECT_EQ(parse(bad).kind, Kind::Bad) << bad;
  }
  EXPECT_EQ(parse(std::string(200, '[')).kind, Kind::Bad) << "too deep";
}

TEST_F(PeerTest, ids_come_back_with_their_type) {
  receive(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}})");
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":1,"result":{"a":1}})");
  receive(R"({"jsonrpc":"2.0","id":"1","method":"echo"})");
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":"1","result":{}})");
}

TEST_F(PeerTest, what_is_bad_or_unknown_is_answered_with_an_error) {
  receive(R"({"jsonrpc":"2.0","id":1,"method":"unknown"})");
  EXPECT_EQ(last(),
            R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no such method"}})");
  receive("nonsense");
  EXPECT_NE(last().find("-32700"), std::string::npos);
  receive(R"({"jsonrpc":"2.0","id":4,"method":"x","params":7})");
  EXPECT_NE(last().find(R"("id":4,"error":{"code":-32602)"), std::string::npos) << last();
}

TEST_F(PeerTest, an_id_in_use_is_refused_and_the_first_request_goes_on) {
  receive(R"({"jsonrpc":"2.0","id":5,"method":"slow"})");
  receive(R"({"jsonrpc":"2.0","id":5,"method":"echo"})");
  EXPECT_NE(last().find("this id belongs to a request"), std::string::npos);
  receive(R"({"jsonrpc":"2.0","id":"5","method":"echo"})");
  EXPECT_NE(last().find("result"), std::string::npos) << "\"5\" is another id than 5";
  methods.kept["slow"]->reply(7);
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":5,"result":7})");
}

TEST_F(PeerTest, a_cancelled_request_is_silent_and_its_hooks_run_once) {
  receive(R"({"jsonrpc":"2.0","id":5,"method":"slow"})");
  int hooks = 0;
  methods.kept["slow"]->on_cancel([&] { ++hooks; });
  cancel("\"5\"");
  EXPECT_EQ(hooks, 0);
  cancel("5");
  cancel("5");
  EXPECT_EQ(hooks, 1);
  methods.kept["slow"]->reply(7);
  EXPECT_TRUE(out->sent.empty());
  receive(R"({"jsonrpc":"2.0","id":5,"method":"echo"})");
  EXPECT_NE(last().find("result"), std::string::npos) << "the id is free again";
}

TEST_F(PeerTest, a_dialect_may_answer_what_was_cancelled) {
  peer = std::make_shared<Peer>(*loop, Dialect{"cancel", Dialect::Cancelled::IsAnswered}, methods, out);
  receive(R"({"jsonrpc":"2.0","id":5,"method":"slow"})");
  cancel("5");
  ASSERT_EQ(out->sent.size(), 1u);
  EXPECT_NE(last().find(R"("id":5,"error":{"code":-32800)"), std::string::npos) << last();
  methods.kept["slow"]->reply(7);
  EXPECT_EQ(out->sent.size(), 1u);
}

TEST_F(PeerTest, some_requests_cannot_be_cancelled) {
  receive(R"({"jsonrpc":"2.0","id":5,"method":"firm"})");
  cancel("5");
  methods.kept["firm"]->reply(7);
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":5,"result":7})");
}

TEST_F(PeerTest, requests_go_out_and_their_answers_find_the_way_back) {
  std::vector<std::string> answers;
  const auto keep = [&](const Answer& answer) {
    answers.push_back(answer.result ? json::serialize(*answer.result)
                                    : std::to_string(answer.code) + answer.error);
  };
  peer->call("a", {{"x", 1}}, keep);
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}})");
  peer->call("b", {}, keep);
  // The other side has ids of its own, which may look the same.
  receive(R"({"jsonrpc":"2.0","id":1,"method":"echo"})");
  receive(R"({"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}})");
  receive(R"({"jsonrpc":"2.0","id":1,"result":null})");
  receive(R"({"jsonrpc":"2.0","id":1,"result":"again"})");
  receive(R"({"jsonrpc":"2.0","id":99,"result":"nobody asked"})");
  EXPECT_EQ(answers, (std::vector<std::string>{"-32601no", "null"}));
}

TEST_F(PeerTest, a_request_that_is_withdrawn_is_cancelled_there_and_forgotten_here) {
  bool answered = false;
  const Withdraw withdraw = peer->call("a", {}, [&](const Answer&) { answered = true; });
  withdraw();
  withdraw();
  EXPECT_EQ(out->sent.size(), 2u);
  EXPECT_EQ(
      last(),
      R"({"jsonrpc":"2.0","method":"cancel","params":{"requestId":1,"reason":"it was answered elsewhere"}})");
  receive(R"({"jsonrpc":"2.0","id":1,"result":1})");
  EXPECT_FALSE(answered);
}

TEST_F(PeerTest, a_peer_that_goes_answers_everybody) {
  std::string said;
  peer->call("a", {}, [&](const Answer& answer) { said = answer.error; });
  receive(R"({"jsonrpc":"2.0","id":5,"method":"slow"})");
  bool cancelled = false;
  methods.kept["slow"]->on_cancel([&] { cancelled = true; });
  peer = nullptr;
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(said, "the client disconnected");
}

TEST_F(PeerTest, idle_is_when_nothing_but_streams_is_in_flight) {
  bool idle = false;
  receive(R"({"jsonrpc":"2.0","id":1,"method":"stream"})");
  methods.kept["stream"]->is_stream = true;
  receive(R"({"jsonrpc":"2.0","id":2,"method":"slow"})");
  peer->when_idle([&] { idle = true; });
  EXPECT_FALSE(idle);
  methods.kept["slow"]->reply(1);
  EXPECT_TRUE(idle);
}

TEST_F(PeerTest, batches_are_refused_unless_the_protocol_has_them) {
  receive(R"([{"jsonrpc":"2.0","id":1,"method":"echo"}])");
  EXPECT_NE(last().find("-32600"), std::string::npos);
}

TEST_F(PeerTest, a_batch_is_answered_together_when_all_of_it_is_done) {
  peer->set_batches(Peer::Batches::Taken);
  receive(
      R"([{"jsonrpc":"2.0","id":1,"method":"slow"},{"jsonrpc":"2.0","method":"note"},7,{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":3,"method":"slower"}])");
  EXPECT_TRUE(out->sent.empty());
  EXPECT_EQ(methods.heard, (std::vector<std::string>{"note"}));
  methods.kept["slow"]->reply("a");
  EXPECT_TRUE(out->sent.empty());
  cancel("3");
  ASSERT_EQ(out->sent.size(), 1u);
  EXPECT_EQ(
      last(),
      R"([{"jsonrpc":"2.0","error":{"code":-32600,"message":"a message must be a JSON object"}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":"a"}])");
  receive(R"([{"jsonrpc":"2.0","method":"note"}])");
  EXPECT_EQ(out->sent.size(), 1u) << "a batch of notifications has no answer";
}

TEST_F(PeerTest, more_requests_at_once_than_allowed_are_refused) {
  for (int i = 0; i < 1025; i++)
    receive(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"slow"})");
  ASSERT_EQ(out->sent.size(), 1u);
  EXPECT_NE(last().find(R"("id":1024,"error":{"code":-32603)"), std::string::npos) << last();
}

Detached ask_and_reply(RequestPtr request) {
  const Answer answer = co_await request->ask("question", {});
  request->reply(answer.result ? *answer.result : json::value(answer.error));
}

TEST_F(PeerTest, a_request_may_ask_back_before_it_is_answered) {
  receive(R"({"jsonrpc":"2.0","id":"r","method":"slow"})");
  ask_and_reply(methods.kept["slow"]);
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":1,"method":"question","params":{}})");
  receive(R"({"jsonrpc":"2.0","id":1,"result":"yes"})");
  EXPECT_EQ(last(), R"({"jsonrpc":"2.0","id":"r","result":"yes"})");
}

}  // namespace
}  // namespace ttyward::rpc
