#include "policy/evaluate.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace ttyward::policy {
namespace {

constexpr std::array<std::string_view, 5> kModes = {"plan", "default", "auto-edit", "auto", "yolo"};

constexpr size_t kMostHints = 5;

bool changes_something(EffectKind kind) {
  return kind != EffectKind::Read && kind != EffectKind::List && kind != EffectKind::Secret;
}

// The profiles that verdicts rely on.
constexpr std::string_view kWorkspace = "workspace";
constexpr std::string_view kReadOnly = "read-only";

// Folders that tools make, and make again.
constexpr std::array<std::string_view, 17> kMadeByTools = {
    "build",         "dist",          "out",     "target",      "node_modules", "coverage",
    "__pycache__",   ".pytest_cache", ".next",   ".mypy_cache", ".ruff_cache",  ".tox",
    ".parcel-cache", ".turbo",        "htmlcov", ".nyc_output", ".eggs"};

// `rm -rf build`: nothing in there was made by people. The workspace's own, by its plain name.
bool clears_what_tools_made(const Finding& finding, const std::string& workspace) {
  if (finding.effect != EffectKind::Delete || workspace.empty()) return false;
  if (!finding.target.starts_with(workspace + "/")) return false;
  const std::string_view name = std::string_view(finding.target).substr(workspace.size() + 1);
  return std::find(kMadeByTools.begin(), kMadeByTools.end(), name) != kMadeByTools.end();
}

// What they tell is about the machine, and would be wrong in a sandbox.
constexpr std::array<std::string_view, 40> kLookAtTheMachine = {
    "ps",     "top",     "htop",      "pgrep",      "pidof",   "pstree", "lsof",     "fuser",
    "ss",     "netstat", "ip",        "ifconfig",   "route",   "arp",    "mount",    "findmnt",
    "df",     "lsblk",   "blkid",     "who",        "w",       "last",   "uptime",   "users",
    "id",     "groups",  "systemctl", "journalctl", "service", "dmesg",  "free",     "vmstat",
    "iostat", "docker",  "podman",    "kubectl",    "tty",     "stty",   "hostname", "jobs"};

bool looks_at_the_machine(const CommandFact& fact) {
  if (fact.argv.empty()) return false;
  std::string_view name = fact.argv.front();
  name.remove_prefix(name.rfind('/') + 1);
  return std::find(kLookAtTheMachine.begin(), kLookAtTheMachine.end(), name) != kLookAtTheMachine.end();
}

// Runs scripts of the project; the same program's other subcommands fetch packages.
bool runs_scripts(std::string_view subcommand) {
  constexpr std::array<std::string_view, 6> kScripts = {"test", "t", "run", "run-script", "start", "build"};
  return std::find(kScripts.begin(), kScripts.end(), subcommand) != kScripts.end();
}

// Whether a command that is confined to its workspace, without network, cannot do the harm that is feared.
// What destroys the workspace itself is not contained, and what the sandbox would only make fail is better
// asked about. `fact` is the command it is about; null: the whole line.
bool is_contained(const Finding& finding, const CommandFact* fact, const std::string& workspace) {
  if (finding.control) return false;
  if (finding.risk == Risk::Critical) return clears_what_tools_made(finding, workspace);
  const bool inside = finding.zone == Zone::Workspace || finding.zone == Zone::Temporary ||
                      (finding.zone == Zone::Unknown && !finding.target.starts_with('/')) ||
                      (!workspace.empty() && finding.target.starts_with(workspace + "/"));
  switch (finding.effect) {
    case EffectKind::Execute:
    case EffectKind::Unknown:
    case EffectKind::State:
    case EffectKind::List:
      return true;
    case EffectKind::Read:
    case EffectKind::Process:
    case EffectKind::Write:
    case EffectKind::Delete:
      return inside;
    case EffectKind::Privilege:
      return inside && !finding.target.empty();
    case EffectKind::Install:
      return fact != nullptr && runs_scripts(fact->subcommand);
    case EffectKind::Network:
    case EffectKind::Secret:
      return false;
  }
  return false;
}

// A file that goes is gone; git and other tools that can throw work away say Delete, too. A signal is meant
// for a process that is not in the sandbox.
bool destroys(const Finding& finding) {
  return finding.effect == EffectKind::Delete || finding.effect == EffectKind::Process ||
         finding.risk == Risk::Critical;
}

// A sandbox has folders of its own for temporary files and at home: what was meant for those of the machine
// would be lost without a word.
bool stays_in(const std::string& workspace, const Finding& finding) {
  if (!finding.target.starts_with('/')) return true;
  if (!workspace.empty() && (finding.target + "/").starts_with(workspace + "/")) return true;
  return finding.effect == EffectKind::Execute && finding.target.starts_with("/usr/");
}

class Evaluation {
 public:
  Evaluation(std::string_view command, const Facts& facts, const Place& place, const RuleSet& rules,
             const Settings& settings)
      : command_(command), facts_(facts), place_(place), rules_(rules), settings_(settings) {}

