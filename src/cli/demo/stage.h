// Where the tour takes place: a home of its own, thrown away afterwards, with a daemon of its own.
//
// Two connections, as in life: an agent's and a person's. Whatever happens, the destructor ends
// the daemon, every terminal, and the folder. Thread rule: one thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/session.h"

namespace ttyward::cli::demo {

class Stage {
 public:
  static base::Result<std::unique_ptr<Stage>> build();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  client::Session& agent() { return *agent_; }
  client::Session& person() { return *person_; }
  const std::string& work() const { return work_; }  // a folder to work in
  pid_t daemon_pid() const { return person_->welcome().pid; }
  // As a crash would; returns when it is gone.
  base::Result<void> kill_daemon();
  // Waits for a file in work(); false if it does not come.
  bool file_appears(const std::string& name) const;

 private:
  Stage() = default;
  client::Options options(const char* role) const;

  std::string root_;
  std::string token_;
  std::string work_;
  std::unique_ptr<client::Session> agent_;
  std::unique_ptr<client::Session> person_;
};

}  // namespace ttyward::cli::demo
