// A command is followed until its call is answered: parts while it runs, answers to its questions if the
// caller gave some, then its result.
//
// Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/change_sets.h"
#include "app/core.h"
#include "app/history.h"
#include "app/reply.h"
#include "app/summarizer.h"
#include "app/watching.h"
#include "engine/dialogue.h"
#include "engine/live_stream.h"
#include "wire/types/command_calls.h"

namespace ttyward::app {

// How it is done.
struct Follow {
  std::chrono::milliseconds yield_after{0};
  bool stop_at_input = true;
  bool stream = false;
  bool interrupt_on_cancel = false;
  uint64_t from_line = 0;  // of a stream: what the caller has seen
  terminal::ViewLimits view;
  std::vector<engine::Reply> replies;
  std::chrono::milliseconds replies_timeout{0};
  engine::Owner replies_by = engine::Owner::Agent;
};

class Following {
 public:
  // All of them outlive it.
  Following(Core& core, History& history, Watching& watching, ChangeSets& change_sets)
      : core_(core),
        history_(history),
        watching_(watching),
        change_sets_(change_sets),
        summarizer_(core.loop) {}

  void follow(const Caller& caller, engine::Terminal& terminal, const engine::Command& command,
              const Follow& how, const Reply<wire::CommandResult>& reply);

 private:
  void interrupt_abandoned(const std::string& command_id, bool by_agent);
  base::Result<void> start_dialogue(uint64_t key, engine::Terminal& terminal, const std::string& command_id,
                                    const Follow& how, const std::shared_ptr<engine::LiveStream>& stream,
                                    const Reply<wire::CommandResult>& reply);
  void answer_with_dialogue(const std::string& command_id, const terminal::ViewLimits& view,
                            const engine::DialogueOutcome& came, const Reply<wire::CommandResult>& reply);
  // Answers with what the person's own summariser makes of the output.
  void summarize(const std::string& line, engine::Terminal& terminal, const engine::Command& command,
                 const wire::CommandResult& answer, const Reply<wire::CommandResult>& reply);
  void answer_with(const std::string& command_id, const std::string& reader, const terminal::ViewLimits& view,
                   const Reply<wire::CommandResult>& reply);
  // When it is known what it changed, if it ran on a layer.
  void answer_settled(const std::string& command_id, const std::string& reader,
                      const terminal::ViewLimits& view, const Reply<wire::CommandResult>& reply);

  Core& core_;
  History& history_;
  Watching& watching_;
  ChangeSets& change_sets_;
  Summarizer summarizer_;
};

}  // namespace ttyward::app
