// For tests: a handler with toy calls, and a server with it on a thread of its own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/folders.h"
#include "base/testing.h"
#include "daemon/server.h"
#include "io/daemon_place.h"
#include "io/log.h"
#include "io/loop.h"

namespace ttyward::daemon::testing {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = ::testing::TempDir() + "/ttyward-daemon-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() { base::testing::remove_tree(path_); }
  const std::string& path() const { return path_; }
  base::Folders folders() const { return {path_ + "/state", path_ + "/run", path_ + "/config"}; }

 private:
  std::string path_;
};

// echo: its arguments come back. parts {count}: that many parts, then ok. never: is
// not answered. large {bytes}: an answer of that size. role: what the caller is.
// flood {events, bytes}: events, then ok.
class ToyHandler : public CallHandler {
 public:
  void call(const Caller& caller, const std::string& name, boost::json::object args,
            Responder responder) override {
    ++calls;
    if (name == "echo") return responder.ok(args);
    if (name == "role")
      return responder.ok({{"role", std::string(role_name(caller.role))}, {"reader", caller.reader}});
    if (name == "large") return responder.ok({{"text", std::string(number(args, "bytes"), 'x')}});
    if (name == "binary") return responder.ok({{"text", std::string("a\xff\xfe\x62", 4)}});
    if (name == "parts") {
      for (size_t i = 0; i < number(args, "count"); ++i) responder.part({{"n", i}});
      return responder.ok({{"count", number(args, "count")}});
    }
    if (name == "flood") {
      const std::string text(number(args, "bytes"), 'e');
      for (size_t i = 0; i < number(args, "events"); ++i) {
        server->send_event(caller.connection, {{"event", "toy"}, {"subscription", 1}, {"text", text}});
      }
      return responder.ok({{"backlog", server->backlog(caller.connection)}});
    }
    if (name == "never") {
      ++open;
      responder.on_cancel([this, alive = responder] {
        EXPECT_FALSE(alive.open());
        --open;
        ++cancelled;
      });
      kept.push_back(responder);
      return;
    }
    if (name == "finish") {  // answers everything that was kept
      for (const Responder& each : std::exchange(kept, {})) each.ok({{"late", true}});
      return responder.ok({});
    }
    responder.fail({wire::Code::InvalidArgument, "unknown call '" + name + "'"});
  }
  void connection_closed(uint64_t connection) override {
    ++closed;
    if (const auto told = std::exchange(on_closed, nullptr)) told(connection);
  }
  Admission admit(pid_t pid, Role asked, const wire::Hello& hello) override {
    Admission made;
    made.role = pid == 0 ? Role::Agent : forced.value_or(asked);
    made.session = hello.session;
    return made;
  }

  static size_t number(const boost::json::object& args, const char* name) {
    const auto* value = args.if_contains(name);
    return value != nullptr && value->is_int64() ? static_cast<size_t>(value->get_int64()) : 0;
  }

  Server* server = nullptr;
  std::optional<Role> forced;
  std::function<void(uint64_t)> on_closed;  // of the next one
  std::vector<Responder> kept;
  std::atomic<int> calls = 0;
  std::atomic<int> open = 0;
  std::atomic<int> cancelled = 0;
  std::atomic<int> closed = 0;
};

// A server whose loop runs on a thread until this goes.
class ToyServer {
 public:
  explicit ToyServer(const std::string& folder, Limits limits = {}) {
    loop_ = std::move(io::Loop::create().value());
    auto listener = bind_listener(folder, io::kDaemonSocket);
    EXPECT_TRUE(listener) << (listener ? "" : listener.error().message);
    server_ = std::move(Server::listen(*loop_, std::move(*listener), handler, log_, limits).value());
    handler.server = server_.get();
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~ToyServer() {
    loop_->stop();
    thread_.join();
  }
  // Runs on the loop, and waits for it.
  template <typename F>
  auto on_loop(F function) -> decltype(function(std::declval<Server&>())) {
    using R = decltype(function(std::declval<Server&>()));
    std::promise<R> promise;
    loop_->post([&] {
      if constexpr (std::is_void_v<R>) {
        function(*server_);
        promise.set_value();
      } else {
        promise.set_value(function(*server_));
      }
    });
    return promise.get_future().get();
  }

  // The next connection that ends.
  std::future<uint64_t> next_closed() {
    auto promise = std::make_shared<std::promise<uint64_t>>();
    on_loop([&](Server&) { handler.on_closed = [promise](uint64_t number) { promise->set_value(number); }; });
    return promise->get_future();
  }

  ToyHandler handler;

 private:
  io::Log log_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace ttyward::daemon::testing
