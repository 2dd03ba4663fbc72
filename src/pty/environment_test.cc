#include "pty/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pty/variable_rules.h"

namespace ttyward::pty {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> build(EnvironmentRequest request) {
  return build_environment(request).variables;
}

TEST(Environment, from_nothing_a_command_gets_a_terminal_a_path_and_a_language) {
  EnvironmentRequest request;
  request.version = "1.2.3";
  request.pagers = PagerProfile::AsIs;
  EXPECT_THAT(build(request),
              ElementsAre("COLORTERM=truecolor", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin",
                          "TERM=xterm-256color", "TERM_PROGRAM=ttyward", "TERM_PROGRAM_VERSION=1.2.3"));
}

TEST(Environment, only_listed_variables_of_ours_pass) {
  EnvironmentRequest request;
  request.pagers = PagerProfile::AsIs;
  request.ours = {
      "PATH=/bin",        "HOME=/home/u",  "LANG=de_DE.UTF-8", "LC_TIME=C",       "TZ=UTC",
      "USER=u",           "LOGNAME=u",     "SHELL=/bin/zsh",   "TMPDIR=/tmp",     "GH_PAT=secret",
      "MYSQL_PWD=secret", "KUBECONFIG=/k", "LD_PRELOAD=x.so",  "SSH_AUTH_SOCK=s", "AWS_SECRET_ACCESS_KEY=x",
      "no equals sign",   "=C:=odd",       "BASH_ENV=/tmp/x"};
  EXPECT_THAT(build(request),
              ElementsAre("COLORTERM=truecolor", "HOME=/home/u", "LANG=de_DE.UTF-8", "LC_TIME=C", "LOGNAME=u",
                          "PATH=/bin", "SHELL=/bin/zsh", "TERM=xterm-256color", "TERM_PROGRAM=ttyward",
                          "TMPDIR=/tmp", "TZ=UTC", "USER=u"));
}

TEST(Environment, the_configuration_can_add_names) {
  EnvironmentRequest request;
  request.ours = {"SSH_AUTH_SOCK=/s", "OTHER=1"};
  request.also_inherit = {"SSH_AUTH_SOCK"};
  EXPECT_THAT(build(request), Contains("SSH_AUTH_SOCK=/s"));
  EXPECT_THAT(build(request), Not(Contains("OTHER=1")));
}

TEST(Environment, the_configuration_can_name_families_and_what_nobody_gets) {
  EnvironmentRequest request;
  request.ours = {"AWS_REGION=r", "AWS_SECRET=s", "AWSX=1", "HOME=/h", "LC_ALL=C"};
  request.also_inherit = {"AWS_*"};
  request.never_inherit = {"AWS_SEC*", "HOME"};
  EXPECT_THAT(build(request), Contains("AWS_REGION=r"));
  for (const char* gone : {"AWS_SECRET=s", "AWSX=1", "HOME=/h"})
    EXPECT_THAT(build(request), Not(Contains(gone)));
  request.inherit = Inherit::Everything;
  EXPECT_THAT(build(request), Contains("AWSX=1"));
  EXPECT_THAT(build(request), Not(Contains("HOME=/h")));
}

TEST(Environment, the_configuration_can_put_folders_first) {
  EnvironmentRequest request;
  request.ours = {"PATH=/bin"};
  request.path_first = {"/a", "/b"};
  EXPECT_THAT(build(request), Contains("PATH=/a:/b:/bin"));
}

TEST(Environment, unattended_commands_cannot_be_made_to_run_code_by_pagers_and_repositories) {
  EnvironmentRequest request;
  request.inherit = Inherit::Everything;
  request.ours = {"LESSOPEN=|x %s", "LESSCLOSE=y"};
  request.requested = {"GIT_OPTIONAL_LOCKS=1", "LESSSECURE=0"};
  const std::vector<std::string> made = build(request);
  for (const char* set :
       {"LESSSECURE=1", "SYSTEMD_PAGERSECURE=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
        "GIT_PAGER=cat", "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.fsmonitor",
        "GIT_CONFIG_VALUE_0=", "GIT_CONFIG_KEY_1=safe.bareRepository", "GIT_CONFIG_VALUE_1=explicit"})
    EXPECT_THAT(made, Contains(set));
  EXPECT_THAT(made, Not(Contains(StartsWith("LESSOPEN="))));
  EXPECT_THAT(made, Not(Contains(StartsWith("LESSCLOSE="))));
  // A person's own terminal stays as it is.
  request.pagers = PagerProfile::AsIs;
  EXPECT_THAT(build(request), Not(Contains(StartsWith("GIT_CONFIG_COUNT="))));
}

TEST(Environment, the_users_own_git_settings_stay_in_front_of_the_guards) {
  EnvironmentRequest request;
  request.inherit = Inherit::Everything;
  request.ours = {"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=x"};
  const std::vector<std::string> made = build(request);
  EXPECT_THAT(made, Contains("GIT_CONFIG_KEY_0=user.name"));
  EXPECT_THAT(made, Contains("GIT_CONFIG_KEY_1=core.fsmonitor"));
  EXPECT_THAT(made, Contains("GIT_CONFIG_COUNT=4"));
  request.ours = {"GIT_CONFIG_COUNT=-1"};
  EXPECT_THAT(build(request), Contains("GIT_CONFIG_COUNT=3"));
}

TEST(Environment, the_terminal_we_run_in_is_never_passed_on) {
  EnvironmentRequest request;
  request.inherit = Inherit::Everything;
  request.ours = {"KITTY_WINDOW_ID=1",   "TMUX=x",
                  "TMUX_PANE=%1",        "STY=x",
                  "VTE_VERSION=7000",    "WT_SESSION=x",
                  "VSCODE_IPC_HOOK=x",   "LINES=50",
                  "COLUMNS=200",         "TERMCAP=x",
                  "TERM_PROGRAM=vscode", "TERM=xterm-kitty",
                  "ITERM_PROFILE=x",     "KONSOLE_VERSION=1",
                  "LC_TERMINAL=iTerm2",  "WEZTERM_PANE=0",
                  "GHOSTTY_BIN_DIR=x",   "MINE=kept"};
  request.pagers = PagerProfile::AsIs;
  EXPECT_THAT(build(request), ElementsAre("COLORTERM=truecolor", "LANG=C.UTF-8", "MINE=kept",
                                          "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color",
                                          "TERM_PROGRAM=ttyward"));
}

TEST(Environment, a_language_of_ours_is_kept_whichever_way_it_is_said) {
  for (const char* mine : {"LANG=C", "LC_ALL=de_DE.ISO-8859-1", "LC_CTYPE=en_US.UTF-8"}) {
    EnvironmentRequest request;
    request.ours = {mine};
    EXPECT_THAT(build(request), Contains(mine));
    EXPECT_THAT(build(request), Not(Contains("LANG=C.UTF-8")));
  }
}

TEST(Environment, the_quiet_profile_keeps_pagers_and_questions_away_and_can_be_switched_off) {
  EnvironmentRequest request;
  for (const char* quiet : {"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
                            "GIT_TERMINAL_PROMPT=0", "DEBIAN_FRONTEND=noninteractive"})
    EXPECT_THAT(build(request), Contains(quiet));
  request.pagers = PagerProfile::AsIs;
  EXPECT_THAT(build(request), Not(Contains(StartsWith("PAGER="))));
}

TEST(Environment, the_dumb_profile_asks_for_no_escape_sequences) {
  EnvironmentRequest request;
  request.ours = {"COLORTERM=truecolor"};
  request.terminal = TerminalProfile::Dumb;
  EXPECT_THAT(build(request), Contains("TERM=dumb"));
  EXPECT_THAT(build(request), Contains("NO_COLOR=1"));
  EXPECT_THAT(build(request), Not(Contains(StartsWith("COLORTERM="))));
}

TEST(Environment, requested_variables_win_over_profiles) {
  EnvironmentRequest request;
  request.ours = {"LANG=C"};
  request.requested = {"CI=1", "LANG=en_US.UTF-8", "TERM=vt100", "EMPTY=", "WITH=a=b", "PAGER="};
  const Environment built = build_environment(request);
  EXPECT_TRUE(built.refused.empty());
  for (const std::string& entry : request.requested) EXPECT_THAT(built.variables, Contains(entry));
}

TEST(Environment, requested_code_is_refused_with_its_reason) {
  EnvironmentRequest request;
  request.requested = {"LD_PRELOAD=/tmp/x.so", "OK=1", "broken", "GIT_SSH_COMMAND=sh"};
  const Environment built = build_environment(request);
  EXPECT_THAT(built.refused,
              ElementsAre(RefusedVariable{"LD_PRELOAD", "makes the dynamic loader run other code"},
                          RefusedVariable{"broken", "not of the form NAME=value"},
                          RefusedVariable{"GIT_SSH_COMMAND", "can make git run a program"}));
  EXPECT_THAT(built.variables, Contains("OK=1"));
  EXPECT_THAT(built.variables, Not(Contains(StartsWith("LD_PRELOAD"))));
}

TEST(RefusalReason, covers_every_family_that_loads_code) {
  for (const char* name : {"LD_LIBRARY_PATH",
                           "LD_AUDIT",
                           "DYLD_INSERT_LIBRARIES",
                           "BASH_ENV",
                           "ENV",
                           "PROMPT_COMMAND",
                           "PS0",
                           "PS1",
                           "PS2",
                           "PS3",
                           "PS4",
                           "SHELLOPTS",
                           "BASHOPTS",
                           "IFS",
                           "BASH_FUNC_ls%%",
                           "NODE_OPTIONS",
                           "NODE_PATH",
                           "PYTHONPATH",
                           "PYTHONSTARTUP",
                           "PYTHONHOME",
                           "PERL5OPT",
                           "PERL5LIB",
                           "PERL5DB",
                           "RUBYOPT",
                           "RUBYLIB",
                           "JAVA_TOOL_OPTIONS",
                           "_JAVA_OPTIONS",
                           "CLASSPATH",
                           "DOTNET_STARTUP_HOOKS",
                           "GIT_EXTERNAL_DIFF",
                           "GIT_CONFIG_COUNT",
                           "GIT_CONFIG_KEY_0",
                           "GIT_DIR",
                           "GIT_EDITOR",
                           "PAGER",
                           "GIT_PAGER",
                           "EDITOR",
                           "VISUAL",
                           "LESSOPEN",
                           "SSH_ASKPASS"})
    EXPECT_NE(refusal_reason(name, "x"), "") << name;
}

TEST(RefusalReason, lets_ordinary_variables_through) {
  for (const char* name :
       {"CI", "PATH", "HOME", "GIT_AUTHOR_NAME", "GIT_TERMINAL_PROMPT", "DEBUG", "PORT", "NODE_ENV",
        "PYTHONUNBUFFERED", "CC", "CFLAGS", "FORCE_COLOR", "LESSCHARSET", "PS", "ENVIRONMENT"})
    EXPECT_EQ(refusal_reason(name, "x"), "") << name;
}

TEST(RefusalReason, names_and_values_must_be_such) {
  EXPECT_NE(refusal_reason("", "x"), "");
  EXPECT_NE(refusal_reason("A\nB", "x"), "");
  EXPECT_NE(refusal_reason("A", std::string_view("x\0y", 3)), "");
}

TEST(Environment, what_acts_as_the_person_is_for_the_person_only) {
  EnvironmentRequest request;
  request.ours = {"SSH_AUTH_SOCK=/s", "JAVA_HOME=/j", "TOKEN=x"};
  EXPECT_THAT(build(request), Not(Contains("SSH_AUTH_SOCK=/s")));
  EXPECT_THAT(build(request), Contains("JAVA_HOME=/j"));
  request.recipient = Recipient::Person;
  EXPECT_THAT(build(request), Contains("SSH_AUTH_SOCK=/s"));
  EXPECT_THAT(build(request), Not(Contains("TOKEN=x")));
}

TEST(Environment, clean_has_nothing_but_who_the_user_is) {
  EnvironmentRequest request;
  request.ours = {"HOME=/h", "PATH=/odd", "JAVA_HOME=/j", "LC_ALL=C"};
  request.inherit = Inherit::Clean;
  EXPECT_THAT(build(request), Contains("HOME=/h"));
  EXPECT_THAT(build(request), Not(Contains("PATH=/odd")));
  EXPECT_THAT(build(request), Not(Contains("JAVA_HOME=/j")));
}

TEST(Environment, every_fate_has_its_reason) {
  EnvironmentRequest request;
  request.ours = {"TOKEN=x", "KEPT=1", "DROPPED=1", "TMUX=1"};
  request.also_inherit = {"KEPT"};
  request.never_inherit = {"DROPPED"};
  request.requested = {"ADDED=1", "LD_PRELOAD=x"};
  EXPECT_THAT(explain_variable(request, "TOKEN"), StartsWith("not set: it is on no list"));
  EXPECT_THAT(explain_variable(request, "KEPT"), HasSubstr("environment_keep names it"));
  EXPECT_THAT(explain_variable(request, "DROPPED"), StartsWith("not set: shell.environment_drop"));
  EXPECT_THAT(explain_variable(request, "TMUX"), StartsWith("not set: it describes your terminal"));
  EXPECT_THAT(explain_variable(request, "ADDED"), StartsWith("set: shell.environment_add"));
  EXPECT_THAT(explain_variable(request, "LD_PRELOAD"),
              StartsWith("not set: shell.environment_add sets it, but"));
  EXPECT_THAT(explain_variable(request, "PATH"), StartsWith("set: ttyward sets a default"));
}

}  // namespace
}  // namespace ttyward::pty
