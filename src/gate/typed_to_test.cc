#include "gate/typed_to.h"

#include <gtest/gtest.h>

namespace ttyward::gate {
namespace {

TypedTo told(const std::vector<std::string>& arguments, bool raw = false, bool secure = false) {
  return typed_to({{arguments.front()}, arguments, raw, secure});
}

TEST(TypedTo, ProgramsThatAskAreAnswered) {
  EXPECT_EQ(told({"apt-get", "install", "x"}), TypedTo::Prompt);
  EXPECT_EQ(told({"bash", "-c", "read name"}), TypedTo::Prompt);
  EXPECT_EQ(told({"bash", "install.sh"}), TypedTo::Prompt);
  EXPECT_EQ(told({"sh", "-ec", "read x"}), TypedTo::Prompt);
  EXPECT_EQ(told({"python3", "setup.py"}), TypedTo::Prompt);
  EXPECT_EQ(told({"python3", "-c", "input()"}), TypedTo::Prompt);
  EXPECT_EQ(told({"node", "/usr/bin/npm", "init"}, true), TypedTo::Prompt);
  EXPECT_EQ(told({"ssh", "host"}, false), TypedTo::Prompt) << "whether the host is known";
  EXPECT_EQ(told({"less", "file"}, true, true), TypedTo::Prompt) << "LESSSECURE";
}

TEST(TypedTo, ShellsRunLines) {
  EXPECT_EQ(told({"bash"}), TypedTo::Shell);
  EXPECT_EQ(told({"-bash"}), TypedTo::Shell);
  EXPECT_EQ(told({"bash", "--norc", "-i"}, true), TypedTo::Shell);
  EXPECT_EQ(told({"bash", "--rcfile", "x"}, true), TypedTo::Shell);
  EXPECT_EQ(told({"dash"}), TypedTo::Shell);
  EXPECT_EQ(told({"/usr/bin/zsh", "-f"}, true), TypedTo::Shell);
  EXPECT_EQ(told({"bash", "-s", "arg"}), TypedTo::Shell);
}

TEST(TypedTo, InterpretersAndEditorsRunThings) {
  EXPECT_EQ(told({"python3"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"python3.11", "-q"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"python3", "-i", "x.py"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"python3", "-m", "pdb", "x.py"}, false), TypedTo::Runner);
  EXPECT_EQ(told({"python3", "/usr/bin/ipython"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"node"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"node", "inspect", "x.js"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"perl", "-d", "x.pl"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"gdb", "a.out"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"sqlite3", "x.db"}), TypedTo::Runner);
  EXPECT_EQ(told({"vim", "x"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"vim.basic", "x"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"ssh", "host"}, true), TypedTo::Runner);
  EXPECT_EQ(told({"bash", "-c", "read -e x"}, true), TypedTo::Runner);
}

TEST(TypedTo, PagersMoveOrRunThings) {
  EXPECT_EQ(told({"less", "file"}, true), TypedTo::Pager);
  EXPECT_TRUE(only_moves_in_pager("q"));
  EXPECT_TRUE(only_moves_in_pager("  jjG\x1b[5~q"));
  for (const char* bytes : {"!touch x\r", "v", "|", ":e x\r", "s", "/x", "&x", "\x1b!", "-"})
    EXPECT_FALSE(only_moves_in_pager(bytes)) << bytes;
}

TEST(TypedTo, EditorsCanBeLeft) {
  EXPECT_TRUE(only_leaves_editor("\x1b:q!\r"));
  EXPECT_TRUE(only_leaves_editor("\x1b"));
  for (const char* bytes : {":!touch x\r", ":wq\r", ":q!\r:!x\r", "ZZ", "q"})
    EXPECT_FALSE(only_leaves_editor(bytes));
}

TEST(TypedTo, CommandsThatStartOne) {
  for (const char* command : {"python3", "vim notes", "gdb ./a.out", "less file", "ssh host"})
    EXPECT_TRUE(starts_interactive(command)) << command;
  for (const char* command : {"python3 x.py", "bash x.sh", "bash -c true", "bash", "make", "npm init", ""})
    EXPECT_FALSE(starts_interactive(command)) << command;
}

}  // namespace
}  // namespace ttyward::gate
