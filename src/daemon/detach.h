// Going to the background: a process without a parent or terminal, and a starter that
// learns whether it succeeded.
//
//   starter               second             daemon
//   fork ───────────────▶ setsid, fork ────▶ stdio is /dev/null, nothing else open
//   waits ◀───────────────────────────────── ready(), or failed("why")
//   exits 0, or prints why
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::daemon {

// The daemon's report to its starter. It is missing only if the daemon died.
class StartReport {
 public:
  StartReport() = default;  // nobody waits
  explicit StartReport(base::UniqueFd line) : line_(std::move(line)) {}
  void ready();
  void failed(const std::string& why);

 private:
  void say(const std::string& text);
  base::UniqueFd line_;
};

// Forks, so only before there are threads. Returns twice, in a way: in the
// daemon with its report; in the starter with what the daemon reported.
struct Detached {
  bool is_daemon = false;
  StartReport report;                // in the daemon
  std::optional<std::string> error;  // in the starter: why there is no daemon
  bool killed = false;               // that is why: somebody ended it before it was ready
};
base::Result<Detached> detach();

// Everything above standard error but those we were started with, `from` on.
void close_descriptors(unsigned from);

}  // namespace ttyward::daemon
