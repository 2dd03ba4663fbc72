// Variables: which of them load code, which hold credentials, which are harmless.
#include <algorithm>
#include <array>

#include "policy/judge.h"

namespace ttyward::policy {
namespace {

// Names that end in * are prefixes.
constexpr auto kCodeLoading = std::to_array<std::string_view>({"PATH",
                                                               "IFS",
                                                               "ENV",
                                                               "HOME",
                                                               "SHELL",
                                                               "TMPDIR",
                                                               "TMP",
                                                               "TEMP",
                                                               "BASH_*",
                                                               "BASHOPTS",
                                                               "SHELLOPTS",
                                                               "PROMPT_COMMAND",
                                                               "PS0",
                                                               "PS1",
                                                               "PS2",
                                                               "PS3",
                                                               "PS4",
                                                               "CDPATH",
                                                               "FPATH",
                                                               "ZDOTDIR",
                                                               "INPUTRC",
                                                               "GLOBIGNORE",
                                                               "EXECIGNORE",
                                                               "FIGNORE",
                                                               "HIST*",
                                                               "MAILPATH",
                                                               "MAIL",
                                                               "FCEDIT",
                                                               "TMOUT",
                                                               "POSIXLY_CORRECT",
                                                               "LD_*",
                                                               "DYLD_*",
                                                               "GCONV_PATH",
                                                               "LOCPATH",
                                                               "NLSPATH",
                                                               "MALLOC_*",
                                                               "GLIBC_TUNABLES",
                                                               "TERMINFO*",
                                                               "TERMCAP",
                                                               "TZDIR",
                                                               "HOSTALIASES",
                                                               "RES_OPTIONS",
                                                               "LOCALDOMAIN",
                                                               "PAGER",
                                                               "*PAGER",
                                                               "EDITOR",
                                                               "*EDITOR",
                                                               "VISUAL",
                                                               "BROWSER",
                                                               "LESS*",
                                                               "MORE",
                                                               "MANOPT",
                                                               "MANPATH",
                                                               "INFOPATH",
                                                               "NODE_*",
                                                               "NPM_*",
                                                               "npm_*",
                                                               "YARN_*",
                                                               "PNPM_*",
                                                               "BUN_*",
                                                               "DENO_*",
                                                               "PYTHON*",
                                                               "PIP_*",
                                                               "UV_*",
                                                               "CONDA_*",
                                                               "VIRTUAL_ENV",
                                                               "POETRY_*",
                                                               "PERL*",
                                                               "RUBY*",
                                                               "GEM_*",
                                                               "BUNDLE_*",
                                                               "JAVA_*",
                                                               "_JAVA_OPTIONS",
                                                               "JDK_*",
                                                               "CLASSPATH",
                                                               "MAVEN_*",
                                                               "GRADLE_*",
                                                               "SBT_*",
                                                               "DOTNET_*",
                                                               "CORECLR_*",
                                                               "COMPlus_*",
                                                               "LUA_*",
                                                               "PHP*",
                                                               "COMPOSER_*",
                                                               "R_*",
                                                               "JULIA_*",
                                                               "GO*",
                                                               "CGO_*",
                                                               "CARGO_*",
                                                               "RUST*",
                                                               "CC",
                                                               "CXX",
                                                               "CPP",
                                                               "LD",
                                                               "AR",
                                                               "AS",
                                                               "CFLAGS",
                                                               "CXXFLAGS",
                                                               "LDFLAGS",
                                                               "CPPFLAGS",
                                                               "MAKE*",
                                                               "MFLAGS",
                                                               "CMAKE_*",
                                                               "NINJA_*",
                                                               "CCACHE_*",
                                                               "DISTCC_*",
                                                               "GCC_*",
                                                               "COMPILER_PATH",
                                                               "LIBRARY_PATH",
                                                               "PKG_CONFIG*",
                                                               "GIT_*",
                                                               "GITHUB_*",
                                                               "SSH_*",
                                                               "SVN_*",
                                                               "HG*",
                                                               "CVS*",
                                                               "RSYNC_*",
                                                               "GPG_*",
                                                               "GNUPGHOME",
                                                               "SUDO_*",
                                                               "DOCKER_*",
                                                               "BUILDKIT_*",
                                                               "COMPOSE_*",
                                                               "KUBE*",
                                                               "HELM_*",
                                                               "AWS_*",
                                                               "AZURE_*",
                                                               "GOOGLE_*",
                                                               "CLOUDSDK_*",
                                                               "TF_*",
                                                               "ANSIBLE_*",
                                                               "VAGRANT_*",
                                                               "PG*",
                                                               "MYSQL_*",
                                                               "REDIS*",
                                                               "http_proxy",
                                                               "https_proxy",
                                                               "all_proxy",
                                                               "no_proxy",
                                                               "HTTP_PROXY",
                                                               "HTTPS_PROXY",
                                                               "ALL_PROXY",
                                                               "NO_PROXY",
                                                               "ftp_proxy",
                                                               "FTP_PROXY",
                                                               "CURL_*",
                                                               "WGETRC",
                                                               "SSL_*",
                                                               "OPENSSL_*",
                                                               "REQUESTS_CA_BUNDLE",
                                                               "RIPGREP_CONFIG_PATH",
                                                               "GREP_*",
                                                               "FZF_*",
                                                               "BAT_*",
                                                               "ACKRC",
                                                               "AG_*",
                                                               "TAR_*",
                                                               "GZIP",
                                                               "BZIP2",
                                                               "XZ_*",
                                                               "ZIPOPT",
                                                               "UNZIP*",
                                                               "ZIP*",
                                                               "EXINIT",
                                                               "VIM*",
                                                               "NVIM*",
                                                               "EMACS*",
                                                               "SCREENRC",
                                                               "TMUX*",
                                                               "XDG_*",
                                                               "DBUS_*",
                                                               "DISPLAY",
                                                               "WAYLAND_*",
                                                               "XAUTHORITY",
                                                               "GTK_*",
                                                               "QT_*",
                                                               "SANDBOX*",
                                                               "CLAUDE*",
                                                               "CODEX_*",
                                                               "GEMINI_*",
                                                               "TTYWARD_*",
                                                               "COPILOT_*",
                                                               "ANTHROPIC_*",
                                                               "OPENAI_*",
                                                               "HOMEBREW_*",
                                                               "NIX_*",
                                                               "MISE_*",
                                                               "ASDF_*",
                                                               "DIRENV_*",
                                                               "NVM_*",
                                                               "PYENV_*",
                                                               "RBENV_*",
                                                               "SYSTEMD_*",
                                                               "DEBIAN_FRONTEND",
                                                               "DEBUGINFOD_*",
                                                               "ASAN_*",
                                                               "CHARSET*",
                                                               "COLUMN_*",
                                                               "USER",
                                                               "LOGNAME",
                                                               "PWD",
                                                               "OLDPWD"});

constexpr auto kHarmless = std::to_array<std::string_view>({"LANG",
                                                            "LANGUAGE",
                                                            "LC_*",
                                                            "TZ",
                                                            "NO_COLOR",
                                                            "CLICOLOR",
                                                            "CLICOLOR_FORCE",
                                                            "FORCE_COLOR",
                                                            "COLORTERM",
                                                            "COLUMNS",
                                                            "LINES",
                                                            "TERM",
                                                            "LS_COLORS",
                                                            "GREP_COLORS",
                                                            "GREP_COLOR",
                                                            "CI",
                                                            "DEBUG",
                                                            "VERBOSE",
                                                            "QUIET",
                                                            "TIME_STYLE",
                                                            "BLOCK_SIZE",
                                                            "BLOCKSIZE",
                                                            "GIT_FLUSH",
                                                            "GIT_PAGER_IN_USE",
                                                            "PYTHONDONTWRITEBYTECODE",
                                                            "PYTHONUNBUFFERED",
                                                            "PYTHONIOENCODING",
                                                            "PYTHONUTF8",
                                                            "QUOTING_STYLE",
                                                            "TIMEFORMAT"});

constexpr auto kSecretParts = std::to_array<std::string_view>(
    {"TOKEN",      "SECRET",     "PASSWORD",     "PASSWD",    "PASSPHRASE",        "APIKEY",  "API_KEY",
     "_KEY",       "AUTH",       "CREDENTIAL",   "CREDS",     "PRIVATE",           "_PAT",    "_PWD",
     "PGPASS",     "SENTRY_DSN", "DATABASE_URL", "DB_URI",    "CONNECTION_STRING", "WEBHOOK", "COOKIE",
     "SESSION_ID", "_DSN",       "ACCESS_KEY",   "CLIENT_ID", "ACCOUNT_SID"});

template <size_t N>
bool listed(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view entry) {
    if (entry.back() == '*') return name.starts_with(entry.substr(0, entry.size() - 1));
    if (entry.front() == '*') return name.ends_with(entry.substr(1));
    return name == entry;
  });
}

}  // namespace

