// A sandbox that is in use: its init and what it needs outside, until nothing runs in it any more.
//
// Belongs to whoever started the command. Destroying it ends everything that still runs in the sandbox.
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"
#include "sandbox/control_group.h"
#include "sandbox/placeholders.h"
#include "sandbox/temporary_folder.h"

namespace ttyward::sandbox {

class Confinement {
 public:
  // `init` is 0 where there is no process namespace.
  Confinement(pid_t init, base::UniqueFd control, Placeholders placeholders, TemporaryFolder temporary,
              ControlGroup group = {})
      : init_(init),
        control_(std::move(control)),
        placeholders_(std::move(placeholders)),
        temporary_(std::move(temporary)),
        group_(std::move(group)) {}
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;
  ~Confinement();

  pid_t init() const { return init_; }
  // Init ends when what the command left behind has ended, too.
  void command_ended();
  // Waits a moment for that: usually nothing was left behind, and init ends at once. True: it has ended.
  bool wait_briefly() const;

 private:
  pid_t init_;
  base::UniqueFd control_;
  Placeholders placeholders_;
  TemporaryFolder temporary_;
  ControlGroup group_;
};

}  // namespace ttyward::sandbox
