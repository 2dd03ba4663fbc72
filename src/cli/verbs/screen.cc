// ttyward screen: what is visible in a terminal now.
#include <memory>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
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
  app.add_option("TERM", args->terminal, "Name or id of the terminal, or the beginning of its id")
      ->required();
  choose(app.add_option("--format", args->format, "In which form"), {"text", "ansi", "json", "html", "svg"})
      ->capture_default_str();
  app.add_option("--history", args->history, "So many lines above the screen, too");
  return [args, &globals] { return screen(*args, globals); };
}

}  // namespace

const Verb kScreen = {"screen", "Show what is visible in a terminal now", &declare};

}  // namespace ttyward::cli
