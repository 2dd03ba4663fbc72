// Connection, Client and Session against a daemon that is a script: it says what a test tells it to, and dies
// when told to.
#include "client/session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "client/inside_terminal.h"
#include "io/daemon_place.h"

namespace ttyward::client {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{60'000};

class ScriptedDaemon {
 public:
  // Answers one message; false closes the connection.
  using Say = std::function<void(const std::string& line)>;
  using Script = std::function<bool(const json::object& call, const Say& say)>;

  ScriptedDaemon() {
    std::string pattern = ::testing::TempDir() + "/ttyward-client-XXXXXX";
    folders.runtime = ::mkdtemp(pattern.data());
    folders.state = folders.runtime;
    folders.config = folders.runtime;
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folders.sockets() + "/" + io::kDaemonSocket;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::chmod(path.c_str(), 0600);
    EXPECT_EQ(::listen(listener_, 8), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedDaemon() {
    ending_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    {
      const std::lock_guard lock(mutex_);
      if (peer_ >= 0) ::shutdown(peer_, SHUT_RDWR);
    }
    thread_.join();
    ::close(listener_);
    std::error_code ignored;
    std::filesystem::remove_all(folders.runtime, ignored);
  }

  void on_call(Script script) {
    const std::lock_guard lock(mutex_);
    script_ = std::move(script);
  }
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  int connections() const { return connections_; }

  Options options() const {
    Options made;
    made.folders = folders;
    made.client = "test";
    made.start_daemon = false;
    made.patience = kPatience;
    return made;
  }

  base::Folders folders;

 private:
  void serve() {
    while (!ending_) {
      const int peer = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) continue;
      ++connections_;
      {
        const std::lock_guard lock(mutex_);
        peer_ = peer;
      }
      talk(peer);
      const std::lock_guard lock(mutex_);
      ::close(std::exchange(peer_, -1));
    }
  }
  void talk(int peer) {
    std::string text;
    char buffer[4096];
    const Say say = [peer](const std::string& line) {
      const std::string all = line + "\n";
      const ssize_t sent = ::send(peer, all.data(), all.size(), MSG_NOSIGNAL);
      // A client may close while its answer is on the way.
      if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
      EXPECT_EQ(sent, static_cast<ssize_t>(all.size()));
    };
    for (ssize_t n = ::recv(peer, buffer, sizeof buffer, 0); n > 0;
         n = ::recv(peer, buffer, sizeof buffer, 0)) {
      text.append(buffer, static_cast<size_t>(n));
      for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        const json::object message = json::parse(text.substr(0, end)).as_object();
        text.erase(0, end + 1);
        if (!take(message, say)) return;
      }
    }
  }
  bool take(const json::object& message, const Say& say) {
    if (message.if_contains("hello") != nullptr) {
      say(R"({"welcome":{"protocol":1,"version":"0","daemon":"d)" + std::to_string(connections_) +
          R"(","pid":1,"role":"person"}})");
      return true;
    }
    Script script;
    {
      const std::lock_guard lock(mutex_);
      if (const json::value* name = message.if_contains("call")) calls_.emplace_back(name->as_string());
      script = script_;
    }
    return !script || script(message, say);
  }

  int listener_ = -1;
  std::atomic<bool> ending_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  int peer_ = -1;                   // guarded by mutex_
  Script script_;                   // guarded by mutex_
  std::vector<std::string> calls_;  // guarded by mutex_
  std::thread thread_;
};

std::string answer_to(const json::object& call, const std::string& rest) {
  return R"({"id":)" + json::serialize(call.at("id")) + "," + rest + "}";
}

