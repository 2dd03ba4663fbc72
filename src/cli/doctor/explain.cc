#include "cli/doctor/explain.h"

#include <array>

namespace ttyward::cli::doctor {
namespace {

struct Topic {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Topic, 4> kTopics = {{
    {"refused", R"(Why was a command refused, or asked about?

  ttyward check 'COMMAND'     says the decision, the risk, every effect that was found and the reason,
                              with the bytes of the command it is about. It runs nothing.

The strictest part of a command decides. What is not understood is asked about, never let through:
text that does not parse, a program that is not known, a name computed at run time.
  - "rule …" names a rule of yours (rules.toml) or of the project (.ttyward.toml).
  - A project's rules can only make things stricter.
  - In the mode plan everything that changes something is refused (`ttyward config show`: policy.mode).
  - A question that nobody answers in time counts as no (policy.approval_expiry).
To allow one thing for good, write a rule for it: see docs/policy.md.
)"},
    {"binary", R"(Why is the output not shown and called binary?

The first bytes (output.sniff) held NUL characters or too much that is no text in any known encoding.
Nothing is lost: the bytes are in the journal as they were printed, and the result counts them.
  - Send it to a file instead:           ttyward run 'tar cz . > out.tgz'
  - Look at it as text:                  ttyward run 'head -c 200 file | od -c'
  - A program that prints text in an old encoding is recognised by its later output; the result's
    `encoding` says what it was taken for.
)"},
    {"abort", R"(Why did an abort have no effect, or only a late one?

An interrupt is what Ctrl-C is: a byte to the terminal, which becomes SIGINT for what is in the
foreground. A program may ignore it, ask back, or clean up first.
  - In raw mode (editors, some prompts) Ctrl-C is just a key to the program.
  - Ending a command is stronger: INT, then TERM, then KILL to everything it started, each after a
    grace (times.interrupt_grace, terminate_grace, kill_grace).
  - What the kernel cannot end (a process in an uninterruptible sleep, state D, often on a network
    disk) is named in the result under `background`.
  - What runs in a container or on another machine is not ours to signal: end it there.
)"},
    {"idle-timeout", R"(Why did the idle timeout end a command that was busy?

The idle timeout (times.idle_timeout, --idle-timeout) measures silence: time without any output. A
command that computes without printing is silent.
  - Give it more:                        ttyward run --idle-timeout 1800 'COMMAND'
  - Or none:                             --idle-timeout 0
  - Or make it talk: many programs have --verbose or --progress. In a pipe (COMMAND | grep x) output
    comes late because programs hold it back; stdbuf -oL COMMAND makes it come line by line.
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
