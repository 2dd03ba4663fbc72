// A command that was started and is being followed: its answer, and the question about it, if policy asks
// one.
//
// The daemon keeps the call open while a person is asked, says so by an event, and by another when the
// question is over, by anybody's answer. A follower of the command sees what comes first, and may come
// back later for the rest: in the modern era that is another request. A daemon that dies takes its questions
// with it; the next one asks again.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "mcp/backend.h"
#include "mcp/json.h"
#include "mcp/request.h"

namespace ttyward::mcp::tools {

class Started {
 public:
  // What happened: an answer, or else a question, or else that the question is over, or else nothing in time.
  struct News {
    std::optional<CallReply> reply;
    std::optional<json::object> question;
    bool settled = false;
  };

  // `command_id`: ours, chosen before it begins.
  explicit Started(std::string command_id) : command_id_(std::move(command_id)) {}

  // What comes first. Each is told once.
  Callback<News> next();
  void wake(std::function<void(News)> waiter);

  void answered(CallReply reply);
  // A question was opened, or is over: whatever it is about.
  void asked(const json::object& question);
  void settled(const json::object& question);
  // Called when the question is over, by whatever end; before anybody who waits. Once.
  void on_settled(std::function<void()> then) { on_settled_ = std::move(then); }

  bool has_answer() const { return reply_.has_value(); }
  bool is_asked() const { return open_; }

  uint64_t call = 0;      // the backend's number, while it is open
  json::object approval;  // the question that was asked last; empty: none

 private:
  void tell();

  const std::string command_id_;
  std::optional<CallReply> reply_;
  bool open_ = false;  // the question is
  bool question_waits_ = false;
  bool end_waits_ = false;
  std::function<void()> on_settled_;
  std::function<void(News)> waiter_;
};

using StartedPtr = std::shared_ptr<Started>;

}  // namespace ttyward::mcp::tools
