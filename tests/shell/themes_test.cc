// The user's own files: they run, in their order, and what they do to prompts and hooks does not matter.
#include <gtest/gtest.h>

#include "shell/live_shell.h"

namespace ttyward::shell::testing {
namespace {

LiveOptions options(const std::string& shell, std::vector<std::pair<std::string, std::string>> files) {
  LiveOptions made;
  made.argv = {shell};
  made.home_files = std::move(files);
  return made;
}

void expect_sound(LiveShell& shell) {
  for (const int code : {0, 3, 0, 7}) {
    const auto outcome =
        shell.run("echo n" + std::to_string(code) + "; sh -c 'exit " + std::to_string(code) + "'");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->finished.exit_code, code);
    EXPECT_EQ(outcome->finished.known_by, KnownBy::ShellMark);
    EXPECT_EQ(visible(outcome->output), "n" + std::to_string(code) + "\r\n");
  }
  EXPECT_EQ(shell.tracker().quality(), Quality::Rich);
}

constexpr char kTheme[] =
    "theme_prompt() { local s=$?; PS1=\"[$s \\w] \\$ \"; echo -n; return 5; }\n"
    "PROMPT_COMMAND=theme_prompt\nalias printf='echo oops'\nalias local='echo oops'\n";

TEST(Themes, bash_whose_prompt_is_rebuilt_each_time) {
  LiveShell shell(options("/bin/bash", {{".bashrc", kTheme}}));
  expect_sound(shell);
  // The theme still sees the true status, and its prompt is on the screen.
  ASSERT_TRUE(shell.run("sh -c 'exit 9'"));
  EXPECT_TRUE(shell.wait_bytes("[9 ~]"));
}

TEST(Themes, bashrc_read_again) {
  LiveShell shell(options("/bin/bash", {{".bashrc", kTheme}}));
  expect_sound(shell);
  for (int i = 0; i < 3; i++) {
    const auto outcome = shell.run("source ~/.bashrc");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->finished.exit_code, 0);
    EXPECT_EQ(outcome->finished.known_by, KnownBy::ShellMark);
  }
  expect_sound(shell);
  const auto listed = shell.run("declare -p PROMPT_COMMAND");
  ASSERT_TRUE(listed);
  const size_t first = listed->output.find("theme_prompt");
  EXPECT_EQ(listed->output.find("theme_prompt", first + 1), std::string::npos) << "each hook once";
}

TEST(Themes, bash_with_an_array_of_prompt_commands_and_traps) {
  LiveShell shell(options("/bin/bash", {{".bashrc",
                                         "PROMPT_COMMAND=('a=1' 'b=$a')\nset -u\nset -o noclobber\nIFS=x\n"
                                         "trap 'true' DEBUG\ntrap 'true' ERR\nshopt -s extdebug 2>/dev/null\n"
                                         "HISTCONTROL=\nset -a\nPS1='p> '\n"}}));
  expect_sound(shell);
  const auto outcome = shell.run("env");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output.find(shell.nonce()), std::string::npos);
}

TEST(Themes, bash_whose_hooks_are_taken_out) {
  LiveShell shell(options("/bin/bash", {}));
  expect_sound(shell);
  ASSERT_TRUE(shell.submit("unset PROMPT_COMMAND; sh -c 'exit 3'"));
  const auto outcome = shell.wait_finished();
  ASSERT_TRUE(outcome);
  // The prompt's own mark is left: the end is seen, the status is not, and nothing is made up.
  EXPECT_EQ(outcome->finished.exit_code, std::nullopt);
  EXPECT_EQ(outcome->finished.known_by, KnownBy::Nothing);
  EXPECT_EQ(shell.tracker().quality(), Quality::Basic);
}

TEST(Themes, bash_login_files_in_their_order) {
  LiveOptions login = options("/bin/bash", {{".bash_profile", "echo profile-ran; . ~/.bashrc"},
                                            {".bashrc", "echo rc-ran"},
                                            {".profile", "echo wrong-file"}});
  login.login = true;
  LiveShell shell(login);
  expect_sound(shell);
  const size_t profile = shell.bytes().find("profile-ran");
  const size_t rc = shell.bytes().find("rc-ran");
  EXPECT_LT(profile, rc);
  EXPECT_NE(rc, std::string::npos);
  EXPECT_EQ(shell.bytes().find("wrong-file"), std::string::npos);
}

TEST(Themes, bash_set_options_in_a_session) {
  LiveShell shell(options("/bin/bash", {}));
  for (const char* line : {"set -u", "set -o pipefail", "shopt -s extglob", "set -C", "IFS=';'", "set -o vi",
                           "shopt -s histverify", "LC_ALL=C", "PS0=", "HISTFILE="}) {
    const auto outcome = shell.run(line);
    ASSERT_TRUE(outcome) << line;
    EXPECT_EQ(outcome->finished.exit_code, 0) << line;
    const auto next = shell.run("sh -c 'exit 4'");
    ASSERT_TRUE(next);
    EXPECT_EQ(next->finished.exit_code, 4) << line;
  }
}

