#include "engine/output_maker.h"

#include <utility>

namespace ttyward::engine {

void OutputMaker::when_ready(Command& command, Ready ready) {
  const std::string& id = command.facts.command_id;
  if (const auto found = waiting_.find(id); found != waiting_.end()) {
    found->second->push_back(std::move(ready));
    return;
  }
  std::shared_ptr<OutputMaking> making = model_.make_output(&command, TerminalModel::Colours::Without);
  if (!making) return ready();
  if (making->step(Slices::kSlice)) {
    TerminalModel::keep_output(command, making->take());
    return ready();
  }
  auto waiting = std::make_shared<std::vector<Ready>>();
  waiting->push_back(std::move(ready));
  waiting_.emplace(id, waiting);
  slices_.add([this, alive = alive_, id, making, waiting](Slices::Clock::time_point until) {
    if (*alive) {
      if (!making->step(until - Slices::Clock::now())) return false;
      if (Command* made = model_.book().find(id)) TerminalModel::keep_output(*made, making->take());
      waiting_.erase(id);
    }
    for (const Ready& tell : *waiting) tell();
    return true;
  });
}

void OutputMaker::make_styled(const Command* command, StyledReady ready) {
  std::shared_ptr<OutputMaking> making = model_.make_output(command, TerminalModel::Colours::With);
  if (making->step(Slices::kSlice)) return ready(making->take());
  slices_.add([alive = alive_, making, ready = std::move(ready)](Slices::Clock::time_point until) {
    if (*alive && !making->step(until - Slices::Clock::now())) return false;
    ready(*alive ? making->take() : nullptr);
    return true;
  });
}

}  // namespace ttyward::engine
