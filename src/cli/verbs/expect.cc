// ttyward expect: a command and the answers to what it will ask.
//
// Each --when is followed by what to answer with: --reply, --keys or --secret-from;
// --repeat after it lets it answer more than once. CLI11 keeps the values of each
// option apart, but tells in which order they came.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/live_command.h"
#include "cli/option_values.h"
#include "cli/secret_input.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace expect_verb {
namespace {

// Most questions are answered at once; one that still stands after this is not among those we were told of.
constexpr std::chrono::seconds kAnswerPatience{3};

struct Arguments {
  ExecOptions exec;
  std::vector<std::string> when;
  std::vector<std::string> reply;
  std::vector<std::string> keys;
  std::vector<std::string> secret;
  bool repeat = false;
  double within = 0;
};

using base::ErrorCode;
using base::fail;

bool has_answer(const wire::ExpectedReply& reply) {
  return reply.text || reply.keys || reply.secret;
}

base::Result<void> answer_with(wire::ExpectedReply& reply, const std::string& option,
                               const std::string& value) {
  if (has_answer(reply))
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{}: this --when has an answer already; give each its own --when", option));
  if (option == "--reply") reply.text = value;
  if (option == "--keys") reply.keys = value;
  if (option == "--secret-from") {
    auto secret = secret_from(value, fmt::format("answer to '{}': ", reply.when));
    if (!secret) return tl::unexpected(secret.error());
    reply.secret = secret->text;
  }
  return {};
}

base::Result<std::vector<wire::ExpectedReply>> replies(const CLI::App& app) {
  std::vector<wire::ExpectedReply> all;
  std::map<const CLI::Option*, size_t> used;
  for (const CLI::Option* option : app.parse_order()) {
    const std::string name = option->get_name();
    if (name == "--when") {
      all.emplace_back().when = option->results()[used[option]++];
      continue;
    }
    const bool answers = name == "--reply" || name == "--keys" || name == "--secret-from";
    if (!answers && name != "--repeat") continue;
    if (all.empty()) return fail(ErrorCode::InvalidArgument, fmt::format("put a --when before {}", name));
    if (!answers) {
      all.back().repeat = true;
      continue;
    }
    if (auto set = answer_with(all.back(), name, option->results()[used[option]++]); !set)
      return tl::unexpected(set.error());
  }
  for (const wire::ExpectedReply& each : all) {
    if (has_answer(each)) continue;
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("--when {}: say what to answer, with --reply, --keys or --secret-from", each.when));
  }
  if (all.empty()) {
    return fail(ErrorCode::InvalidArgument,
                "say what to answer: ttyward expect TERM 'apt install x' --when 'continue\\?' --reply y");
  }
  return all;
}

int expect(const Arguments& args, const CLI::App& app, const Globals& globals) {
  auto call = exec_request(args.exec, globals.after_dashes);
  if (!call) return complain("expect", call.error().message, kExitUsage);
  auto answers = replies(app);
  if (!answers) return complain("expect", answers.error().message, kExitUsage);
  auto within = parse_seconds("within", args.within);
  if (!within) return complain("expect", within.error().message, kExitUsage);
  call->replies = std::move(*answers);
  call->replies_timeout = *within;
  return with_daemon("expect", [&](client::Session& daemon) {
    LiveCommand command("expect", daemon, args.exec.terminal, globals.json);
    command.set_patience(kAnswerPatience);
    return command.run(std::move(*call));
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  declare_exec_options(app, args->exec);
  // One value each time, or they would take the command for one more.
  app.add_option("--when", args->when,
                 "Regular expression for a question it asks; may be repeated, each with its answer")
      ->allow_extra_args(false);
  app.add_option("--reply", args->reply, "Answer to the --when before it: this text, and Enter")
      ->allow_extra_args(false);
  app.add_option("--keys", args->keys, "Answer to the --when before it: these keys, such as \"Down Enter\"")
      ->allow_extra_args(false);
  app.add_option("--secret-from", args->secret,
                 "Answer to the --when before it: a secret from a file, env:NAME, or - for the terminal")
      ->allow_extra_args(false);
  app.add_flag("--repeat", args->repeat, "The answer before it may be given more than once");
  app.add_option("--within", args->within,
                 "Seconds within which all questions must be asked; 0 means no limit");
  return [args, &app, &globals] { return expect(*args, app, globals); };
}

}  // namespace
}  // namespace expect_verb

const Verb kExpect = {"expect", "Run a command and answer its questions", &expect_verb::declare};

}  // namespace ttyward::cli
