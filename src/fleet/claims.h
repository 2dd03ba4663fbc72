// What this host has taken and not reported yet, in files: a worker that is killed finds it again.
//
// One file for each job, written before the bus is told that the job is ours and removed after its result is
// there. Thread rule: any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/messages.h"

namespace ttyward::fleet {

struct Claim {
  Job job;
  std::string boot;
  int64_t starts = 0;  // how many workers had it in hand
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("job", self.job, "what to run");
    v.field("boot", self.boot, "in which boot it was taken");
    v.field("starts", self.starts, "how many workers had it in hand");
  }
};

class Claims {
 public:
  // `folder` is made if it is missing.
  static base::Result<Claims> open(const std::string& folder);

  base::Result<void> keep(const Claim& claim) const;
  void remove(const std::string& id) const;
  bool has(const std::string& id) const;
  std::vector<Claim> all() const;

 private:
  explicit Claims(std::string folder) : folder_(std::move(folder)) {}
  std::string path(const std::string& id) const { return folder_ + "/" + id; }
  std::string folder_;
};

// The id of this installation: made once, and kept in a file.
base::Result<std::string> installation_id(const std::string& file);
// Differs between any two boots of this machine.
std::string boot_id();

}  // namespace ttyward::fleet
