// What the services share: the loop, the settings, the engine, the gate and the calls that are open.
//
// Services (app/services.h) owns it; engine, gate and readers are there before the first call is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/access.h"
#include "app/configuration.h"
#include "app/open_calls.h"
#include "engine/engine.h"
#include "engine/readers.h"
#include "gate/gate.h"
#include "io/log.h"
#include "io/loop.h"

namespace ttyward::app {

// What a person pointed at.
struct Marked {
  std::string terminal;
  std::string text;
  std::string by;
  int64_t at_ms = 0;
};

struct Core {
  Core(io::Loop& the_loop, io::Log& the_log, Installation installation)
      : loop(the_loop), log(the_log), configuration(std::move(installation), the_log), calls(the_loop) {}

  io::Loop& loop;
  io::Log& log;
  Configuration configuration;
  std::unique_ptr<gate::Gate> gate;
  engine::Readers readers;
  std::unique_ptr<engine::Engine> engine;
  OpenCalls calls;
  std::string active_terminal;  // the one a person attached to last; empty: none
  std::optional<Marked> marked;
  // False once the services are gone: callbacks that come later look at it first.
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  const config::Settings& settings() const { return configuration.settings(); }
  bool may(const Caller& caller, const engine::Terminal& terminal, Use use) const {
    return may_use(caller, terminal, use, which_terminals());
  }
  // Whether a command or question that belongs to no terminal is this caller's to see.
  bool may_see(const Caller& caller, const std::string& session) const {
    return caller.sees_everything() || settings().policy.share_agent_terminals || session == caller.session;
  }
  AgentTerminals which_terminals() const {
    return settings().policy.share_agent_terminals ? AgentTerminals::All : AgentTerminals::Session;
  }
};

}  // namespace ttyward::app
