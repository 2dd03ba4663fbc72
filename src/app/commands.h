// The service for commands: run on their own, in a terminal, or several at once, and followed until the call
// is answered.
//
//   run, exec ─► Gatekeeper (may it run?) ─► Engine ─► follow: parts while it runs, then its result
//
// Thread rule: the loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/caller_environment.h"
#include "app/change_sets.h"
#include "app/core.h"
#include "app/following.h"
#include "app/gatekeeper.h"
#include "app/history.h"
#include "app/reply.h"
#include "app/sandbox_proxy.h"
#include "app/terminal_access.h"
#include "app/watching.h"
#include "wire/types/command_calls.h"

namespace ttyward::app {

class Commands {
 public:
  Commands(Core& core, Gatekeeper& gatekeeper, History& history, CallerEnvironment& environment,
           Watching& watching, ChangeSets& change_sets, SandboxProxies& proxies)
      : core_(core),
        gatekeeper_(gatekeeper),
        history_(history),
        environment_(environment),
        watching_(watching),
        change_sets_(change_sets),
        proxies_(proxies),
        following_(core, history, watching, change_sets) {}

  void run(const Caller& caller, const wire::RunRequest& request, const Reply<wire::CommandResult>& reply);
  void exec(const Caller& caller, const wire::ExecRequest& request, const Reply<wire::CommandResult>& reply);
  // batch.cc and separate_batch.cc
  void batch(const Caller& caller, const wire::BatchRequest& request, const Reply<wire::BatchResult>& reply);
  void result(const Caller& caller, const wire::ResultRequest& request,
              const Reply<wire::CommandResult>& reply);
  void interrupt(const Caller& caller, const wire::InterruptRequest& request,
                 const Reply<wire::Interrupted>& reply);
  void signal(const Caller& caller, const wire::SignalRequest& request, const Reply<wire::Nothing>& reply);

 private:
  class ShellBatch;
  class SeparateBatch;

  // An exec on its way to the shell.
  struct Submission {
    Caller caller;
    std::string terminal_id;
    engine::CommandRequest request;
    std::string chosen_id;  // empty: none
    bool wait_if_busy = false;
    Follow how;
    Reply<wire::CommandResult> reply;
    bool automatic = false;  // allowed without a question, so it is judged again after a wait
    std::string beside{};    // the sandbox that was asked for, where the terminal's is weaker
  };

  engine::RunRequest run_request(const Caller& caller, const wire::RunRequest& asked) const;
  // A client sends a call again whose answer it never got: if the command of that id is known, it is
  // followed, and nothing is run; nor if it is only in the history. False: there never was one.
  bool rejoin(const Caller& caller, const std::string& id, const std::string& text, const Follow& how,
              const Reply<wire::CommandResult>& reply);
  void judge_when_settled(const Submission& submission);
  gate::GateRequest gate_request(const Submission& submission, const engine::Terminal& terminal) const;
  // Right before it begins: what was allowed without a question has to be harmless still, and what a person
  // allowed has to be what they saw. Why it must not begin; empty: it may.
  std::string second_look(const Submission& submission, const gate::GateRequest& asked) const;
  void submit_when_free(const Submission& submission);
  // Goes on with `then` when the terminal is at its prompt; if that takes too long, the call fails with
  // `too_long`.
  // Returns the key of the wait in core_.calls; 0 if it could not begin.
  uint64_t when_at_prompt(engine::Terminal& terminal, std::chrono::milliseconds patience,
                          const std::string& too_long, const Reply<wire::CommandResult>& reply,
                          std::function<void()> then);
  // Fails what waits for the shell to settle: nobody interrupts a terminal to have the next command run.
  void interrupt_settling(const std::string& terminal_id);

  // `note` is stated with the sandbox of the result; may be empty.
  void run_noting(const Caller& caller, const wire::RunRequest& request, const std::string& note,
                  const Reply<wire::CommandResult>& reply);
  struct Confining {
    std::string profile;  // asked for; may be empty
    std::string note;
    policy::Verdict verdict;
    bool try_run = false;
  };
  // It was allowed. `request` is used up.
  void start_run(const Caller& caller, const std::shared_ptr<engine::RunRequest>& request,
                 const Confining& confining, const Follow& how, const Reply<wire::CommandResult>& reply);
  // The same in another place.
  void start_there(const Caller& caller, const std::shared_ptr<engine::RunRequest>& request,
                   const Confining& confining, const Follow& how, const Reply<wire::CommandResult>& reply);
  // What a confined command needs beside its plan: a layer for its changes, a proxy.
  base::Result<void> complete_sandbox(bool try_run, engine::RunRequest& request);
  // A command that its terminal's sandbox does not suit: stricter, or it was allowed for more.
  void run_beside(const Submission& submission, const policy::Verdict& verdict);

  Core& core_;
  Gatekeeper& gatekeeper_;
  History& history_;
  CallerEnvironment& environment_;
  Watching& watching_;
  ChangeSets& change_sets_;
  SandboxProxies& proxies_;
  Following following_;
  // By the key of their wait: submissions that are judged at the shell's next prompt.
  std::map<uint64_t, Submission> settling_;
};

}  // namespace ttyward::app
