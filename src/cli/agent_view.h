// What an agent does, as lines for a person: its text as it comes, its plan, its tool calls with exit code
// and duration, and the output of its commands.
//
// A value: updates in, text out. Everything comes from elsewhere, so nothing in it acts on the terminal.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <boost/json/object.hpp>

#include "acp/plain_text.h"
#include "cli/colour.h"

namespace ttyward::cli {

class AgentView {
 public:
  using Clock = std::chrono::steady_clock;
  explicit AgentView(Paint paint = {}) : paint_(paint) {}

  // What to print for an update of the session; empty: nothing.
  std::string update(const boost::json::object& update, Clock::time_point now);
  // A permission request, with its options numbered.
  std::string question(const boost::json::object& params);
  // Ends the line that text stands on.
  std::string end_text();

 private:
  struct Tool {
    std::string title;
    std::string status;
    std::string exit;  // "exit 3", "SIGTERM"; empty: not known
    bool announced = false;
    bool over = false;
    Clock::time_point since;
  };

  std::string tool_call(const boost::json::object& update, Clock::time_point now);
  std::string terminal(const boost::json::object& meta, Tool& tool);
  std::string plan(const boost::json::object& update) const;

  Paint paint_;
  bool in_text_ = false;  // the last line is not ended
  std::map<std::string, Tool> tools_;
  std::map<std::string, std::unique_ptr<acp::PlainText>> outputs_;  // by terminal
};

}  // namespace ttyward::cli
