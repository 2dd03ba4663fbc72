// For tests of verbs: a daemon that answers as a test says, and verbs run as people run them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/folders.h"
#include "base/testing.h"
#include "cli/app.h"
#include "daemon/server.h"
#include "io/daemon_place.h"
#include "io/log.h"
#include "io/loop.h"

namespace ttyward::cli::testing {

// Every call is noted; what answers it is set per name. Calls nobody set are refused.
class ScriptedHandler : public daemon::CallHandler {
 public:
  using Answer = std::function<void(const boost::json::object& args, const daemon::Responder& responder)>;

  void call(const daemon::Caller&, const std::string& name, boost::json::object args,
            daemon::Responder responder) override {
    Answer answer;
    {
      const std::lock_guard lock(mutex_);
      calls_.emplace_back(name, args);
      if (const auto found = answers_.find(name); found != answers_.end()) answer = found->second;
    }
    if (answer) return answer(args, responder);
    responder.fail({wire::Code::InvalidArgument, "unknown call '" + name + "'"});
  }
  void connection_closed(uint64_t) override {}
  daemon::Admission admit(pid_t, daemon::Role asked, const wire::Hello& hello) override {
    return {asked, asked == daemon::Role::Person, hello.session, {}, {}};
  }

  // Any thread.
  void on(const std::string& name, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[name] = std::move(answer);
  }
  void on(const std::string& name, const std::string& json) {
    on(name, [value = boost::json::parse(json).as_object()](const auto&, const daemon::Responder& responder) {
      responder.ok(value);
    });
  }
  // "exec {…}" each, arguments as they came.
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [name, args] : calls_) all.push_back(name + " " + boost::json::serialize(args));
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Answer> answers_;
  std::vector<std::pair<std::string, boost::json::object>> calls_;
};

struct Done {
  int code = -1;
  std::string out;
  std::string err;
};

class VerbTest : public ::testing::Test {
 protected:
  VerbTest() {
    std::string pattern = ::testing::TempDir() + "/ttyward-cli-XXXXXX";
    home_ = ::mkdtemp(pattern.data());
    ::setenv("TTYWARD_HOME", home_.c_str(), 1);
    ::setenv("TTYWARD_DAEMON_AUTOSTART", "false", 1);
    loop_ = std::move(io::Loop::create().value());
    auto listener = daemon::bind_listener(base::user_folders().runtime, io::kDaemonSocket);
    EXPECT_TRUE(listener) << (listener ? "" : listener.error().message);
    server_ = std::move(daemon::Server::listen(*loop_, std::move(*listener), daemon, log_).value());
    thread_ = std::thread([this] { loop_->run(); });
  }
  ~VerbTest() override {
    stop_daemon();
    base::testing::remove_tree(home_);
  }

  void stop_daemon() {
    if (!thread_.joinable()) return;
    loop_->stop();
    thread_.join();
    server_.reset();
  }

  static Done run(std::vector<std::string> words) {
    words.insert(words.begin(), "ttyward");
    std::vector<char*> argv;
    argv.reserve(words.size());
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    Done done;
    done.code = cli::run(static_cast<int>(argv.size()), argv.data());
    done.out = ::testing::internal::GetCapturedStdout();
    done.err = ::testing::internal::GetCapturedStderr();
    return done;
  }

  ScriptedHandler daemon;

 private:
  std::string home_;
  io::Log log_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<daemon::Server> server_;
  std::thread thread_;
};

}  // namespace ttyward::cli::testing