TEST(Connection, parts_events_and_the_answer_in_their_order) {
  ScriptedDaemon daemon;
  daemon.on_call([](const json::object& call, const auto& say) {
    say(answer_to(call, R"("part":{"n":1})"));
    say(R"({"event":"output","subscription":1,"id":"t"})");
    say(answer_to(call, R"("part":{"n":2})"));
    say(answer_to(call, R"("ok":{"done":true})"));
    return true;
  });
  auto connection = Connection::open(daemon.options());
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->welcome().daemon, "d1");
  std::vector<int64_t> parts;
  const auto result = connection->call(
      "exec", {}, [&](const json::object& part) { parts.push_back(part.at("n").as_int64()); });
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->at("done").as_bool());
  EXPECT_EQ(parts, (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(connection->has_next()) << "the event waits";
  const auto next = connection->next(milliseconds(0));
  ASSERT_TRUE(next && *next);
  EXPECT_EQ(std::get<Event>(**next).event.at("id").as_string(), "t");
}

TEST(Connection, what_the_daemon_refuses_has_its_own_code) {
  ScriptedDaemon daemon;
  daemon.on_call([](const json::object& call, const auto& say) {
    say(answer_to(call, R"("error":{"code":"not_found","message":"there is none"})"));
    return true;
  });
  auto connection = Connection::open(daemon.options());
  ASSERT_TRUE(connection);
  const auto result = connection->call("show", {{"terminal", "x"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, wire::Code::NotFound);
  EXPECT_EQ(result.error().message, "there is none");
  EXPECT_EQ(result.error().fate, CallFailure::Fate::Answered);
}

TEST(Connection, a_call_whose_time_is_over_is_taken_back) {
  ScriptedDaemon daemon;
  std::atomic<bool> cancelled = false;
  daemon.on_call([&](const json::object& message, const auto&) {
    cancelled = cancelled || message.if_contains("cancel") != nullptr;
    return true;
  });
  auto connection = Connection::open(daemon.options());
  ASSERT_TRUE(connection);
  CallOptions options;
  options.deadline = milliseconds(20);
  const auto result = connection->call("wait", {}, {}, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fate, CallFailure::Fate::TimedOut);
  // It was told; the next call's answer shows that it has read as far.
  daemon.on_call([&](const json::object& message, const auto& say) {
    cancelled = cancelled || message.if_contains("cancel") != nullptr;
    if (message.if_contains("call") != nullptr) say(answer_to(message, R"("ok":{})"));
    return true;
  });
  EXPECT_TRUE(connection->call("list", {}));
  EXPECT_TRUE(cancelled);
}

TEST(Connection, a_daemon_that_dies_in_a_call_leaves_its_fate_unknown) {
  ScriptedDaemon daemon;
  daemon.on_call([](const json::object&, const auto&) { return false; });
  auto connection = Connection::open(daemon.options());
  ASSERT_TRUE(connection);
  const auto result = connection->call("kill", {{"terminal", "t"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fate, CallFailure::Fate::Unknown);
  EXPECT_FALSE(connection->stopped());
}

TEST(Connection, nonsense_ends_it_with_words) {
  for (const char* nonsense : {"this is no JSON", "[]", R"({"id":"one","ok":{}})", R"({"ok":{}})", "{}"}) {
    ScriptedDaemon daemon;
    daemon.on_call([nonsense](const json::object&, const auto& say) {
      say(nonsense);
      return true;
    });
    auto connection = Connection::open(daemon.options());
    ASSERT_TRUE(connection);
    CallOptions options;
    options.deadline = kPatience;
    const auto result = connection->call("list", {}, {}, options);
    ASSERT_FALSE(result) << nonsense;
    EXPECT_FALSE(result.error().message.empty());
    EXPECT_NE(result.error().fate, CallFailure::Fate::TimedOut) << nonsense;
  }
}

TEST(Connection, without_a_daemon_it_says_how_to_start_one) {
  Options options;
  options.folders = {"/nonexistent/state", "/nonexistent/run", "/nonexistent/config"};
  options.start_daemon = false;
  const auto connection = Connection::open(options);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, base::ErrorCode::NotFound);
  EXPECT_NE(connection.error().message.find("ttyward daemon run"), std::string::npos);
}

TEST(Connection, a_folder_that_others_may_write_to_is_not_used) {
  ScriptedDaemon daemon;
  ::chmod(daemon.folders.runtime.c_str(), 0777);
  const auto connection = Connection::open(daemon.options());
  ASSERT_FALSE(connection);
  EXPECT_EQ(daemon.connections(), 0);
}

TEST(Session, a_repeatable_call_survives_a_daemon) {
  ScriptedDaemon daemon;
  std::string first_id;
  daemon.on_call([&](const json::object& call, const auto& say) {
    const json::object& args = call.at("args").as_object();
    if (first_id.empty()) {
      first_id = std::string(args.at("command_id").as_string());
      return false;  // dies with the command
    }
    EXPECT_EQ(args.at("command_id").as_string(), first_id) << "the same command, not another one";
    say(answer_to(call, R"("ok":{"exit_code":3})"));
    return true;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session) << session.error().message;
  const auto result = session->call("exec", {{"terminal", "t"}, {"command", "make"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->at("exit_code").as_int64(), 3);
  EXPECT_EQ(daemon.connections(), 2);
  EXPECT_EQ(daemon.calls(), (std::vector<std::string>{"exec", "exec"}));
  // Whoever subscribed hears of it before anything else.
  const auto next = session->next(milliseconds(0));
  ASSERT_TRUE(next && *next);
  EXPECT_EQ(std::get<Reconnected>(**next).welcome.daemon, "d2");
}

TEST(Session, what_would_happen_twice_is_not_sent_again) {
  ScriptedDaemon daemon;
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (call.at("call").as_string() == "input") return false;
    say(answer_to(call, R"("ok":{})"));
    return true;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto result = session->call("input", {{"terminal", "t"}, {"text", "y"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fate, CallFailure::Fate::Unknown);
  EXPECT_TRUE(session->call("list", {})) << "and the session goes on";
  EXPECT_EQ(daemon.calls(), (std::vector<std::string>{"input", "list"}));
}

TEST(Session, answers_that_were_polled_for_come_from_the_next_daemon) {
  ScriptedDaemon daemon;
  std::atomic<int> seen = 0;
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (++seen == 1) return false;
    say(answer_to(call, R"("ok":{"terminals":[]})"));
    return true;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto started = session->start("list", {});
  ASSERT_TRUE(started);
  bool reconnected = false;
  while (true) {
    const auto next = session->next(kPatience);
    ASSERT_TRUE(next) << next.error().message;
    ASSERT_TRUE(*next);
    if (std::holds_alternative<Reconnected>(**next)) {
      reconnected = true;
      continue;
    }
    const Reply& reply = std::get<Reply>(**next);
    EXPECT_EQ(reply.id, *started) << "the number it was started with";
    EXPECT_TRUE(reply.result);
    break;
  }
  EXPECT_TRUE(reconnected);
}

TEST(Session, a_call_survives_any_number_of_daemons_that_show_life) {
  ScriptedDaemon daemon;
  std::atomic<int> deaths = 0;
  daemon.on_call([&](const json::object& call, const auto& say) {
    const json::object& args = call.at("args").as_object();
    const int64_t told = deaths == 0 ? 0 : args.at("skip").as_int64();
    EXPECT_EQ(told, deaths) << "what the last part said goes with it";
    if (deaths == 40) {
      say(answer_to(call, R"("ok":{"exit_code":3})"));
      return true;
    }
    say(answer_to(call, R"("part":{"again":{"skip":)" + std::to_string(++deaths) + "}}"));
    return false;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto result = session->call("exec", {{"terminal", "t"}, {"command", "make"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(daemon.connections(), 41);
}

TEST(Session, a_call_survives_daemons_that_are_killed_before_they_say_anything_about_it) {
  ScriptedDaemon daemon;
  std::atomic<int> seen = 0;
  int silent_deaths = -1;
  daemon.on_call([&](const json::object& call, const auto& say) {
    // The client asks for a sign of life once two in a row died without one. Then this one is killed.
    if (call.at("call").as_string() == "status") {
      if (seen > 20) return true;  // it was answered, and nobody waits for this
      say(answer_to(call, R"("ok":{})"));
      silent_deaths = 0;
      return false;
    }
    if (++seen <= 20) return ++silent_deaths == 2;
    say(answer_to(call, R"("ok":{"exit_code":3})"));
    return true;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto result = session->call("exec", {{"terminal", "t"}, {"command", "make"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(seen, 21);
}

TEST(Session, a_call_that_kills_every_daemon_is_given_up) {
  ScriptedDaemon daemon;
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (call.at("call").as_string() == "check") return false;
    say(answer_to(call, R"("ok":{})"));
    return true;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto result = session->call("check", {{"command", "x"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().fate, CallFailure::Fate::Unknown);
  EXPECT_EQ(daemon.connections(), kMostAttempts);
  EXPECT_TRUE(session->call("list", {}));
}

TEST(Session, a_daemon_that_was_stopped_is_not_brought_back) {
  ScriptedDaemon daemon;
  daemon.on_call([&](const json::object&, const auto& say) {
    say(R"({"id":0,"error":{"code":"unavailable","message":"somebody stopped the daemon"}})");
    return false;
  });
  auto session = Session::open(daemon.options());
  ASSERT_TRUE(session);
  const auto result = session->call("list", {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("somebody stopped the daemon"), std::string::npos);
  EXPECT_TRUE(session->stopped());
  EXPECT_FALSE(session->call("list", {}));
  EXPECT_EQ(daemon.connections(), 1);
}

// A Client on a loop, driven by hand.
class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> make(const Options& options) {
    return std::make_unique<Client>(*loop, options, Client::Presence::AtNeed);
  }
  std::function<void(CallResult)> keep(const std::string& name) {
    return [this, name](CallResult result) { results.emplace(name, std::move(result)); };
  }
  void turn_until(const std::function<bool()>& done) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!done() && std::chrono::steady_clock::now() < until) loop->turn(milliseconds(50));
    ASSERT_TRUE(done());
  }
  std::unique_ptr<io::Loop> loop = std::move(io::Loop::create().value());
  std::map<std::string, CallResult> results;
};

TEST_F(ClientTest, calls_wait_for_the_connection_and_are_answered_in_any_order) {
  ScriptedDaemon daemon;
  std::string first;
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (first.empty()) {
      first = answer_to(call, R"("ok":{"n":1})");
    } else {
      say(answer_to(call, R"("ok":{"n":2})"));
      say(first);
    }
    return true;
  });
  const auto client = make(daemon.options());
  std::vector<std::string> order;
  client->call("list", {}, {}, [&](const CallResult&) { order.emplace_back("list"); });
  client->call("show", {}, {}, [&](const CallResult&) { order.emplace_back("show"); });
  EXPECT_TRUE(order.empty());
  turn_until([&] { return order.size() == 2; });
  EXPECT_EQ(order, (std::vector<std::string>{"show", "list"}));
}

TEST_F(ClientTest, without_a_daemon_every_call_fails_and_the_next_one_tries_again) {
  Options options;
  options.folders = {"/nonexistent/state", "/nonexistent/run", "/nonexistent/config"};
  options.start_daemon = false;
  const auto client = make(options);
  for (const char* each : {"one", "two"}) {
    client->call("input", {}, {}, keep(each));
    turn_until([&] { return results.contains(each); });
    ASSERT_FALSE(results.at(each));
    EXPECT_EQ(results.at(each).error().fate, CallFailure::Fate::NotSent);
  }
}

TEST_F(ClientTest, what_was_not_sent_goes_to_the_next_daemon_and_what_was_is_told) {
  ScriptedDaemon daemon;
  std::atomic<bool> dies = true;
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (dies.exchange(false)) return false;
    say(answer_to(call, R"("ok":{})"));
    return true;
  });
  const auto client = make(daemon.options());
  client->call("input", {{"text", "typed"}}, {}, [&](CallResult result) {
    results.emplace("typed", std::move(result));
    client->call("input", {{"text", "then"}}, {}, keep("then"));
  });
  turn_until([&] { return results.contains("then"); });
  EXPECT_EQ(results.at("typed").error().fate, CallFailure::Fate::Unknown);
  EXPECT_NE(results.at("typed").error().message.find("'input'"), std::string::npos);
  EXPECT_TRUE(results.at("then"));
}

TEST_F(ClientTest, a_large_call_does_not_block_the_loop) {
  ScriptedDaemon daemon;
  std::promise<void> reads;
  auto may_read = reads.get_future().share();
  daemon.on_call([&](const json::object& call, const auto& say) {
    if (call.at("call").as_string() == "show") may_read.wait();
    say(answer_to(call, R"("ok":{})"));
    return true;
  });
  const auto client = make(daemon.options());
  client->call("show", {}, {}, keep("show"));
  client->call("input", {{"text", std::string(size_t{8} << 20, 'x')}}, {}, keep("large"));
  bool fired = false;
  turn_until([&] { return daemon.calls().size() == 1; });
  loop->after(milliseconds(1), [&] { fired = true; });
  turn_until([&] { return fired; });
  EXPECT_FALSE(results.contains("large")) << "the daemon does not read yet";
  reads.set_value();
  turn_until([&] { return results.contains("large"); });
  EXPECT_TRUE(results.at("large"));
}

TEST_F(ClientTest, what_is_open_when_it_closes_is_answered) {
  const ScriptedDaemon daemon;
  const auto client = make(daemon.options());
  client->call("wait", {}, {}, keep("open"));
  client->close();
  ASSERT_TRUE(results.contains("open"));
  EXPECT_EQ(results.at("open").error().code, wire::Code::Cancelled);
  client->call("list", {}, {}, keep("later"));
  EXPECT_FALSE(results.at("later"));
}

TEST(InsideTerminal, folders_that_keep_nothing_keep_nobody) {
  const std::string none = ::testing::TempDir() + "/ttyward-nobody";
  EXPECT_FALSE(is_inside_a_terminal({none + "/state", none + "/run", none + "/config"}));
}

}  // namespace
}  // namespace ttyward::client
