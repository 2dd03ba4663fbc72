// Progress of a long call: at most once a second, and at least every few, so that clients know we live.
//
// What it tells is the percentage a program reported (OSC 9;4), else the seconds that have passed; its
// message is the last line printed. Does nothing for a client that did not ask.
//
// Thread rule: the loop thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/loop.h"
#include "mcp/request.h"

namespace ttyward::mcp::tools {

class Progress : public std::enable_shared_from_this<Progress> {
 public:
  explicit Progress(RequestPtr request) : request_(std::move(request)) {}
  static std::shared_ptr<Progress> start(const RequestPtr& request);

  // A part of a streamed call: {"output"}, {"progress"}, {"state"}.
  void part(const json::object& part);

 private:
  void tick();

  RequestPtr request_;
  io::Loop::Clock::time_point begun_ = io::Loop::Clock::now();
  io::Loop::Clock::time_point told_ = begun_;
  std::string line_;
  std::optional<double> percent_;
  std::optional<bool> by_percent_;  // chosen with the first word, kept to the end: progress only grows
  double last_ = -1;
  bool fresh_ = false;
};

}  // namespace ttyward::mcp::tools
