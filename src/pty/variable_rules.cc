#include "pty/variable_rules.h"

#include <array>
#include <span>

namespace ttyward::pty {
namespace {

// One rule: a name, or a prefix when it ends in '*', or a suffix when it begins
// with one.
bool matches(std::string_view rule, std::string_view name) {
  if (rule.back() == '*') return name.starts_with(rule.substr(0, rule.size() - 1));
  if (rule.front() == '*') return name.ends_with(rule.substr(1));
  return name == rule;
}

bool any(std::span<const std::string_view> rules, std::string_view name) {
  for (const std::string_view rule : rules)
    if (matches(rule, name)) return true;
  return false;
}

constexpr std::array<std::string_view, 12> kAllowed = {"PATH",    "HOME",  "LANG",   "LANGUAGE",
                                                       "LC_*",    "TERM",  "TZ",     "USER",
                                                       "LOGNAME", "SHELL", "TMPDIR", "COLORTERM"};

constexpr std::string_view kAlways[] = {"HOME", "LANG", "LANGUAGE", "LC_*", "TZ", "USER", "LOGNAME", "SHELL"};

// docs/environment.md lists them with their reasons.
constexpr std::string_view kTools[] = {"VIRTUAL_ENV*",    "CONDA_*",
                                       "MAMBA_*",         "PYENV_*",
                                       "NVM_*",           "FNM_*",
                                       "VOLTA_HOME",      "RBENV_*",
                                       "SDKMAN_*",        "ASDF_*",
                                       "MISE_*",          "JAVA_HOME",
                                       "JDK_HOME",        "M2_HOME",
                                       "GRADLE_HOME",     "GRADLE_USER_HOME",
                                       "ANDROID_HOME",    "ANDROID_SDK_ROOT",
                                       "CARGO_HOME",      "RUSTUP_HOME",
                                       "GOPATH",          "GOROOT",
                                       "GOBIN",           "PNPM_HOME",
                                       "DENO_DIR",        "DOTNET_ROOT",
                                       "FLUTTER_ROOT",    "CMAKE_PREFIX_PATH",
                                       "PKG_CONFIG_PATH", "CI",
                                       "DISPLAY",         "WAYLAND_DISPLAY",
                                       "XDG_*",           "http_proxy",
                                       "https_proxy",     "ftp_proxy",
                                       "all_proxy",       "no_proxy",
                                       "HTTP_PROXY",      "HTTPS_PROXY",
                                       "FTP_PROXY",       "ALL_PROXY",
                                       "NO_PROXY",        "SSL_CERT_FILE",
                                       "SSL_CERT_DIR",    "REQUESTS_CA_BUNDLE",
                                       "CURL_CA_BUNDLE",  "NODE_EXTRA_CA_CERTS",
                                       "NIX_*",           "DIRENV_*"};

constexpr std::string_view kPersons[] = {"SSH_AUTH_SOCK", "SSH_AGENT_PID", "KRB5CCNAME",
                                         "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY"};

constexpr std::array<std::string_view, 22> kTerminalIds = {
    "LINES",         "COLUMNS",         "TERMCAP",
    "TERM_PROGRAM*", "TERM_SESSION_ID", "KITTY_*",
    "WEZTERM_*",     "GHOSTTY_*",       "VTE_*",
    "ITERM_*",       "LC_TERMINAL*",    "TMUX*",
    "STY",           "WINDOWID",        "WT_*",
    "KONSOLE_*",     "VSCODE_*",        "ALACRITTY_*",
    "ZELLIJ*",       "TERMINATOR_*",    "GNOME_TERMINAL_*",
    "INSIDE_EMACS"};

struct Refusal {
  std::string_view reason;
  std::span<const std::string_view> rules;
};

constexpr std::string_view kLoader[] = {"LD_*",       "DYLD_*",  "GLIBC_TUNABLES",
                                        "GCONV_PATH", "NLSPATH", "*_PRELOAD"};
constexpr std::string_view kShell[] = {"BASH_ENV",
                                       "ENV",
                                       "PROMPT_COMMAND",
                                       "PS0",
                                       "PS1",
                                       "PS2",
                                       "PS3",
                                       "PS4",
                                       "SHELLOPTS",
                                       "IFS",
                                       "BASHOPTS",
                                       "BASH_FUNC_*",
                                       "ZDOTDIR",
                                       "BASH_XTRACEFD",
                                       "FPATH",
                                       "CDPATH",
                                       "BASH_LOADABLES_PATH"};
constexpr std::string_view kRuntime[] = {"NODE_OPTIONS",
                                         "NODE_PATH",
                                         "NODE_REPL_EXTERNAL_MODULE",
                                         "NODE_EXTRA_CA_CERTS",
                                         "npm_config_*",
                                         "NPM_CONFIG_*",
                                         "PYTHONPATH",
                                         "PYTHONSTARTUP",
                                         "PYTHONHOME",
                                         "PYTHONBREAKPOINT",
                                         "PYTHONWARNINGS",
                                         "PYTHONUSERBASE",
                                         "PYTHONEXECUTABLE",
                                         "PYTHONPLATLIBDIR",
                                         "PERL5OPT",
                                         "PERL5LIB",
                                         "PERL5DB",
                                         "PERLLIB",
                                         "RUBYOPT",
                                         "RUBYLIB",
                                         "RUBYPATH",
                                         "GEM_PATH",
                                         "GEM_HOME",
                                         "BUNDLE_GEMFILE",
                                         "JAVA_TOOL_OPTIONS",
                                         "_JAVA_OPTIONS",
                                         "JDK_JAVA_OPTIONS",
                                         "CLASSPATH",
                                         "MAVEN_OPTS",
                                         "GRADLE_OPTS",
                                         "DOTNET_STARTUP_HOOKS",
                                         "DOTNET_ADDITIONAL_DEPS",
                                         "CORECLR_*",
                                         "COR_*",
                                         "LUA_INIT*",
                                         "LUA_PATH*",
                                         "LUA_CPATH*",
                                         "PHPRC",
                                         "PHP_INI_SCAN_DIR",
                                         "R_PROFILE*",
                                         "R_ENVIRON*",
                                         "ERL_*",
                                         "TCLLIBPATH",
                                         "GUILE_LOAD_PATH",
                                         "GTK_MODULES",
                                         "GTK_PATH",
                                         "QT_PLUGIN_PATH",
                                         "OPENSSL_CONF",
                                         "OPENSSL_MODULES",
                                         "OPENSSL_ENGINES"};
constexpr std::string_view kProgram[] = {"PAGER",         "*_PAGER",
                                         "MANPAGER",      "EDITOR",
                                         "VISUAL",        "*_EDITOR",
                                         "FCEDIT",        "BROWSER",
                                         "*_BROWSER",     "LESSOPEN",
                                         "LESSCLOSE",     "LESSKEY*",
                                         "LESS",          "MORE",
                                         "*_ASKPASS",     "SUDO_*",
                                         "RSYNC_RSH",     "CVS_RSH",
                                         "SVN_SSH",       "MAKEFLAGS",
                                         "GNUMAKEFLAGS",  "MAKEFILES",
                                         "MFLAGS",        "RUSTC",
                                         "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER",
                                         "RUSTDOC",       "RUSTFLAGS",
                                         "CARGO_BUILD_*", "CARGO_TARGET_*",
                                         "TAR_OPTIONS",   "TAPE",
                                         "GOFLAGS",       "GZIP",
                                         "HGRCPATH",      "MERCURIAL_*",
                                         "VIMINIT",       "EXINIT",
                                         "VIM",           "VIMRUNTIME",
                                         "MYVIMRC",       "SHELL",
                                         "WGETRC",        "CURL_HOME",
                                         "INPUTRC",       "TERMINFO*"};

// Most of git's variables can make it run something (a config key is enough), so
// only these pass.
constexpr std::string_view kHarmlessGit[] = {
    "GIT_AUTHOR_*",       "GIT_COMMITTER_*",        "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS",
    "GIT_MERGE_AUTOEDIT", "GIT_LITERAL_PATHSPECS",  "GIT_REFLOG_ACTION",   "GIT_ADVICE",
    "GIT_PROGRESS_DELAY", "GIT_CEILING_DIRECTORIES"};

constexpr Refusal kRefusals[] = {
    {"makes the dynamic loader run other code", kLoader},
    {"changes what a shell runs or how it reads a command", kShell},
    {"makes a language runtime load other code", kRuntime},
    {"names a program or options that other programs run", kProgram},
};

bool is_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name)
    if (c == '=' || c == '\0' || c == '\n') return false;
  return true;
}

// "no pager" is not a program of anybody's choice.
bool switches_pager_off(std::string_view name, std::string_view value) {
  return name.ends_with("PAGER") && (value.empty() || value == "cat");
}

}  // namespace

bool is_allowed_by_default(std::string_view name) {
  return any(kAllowed, name);
}

bool is_needed_by_tools(std::string_view name) {
  return any(kTools, name);
}

bool is_for_the_person(std::string_view name) {
  return any(kPersons, name);
}

bool is_always_there(std::string_view name) {
  return any(kAlways, name);
}

bool identifies_other_terminal(std::string_view name) {
  return any(kTerminalIds, name);
}

std::string refusal_reason(std::string_view name, std::string_view value) {
  if (!is_name(name)) return "not a variable's name";
  if (value.find('\0') != std::string_view::npos) return "its value contains a NUL character";
  if (switches_pager_off(name, value)) return {};
  if (name == "TTYWARD_PERSON_TOKEN_FILE") return "identifies a person to ttyward";
  for (const Refusal& refusal : kRefusals)
    if (any(refusal.rules, name)) return std::string(refusal.reason);
  if (name.starts_with("GIT_") && !any(kHarmlessGit, name)) return "can make git run a program";
  return {};
}

}  // namespace ttyward::pty