  Verdict run() {
    verdict_.decision = Decision::Allow;
    verdict_.rule = "built-in: harmless";
    exact_ = rules_.match_exact(command_, facts_, place_);
    for (const Finding& finding : facts_.findings) {
      if (!waive(exact_, finding)) take(finding, nullptr, "built-in");
    }
    for (const CommandFact& fact : facts_.commands) judge(fact);
    if (exact_.matched && exact_.decision != Decision::Allow)
      by_rule(exact_, {0, static_cast<uint32_t>(command_.size())});
    finish();
    return std::move(verdict_);
  }

 private:
  void judge(const CommandFact& fact) {
    std::string argv;
    for (const std::string& word : fact.argv) argv += (argv.empty() ? "" : " ") + word;
    if (!argv.empty()) verdict_.commands.push_back(std::move(argv));
    for (const Effect& effect : fact.effects) {
      if (std::find(verdict_.effects.begin(), verdict_.effects.end(), effect) == verdict_.effects.end()) {
        verdict_.effects.push_back(effect);
      }
    }
    const RuleMatch strict = rules_.match_strict(fact);
    if (strict.matched) by_rule(strict, fact.span);
    for (const Finding& finding : fact.findings) {
      if (waive(exact_, finding)) continue;
      std::vector<NearMiss> near;
      if (finding.decision == Decision::Deny ||
          !waive(rules_.match_allow(fact, finding, place_, &near), finding)) {
        take(finding, &fact, "built-in");
        for (const NearMiss& miss : near) hint("rule '" + miss.rule + "' does not cover it: " + miss.why);
      }
    }
  }

  // Whether `rule` takes this objection away. Plan mode is stricter than any rule.
  bool waive(const RuleMatch& rule, const Finding& finding) {
    if (!rule.matched || rule.decision != Decision::Allow || finding.decision == Decision::Deny ||
        finding.risk > rule.up_to)
      return false;
    if (settings_.mode == Mode::Plan && changes_something(finding.effect)) return false;
    if (verdict_.decision == Decision::Allow) verdict_.rule = rule.rule;
    verdict_.risk = std::max(verdict_.risk, finding.risk);
    verdict_.waived.push_back({text_of(finding), finding.risk, rule.rule});
    return true;
  }

  bool confines() const {
    return settings_.confinable != Confinable::No &&
           (settings_.mode == Mode::Default || settings_.mode == Mode::AutoEdit);
  }

  // No person's rule and no mode was needed, and inside a sandbox it shows the same as outside.
  bool only_looks_at_files() const {
    if (!facts_.understood || !verdict_.waived.empty() || place_.workspace.empty()) return false;
    if (verdict_.rule != "built-in: harmless") return false;
    for (const CommandFact& fact : facts_.commands) {
      if (looks_at_the_machine(fact)) return false;
      for (const Effect& effect : fact.effects) {
        const bool looks = effect.kind == EffectKind::Read || effect.kind == EffectKind::List;
        const bool here = effect.target.empty() || effect.target == place_.workspace ||
                          effect.target.starts_with(place_.workspace + "/");
        if (!looks || !here) return false;
      }
    }
    return true;
  }

  void hint(std::string text) {
    if (verdict_.hints.size() < kMostHints &&
        std::find(verdict_.hints.begin(), verdict_.hints.end(), text) == verdict_.hints.end())
      verdict_.hints.push_back(std::move(text));
  }

  static std::string text_of(const Finding& finding) {
    return finding.reason + (finding.target.empty() ? "" : ": " + finding.target);
  }

