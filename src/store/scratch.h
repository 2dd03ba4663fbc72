// For tests: a private folder that is gone afterwards, and rows to put in a store.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "store/store.h"

namespace ttyward::store {

class Scratch {
 public:
  explicit Scratch(const std::string& under = ::testing::TempDir()) {
    std::string pattern = under + "/ttyward-store-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/state/history.db"; }

 private:
  std::string folder_;
};

inline CommandRow a_command(const std::string& id, int64_t at = 1000) {
  CommandRow row;
  row.id = id;
  row.terminal_id = "t1";
  row.terminal_name = "build";
  row.task = "task-1";
  row.command = "make test";
  row.cwd = "/srv/project";
  row.state = "exited";
  row.exit_code = 0;
  row.known_by = "wait";
  row.provider = "pty";
  row.integration = "rich";
  row.started_at_ms = at;
  row.duration_ms = 12;
  row.journal_id = "t1";
  row.output_begin = 10;
  row.output_end = 20;
  row.total_bytes = 10;
  row.total_lines = 2;
  return row;
}

inline DecisionRow a_decision(const std::string& id, int64_t at = 1000) {
  DecisionRow row;
  row.id = id;
  row.at_ms = at;
  row.asked_by = "agent";
  row.command = "rm -rf build";
  row.cwd = "/srv/project";
  row.decision = Decision::AskAllow;
  row.decided_by = "person";
  row.risk = "medium";
  row.effects = "delete build";
  row.reason = "removes a folder";
  row.answered_by = "panel";
  row.answered_at_ms = at + 5;
  return row;
}

inline std::vector<std::string> ids(const std::vector<CommandRow>& rows) {
  std::vector<std::string> out;
  for (const CommandRow& row : rows) out.push_back(row.id);
  return out;
}

}  // namespace ttyward::store
