#include "cli/local_policy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "app/sandbox_plan.h"
#include "base/folders.h"
#include "cli/ask_person.h"
#include "cli/current_folder.h"
#include "cli/verb.h"
#include "gate/confirmations.h"
#include "gate/policy_settings.h"
#include "policy/escaped_view.h"
#include "policy/verdict_json.h"
#include "shell/shell_kind.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::array<std::string_view, 4> kLevels = {"off", "critical", "default", "strict"};

bool environment_says_agent() {
  const char* role = std::getenv("TTYWARD_ROLE");
  return role != nullptr && std::string_view(role) == "agent";
}

std::string home_folder() {
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? home : "/root";
}

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return out + "\n";
}

// What holds for a person who configured nothing, or whose level does not ask for the configuration.
gate::JudgeSettings unconfigured() {
  gate::JudgeSettings settings;
  settings.home = home_folder();
  settings.own_folders = gate::own_folders(base::user_folders());
  return settings;
}

// What a person sees of one command: escaped, with all its parts and everything that speaks against it.
std::string described(const Judged& judged) {
  std::string out = indented(policy::show_command(judged.action.command));
  const policy::Verdict& verdict = judged.verdict;
  if (verdict.commands.size() > 1) {
    out += "it would run:\n";
    for (const std::string& part : verdict.commands) out += indented(policy::show_command(part, 200));
  }
  out += fmt::format("because (risk {}) it:\n", policy::name_of(verdict.risk));
  for (const policy::Reason& reason : verdict.reasons) {
    out += fmt::format("  {:<8} {}\n", policy::name_of(reason.risk), policy::escape_text(reason.text));
  }
  return out;
}

}  // namespace

void declare_policy_options(CLI::App& app, PolicyArguments& args) {
  app.add_option("--policy", args.level,
                 "off: check nothing; critical: ask about critical commands; default: ask about every "
                 "command that is not harmless; strict: refuse instead of asking");
  app.add_option("--mode", args.mode, "Policy's mode: plan, default, auto-edit, auto or yolo")
      ->capture_default_str();
  app.add_flag("--as-agent", args.as_agent, "Apply policy as for an agent: strict, and no looser mode");
}

base::Result<LocalPolicy> LocalPolicy::make(const PolicyArguments& args, PolicyLevel usual, const char* verb,
                                            const std::string& folder) {
  PolicyLevel level = usual;
  if (!args.level.empty()) {
    size_t i = 0;
    while (i < kLevels.size() && kLevels[i] != args.level) ++i;
    if (i == kLevels.size()) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("--policy {}: use off, critical, default or strict", args.level));
    }
    level = static_cast<PolicyLevel>(i);
  }
  policy::Mode mode = policy::Mode::Default;
  if (!args.mode.empty() && !policy::parse_mode(args.mode, mode)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--mode {}: use plan, default, auto-edit, auto or yolo", args.mode));
  }
  const bool agent = args.as_agent || environment_says_agent();
  if (agent) {
    if (!args.level.empty() && level != PolicyLevel::Strict)
      return fail(ErrorCode::PermissionDenied, "only a person may use --policy; an agent's policy is strict");
    if (mode > policy::Mode::Default)
      return fail(ErrorCode::PermissionDenied, "an agent's mode is plan or default; leave --mode out");
    level = PolicyLevel::Strict;
  }
  LocalPolicy policy(level, mode, verb);
  policy.for_agent_ = agent;
  if (level >= PolicyLevel::Default)
    policy.apply_configuration(folder.empty() ? current_folder() : folder, agent, args.mode.empty());
  if (!agent) {
    gate::JudgeSettings anywhere = policy.book_.settings();
    anywhere.allowed_roots.clear();
    policy.book_.set_settings(std::move(anywhere));
  }
  return policy;
}

base::Result<LocalPolicy> LocalPolicy::for_check(const std::string& mode, const std::string& cwd,
                                                 const char* verb) {
  policy::Mode wanted = policy::Mode::Default;
  if (!mode.empty() && !policy::parse_mode(mode, wanted)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("there is no mode '{}'; use plan, default, auto-edit, auto or yolo", mode));
  }
  LocalPolicy policy(PolicyLevel::Default, wanted, verb);
  policy.apply_configuration(cwd, environment_says_agent(), mode.empty());
  return policy;
}

