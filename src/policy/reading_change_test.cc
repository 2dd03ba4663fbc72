#include "policy/reading_change.h"

#include <gtest/gtest.h>

namespace ttyward::policy {
namespace {

ShellReading posix() {
  ShellReading reading;
  reading.syntax.dialect = syntax::Dialect::Posix;
  return reading;
}

TEST(ReadingChange, harmless_and_ordinary_commands_change_nothing) {
  for (const char* const line :
       {"ls -la", "cd src", "git status", "x=5", "make test", "echo hi > f", "cat a | sort",
        "for f in a b; do echo $f; done", "npm test && echo ok", "rm -r build"}) {
    EXPECT_FALSE(may_change_reading(line, posix())) << line;
  }
}

TEST(ReadingChange, what_changes_names_options_or_splitting_is_seen) {
  for (const char* const line : {"alias ls=rm",
                                 "unalias ls",
                                 "ls() { rm x; }",
                                 "f() { echo; }",
                                 "IFS=x",
                                 "set -f",
                                 ". ./f",
                                 "eval x=1",
                                 "exec zsh",
                                 "export PATH=.",
                                 "PATH=.",
                                 "trap 'ls' EXIT",
                                 "true && alias x=y",
                                 "if true; then IFS=x; fi",
                                 "unset PATH",
                                 "command . ./f",
                                 "LC_ALL=C",
                                 "echo 'unfinished",
                                 "readonly IFS",
                                 "read IFS < f"}) {
    EXPECT_TRUE(may_change_reading(line, posix())) << line;
  }
}

}  // namespace
}  // namespace ttyward::policy
