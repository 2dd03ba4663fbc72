#include "http/server.h"

#include <gtest/gtest.h>

#include <atomic>

#include "http/testing.h"

namespace ttyward::http {
namespace {

using std::chrono::milliseconds;
using testing::TestServer;
using testing::Wire;

// "/echo" gives the body back, "/events" is a stream of three events over the loop's timers, "/never" waits.
Server::Handle everything(io::Loop& loop, std::shared_ptr<std::promise<void>> gone = {}) {
  return [&loop, gone](const std::shared_ptr<Exchange>& exchange) {
    const std::string& target = exchange->request.target;
    if (target == "/echo") return exchange->respond(200, {{"X-A", "1"}}, exchange->request.body);
    if (target == "/posted") return loop.post([exchange] { exchange->respond(202, {}, ""); });
    if (target == "/socket") {
      exchange->accept_web_socket({});
      return;
    }
    if (target == "/events") {
      exchange->begin_events({});
      for (int i = 0; i < 3; i++) {
        loop.after(milliseconds(5 * i), [exchange, i] {
          exchange->write_events("data: " + std::to_string(i) + "\n\n");
          if (i == 2) exchange->end_events();
        });
      }
      return;
    }
    if (target == "/flood") {
      exchange->begin_events({});
      for (int i = 0; i < 64 && exchange->open(); i++) exchange->write_events(std::string(1 << 20, 'x'));
    }
    if (gone) exchange->on_gone = [gone, exchange] { gone->set_value(); };
  };
}

TestServer::Setup all() {
  return [](io::Loop& loop, Server&) { return everything(loop); };
}

std::string request(const std::string& target, const std::string& rest = "\r\n") {
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" + rest;
}

TEST(Address, other_machines_are_refused) {
  for (const char* bad : {"0.0.0.0:1", "192.168.1.1:80", "8080", ":8080", "127.0.0.1", "127.0.0.1:99999",
                          "127.0.0.1:", "[::]:1"})
    EXPECT_FALSE(parse_address(bad)) << bad;
  EXPECT_EQ(parse_address("127.0.0.1:0").value().port, 0);
  EXPECT_TRUE(parse_address("[::1]:81").value().v6);
}

TEST(Server, answers_come_in_order_on_one_connection) {
  const TestServer server(all());
  Wire wire = server.connect();
  // Two requests at once, the second of them in pieces.
  EXPECT_TRUE(wire.send(request("/echo", "Content-Length: 3\r\n\r\none") + request("/posted") +
                        request("/echo", "Content-Length: 5\r\nConnec")));
  EXPECT_NE(wire.read_to("one").find("HTTP/1.1 200 OK\r\nX-A: 1\r\n"), std::string::npos);
  EXPECT_TRUE(wire.read_to("\r\n\r\n").starts_with("HTTP/1.1 202 Accepted\r\n"));
  EXPECT_TRUE(wire.send("tion: close\r\n\r\nthree"));
  const std::string last = wire.read_all();
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_NE(last.find("Content-Length: 5\r\n\r\nthree"), std::string::npos) << last;
}

TEST(Server, events_are_a_chunked_stream) {
  const TestServer server(all());
  const std::string text = server.say(request("/events", "Connection: close\r\n\r\n"));
  EXPECT_NE(text.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(text.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(text.find("\r\n\r\n9\r\ndata: 0\n\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"),
            std::string::npos)
      << text;
}

TEST(Server, bad_bytes_and_too_many_of_them_get_the_right_status) {
  const TestServer server(all());
  EXPECT_EQ(server.say("NONSENSE\r\n\r\n").substr(9, 3), "400");
  EXPECT_EQ(server.say("GET / HTTP/1.1\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n").substr(9, 3), "431");
  EXPECT_EQ(server.say(request("/echo", "Content-Length: 99999999\r\n\r\n")).substr(9, 3), "413");
  EXPECT_EQ(server
                .say(request("/echo",
                             "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
                .substr(9, 3),
            "200");
  EXPECT_EQ(server.say(request("/socket", "Connection: close\r\n\r\n")).substr(9, 3), "426");
}

TEST(Server, a_client_that_waits_for_100_continue_gets_it) {
  const TestServer server(all());
  Wire wire = server.connect();
  EXPECT_TRUE(
      wire.send(request("/echo", "Content-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")));
  EXPECT_EQ(wire.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(wire.send("body"));
  EXPECT_TRUE(wire.read_all().ends_with("\r\n\r\nbody"));
}

TEST(Server, a_client_that_goes_away_is_noticed_at_once) {
  const auto gone = std::make_shared<std::promise<void>>();
  auto noticed = gone->get_future();
  const TestServer server([gone](io::Loop& loop, Server&) { return everything(loop, gone); });
  {
    const Wire wire = server.connect();
    EXPECT_TRUE(wire.send(request("/never")));
  }
  EXPECT_EQ(noticed.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Server, a_client_that_does_not_read_is_given_up) {
  const auto gone = std::make_shared<std::promise<void>>();
  auto noticed = gone->get_future();
  Limits limits;
  limits.unsent = size_t{8} << 20;
  const TestServer server(
      [gone](io::Loop&, Server&) -> Server::Handle {
        return [gone](const std::shared_ptr<Exchange>& exchange) {
          exchange->on_gone = [gone] { gone->set_value(); };
          exchange->begin_events({});
          for (int i = 0; i < 64 && exchange->open(); i++) exchange->write_events(std::string(1 << 20, 'x'));
        };
      },
      limits);
  const Wire wire = server.connect();
  EXPECT_TRUE(wire.send(request("/")));
  EXPECT_EQ(noticed.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(Server, requests_and_idle_connections_have_a_time_limit) {
  Limits limits;
  limits.request_time = milliseconds(20);
  limits.idle_time = milliseconds(20);
  const TestServer server(all(), limits);
  EXPECT_EQ(server.say(""), "") << "idle";
  EXPECT_EQ(server.say("POST /echo HTT"), "") << "half a request";
}

TEST(Server, a_silent_stream_is_kept_alive_with_comments) {
  Limits limits;
  limits.keep_alive = milliseconds(5);
  const TestServer server(
      [](io::Loop&, Server&) -> Server::Handle {
        return [](const std::shared_ptr<Exchange>& exchange) { exchange->begin_events({}); };
      },
      limits);
  Wire wire = server.connect();
  EXPECT_TRUE(wire.send(request("/")));
  wire.read_to("3\r\n:\n\n\r\n");
  EXPECT_EQ(wire.read_to("3\r\n:\n\n\r\n"), "3\r\n:\n\n\r\n");
}

TEST(Server, more_connections_than_allowed_wait_for_one_to_close) {
  Limits limits;
  limits.connections = 2;
  const TestServer server(all(), limits);
  Wire first = server.connect();
  const Wire second = server.connect();
  Wire third = server.connect();
  EXPECT_TRUE(third.send(request("/echo", "Content-Length: 1\r\n\r\nx")));
  EXPECT_TRUE(first.send(request("/echo", "Content-Length: 1\r\n\r\ny")));
  EXPECT_TRUE(first.read_to("\r\n\r\ny").ends_with("y"));
  first.close();
  EXPECT_TRUE(third.read_to("\r\n\r\nx").ends_with("x"));
}

TEST(Server, ends_in_good_order) {
  std::promise<void> done;
  const std::future<void> ended = done.get_future();
  std::shared_ptr<Exchange> waiting;
  std::promise<void> arrived;
  const TestServer server([&](io::Loop& loop, Server&) -> Server::Handle {
    return [&, rest = everything(loop)](const std::shared_ptr<Exchange>& exchange) {
      if (exchange->request.target != "/wait") return rest(exchange);
      waiting = exchange;
      arrived.set_value();
    };
  });
  Wire idle = server.connect();
  EXPECT_TRUE(idle.send(request("/echo", "Content-Length: 1\r\n\r\nx")));
  idle.read_to("\r\n\r\nx");
  Wire busy = server.connect();
  EXPECT_TRUE(busy.send(request("/wait")));
  arrived.get_future().wait();
  server.post([&](Server& it) { it.shut_down(milliseconds(60'000), [&] { done.set_value(); }); });
  EXPECT_EQ(idle.read_all(), "") << "closed";
  EXPECT_EQ(ended.wait_for(milliseconds(0)), std::future_status::timeout);
  server.post([&](Server&) { std::exchange(waiting, nullptr)->respond(200, {}, "answered"); });
  const std::string answer = busy.read_all();
  EXPECT_TRUE(answer.ends_with("answered")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos);
  idle.close();
  busy.close();
  EXPECT_EQ(ended.wait_for(milliseconds(10'000)), std::future_status::ready);
}

}  // namespace
}  // namespace ttyward::http
