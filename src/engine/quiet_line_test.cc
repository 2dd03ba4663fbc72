#include "engine/quiet_line.h"

#include <gtest/gtest.h>

namespace ttyward::engine {
namespace {

shell::ReadingState bash() {
  shell::ReadingState reading;
  reading.known = true;
  reading.kind = shell::ShellKind::Bash;
  reading.aliases = {"ll"};
  reading.functions = {"deploy"};
  return reading;
}

TEST(QuietLine, programs_and_printing_change_nothing) {
  for (const char* line :
       {"echo hi", "ls -l /tmp | grep x > out 2>&1", "git status && make -j2; true", "cd /tmp && ls", "pwd",
        "python3 -c 'x=1'", "./configure --prefix=/usr", "echo $HOME \"${x}\" ${#x}", "echo $(export A=1)",
        "sleep 5 &", "[ -e x ] || touch x", "env A=1 make", "test -n \"$A\""}) {
    EXPECT_TRUE(is_quiet_line(line, bash())) << line;
  }
}

TEST(QuietLine, whatever_may_change_the_shell_is_not_quiet) {
  for (const char* line : {"",
                           "export A=1",
                           "A=1",
                           "A=1 make",
                           "alias x=y",
                           "source x",
                           ". x",
                           "eval ls",
                           "f() { ls; }",
                           "set -u",
                           "shopt -s extglob",
                           "unset A",
                           "read A",
                           "printf -v A x",
                           "echo ${A:=1}",
                           "echo ${A=1}",
                           "echo $((A=1))",
                           "let A=1",
                           "declare -x A",
                           "cd /tmp && export A=1",
                           "for i in 1; do :; done",
                           "if true; then A=1; fi",
                           "{ A=1; }",
                           "[[ a =~ (.) ]]",
                           "trap x EXIT",
                           "$x",
                           "l\"s\" a$x; $y a",
                           "command export A=1",
                           "builtin alias a=b",
                           "time ls; hash -r",
                           "ll",
                           "deploy",
                           "ls; deploy",
                           "exec ls",
                           "mapfile A < x",
                           "coproc ls",
                           "wait -p A",
                           "echo 'open",
                           "getopts a b",
                           "__ttyward_put x",
                           "ls > ${A:=1}",
                           "cat <<E\n${A:=1}\nE\n",
                           "cat <<'E'\nx\nE\n",
                           "echo 1\necho 2",
                           "pushd /",
                           "umask 0",
                           "enable -n echo"}) {
    EXPECT_FALSE(is_quiet_line(line, bash())) << line;
  }
}

TEST(QuietLine, what_is_not_known_is_not_quiet) {
  shell::ReadingState reading = bash();
  reading.known = false;
  EXPECT_FALSE(is_quiet_line("echo hi", reading));
  reading = bash();
  reading.truncated = true;
  EXPECT_FALSE(is_quiet_line("echo hi", reading));
  reading = bash();
  reading.kind = shell::ShellKind::Zsh;
  EXPECT_FALSE(is_quiet_line("echo hi", reading));
}

}  // namespace
}  // namespace ttyward::engine
