// Whose environment a command begins with: the caller's, or what a login shell of the user makes.
//
// Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/core.h"
#include "app/login_environment.h"

namespace ttyward::app {

class CallerEnvironment {
 public:
  explicit CallerEnvironment(Core& core) : core_(core) {}

  // As the caller's process was started; inside a terminal, the terminal's. While the caller is there.
  const std::vector<std::string>& of(const Caller& caller);
  // The one that a command in `cwd` begins with, for a caller with this one; `then` is called at once, but
  // for a login shell that has to be asked.
  void get(const std::vector<std::string>& callers, const std::string& cwd,
           const std::function<void(std::vector<std::string> variables)>& then);

 private:
  std::vector<std::string> read(const Caller& caller) const;

  Core& core_;
  std::map<uint64_t, std::vector<std::string>> known_;  // by connection
  std::unique_ptr<LoginEnvironment> login_;
};

}  // namespace ttyward::app
