// From what a place says about ports to what a result says.
#pragma once

#include "place/place.h"
#include "terminal/result.h"

namespace ttyward::engine {

inline void add_ports(terminal::CommandResult& facts, const place::Place::Ports& ports) {
  for (const pty::ListeningPort& port : ports) facts.ports.push_back({port.port, port.pid});
}

}  // namespace ttyward::engine
