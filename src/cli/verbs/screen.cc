// ttyward screen: what is visible in a terminal now.
#include <memory>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace screen_verb {
namespace {

struct Arguments {
  std::string terminal;
  std::string format = "text";
  int64_t history = 0;
};

int screen(const Arguments& args, const Globals& globals) {
  if (args.history < 0) return complain("screen", "--history: give a number of lines", kExitUsage);
  return with_daemon("screen", [&](client::Session& daemon) -> Outcome {
    const auto format = wire::word_named<wire::ScreenFormat>(args.format);
    auto answer = daemon.call(
        wire::ScreenRequest{args.terminal, format.value_or(wire::ScreenFormat::Text), args.history});
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("screen", *answer);
    std::string content = answer->content;
    if (args.format != "ansi" && !content.empty() && content.back() != '\n') content += '\n';
    return print_text("screen", content);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  choose(app.add_option("--format", args->format, "The format"), {"text", "ansi", "json", "html", "svg"})
      ->capture_default_str();
  app.add_option("--history", args->history, "Include this many lines above the screen");
  return [args, &globals] { return screen(*args, globals); };
}

}  // namespace
}  // namespace screen_verb

const Verb kScreen = {"screen", "Show what a terminal's screen shows now", &screen_verb::declare};

}  // namespace ttyward::cli
