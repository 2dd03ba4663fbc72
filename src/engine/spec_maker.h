// From what is asked for to what a terminal is: its folder, its environment, its program.
//
// Says why a request cannot be met. Starts nothing. Thread rule: one thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/places.h"
#include "engine/registry.h"
#include "engine/requests.h"
#include "engine/settings.h"
#include "engine/terminal_spec.h"
#include "place/place.h"

namespace ttyward::engine {

class SpecMaker {
 public:
  // All of them outlive it.
  SpecMaker(const Settings& settings, const Registry& registry, const place::Place& place, Places& places)
      : settings_(settings), registry_(registry), place_(place), places_(places) {}

  // Without an id.
  base::Result<TerminalSpec> shell(OpenRequest request) const;
  base::Result<TerminalSpec> command(RunRequest request) const;
  // The home folder if none is named.
  base::Result<std::string> checked_cwd(const std::string& cwd) const;

 private:
  // Of a place that was reached; null: this machine.
  base::Result<const relay::WelcomeMessage*> facts_of(const std::string& place, bool confined) const;
  static base::Result<std::string> cwd_there(const std::string& cwd, const relay::WelcomeMessage& there);
  base::Result<std::vector<std::string>> environment_there(const std::vector<std::string>& requested,
                                                           const relay::WelcomeMessage& there, Owner owner,
                                                           pty::Provider provider) const;
  base::Result<std::vector<std::string>> environment(const std::vector<std::string>& requested,
                                                     const std::vector<std::string>& callers, Owner owner,
                                                     pty::Provider provider, bool confined) const;

  const Settings& settings_;
  const Registry& registry_;
  const place::Place& place_;
  Places& places_;
};

}  // namespace ttyward::engine
