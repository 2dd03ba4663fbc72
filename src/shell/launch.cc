#include "shell/launch.h"

#include <initializer_list>

#include "shell/quoting.h"
#include "shell/scripts.inc"

namespace ttyward::shell {
namespace {

using Values = std::initializer_list<std::pair<std::string_view, std::string>>;

// Replaces every @NAME@. In one pass, so that nothing in a value is taken for a name.
std::string fill_in(std::string_view script, const Values& values) {
  std::string out;
  while (true) {
    const size_t at = script.find('@');
    out += script.substr(0, at);
    if (at == std::string_view::npos) return out;
    script.remove_prefix(at);
    const size_t end = script.find('@', 1);
    const std::string_view name = end == std::string_view::npos ? "" : script.substr(1, end - 1);
    bool found = false;
    for (const auto& [key, value] : values) {
      if (key != name) continue;
      out += value;
      script.remove_prefix(end + 1);
      found = true;
      break;
    }
    if (found) continue;
    out += '@';
    script.remove_prefix(1);
  }
}

std::string digit(bool value) {
  return value ? "1" : "0";
}

class Planner {
 public:
  // `again`: for a shell that has read its own files already.
  Planner(const ShellSpec& spec, LaunchPlan& plan, bool again = false)
      : spec_(spec), plan_(plan), again_(again) {}

  void bash() {
    const std::string path = add_file("init.bash", fill_in(kBash_bash, {{"NONCE", spec_.nonce},
                                                                        {"DIR", folder()},
                                                                        {"LOGIN", digit(login())},
                                                                        {"FIRST", std::string(kBashHooks[0])},
                                                                        {"LAST", std::string(kBashHooks[1])},
                                                                        {"HISTORY", history()},
                                                                        {"AGAIN", digit(again_)},
                                                                        {"ENVIRONMENT", environment()}}));
    // A login bash ignores --init-file, so the script reads the login files itself.
    start({"--init-file", path});
    plan_.argv.emplace_back("-i");
  }

  void zsh() {
    add_file(".zshenv", fill_in(kZshenv_zsh, {{"NONCE", spec_.nonce},
                                              {"DIR", folder()},
                                              {"HAS_ZDOTDIR", digit(spec_.user_zdotdir.has_value())},
                                              {"USER_ZDOTDIR", quote_posix(spec_.user_zdotdir.value_or(""))},
                                              {"HISTORY", history()},
                                              {"AGAIN", digit(again_)},
                                              {"ENVIRONMENT", environment()}}));
    start({});
    if (login()) plan_.argv.emplace_back("-l");
    plan_.argv.emplace_back("-i");
    plan_.environment.emplace_back("ZDOTDIR", spec_.private_folder);
  }

  void fish() {
    const std::string path =
        add_file("init.fish", fill_in(kFish_fish, {{"NONCE", spec_.nonce},
                                                   {"DIR", quote_fish(spec_.private_folder)},
                                                   {"ENVIRONMENT", environment()}}));
    start({"--init-command", "source " + quote_fish(path)});
    if (login()) plan_.argv.emplace_back("--login");
    plan_.argv.emplace_back("--interactive");
  }

  void pwsh() {
    const std::string path = add_file(
        "init.ps1", fill_in(kPwsh_ps1, {{"NONCE", spec_.nonce},
                                        {"DIR", quote_powershell(spec_.private_folder)},
                                        {"HISTORY", "$" + std::string(record() ? "true" : "false")}}));
    plan_.argv = {program()};
    if (login()) plan_.argv.emplace_back("-Login");  // must come first
    plan_.argv.insert(plan_.argv.end(), plan_.identity.options.begin(), plan_.identity.options.end());
    plan_.argv.insert(plan_.argv.end(), {"-NoExit", "-Command", ". " + quote_powershell(path)});
  }