// A person's own settings. An agent could set our environment, so for it only files count.
void LocalPolicy::apply_configuration(const std::string& cwd, bool agent, bool mode_too) {
  std::vector<std::string> environment;
  for (char** entry = environ; !agent && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const config::Loaded loaded =
      gate::load_confirmed(base::user_folders(), cwd, environment, *confirmations_).loaded;
  for (const config::Problem& problem : loaded.problems) {
    if (problem.severity == config::Severity::Error) complain(verb_, problem.shown(), 0);
  }
  book_.set_settings(gate::judge_settings(loaded.settings.policy, home_folder()));
  if (mode_too) mode_ = book_.settings().agent.mode;
}

LocalPolicy::LocalPolicy(PolicyLevel level, policy::Mode mode, const char* verb)
    : level_(level),
      mode_(mode),
      verb_(verb),
      confirmations_(std::make_unique<gate::Confirmations>(base::user_folders().state)),
      book_(unconfigured(), base::user_folders().config + "/rules.toml", confirmations_.get()) {}

gate::Case LocalPolicy::case_of(gate::Action action) const {
  gate::Case what;
  what.action = std::move(action);
  what.role = level_ == PolicyLevel::Critical ? gate::Role::Person : gate::Role::Agent;
  what.mode = mode_;
  return what;
}

Judged LocalPolicy::judge(gate::Action action) {
  Judged out{action, {}};
  if (level_ == PolicyLevel::Off) {
    out.verdict.decision = policy::Decision::Allow;
    return out;
  }
  auto judged = book_.judge(case_of(std::move(action)));
  out.verdict = judged ? std::move(judged->verdict) : gate::refused_for_mistake(judged.error());
  if (judged && !judged->mistake.empty())
    std::fprintf(stderr, "ttyward %s: %s\n", verb_, policy::escape_text(judged->mistake).c_str());
  return out;
}

Judged LocalPolicy::judge_without_rules(gate::Action action) const {
  Judged out{action, {}};
  out.verdict = book_.judge_without_rules(case_of(std::move(action))).verdict;
  return out;
}

void LocalPolicy::consider_sandbox(gate::Action& action) const {
  if (for_agent_ && app::can_confine(action.cwd, home_folder()))
    action.confinable = policy::Confinable::Alone;
}

Ruling LocalPolicy::settle(const std::vector<Judged>& judged) const {
  std::vector<size_t> asks;
  for (size_t i = 0; i < judged.size(); ++i) {
    const policy::Verdict& verdict = judged[i].verdict;
    if (verdict.decision == policy::Decision::Deny) {
      return {false, i,
              fmt::format("refused by policy ({}): {}", policy::escape_text(verdict.rule),
                          policy::summary_of(verdict))};
    }
    if (verdict.decision == policy::Decision::Ask) asks.push_back(i);
  }
  if (asks.empty()) return {};
  const policy::Verdict& first = judged[asks.front()].verdict;
  if (level_ == PolicyLevel::Strict) {
    return {false, asks.front(),
            fmt::format("it needs a person's approval, and nobody can be asked here: it {}. A person can run "
                        "it, or allow it with a rule in {}",
                        policy::summary_of(first), policy::escape_text(book_.own_file()))};
  }
  if (!can_ask_person()) {
    return {false, asks.front(),
            fmt::format("it needs your approval, and there is no terminal to ask on: it {}. Run it at a "
                        "terminal, or use --policy off if you may decide that",
                        policy::summary_of(first))};
  }
  std::string question = fmt::format("ttyward {}: this command needs your approval (in {}):\n", verb_,
                                     policy::escape_text(judged[asks.front()].action.cwd));
  for (const size_t i : asks) question += described(judged[i]);
  question += asks.size() == 1 ? "Run it?" : fmt::format("Run all {} of them?", asks.size());
  if (ask_person(question)) return {};
  return {false, asks.front(), "it was not run, because you did not answer yes"};
}

gate::Language language_of(const std::string& shell) {
  return shell.empty() ? gate::Language::Bash : gate::language_of(shell::identify_shell({shell}).kind);
}

std::string verdict_json(const LocalPolicy& policy, const Judged& judged) {
  return policy.level() == PolicyLevel::Off ? std::string() : policy::to_json(judged.verdict);
}

}  // namespace ttyward::cli
