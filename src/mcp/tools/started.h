// A command that was started and is being followed: its answer, and the question about it, if policy asks
// one.
//
// The daemon keeps a call open while a person is asked, and says so by an event. Whoever follows the command
// sees whichever comes first, and may come back later for the other: in the modern era that is another
// request.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "mcp/async.h"
#include "mcp/backend.h"
#include "mcp/json.h"

namespace ttyward::mcp::tools {

class Started {
 public:
  // What happened: an answer, or else a question, or else nothing in time.
  struct News {
    std::optional<CallReply> reply;
    std::optional<json::object> question;
  };

  Started(std::string command, std::string cwd) : command_(std::move(command)), cwd_(std::move(cwd)) {}

  // What comes first. A question is told once.
  Callback<News> next();
  void wake(std::function<void(News)> waiter);

  void answered(CallReply reply);
  // True: it is about this command, and was taken.
  bool asked(const json::object& approval);

  bool has_answer() const { return reply_.has_value(); }

  uint64_t call = 0;        // the backend's number, while it is open
  json::object approval{};  // the question that was asked; empty: none

 private:
  void tell();

  std::string command_;
  std::string cwd_;
  std::optional<CallReply> reply_;
  bool question_waits_ = false;
  std::function<void(News)> waiter_;
};

using StartedPtr = std::shared_ptr<Started>;

}  // namespace ttyward::mcp::tools
