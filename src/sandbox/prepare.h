// From a Plan to what a child can apply without allocating: files looked up, rules and filter compiled.
//
// Made by the process that is about to start the command. What was looked up here is compared with what the
// child finds under the same name in its own mount namespace, so a folder that is exchanged in between is
// refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/control_group.h"
#include "sandbox/enter.h"
#include "sandbox/placeholders.h"
#include "sandbox/plan.h"
#include "sandbox/temporary_folder.h"

namespace ttyward::sandbox {

// Where the command starts.
struct Start {
  std::string directory;  // absolute
  int directory_fd = -1;  // the same, opened; -1: not to be compared
  std::string terminal;   // the path of its terminal; empty: it has none
};

class Prepared {
 public:
  static base::Result<Prepared> make(const Plan& plan, const Start& start);
  Prepared(Prepared&&) noexcept;
  Prepared& operator=(Prepared&&) noexcept;
  ~Prepared();

  const Steps& steps() const;
  // Why the child gave up: the layer, what it was about, and what to do.
  std::string explain(const Failure& failure) const;
  Placeholders take_placeholders();
  ControlGroup take_group();
  // Where the command puts temporary files; without a path if it has a private /tmp.
  TemporaryFolder& temporary();

 private:
  struct Store;
  explicit Prepared(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

// What stands between a command with this plan and the machine, for people: "user namespace", "seccomp" …
std::vector<std::string> layers_of(const Plan& plan);
// What its reader should know, in sentences: the plan's own notes, and what this machine lacks.
std::vector<std::string> notes_of(const Plan& plan);
std::vector<std::string> notes_of(const Plan& plan, int landlock_version);

}  // namespace ttyward::sandbox
