#include "gate/judge.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/path.h"
#include "policy/escaped_view.h"
#include "policy/file_view.h"
#include "policy/foreign_line.h"
#include "policy/script_file.h"
#include "policy/text_screen.h"
#include "shell/quoting.h"

namespace ttyward::gate {
namespace {

constexpr auto kSystemFolders =
    std::to_array<std::string_view>({"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32",
                                     "/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var"});

bool under(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// A variable given to the command counts as if it stood before it.
void judge_environment(const std::vector<std::string>& changes, const policy::Place& place,
                       const policy::Settings& settings, policy::Verdict& verdict) {
  const policy::RuleSet none;
  policy::Settings unconfined = settings;
  unconfined.confinable = policy::Confinable::No;
  for (const std::string& change : changes) {
    const size_t equals = change.find('=');
    const std::string name = change.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : change.substr(equals + 1);
    const std::string line = name + "=" + shell::quote_posix(value) + " true";
    const policy::Verdict own = policy::check(line, place, none, unconfined);
    if (own.decision == policy::Decision::Allow) continue;
    if (own.decision > verdict.decision) {
      verdict.decision = own.decision;
      verdict.rule = own.rule;
    }
    verdict.risk = std::max(verdict.risk, own.risk);
    for (policy::Reason reason : own.reasons) {
      reason.text = "environment: " + reason.text;
      reason.span = {};
      verdict.reasons.push_back(std::move(reason));
    }
  }
}

// A person who pastes a line sees what it shows, not what it holds: bytes that hide something are critical.
void object_to_hidden_bytes(const Action& action, policy::Verdict& verdict) {
  for (const policy::TextProblem& problem : policy::screen_text(action.command)) {
    if (!problem.unparsable) continue;
    verdict.decision = std::max(verdict.decision, policy::Decision::Ask);
    verdict.risk = policy::Risk::Critical;
    verdict.rule = "built-in";
    verdict.reasons.push_back({problem.what, problem.span, policy::Risk::Critical, policy::Decision::Ask});
  }
}

// Of a line that is not understood at least the worst is known by its words.
void refuse_what_destroys(const Action& action, policy::Verdict& verdict) {
  const policy::Verdict foreign = policy::check_foreign_line(action.command, policy::ShellKind::PowerShell);
  if (foreign.decision != policy::Decision::Deny) return;
  verdict.decision = foreign.decision;
  verdict.risk = foreign.risk;
  verdict.rule = foreign.rule;
  verdict.reasons.insert(verdict.reasons.begin(), foreign.reasons.begin(), foreign.reasons.end());
}

policy::Settings settings_for(Role role, policy::Mode mode, const JudgeSettings& settings) {
  policy::Settings out = settings.agent;
  out.mode = mode;
  if (role == Role::Person && settings.person != PersonPolicy::Full) {
    out.auto_approve_safe = true;
    out.confirm_dangerous = false;
    out.confirm_unclear = false;
  }
  return out;
}

}  // namespace

policy::ShellReading reading_of(Language language) {
  policy::ShellReading reading;
  switch (language) {
    case Language::Bash:
      break;
    case Language::Posix:
      reading.syntax.dialect = syntax::Dialect::Posix;
      break;
    case Language::Zsh:
      // Whether # begins a comment at its prompt is an option of zsh.
      reading.syntax = {syntax::Dialect::Zsh, syntax::Manner::Typed};
      break;
    case Language::Fish:
      reading.syntax.dialect = syntax::Dialect::Fish;
      break;
    case Language::PowerShell:
    case Language::Other:
      reading.doubt = "ttyward does not know how this shell reads lines";
      break;
  }
  return reading;
}

std::string workspace_for(const std::string& cwd, const std::string& home) {
  std::string at = base::normalize_path(cwd);
  if (at == "/" || at == "/home" || at == home || under(home, at)) return {};
  if (under(at, "/var/tmp") || under(at, "/var/www")) return at;
  const bool system = std::any_of(kSystemFolders.begin(), kSystemFolders.end(),
                                  [&](std::string_view folder) { return under(at, folder); });
  return system ? std::string() : at;
}

Judgement judge(const Action& action, Role role, policy::Mode mode, const JudgeSettings& settings,
                const policy::RuleSet& rules) {
  Judgement out;
  if (role == Role::Person && settings.person == PersonPolicy::Off) {
    out.verdict.decision = policy::Decision::Allow;
    out.verdict.rule = "policy off";
    return out;
  }
  const policy::RealFiles files;
  const policy::RememberedFiles remembered(&files);
  const std::string workspace =
      action.workspace.empty() ? workspace_for(action.cwd, settings.home) : action.workspace;
  policy::Place place{workspace, action.cwd, settings.home, &remembered};
  const policy::ShellReading reading = action.shell ? *action.shell : reading_of(action.language);
  place.shell = &reading;
  place.own = settings.own_folders;
  place.input = action.input;
  policy::Settings own = settings_for(role, mode, settings);
  if (role == Role::Agent && settings.confine) own.confinable = action.confinable;
  const policy::Facts facts = policy::read_command(action.command, place);
  out.verdict = policy::evaluate(action.command, facts, place, rules, own);
  if (action.language == Language::PowerShell) refuse_what_destroys(action, out.verdict);
  const bool line_allowed = out.verdict.decision == policy::Decision::Allow;
  judge_environment(action.environment_changes, place, own, out.verdict);
  if (role == Role::Person && settings.person == PersonPolicy::Critical)
    object_to_hidden_bytes(action, out.verdict);
  // A person may do everything; what is refused to others is a question to them.
  if (role == Role::Person && settings.person == PersonPolicy::Critical &&
      out.verdict.decision == policy::Decision::Deny) {
    out.verdict.decision = policy::Decision::Ask;
  }
  // A rule cannot take objections to the environment away, nor make harmless what only a setting asks about.
  if (out.verdict.decision == policy::Decision::Ask && !line_allowed &&
      std::none_of(out.verdict.reasons.begin(), out.verdict.reasons.end(),
                   [](const policy::Reason& reason) { return reason.text.starts_with("environment: "); })) {
    const auto suffices = [&](const std::vector<policy::Rule>& offered) {
      policy::RuleSet with = rules;
      for (const policy::Rule& rule : offered) with.add(rule);
      return policy::evaluate(action.command, facts, place, with, own).decision == policy::Decision::Allow;
    };
    out.always = policy::offer_always(action.command, facts, place);
    if (!suffices(out.always.rules)) out.always = {};
    if (!suffices(out.always.wider)) out.always.wider.clear();
    // A rule would allow the interpreter whatever it is given next time.
    if (action.input != nullptr &&
        std::any_of(facts.commands.begin(), facts.commands.end(),
                    [](const policy::CommandFact& fact) { return policy::is_interpreter(fact.program); })) {
      out.always = {};
    }
  }
  if (out.verdict.decision == policy::Decision::Ask) {
    for (const policy::CommandFact& fact : facts.commands) {
      const std::string script = policy::script_of(fact);
      if (!script.empty()) out.scripts.emplace_back(script, policy::content_hash(&files, script));
    }
  }
  return out;
}

Language language_of(shell::ShellKind kind) {
  using shell::ShellKind;
  switch (kind) {
    case ShellKind::Zsh:
      return Language::Zsh;
    case ShellKind::Bash:
    case ShellKind::GitBash:
      return Language::Bash;
    case ShellKind::Dash:
    case ShellKind::BusyboxAsh:
    case ShellKind::Ksh:
    case ShellKind::Mksh:
    case ShellKind::PosixSh:
      return Language::Posix;
    case ShellKind::Fish:
      return Language::Fish;
    case ShellKind::Pwsh:
      return Language::PowerShell;
    default:
      return Language::Other;
  }
}

Judgement judge_typed(const std::string& program, policy::Mode mode) {
  Judgement made;
  policy::Verdict& verdict = made.verdict;
  verdict.decision = mode == policy::Mode::Plan   ? policy::Decision::Deny
                     : mode == policy::Mode::Yolo ? policy::Decision::Allow
                                                  : policy::Decision::Ask;
  verdict.risk = policy::Risk::High;
  verdict.rule = "built-in";
  verdict.effects = {{policy::EffectKind::Execute, program}};
  verdict.reasons = {{"is typed into " + policy::escape_text(program) + ", which runs what it is given",
                      {},
                      policy::Risk::High,
                      policy::Decision::Ask}};
  return made;
}

}  // namespace ttyward::gate
