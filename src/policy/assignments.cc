// Variables: which of them load code, which hold credentials, which are harmless.
#include <algorithm>
#include <array>

#include "policy/danger.h"
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
                                                               "PROMPT*",
                                                               "RPROMPT*",
                                                               "SPROMPT",
                                                               "POSTEDIT",
                                                               "RPS*",
                                                               "histchars",
                                                               "auto_resume",
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
  std::string upper(name);
  bool lower = false;
  for (char& c : upper) {
    lower |= c >= 'a' && c <= 'z';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  // In small letters such words are everyday names: `key`, `tokens`. As part of a longer name they count.
  return std::any_of(kSecretParts.begin(), kSecretParts.end(), [&](std::string_view part) {
    const size_t at = upper.find(part);
    return at != std::string::npos && (!lower || (at > 0 && upper[at - 1] == '_'));
  });
}

namespace {

// bash evaluates what is assigned to these as arithmetic.
bool is_integer_variable(std::string_view name) {
  constexpr auto kIntegers = std::to_array<std::string_view>(
      {"RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "BASHPID", "SECONDS", "LINENO", "EPOCHSECONDS", "UID",
       "EUID", "PPID", "SHLVL", "COLUMNS", "LINES"});
  return std::find(kIntegers.begin(), kIntegers.end(), name) != kIntegers.end();
}

// Special variables of zsh, mksh and ksh: tables of aliases, functions and commands, and numbers that are
// evaluated. All of them but these are in capitals.
bool is_shell_table(std::string_view name) {
  constexpr auto kTables = std::to_array<std::string_view>({"aliases",
                                                            "galiases",
                                                            "saliases",
                                                            "functions",
                                                            "dis_functions",
                                                            "dis_aliases",
                                                            "commands",
                                                            "nameddirs",
                                                            "userdirs",
                                                            "options",
                                                            "path",
                                                            "fpath",
                                                            "cdpath",
                                                            "module_path",
                                                            "parameters",
                                                            "precmd",
                                                            "preexec",
                                                            "chpwd",
                                                            "periodic",
                                                            "zshexit",
                                                            "precmd_functions",
                                                            "preexec_functions",
                                                            "chpwd_functions",
                                                            "periodic_functions",
                                                            "zshexit_functions",
                                                            "zshaddhistory_functions",
                                                            "prompt",
                                                            "psvar",
                                                            "status",
                                                            "argv",
                                                            "match",
                                                            "mbegin",
                                                            "mend",
                                                            "jobtexts",
                                                            "jobdirs",
                                                            "jobstates",
                                                            "keymaps",
                                                            "widgets",
                                                            "mapfile",
                                                            "builtins",
                                                            "reswords",
                                                            "patchars",
                                                            "history",
                                                            "historywords",
                                                            "modules",
                                                            "dirstack",
                                                            "terminfo",
                                                            "termcap",
                                                            "fignore",
                                                            "manpath",
                                                            "watch",
                                                            "zsh_eval_context",
                                                            "region_highlight"});
  return std::find(kTables.begin(), kTables.end(), name) != kTables.end();
}

// A locale in which every byte below 128 is what it seems to be.
bool is_plain_locale(std::string_view value) {
  if (value.empty() || value == "C" || value == "POSIX") return true;
  const bool utf8 = value.ends_with(".UTF-8") || value.ends_with(".utf8") || value.ends_with(".utf-8");
  return utf8 && std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '.' || c == '-' || c == '@';
         });
}

bool is_locale(std::string_view name) {
  return name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_");
}

}  // namespace

void judge_assignment(Invocation& call, std::string_view name, std::string_view value,
                      AssignmentScope scope) {
  const syntax::Dialect dialect = call.walk.shell_dialect();
  if (name.starts_with("__ttyward"))
    call.ask(Risk::High, EffectKind::State, "changes a variable of ttyward's own", std::string(name));
  if (is_code_loading(name)) {
    check_command_text(call, value);
    Field file;
    file.text = std::string(value);
    check_known_script(call, file);
  }
  const bool digits = !value.empty() && value.find_first_not_of("0123456789\x03") == std::string_view::npos;
  if (is_integer_variable(name) && !digits)
    call.ask(Risk::High, EffectKind::Execute, "assigns text that is evaluated as arithmetic",
             std::string(name));
  if (dialect != syntax::Dialect::Bash &&
      (is_shell_table(name) || name == "NULLCMD" || name == "READNULLCMD" ||
       ((name == "SECONDS" || name == "HISTSIZE" || name == "COLUMNS" || name == "LINES" || name == "TMOUT" ||
         name == "MAILCHECK") &&
        !digits)))
    call.ask(Risk::High, EffectKind::State, "changes a variable that this shell obeys", std::string(name));
  if (is_locale(name) &&
      (!is_plain_locale(value) || (scope != AssignmentScope::Command && name != "LANGUAGE"))) {
    call.ask(Risk::High, EffectKind::State, "changes how the shell reads its next line", std::string(name));
    if (scope != AssignmentScope::Command)
      call.walk.state().poisoned = "'" + std::string(name) + "' was changed";
  }
  const bool to_cat = (name == "PAGER" || name == "GIT_PAGER" || name == "MANPAGER") && value == "cat";
  // As agents' commands have them anyway (pty/guard_variables.cc).
  const bool guards = ((name == "GIT_OPTIONAL_LOCKS" || name == "GIT_TERMINAL_PROMPT") && value == "0") ||
                      (name == "LESSSECURE" && value == "1");
  const bool plain_value = value.find('/') == std::string_view::npos || name == "LS_COLORS" ||
                           (name == "TZ" && !value.starts_with("/") && !value.starts_with(":") &&
                            value.find("..") == std::string_view::npos);
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
