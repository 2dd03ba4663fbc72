// ttyward attach: take part in a terminal, or watch it.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "cli/attachment.h"
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace attach_verb {
namespace {

struct Arguments {
  std::string terminal;
  bool read_only = false;
  bool take = false;
  std::string detach_key;
};

// What it prints, as bytes, until it ends. For whoever shows it elsewhere: an editor's own terminal, a pipe.
Outcome follow(client::Session& daemon, const std::string& terminal) {
  constexpr int64_t kAtOnce = 1 << 20;
  constexpr std::chrono::milliseconds kPause{100};
  int64_t offset = 0;
  for (;;) {
    wire::ReadRequest read;
    read.terminal = terminal;
    read.raw = wire::RawRange{offset, kAtOnce};
    auto came = daemon.call(read);
    if (!came) return tl::unexpected(came.error());
    if (came->base64 && !came->base64->bytes.empty()) {
      if (const int code = print_text("attach", came->base64->bytes); code != 0) return code;
    }
    offset = static_cast<int64_t>(came->next_offset.value_or(static_cast<uint64_t>(offset)));
    if (came->more || (came->base64 && !came->base64->bytes.empty())) continue;
    const bool over = came->state == "finished" || came->state == "lost";
    if (over) return 0;
    std::this_thread::sleep_for(kPause);
  }
}

int attach(const Arguments& args, const Globals& globals) {
  if (!globals.json && args.read_only && ::isatty(STDOUT_FILENO) == 0) {
    return with_daemon("attach", attach_options(),
                       [&](client::Session& daemon) { return follow(daemon, args.terminal); });
  }
  if (globals.json || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
    return complain("attach", "attach needs a terminal; without one use ttyward screen or read", kExitUsage);
  }
  if (args.read_only && args.take)
    return complain("attach", "--read-only and --take exclude each other", kExitUsage);
  const std::string key =
      args.detach_key.empty() ? load_here().settings.terminal.detach_key : args.detach_key;
  auto detach_key = DetachKey::named(key);
  if (!detach_key) return complain("attach", "--detach-key: " + detach_key.error().message, kExitUsage);
  std::optional<DetachKey> mark_key;
  if (const std::string mark = load_here().settings.terminal.mark_key; !mark.empty()) {
    auto named = DetachKey::named(mark);
    if (!named)
      return complain("attach", "the setting terminal.mark_key: " + named.error().message, kExitUsage);
    mark_key = std::move(*named);
  }
  return with_daemon("attach", attach_options(), [&](client::Session& daemon) -> Outcome {
    ::signal(SIGPIPE, SIG_IGN);
    const AttachEnd end =
        Attachment(daemon, {args.terminal, args.read_only, args.take, *detach_key, mark_key}).run();
    switch (end.kind) {
      case AttachEnd::Kind::Signal:
        return 128 + end.signal;
      case AttachEnd::Kind::Failed:
        // Too late to watch: what it printed is there to be read.
        if (args.read_only && end.failure->code == wire::Code::Unavailable)
          return follow(daemon, args.terminal);
        return tl::unexpected(*end.failure);
      case AttachEnd::Kind::Closed:
        return complain("attach", end.reason.empty() ? "it has ended" : end.reason, 0);
      case AttachEnd::Kind::Detached:
        break;
    }
    return complain("attach", end.reason.empty() ? "detached; the terminal stays open" : end.reason, 0);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_flag("--read-only", args->read_only, "Only watch it");
  app.add_flag("--take", args->take, "Take the keyboard from another person who has it");
  app.add_option(
      "--detach-key", args->detach_key,
      "The key that detaches, such as \"C-]\" or \"C-b d\" (default: the setting terminal.detach_key)");
  return [args, &globals] { return attach(*args, globals); };
}

}  // namespace
}  // namespace attach_verb

const Verb kAttach = {"attach", "Use or watch a terminal; Ctrl-] detaches", &attach_verb::declare};

}  // namespace ttyward::cli
