// Outputs of a terminal that have to be made from its journal first, for those who want to read them.
//
// Made in slices (Slices), so that the loop serves others meanwhile. What is wanted by several is made once.
// Thread rule: the loop's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/slices.h"
#include "engine/terminal_model.h"

namespace ttyward::engine {

class OutputMaker {
 public:
  using Ready = std::function<void()>;
  using StyledReady = std::function<void(std::shared_ptr<terminal::Output>)>;

  // `alive`: false once the terminal is gone.
  OutputMaker(TerminalModel& model, Slices& slices, std::shared_ptr<const bool> alive)
      : model_(model), slices_(slices), alive_(std::move(alive)) {}

  // Calls `ready` when the command's output is in memory: before this returns, if that takes a moment only.
  // Also called if the terminal is gone meanwhile: whoever is told has to look for both again.
  void when_ready(Command& command, Ready ready);
  // The output with colours, for one reader. Null command: of the whole terminal. Null output: the terminal
  // is gone.
  void make_styled(const Command* command, StyledReady ready);

 private:
  using Waiting = std::shared_ptr<std::vector<Ready>>;

  TerminalModel& model_;
  Slices& slices_;
  const std::shared_ptr<const bool> alive_;
  std::map<std::string, Waiting> waiting_;  // by command
};

}  // namespace ttyward::engine
