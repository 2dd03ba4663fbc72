// The service for terminals: opened, found, typed into, named, lent, ended.
//
// Thread rule: the loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "app/caller_environment.h"
#include "app/core.h"
#include "app/gatekeeper.h"
#include "app/history.h"
#include "app/reply.h"
#include "app/sandbox_proxy.h"
#include "app/terminal_access.h"
#include "engine/agent_input.h"
#include "wire/types/command_calls.h"
#include "wire/types/events.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::app {

// How a terminal's process is made: as asked, else as configured.
base::Provider provider_of(const std::optional<base::Provider>& asked, const config::Settings& settings);
std::optional<pty::WindowSize> size_of(const std::optional<wire::Size>& asked);
// What runs in it, for the record.
std::string command_words(const engine::Terminal& terminal);

class Terminals {
 public:
  using Tell = std::function<void(const wire::AnyEvent& event, const std::string& terminal_id)>;
  Terminals(Core& core, Gatekeeper& gatekeeper, History& history, CallerEnvironment& environment,
            SandboxProxies& proxies, Tell tell)
      : core_(core),
        gatekeeper_(gatekeeper),
        history_(history),
        environment_(environment),
        proxies_(proxies),
        tell_(std::move(tell)) {}

  void open(const Caller& caller, const wire::OpenRequest& request, const Reply<wire::OneTerminal>& reply);
  void acquire(const Caller& caller, const wire::AcquireRequest& request,
               const Reply<wire::AcquiredTerminal>& reply);
  wire::TerminalList release(const Caller& caller, const wire::ReleaseRequest& request);
  void input(const Caller& caller, const wire::InputRequest& request, const Reply<wire::Typed>& reply);
  void kill(const Caller& caller, const wire::KillRequest& request, const Reply<wire::Killed>& reply);
  void resize(const Caller& caller, const wire::ResizeRequest& request, const Reply<wire::Nothing>& reply);
  Outcome<wire::ScreenContent> screen(const Caller& caller, const wire::ScreenRequest& request);
  wire::TerminalList list(const Caller& caller, const wire::ListRequest& request);
  void show(const Caller& caller, const wire::ShowRequest& request,
            const Reply<wire::TerminalDetails>& reply);
  Outcome<wire::OneTerminal> lend(const Caller& caller, const wire::LendRequest& request);
  void resume(const Caller& caller, const wire::ResumeRequest& request, const Reply<wire::Resumed>& reply);
  Outcome<wire::OneTerminal> rename(const Caller& caller, const wire::RenameRequest& request);
  Outcome<wire::OneTerminal> assign(const Caller& caller, const wire::AssignRequest& request);
  Outcome<wire::OneTerminal> associate(const Caller& caller, const wire::AssociateRequest& request);
  wire::TerminalList session_terminals(const Caller& caller, const wire::SessionTerminalsRequest& request);
  wire::SessionCwd session_cwd(const Caller& caller, const wire::SessionCwdRequest& request);
  Outcome<wire::PathList> path_add(const Caller& caller, const wire::PathAddRequest& request);
  wire::PathList path_remove(const Caller& caller, const wire::PathRemoveRequest& request);
  wire::PathList path_list(const Caller& caller, const wire::PathListRequest& request) const;

  // One may have become free, or there is room for another.
  void terminal_changed();

 private:
  // A call that waits for a terminal to be had.
  struct Acquiring {
    uint64_t key = 0;
    std::string why;                                // nothing was to be had when it was tried last
    std::function<bool(std::string& why)> attempt;  // true: it was answered
  };
  void attempt_waiting();
  void attempt_later();

  void open_now(const Caller& caller, engine::OpenRequest request, const Reply<wire::OneTerminal>& reply);
  void open_there(const Caller& caller, engine::OpenRequest request, const Reply<wire::OneTerminal>& reply);
  void reach_and_open(const Caller& caller, const engine::OpenRequest& request,
                      const Reply<wire::OneTerminal>& reply);
  // Calls `then` once the shell is ready, or known to be without integration.
  void when_ready(engine::Terminal& terminal, const ReplyBase& reply,
                  std::function<void(engine::Terminal&)> then);
  void type_secret(const Caller& caller, engine::Terminal& terminal, std::string secret,
                   const Reply<wire::Typed>& reply);
  void type_as_agent(const Caller& caller, engine::Terminal& terminal, const engine::TypedInput& judged,
                     const std::string& bytes, const Reply<wire::Typed>& reply);
  // The gate allowed it, perhaps some time later: looks again, and types it.
  void type_what_was_allowed(const Caller& caller, const std::string& id, const engine::TypedInput& allowed,
                             const std::string& bytes, const Reply<wire::Typed>& reply);
  void type(engine::Terminal& terminal, const std::string& bytes, engine::Owner by,
            const Reply<wire::Typed>& reply);
  // Answers when its holder has gone, or will not go.
  void watch_death(uint64_t call, const std::string& terminal_id, const Reply<wire::Killed>& reply,
                   int round);
  wire::OneTerminal one(engine::Terminal& terminal) const;

  Core& core_;
  Gatekeeper& gatekeeper_;
  History& history_;
  CallerEnvironment& environment_;
  SandboxProxies& proxies_;
  const Tell tell_;
  std::deque<Acquiring> acquiring_;  // who came first gets the first one
  bool attempt_due_ = false;
  bool attempt_timed_ = false;
};

}  // namespace ttyward::app
