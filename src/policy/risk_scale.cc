#include "policy/risk_scale.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "policy/script_file.h"

namespace ttyward::policy {
namespace {

// A program and the words after it; "" stands for any.
struct Use {
  std::string_view program;
  std::string_view words;
};

// Looks at something, or makes a new empty thing.
constexpr auto kLow = std::to_array<Use>({
    {"shellcheck", ""},
    {"mypy", ""},
    {"flake8", ""},
    {"pylint", ""},
    {"eslint", ""},
    {"ruff", "check"},
    {"tsc", "--noEmit"},
    {"mkdir", ""},
    {"ping", ""},
    {"journalctl", ""},
    {"crontab", "-l"},
    {"docker", "logs"},
    {"docker", "ps"},
    {"docker", "images"},
    {"docker", "stats"},
    {"docker", "top"},
    {"docker", "port"},
    {"docker", "version"},
    {"docker", "info"},
    {"docker", "compose ps"},
    {"docker", "compose logs"},
    {"podman", "logs"},
    {"podman", "ps"},
    {"podman", "images"},
    {"kubectl", "get"},
    {"kubectl", "describe"},
    {"kubectl", "logs"},
    {"kubectl", "top"},
    {"kubectl", "explain"},
    {"kubectl", "version"},
    {"helm", "list"},
    {"helm", "status"},
    {"npm", "outdated"},
    {"npm", "view"},
    {"npm", "ls"},
    {"npm", "audit"},
    {"cargo", "tree"},
    {"cargo", "metadata"},
    {"go", "list"},
    {"go", "vet"},
    {"gh", "pr list"},
    {"gh", "pr view"},
    {"gh", "pr status"},
    {"gh", "pr diff"},
    {"gh", "pr checks"},
    {"gh", "issue list"},
    {"gh", "issue view"},
    {"gh", "run list"},
    {"gh", "run view"},
    {"gh", "repo view"},
    {"git", "fetch"},
    {"git", "ls-remote"},
    {"kubectl", "api-resources"},
    {"kubectl", "cluster-info"},
    {"kubectl", "rollout status"},
    {"ssh-keygen", "-l"},
    {"terraform", "validate"},
    {"systemctl", "status"},
});

// Runs the project's own code by its usual entrance, or changes what is easily made good.
constexpr auto kMedium = std::to_array<Use>({
    {"npm", "test"},
    {"npm", "t"},
    {"npm", "run"},
    {"npm", "start"},
    {"npm", "run-script"},
    {"yarn", "test"},
    {"yarn", "run"},
    {"yarn", "build"},
    {"yarn", "lint"},
    {"yarn", "start"},
    {"pnpm", "test"},
    {"pnpm", "run"},
    {"pnpm", "build"},
    {"pnpm", "lint"},
    {"bun", "test"},
    {"bun", "run"},
    {"deno", "test"},
    {"deno", "task"},
    {"pytest", ""},
    {"py.test", ""},
    {"python", "-m unittest"},
    {"python", "-m pytest"},
    {"python3", "-m unittest"},
    {"python3", "-m pytest"},
    {"tox", ""},
    {"nox", ""},
    {"make", ""},
    {"gmake", ""},
    {"ninja", ""},
    {"meson", ""},
    {"cmake", ""},
    {"ctest", ""},
    {"cargo", "build"},
    {"cargo", "test"},
    {"cargo", "check"},
    {"cargo", "clippy"},
    {"cargo", "run"},
    {"cargo", "bench"},
    {"cargo", "doc"},
    {"cargo", "fmt"},
    {"go", "build"},
    {"go", "test"},
    {"go", "run"},
    {"go", "generate"},
    {"go", "fmt"},
    {"mvn", ""},
    {"gradle", ""},
    {"sbt", ""},
    {"ant", ""},
    {"bazel", "build"},
    {"bazel", "test"},
    {"dotnet", "build"},
    {"dotnet", "test"},
    {"dotnet", "run"},
    {"swift", "build"},
    {"swift", "test"},
    {"mix", "test"},
    {"mix", "compile"},
    {"rake", ""},
    {"rspec", ""},
    {"phpunit", ""},
    {"jest", ""},
    {"vitest", ""},
    {"mocha", ""},
    {"tsc", ""},
    {"node", "--test"},
    {"gcc", ""},
    {"g++", ""},
    {"clang", ""},
    {"clang++", ""},
    {"cc", ""},
    {"c++", ""},
    {"rustc", ""},
    {"javac", ""},
    {"git", "pull"},
    {"wget", ""},
    {"docker", "build"},
    {"docker", "stop"},
    {"docker", "start"},
    {"docker", "restart"},
    {"docker", "pull"},
    {"docker", "inspect"},
    {"docker", "compose up"},
    {"docker", "compose build"},
    {"docker", "compose stop"},
    {"docker", "compose restart"},
    {"docker", "compose down"},
});

// Cannot be undone, or hands over the machine.
constexpr auto kCritical = std::to_array<Use>({
    {"terraform", "destroy"},
    {"kubectl", "delete namespace"},
    {"kubectl", "delete ns"},
    {"dropdb", ""},
    {"su", ""},
    {"useradd", ""},
    {"userdel", ""},
    {"usermod", ""},
    {"adduser", ""},
    {"deluser", ""},
    {"groupadd", ""},
    {"groupdel", ""},
    {"passwd", ""},
    {"chpasswd", ""},
    {"visudo", ""},
    {"vipw", ""},
    {"ssh-add", "-D"},
    {"gh", "repo delete"},
    {"aws", "s3 rb"},
    {"aws", "s3 rm"},
    {"gcloud", "projects delete"},
    {"git", "reflog expire"},
    {"dmsetup", ""},
    {"docker", "system prune"},
    {"docker", "volume rm"},
    {"docker", "volume prune"},
});

constexpr auto kBecomes = std::to_array<std::string_view>({"sudo", "doas", "pkexec", "runuser"});

bool is_use(const Use& use, const CommandFact& fact) {
  if (use.program != fact.program) return false;
  size_t word = 1;
  for (std::string_view rest = use.words; !rest.empty(); ++word) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (word >= fact.argv.size() || fact.argv[word] != rest.substr(0, end)) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

template <size_t N>
bool is_any(const std::array<Use, N>& uses, const CommandFact& fact) {
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return is_use(use, fact); });
}

bool leads_up(std::string_view word) {
  return word == ".." || word.starts_with("../") || word.ends_with("/..") ||
         word.find("/../") != std::string_view::npos || word.find("=..") != std::string_view::npos;
}

// Every word is known and none leads out of the folder, sets something, or asks for more than looking.
bool is_tame(const CommandFact& fact, Risk wanted) {
  for (size_t i = 1; i < fact.argv.size(); ++i) {
    const std::string_view word = fact.argv[i];
    if (i >= fact.known.size() || fact.known[i] != Known::All) return false;
    if (word.starts_with("/") || word.starts_with("~") || leads_up(word)) return false;
    if (word.find("=/") != std::string_view::npos || word.find("=~") != std::string_view::npos) return false;
    if (word.find('=') != std::string_view::npos && !word.starts_with("-")) return false;
    // A program or an address that runs one.
    if (word.find("pack") != std::string_view::npos || word.find("exec") != std::string_view::npos ||
        word.find("::") != std::string_view::npos)
      return false;
    if (wanted > Risk::Low) continue;
    if (word.starts_with("--fix") || word == "--write" || word == "fix" || word.starts_with("secret"))
      return false;
  }
  return true;
}

bool is_under(const std::string& path, const std::string& folder) {
  return !folder.empty() && (path == folder || path.starts_with(folder + "/"));
}

// What the use itself stands for: not credentials, deleting, rights, or files elsewhere.
bool is_part_of_use(const Finding& finding) {
  switch (finding.effect) {
    case EffectKind::Write:
      return finding.target.empty() || finding.plain_write;
    case EffectKind::Execute:
    case EffectKind::Unknown:
    case EffectKind::Network:
    case EffectKind::Process:
    case EffectKind::Install:
      return true;
    case EffectKind::Delete:     // containers and their like, not files
    case EffectKind::Privilege:  // logs and tables, not files
    case EffectKind::Secret:
      return finding.target.empty();
    case EffectKind::Read:
    case EffectKind::List:
    case EffectKind::State:
      break;
  }
  return false;
}

// False if the command is more than the use it looks like.
bool lower(Invocation& call, Risk risk) {
  CommandFact& fact = call.fact;
  if (!is_system_program(fact.argv.front()) || !is_tame(fact, risk)) return false;
  // Elsewhere it is not the project's own code.
  if (!is_under(fact.cwd, call.walk.place().workspace)) return false;
  const bool all = std::all_of(fact.findings.begin(), fact.findings.end(), [](const Finding& finding) {
    return finding.decision == Decision::Ask && finding.risk < Risk::Critical && is_part_of_use(finding);
  });
  if (!all) return false;
  for (Finding& finding : fact.findings) finding.risk = std::min(finding.risk, risk);
  return true;
}

void raise_asked(CommandFact& fact, Risk risk) {
  for (Finding& finding : fact.findings) finding.risk = std::max(finding.risk, risk);
}

// With root's rights a write is a write anywhere, and a shell is everything.
void raise_for_root(Invocation& call, size_t inner_from) {
  std::vector<CommandFact>& commands = call.walk.facts().commands;
  for (size_t i = inner_from; i < commands.size(); ++i) {
    const bool shell = is_interpreter(commands[i].program) || commands[i].program == "su";
    for (Finding& finding : commands[i].findings) {
      const bool writes = finding.effect == EffectKind::Write || finding.effect == EffectKind::Delete;
      if (writes || shell) finding.risk = Risk::Critical;
    }
  }
}

bool sends_elsewhere(const CommandFact& fact) {
  return std::any_of(fact.argv.begin() + 1, fact.argv.end(), [](const std::string& word) {
    const size_t colon = word.find(':');
    return colon != std::string::npos && colon > 0 && !word.starts_with("-") && word.find('/') >= colon;
  });
}

}  // namespace

void scale_risks(Invocation& call, size_t inner_from) {
  CommandFact& fact = call.fact;
  if (std::find(kBecomes.begin(), kBecomes.end(), fact.program) != kBecomes.end())
    return raise_for_root(call, inner_from);
  if (fact.findings.empty()) return;
  if (is_any(kCritical, fact)) return raise_asked(fact, Risk::Critical);
  if (fact.program == "rsync" && sends_elsewhere(fact)) return raise_asked(fact, Risk::High);
  if (is_any(kLow, fact) && lower(call, Risk::Low)) return;
  if (is_any(kMedium, fact)) lower(call, Risk::Medium);
}

}  // namespace ttyward::policy
