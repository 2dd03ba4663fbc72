// Connection and Session against a daemon that is a script: it says what a test tells it to, and dies when
// told to.
#include "client/session.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
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
      EXPECT_EQ(::send(peer, all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
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

TEST(InsideTerminal, folders_that_keep_nothing_keep_nobody) {
  const std::string none = ::testing::TempDir() + "/ttyward-nobody";
  EXPECT_FALSE(is_inside_a_terminal({none + "/state", none + "/run", none + "/config"}));
}

}  // namespace
}  // namespace ttyward::client
