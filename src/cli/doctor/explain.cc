#include "cli/doctor/explain.h"

#include <array>

namespace ttyward::cli::doctor {
namespace {

struct Topic {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Topic, 4> kTopics = {{
    {"refused", R"(Why was a command refused, or why does it need approval?

  ttyward check 'COMMAND'     prints the decision, the risk, the effects and the reasons, each with the
                              bytes of the command it is about. It runs nothing.

The strictest part of a command decides. A command that is not understood needs approval: text that
does not parse, an unknown program, a name computed at run time.
  - "rule …" names a rule of yours (rules.toml) or of the project (.ttyward.toml).
  - A project's rules can only make policy stricter.
  - In the mode plan, commands that change something are refused (`ttyward config show`: policy.mode).
  - A question that nobody answers in time is denied (policy.approval_expiry).
To allow a command permanently, write a rule for it: see docs/policy.md.
)"},
    {"binary", R"(Why is the output called binary and not shown?

The output contains NUL characters or bytes that are not text in a known encoding.
The result has the number of bytes. `ttyward read --raw` returns the bytes of a terminal.
  - Send it to a file instead:           ttyward run 'tar cz . > out.tgz'
  - Look at it as text:                  ttyward run 'head -c 200 file | od -c'
  - For text in an older encoding, `encoding` in the result names the encoding that was detected.
)"},
    {"abort", R"(Why did an interrupt have no effect, or take long?

An interrupt does what Ctrl-C does: the processes in the foreground get SIGINT. A program may ignore
it, ask a question, or clean up first.
  - In raw mode (editors, some prompts) Ctrl-C is just a key to the program.
  - Ending a command is stronger: INT, then TERM, then KILL to everything it started, each after a
    grace (times.interrupt_grace, terminate_grace, kill_grace).
  - A process that the kernel cannot end (in uninterruptible sleep, state D, often on a network disk)
    is listed in the result under `background`.
  - ttyward cannot signal processes in a container or on another machine: end them there.
)"},
    {"idle-timeout", R"(Why did the idle timeout end a command that was busy?

The idle timeout (times.idle_timeout, --idle-timeout) measures silence: time without any output. A
command that computes without printing is silent.
  - Raise the limit:                     ttyward run --idle-timeout 1800 'COMMAND'
  - Or remove it:                        --idle-timeout 0
  - Or make it print: many programs have --verbose or --progress. In a pipe (COMMAND | grep x) programs
    buffer their output; stdbuf -oL COMMAND prints it line by line.
  - If it waited for input, the result says so under `waiting`, with the evidence: answer it, or call
    the program with the option that says yes.
)"},
}};

}  // namespace

std::string_view explanation(std::string_view topic) {
  for (const Topic& each : kTopics)
    if (each.name == topic) return each.text;
  return {};
}

std::string topic_names() {
  std::string names;
  for (const Topic& each : kTopics) names.append(names.empty() ? "" : "|").append(each.name);
  return names;
}

}  // namespace ttyward::cli::doctor