bool is_code_loading(std::string_view name) {
  return listed(kCodeLoading, name);
}

bool is_secret_name(std::string_view name) {
  if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; })) return false;
  return std::any_of(kSecretParts.begin(), kSecretParts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

void judge_assignment(Invocation& call, std::string_view name, std::string_view value,
                      AssignmentScope scope) {
  const bool to_cat = (name == "PAGER" || name == "GIT_PAGER" || name == "MANPAGER") && value == "cat";
  // As agents' commands have them anyway (pty/guard_variables.cc).
  const bool guards = ((name == "GIT_OPTIONAL_LOCKS" || name == "GIT_TERMINAL_PROMPT") && value == "0") ||
                      (name == "LESSSECURE" && value == "1");
  const bool plain_value =
      value.find('/') == std::string_view::npos || name.starts_with("TZ") || name == "LS_COLORS";
  if (scope == AssignmentScope::Command) {
    if ((listed(kHarmless, name) && plain_value) || to_cat || guards) return;
    const bool loads = is_code_loading(name) || name.find_first_of("[+") != std::string_view::npos;
    call.ask(loads ? Risk::High : Risk::Medium, EffectKind::Execute,
             loads ? "sets a variable that makes programs run or load something"
                   : "sets a variable that is not known to be harmless",
             std::string(name));
    return;
  }
  if (name.find('[') != std::string_view::npos) {
    call.ask(Risk::High, EffectKind::State, "assigns to a variable whose name can run commands",
             std::string(name));
  } else if (is_code_loading(name)) {
    call.ask(Risk::High, EffectKind::State, "changes a variable that later commands obey", std::string(name));
    call.walk.state().poisoned = "'" + std::string(name) + "' was changed";
  }
  call.walk.state().set(name, {std::string(value)});
}

}  // namespace ttyward::policy
