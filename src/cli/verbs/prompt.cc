// ttyward prompt: a prompt file with its commands run and their output put in place.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/foreground.h"
#include "cli/local_policy.h"
#include "cli/prompt_template.h"
#include "cli/result_json.h"
#include "cli/run_arguments.h"
#include "cli/verbs/verbs.h"
#include "command/shell_choice.h"
#include "policy/command_facts.h"
#include "policy/escaped_view.h"

namespace ttyward::cli {
namespace prompt_verb {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr size_t kMaxPromptBytes = 1 << 20;
constexpr size_t kMaxCommands = 100;
constexpr size_t kShownInErrors = 200;
constexpr const char* kPlaceholder = "args";

struct Arguments {
  RunArguments shared;
  PolicyArguments policy;
  std::string file;
  std::vector<std::string> words;
};

Result<std::string> read_prompt(const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) return fail(ErrorCode::NotFound, fmt::format("{}: cannot be read", file));
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string text(kMaxPromptBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (in.bad() || (in.fail() && !in.eof()))
    return fail(ErrorCode::Io, fmt::format("{}: cannot be read", file));
  if (text.size() > kMaxPromptBytes)
    return fail(ErrorCode::InvalidArgument, fmt::format("{}: a prompt is at most 1 MiB", file));
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// How it ended, if that was not well.
std::string status_of(const terminal::CommandResult& result) {
  const std::string command = policy::show_command(result.command, kShownInErrors);
  if (result.state == terminal::CommandState::TimedOut)
    return fmt::format("[!{{{}}} did not end in time: {}]", command, result.reason);
  if (!result.signal.empty()) return fmt::format("[!{{{}}} was ended by {}]", command, result.signal);
  if (result.exit_code && *result.exit_code != 0)
    return fmt::format("[!{{{}}} ended with exit code {}]", command, *result.exit_code);
  if (!result.exit_code) return fmt::format("[!{{{}}} did not end: {}]", command, result.reason);
  return {};
}

std::string placed(const terminal::CommandResult& result) {
  std::string out =
      result.binary ? fmt::format("[{} bytes of binary output]", result.total_bytes) : result.output.text;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  const std::string status = status_of(result);
  if (!status.empty()) out += (out.empty() ? "" : "\n") + status;
  return out;
}

class Prompt {
 public:
  Prompt(const Arguments& args, const Globals& globals) : args_(args), globals_(globals) {}

  int run() {
    auto text = read_prompt(args_.file);
    if (!text) return complain("prompt", text.error().message, kExitUsage);
    auto pieces = parse_prompt(*text);
    if (!pieces) return complain("prompt", args_.file + ": " + pieces.error().message, kExitUsage);
    pieces_ = std::move(*pieces);
    if (auto ready = judge_all(); !ready) return complain("prompt", ready.error().message, kExitUsage);
    const Ruling ruling = policy_->settle(judged_);
    if (!ruling.allowed) {
      const std::string& command = judged_[ruling.culprit].action.command;
      return complain(
          "prompt", fmt::format("!{{{}}}: {}", policy::show_command(command, kShownInErrors), ruling.reason),
          kExitDenied);
    }
    return expand();
  }

 private:
  static constexpr int kExitDenied = 126;

  // Every command before any runs.
  Result<void> judge_all() {
    auto options = make_run_options(args_.shared, false);
    if (!options) return tl::unexpected(options.error());
    auto policy = LocalPolicy::make(args_.policy, PolicyLevel::Default, "prompt", options->spawn.cwd);
    if (!policy) return tl::unexpected(policy.error());
    policy_ = std::make_unique<LocalPolicy>(std::move(*policy));
    const std::string arguments = joined(args_.words);
    for (const PromptPiece& piece : pieces_) {
      if (piece.kind != PromptPiece::Kind::Command || is_blank(piece)) continue;
      if (judged_.size() == kMaxCommands)
        return fail(ErrorCode::InvalidArgument,
                    fmt::format("a prompt has at most {} commands", kMaxCommands));
      judged_.push_back(policy_->judge(action_of(piece, arguments, options->spawn.cwd)));
      if (becomes_another(piece, judged_.back().action)) {
        return fail(ErrorCode::InvalidArgument,
                    fmt::format("{}: line {}: with these arguments the command would change its meaning; use "
                                "{{{{args}}}} as a word of its own",
                                args_.file, piece.line));
      }
    }
    return {};
  }

  // Quoted words cannot become commands, but in here-documents and comments quotes mean nothing.
  static bool becomes_another(const PromptPiece& piece, const gate::Action& filled) {
    const std::string plain = fill_arguments(piece, kPlaceholder);
    if (plain == piece.text) return false;
    const policy::RealFiles files;
    const policy::Place place{filled.cwd, filled.cwd, "/root", &files};
    const policy::Facts meant = policy::read_command(plain, place);
    const policy::Facts now = policy::read_command(filled.command, place);
    return meant.understood != now.understood || meant.commands.size() != now.commands.size();
  }

  static bool is_blank(const PromptPiece& piece) {
    return piece.text.find_first_not_of(" \t\r\n") == std::string::npos;
  }

  gate::Action action_of(const PromptPiece& piece, std::string_view arguments, const std::string& cwd) const {
    return {fill_arguments(piece, arguments), cwd, "", args_.shared.environment, gate::Language::Bash};
  }

  int expand() {
    std::string out;
    std::string results;
    size_t next = 0;
    for (const PromptPiece& piece : pieces_) {
      if (piece.kind == PromptPiece::Kind::Text) {
        out += fill_arguments(piece, joined(args_.words));
        continue;
      }
      if (is_blank(piece)) continue;
      const Judged& judged = judged_[next++];
      Foreground::Outcome outcome = run_one(judged.action.command);
      outcome.result.verdict_json = verdict_json(*policy_, judged);
      if (!outcome.started) {
        return complain(
            "prompt",
            fmt::format("!{{{}}} could not be started, so no prompt was printed: {}",
                        policy::show_command(judged.action.command, kShownInErrors), outcome.result.reason),
            kExitFailure);
      }
      if (outcome.told_to_stop_by != 0 || outcome.result.state == terminal::CommandState::Interrupted)
        return outcome.shell_code();
      results += (results.empty() ? "" : ",") + json_of(outcome.result);
      out += placed(outcome.result);
    }
    if (globals_.json) {
      out = base::JsonObject().text("prompt", out).raw("commands", "[" + results + "]").str() + "\n";
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return std::fflush(stdout) == 0 ? 0 : kExitFailure;
  }

  Foreground::Outcome run_one(const std::string& command) const {
    auto shell = command::choose_shell();
    auto options = make_run_options(args_.shared, false);
    if (!shell || !options) {
      Foreground::Outcome failed;
      failed.started = false;
      failed.result.reason = shell ? options.error().message : shell.error().message;
      return failed;
    }
    options->spawn.argv = pty::shell_argv(*shell, command);
    options->shown_command = command;
    Foreground foreground(std::move(*options), Show::Nothing, Stdin::None);
    return foreground.run([](command::RunningCommand&) { return std::string(); });
  }

  const Arguments& args_;
  const Globals& globals_;
  std::vector<PromptPiece> pieces_;
  std::unique_ptr<LocalPolicy> policy_;
  std::vector<Judged> judged_;  // one for each command that is not blank
};

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("--cwd", args->shared.cwd, "Folder its commands run in (default: the current one)");
  app.add_option("--timeout", args->shared.timeout,
                 "Seconds each command may take, 0 for no limit (default 60)");
  app.add_option("--env", args->shared.environment, "NAME=value for their environment; may be repeated")
      ->allow_extra_args(false);
  declare_policy_options(app, args->policy);
  app.add_option("FILE", args->file, "The prompt, with !{command} and {{args}} in it; - for standard input")
      ->required();
  app.add_option("ARGS", args->words, "The text for {{args}}");
  return [args, &globals] {
    args->shared.pipe = true;  // programs write plain text into pipes
    args->shared.view = "full";
    return Prompt(*args, globals).run();
  };
}

}  // namespace
}  // namespace prompt_verb

const Verb kPrompt = {"prompt", "Fill in a prompt file: run its !{commands} and insert their output",
                      &prompt_verb::declare};

}  // namespace ttyward::cli