TEST(Themes, bash_a_thousand_commands) {
  LiveShell shell(options("/bin/bash", {}));
  for (int i = 0; i < 1000; i++) {
    const int code = (i * 7) % 256;
    const auto outcome = shell.run("echo " + std::to_string(i) + "; (exit " + std::to_string(code) + ")");
    ASSERT_TRUE(outcome);
    ASSERT_EQ(outcome->finished.exit_code, code) << i;
    ASSERT_EQ(outcome->output, std::to_string(i) + "\r\n");
  }
  EXPECT_EQ(shell.events<CommandFinished>().size(), 1000u);
}

TEST(Themes, bash_history_when_asked_for) {
  LiveOptions recorded = options("/bin/bash", {});
  recorded.history = History::Record;
  LiveShell shell(recorded);
  ASSERT_TRUE(shell.run("echo remember-me"));
  ASSERT_TRUE(shell.run("exit"));
  EXPECT_NE(shell.file(".bash_history").find("echo remember-me"), std::string::npos);
}

// powerlevel10k and oh-my-zsh in miniature: hooks by add-zsh-hook, prompts made anew, options changed.
constexpr char kZshTheme[] =
    "autoload -Uz add-zsh-hook\nsetopt prompt_subst\n"
    "theme_precmd() { local s=$?; PROMPT=\"[$s %~] %# \"; RPROMPT='right'; return 5 }\n"
    "theme_preexec() { : }\nadd-zsh-hook precmd theme_precmd\nadd-zsh-hook preexec theme_preexec\n"
    "zle-line-init() { zle reset-prompt }\nzle -N zle-line-init\nalias print='echo oops'\nsetopt "
    "ksh_arrays\n";

TEST(Themes, zsh_whose_prompt_is_rebuilt_each_time) {
  LiveShell shell(options("/usr/bin/zsh", {{".zshrc", kZshTheme}}));
  expect_sound(shell);
  ASSERT_TRUE(shell.run("sh -c 'exit 9'"));
  EXPECT_TRUE(shell.wait_bytes("[9 ~]"));
  const auto outcome = shell.run("source ~/.zshrc");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 0);
  expect_sound(shell);
}

TEST(Themes, zsh_files_in_their_order) {
  LiveOptions login = options("/usr/bin/zsh", {{"z/.zshenv", "echo 1-zshenv $ZDOTDIR"},
                                               {"z/.zprofile", "echo 2-zprofile"},
                                               {"z/.zshrc", "echo 3-zshrc"},
                                               {"z/.zlogin", "echo 4-zlogin"}});
  login.login = true;
  login.environment = {"ZDOTDIR=z"};
  LiveShell shell(login);
  expect_sound(shell);
  size_t at = 0;
  for (const char* line : {"1-zshenv z\r\n", "2-zprofile", "3-zshrc", "4-zlogin"}) {
    at = shell.bytes().find(line, at);
    ASSERT_NE(at, std::string::npos) << line;
  }
  const auto outcome = shell.run("echo $ZDOTDIR");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->output, "z\r\n");
}

TEST(Themes, zsh_prompt_that_ends_with_a_percent_sign) {
  LiveShell shell(options("/usr/bin/zsh", {{".zshrc", "PS1='%'\n"}}));
  expect_sound(shell);
}

TEST(Themes, zsh_set_options_in_a_session) {
  LiveShell shell(options("/usr/bin/zsh", {{".zshrc", ""}}));
  for (const char* line :
       {"setopt ksh_arrays", "setopt sh_word_split", "setopt no_unset", "setopt err_return",
        "setopt prompt_subst", "setopt extended_glob", "setopt noclobber", "setopt all_export"}) {
    const auto outcome = shell.run(line);
    ASSERT_TRUE(outcome) << line;
    EXPECT_EQ(outcome->finished.exit_code, 0) << line;
    const auto next = shell.run("sh -c 'exit 4'");
    ASSERT_TRUE(next);
    EXPECT_EQ(next->finished.exit_code, 4) << line;
  }
}

TEST(Themes, fish_whose_prompt_is_defined_anew) {
  LiveShell shell(
      options("/usr/bin/fish", {{".config/fish/config.fish",
                                 "echo config-ran\nfunction fish_prompt\n  echo -n \"<$status> \"\nend\n"}}));
  expect_sound(shell);
  EXPECT_NE(shell.bytes().find("config-ran"), std::string::npos);
  ASSERT_TRUE(shell.run("sh -c 'exit 9'"));
  EXPECT_TRUE(shell.wait_bytes("<9>"));
  ASSERT_TRUE(shell.run("function fish_prompt; echo -n 'second> '; end"));
  expect_sound(shell);
  EXPECT_TRUE(shell.wait_bytes("second> "));
}

TEST(Themes, posix_shells_read_the_users_env_file_and_profile) {
  for (const char* program : {"/bin/dash", "/bin/mksh"}) {
    LiveOptions login =
        options(program, {{".profile", "echo profile-ran\n"}, {".shrc", "echo env-ran\nPS1='mine> '\n"}});
    login.login = true;
    login.environment = {"ENV=$HOME/.shrc"};
    LiveShell shell(login);
    const auto outcome = shell.run("echo \"$ENV\"; sh -c 'exit 3'");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->finished.exit_code, 3);
    EXPECT_EQ(outcome->output, "$HOME/.shrc\r\n");
    EXPECT_LT(shell.bytes().find("profile-ran"), shell.bytes().find("env-ran"));
    EXPECT_NE(shell.bytes().find("mine> "), std::string::npos);
  }
}

}  // namespace
}  // namespace ttyward::shell::testing
