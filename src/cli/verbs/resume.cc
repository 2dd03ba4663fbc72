// ttyward resume: more journal for a command that was stopped at its quota.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace resume_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::uint64_t mib = 0;
};

int resume(const Arguments& args, const Globals& globals) {
  return with_daemon("resume", [&](client::Session& daemon) -> Outcome {
    wire::ResumeRequest request{args.terminal, std::nullopt};
    if (args.mib > 0) request.bytes = static_cast<int64_t>(args.mib << 20);
    auto answer = daemon.call(request);
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("resume", *answer);
    if (!answer->resumed)
      return complain("resume", args.terminal + " is not paused: nothing was changed", kExitUsage);
    return 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_option("--mib", args->mib, "Additional journal space in MiB (default: as much as it had)")
      ->check(CLI::Range(1, 1 << 20));
  return [args, &globals] { return resume(*args, globals); };
}

}  // namespace
}  // namespace resume_verb

const Verb kResume = {"resume", "Resume a command that was paused at its journal's quota",
                      &resume_verb::declare};

}  // namespace ttyward::cli
