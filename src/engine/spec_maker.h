// From what is asked for to what a terminal is: its folder, its environment, its program.
//
// Says why a request cannot be met. Starts nothing. Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/registry.h"
#include "engine/requests.h"
#include "engine/settings.h"
#include "engine/terminal_spec.h"
#include "place/place.h"

namespace ttyward::engine {

class SpecMaker {
 public:
  // All of them outlive it.
  SpecMaker(const Settings& settings, const Registry& registry, const place::Place& place)
      : settings_(settings), registry_(registry), place_(place) {}

  // Without an id.
  base::Result<TerminalSpec> shell(OpenRequest request) const;
  base::Result<TerminalSpec> command(RunRequest request) const;
  // The home folder if none is named.
  base::Result<std::string> checked_cwd(const std::string& cwd) const;

 private:
  base::Result<std::vector<std::string>> environment(const std::vector<std::string>& requested,
                                                     const std::vector<std::string>& callers, Owner owner,
                                                     pty::Provider provider, bool confined) const;

  const Settings& settings_;
  const Registry& registry_;
  const place::Place& place_;
};

}  // namespace ttyward::engine
