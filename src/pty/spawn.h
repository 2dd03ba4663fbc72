// Starts commands and the programs that serve them. Other processes are made only by client/start_daemon,
// daemon/detach and relay/main (the daemon and the holders themselves), and cli/editor ($EDITOR).
//
// spawn() returns a running program, or the reason why there is none; it never
// returns a child that goes on to fail with a fake exit code. The child leads its
// own session (but see Session) and process group, has default signal dispositions and an empty
// mask, no descriptor but 0, 1, 2 (and those asked for), and exactly the
// environment given.
//
// How: clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD). The child borrows our memory
// until exec, so the cost does not grow with our size, and the exec error comes
// back in memory instead of through a pipe. With a pre-exec hook the memory is
// copied as fork does, because a hook's writes must not reach us. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/provider.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "pty/child.h"
#include "pty/exec_child.h"
#include "pty/pseudo_terminal.h"
#include "sandbox/plan.h"

namespace ttyward::sandbox {
class Confinement;
}

namespace ttyward::pty {

using base::Provider;
using base::provider_name;

// Null and Pipe are for Provider::Pipe: in a terminal stdin is the terminal, or the descriptor given.
enum class StdinKind : uint8_t { Null, Pipe, Descriptor };

// When the leader of a terminal's session ends, the kernel sends SIGHUP to what is in the foreground, and
// what a script has put into the background is there too. Ours: the calling process is the leader, so what a
// command leaves behind lives on when the command ends. It must lead its session and have no terminal yet.
// Matters for Provider::Pty only.
enum class Session : uint8_t { Own, Ours };

struct SpawnSpec {
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> argv_prefix;  // e.g. a sandbox runner; comes before argv and is what is looked up
  std::string cwd;                       // empty: ours
  std::vector<std::string> environment;  // NAME=value, complete
  Provider provider = Provider::Pty;
  WindowSize size;  // Pty
  StdinKind stdin_kind = StdinKind::Null;
  int stdin_fd = -1;  // for StdinKind::Descriptor; stays the caller's
  std::optional<unsigned> umask;
  std::vector<ExecLimit> limits;
  std::vector<int> keep_fds;  // passed on under their own numbers; each above 2
  Session session = Session::Own;
  std::optional<sandbox::Plan> sandbox;  // what confines it
  int parent_death_signal = 0;           // to the child when the thread that calls spawn ends
  // Runs in the child just before descriptors are closed; async-signal-safe calls
  // only. Returns 0 or an errno, which makes the spawn fail.
  PreExecHook pre_exec = nullptr;
  void* pre_exec_context = nullptr;
};

// argv for a line in a shell's language.
std::vector<std::string> shell_argv(std::string shell, std::string line);

enum class SpawnFailure : uint8_t {
  BadRequest,     // empty argv, a NUL in a string
  BadDirectory,   // cwd is missing, no directory, or closed to us
  NotFound,       // no such program: a shell's 127
  NotExecutable,  // the program is there but cannot be executed: a shell's 126
  NoPty,          // no pseudo terminal to be had; pipes may still work
  Exhausted,      // descriptors, processes or memory
  Setup,          // anything else between clone and exec, the hook's refusal and a failing sandbox included
};

struct SpawnError {
  SpawnFailure failure = SpawnFailure::Setup;
  base::Error error;

  // What a shell would have set `$?` to, where it has a number for it.
  std::optional<int> shell_code() const;
};

struct Spawned {
  Child child;
  Provider provider = Provider::Pty;
  std::string fallback_reason;                        // why it is Pipe although Pty was asked for
  std::shared_ptr<sandbox::Confinement> confinement;  // of a confined command; destroying it kills

  // Provider::Pty. Our descriptors are non-blocking and CLOEXEC.
  base::UniqueFd master;
  std::string slave_path;
  dev_t slave_device = 0;

  // Provider::Pipe.
  base::UniqueFd stdin_fd;  // only with StdinKind::Pipe
  base::UniqueFd stdout_fd;
  base::UniqueFd stderr_fd;
};

using SpawnResult = tl::expected<Spawned, SpawnError>;

// How pseudo terminals are made; tests put a failing one here.
using PtyOpener = std::function<base::Result<PseudoTerminal>(const WindowSize&)>;

SpawnResult spawn(const SpawnSpec& spec, const PtyOpener& open_pty = open_pseudo_terminal);

}  // namespace ttyward::pty