  void posix() {
    const ShellKind kind = plan_.identity.kind;
    // Between these bytes a line editor does not count columns, where it has such a thing.
    const bool mksh = kind == ShellKind::Mksh;
    const std::string hide = mksh ? "\x01" : kind == ShellKind::BusyboxAsh ? "\\[" : "";
    const std::string show = mksh ? "\x01" : kind == ShellKind::BusyboxAsh ? "\\]" : "";
    // mksh keeps an interrupt that comes during a substitution's process for the next line, and drops that.
    const std::string drop = mksh ? "${|__ttyward_drop;}" : "$({ __ttyward_drop; } 2>/dev/null)";
    std::string native_rc;
    if (!spec_.user_env && (mksh || kind == ShellKind::Ksh)) {
      const std::string rc = mksh ? "$HOME/.mkshrc" : "$HOME/.kshrc";
      native_rc = "if [ -r \"" + rc + "\" ]; then . \"" + rc + "\"; fi";
    }
    const std::string path =
        add_file("init.sh", fill_in(kPosix_sh, {{"NONCE", spec_.nonce},
                                                {"DIR", folder()},
                                                {"LOGIN", digit(login())},
                                                {"AGAIN", digit(again_)},
                                                {"HAS_ENV", digit(spec_.user_env.has_value())},
                                                {"USER_ENV", quote_posix(spec_.user_env.value_or(""))},
                                                {"NATIVE_RC", native_rc},
                                                {"ESC", "\x1b"},
                                                {"BEL", "\x07"},
                                                {"HIDE", hide},
                                                {"SHOW", show},
                                                {"DROP", drop},
                                                {"PROMPT_LEAD", mksh ? "\x01\r" : ""}}));
    start({});
    plan_.argv.emplace_back("-i");
    plan_.environment.emplace_back("ENV", path);
  }

  void plan() {
    switch (plan_.identity.kind) {
      case ShellKind::Bash:
        return bash();
      case ShellKind::Zsh:
        return zsh();
      case ShellKind::Fish:
        return fish();
      case ShellKind::Pwsh:
        return pwsh();
      case ShellKind::Cmd:
      case ShellKind::GitBash:
      case ShellKind::Other:
        return;
      default:
        return posix();
    }
  }

 private:
  bool login() const { return plan_.identity.login; }
  bool record() const { return spec_.history == History::Record; }
  std::string history() const { return digit(record()); }
  std::string environment() const { return digit(spec_.report_environment == ReportEnvironment::Yes); }
  std::string folder() const { return quote_posix(spec_.private_folder); }

  std::string program() const {
    if (spec_.argv.empty()) return {};
    const std::string& name = spec_.argv[0];
    return name.starts_with('-') ? name.substr(1) : name;
  }

  std::string add_file(const char* name, std::string content) {
    std::string path = spec_.private_folder + "/" + name;
    plan_.files.push_back({path, std::move(content), 0600});
    plan_.remove_when_ready.push_back(path);
    return path;
  }

  // Long options of bash must precede its short ones.
  void start(const std::vector<std::string>& first) {
    plan_.argv = {program()};
    if (spec_.argv.size() > 1 && plan_.argv[0].ends_with("busybox")) plan_.argv.push_back(spec_.argv[1]);
    plan_.argv.insert(plan_.argv.end(), first.begin(), first.end());
    plan_.argv.insert(plan_.argv.end(), plan_.identity.options.begin(), plan_.identity.options.end());
  }

  const ShellSpec& spec_;
  LaunchPlan& plan_;
  const bool again_;
};

}  // namespace

LaunchPlan prepare(const ShellSpec& spec) {
  LaunchPlan plan;
  plan.identity = identify_shell(spec.argv, spec.real_path);
  plan.identity.login |= spec.login;
  plan.argv = spec.argv;
  if (plan.identity.runs_command) return plan;
  plan.expected = attainable_quality(plan.identity.kind);
  Planner(spec, plan).plan();
  return plan;
}

std::optional<LateIntegration> integrate_later(ShellKind kind, const ShellSpec& spec) {
  if (kind == ShellKind::Pwsh || attainable_quality(kind) == Quality::None) return std::nullopt;
  LaunchPlan plan;
  plan.identity.kind = kind;
  ShellSpec again = spec;
  again.argv.clear();
  Planner(again, plan, true).plan();
  LateIntegration late;
  late.file = std::move(plan.files.front());
  late.file.path = spec.private_folder + "/again";
  late.expected = attainable_quality(kind);
  // A blank first: our lines are nobody's history.
  late.line =
      kind == ShellKind::Fish ? " source " + quote_fish(late.file.path) : " . " + quote_posix(late.file.path);
  return late;
}

}  // namespace ttyward::shell