  // Mode first: it decides what an objection means.
  void take(const Finding& finding, const CommandFact* fact, std::string rule) {
    Decision decision = finding.decision;
    if (decision == Decision::Ask) {
      if (settings_.mode == Mode::Plan && changes_something(finding.effect)) {
        decision = Decision::Deny;
        rule = "mode plan";
      } else if (settings_.mode == Mode::Yolo) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "mode yolo";
        return;
      } else if (settings_.mode == Mode::AutoEdit && finding.plain_write) {
        verdict_.risk = std::max(verdict_.risk, Risk::Low);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "mode auto-edit";
        return;
      } else if (settings_.mode == Mode::Auto && facts_.understood &&
                 is_contained(finding, fact, place_.workspace)) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "mode auto";
        verdict_.waived.push_back({text_of(finding), finding.risk, "mode auto"});
        return;
      } else if (confines() && facts_.understood && is_contained(finding, fact, place_.workspace) &&
                 !destroys(finding) && stays_in(place_.workspace, finding)) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        if (verdict_.decision == Decision::Allow) verdict_.rule = "built-in: the sandbox contains it";
        verdict_.waived.push_back({text_of(finding), finding.risk, "sandbox"});
        relies_on_sandbox_ = true;
        return;
      } else if (!settings_.confirm_dangerous && finding.risk != Risk::Critical &&
                 (facts_.understood || !settings_.confirm_unclear)) {
        verdict_.risk = std::max(verdict_.risk, finding.risk);
        rule = settings_.confirm_unclear ? "setting policy.confirm_dangerous_commands = false"
                                         : "people are asked about critical commands only";
        if (verdict_.decision == Decision::Allow) verdict_.rule = rule;
        verdict_.waived.push_back({text_of(finding), finding.risk, rule});
        return;
      }
    }
    add(decision, finding.risk, text_of(finding), finding.span, rule);
  }

  void by_rule(const RuleMatch& match, Span span) {
    if (match.decision == Decision::Ask && settings_.mode == Mode::Yolo) return;
    add(match.decision, Risk::Medium, match.reason.empty() ? "a rule says so" : match.reason, span,
        match.rule);
  }

  void add(Decision decision, Risk risk, std::string text, Span span, const std::string& rule) {
    if (decision > verdict_.decision) {
      verdict_.decision = decision;
      verdict_.rule = rule;
    }
    verdict_.risk = std::max(verdict_.risk, risk);
    for (const Reason& known : verdict_.reasons) {
      if (known.text == text) return;
    }
    verdict_.reasons.push_back({std::move(text), span, risk, decision});
  }

  void finish() {
    if (settings_.mode == Mode::Auto) verdict_.sandbox = kWorkspace;
    if (confines() && verdict_.decision == Decision::Allow) {
      if (relies_on_sandbox_) {
        verdict_.sandbox = kWorkspace;
      } else if (settings_.confinable == Confinable::Alone && only_looks_at_files()) {
        verdict_.sandbox = kReadOnly;
      }
    }
    if (verdict_.decision == Decision::Allow && !settings_.auto_approve_safe &&
        settings_.mode != Mode::Yolo) {
      add(Decision::Ask, Risk::Low, "is harmless, but every command needs approval",
          {0, static_cast<uint32_t>(command_.size())}, "setting policy.auto_approve_safe_commands = false");
    }
    if (verdict_.decision != Decision::Allow) {
      verdict_.risk = std::max(verdict_.risk, facts_.least_risk);
      for (const Reason& trick : facts_.tricks) {
        bool known = false;
        for (const Reason& reason : verdict_.reasons) known |= reason.text == trick.text;
        if (!known) verdict_.reasons.push_back(trick);
      }
    }
    std::sort(verdict_.reasons.begin(), verdict_.reasons.end(), [](const Reason& a, const Reason& b) {
      if (a.decision != b.decision) return a.decision > b.decision;
      if (a.risk != b.risk) return a.risk > b.risk;
      return std::tie(a.span.begin, a.text) < std::tie(b.span.begin, b.text);
    });
  }

  std::string_view command_;
  const Facts& facts_;
  const Place& place_;
  const RuleSet& rules_;
  const Settings& settings_;
  RuleMatch exact_;
  Verdict verdict_;
  bool relies_on_sandbox_ = false;
};

}  // namespace

std::string_view name_of(Mode mode) {
  return kModes[static_cast<size_t>(mode)];
}

bool parse_mode(std::string_view name, Mode& mode) {
  for (size_t i = 0; i < kModes.size(); ++i) {
    if (kModes[i] == name) {
      mode = static_cast<Mode>(i);
      return true;
    }
  }
  return false;
}

Verdict evaluate(std::string_view command, const Facts& facts, const Place& place, const RuleSet& rules,
                 const Settings& settings) {
  return Evaluation(command, facts, place, rules, settings).run();
}

Verdict check(std::string_view command, const Place& place, const RuleSet& rules, const Settings& settings) {
  return evaluate(command, read_command(command, place), place, rules, settings);
}

}  // namespace ttyward::policy
