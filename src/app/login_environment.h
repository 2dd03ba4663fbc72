// The environment a person's login shell sets up, read once for each folder that has its own (direnv) and
// again when one of the shell's files has changed.
//
// The shell runs on a thread of ours, in pipes, for a bounded time; what it prints beside its environment is
// ignored. Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "io/loop.h"

namespace ttyward::app {

class LoginEnvironment {
 public:
  explicit LoginEnvironment(io::Loop& loop);
  ~LoginEnvironment();  // ends a shell that is being asked
  LoginEnvironment(const LoginEnvironment&) = delete;
  LoginEnvironment& operator=(const LoginEnvironment&) = delete;

  // NAME=value each; empty: the shell could not be asked. `home` is where its files are.
  using Done = std::function<void(const std::vector<std::string>& variables)>;
  void get(const std::string& shell, const std::string& home, const std::string& cwd, Done done);

 private:
  io::Loop& loop_;
  std::map<std::string, std::vector<std::string>> known_;  // by what it was made from
  std::map<std::string, std::vector<Done>> waiting_;
  base::UniqueFd stop_;  // an eventfd: readable once we go
  std::vector<std::thread> threads_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::app
