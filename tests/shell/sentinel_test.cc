// Sentinels in shells that know nothing of us, and quoting read back by the shells it is for.
#include "shell/sentinel.h"

#include <gtest/gtest.h>

#include "base/ids.h"
#include "shell/live_shell.h"
#include "shell/quoting.h"

namespace ttyward::shell::testing {
namespace {

LiveOptions bare(std::vector<std::string> argv) {
  LiveOptions made;
  made.argv = std::move(argv);
  made.environment = {"PS1=bare#> "};
  made.integrate = false;
  return made;
}

std::optional<Outcome> run_sentinel(LiveShell& shell, const std::string& text, Dialect dialect) {
  const std::string nonce = base::random_nonce();
  const auto sentinel = make_sentinel(text, nonce, dialect);
  EXPECT_TRUE(sentinel.has_value());
  shell.tracker().submitted({1, text, "", shell.bytes().size(), nonce});
  shell.send(sentinel->bytes);
  return shell.wait_finished();
}

TEST(Sentinel, ends_commands_in_bare_shells) {
  const std::vector<std::vector<std::string>> shells = {
      {"/bin/dash", "-i"}, {"/bin/bash", "--norc", "-i"}, {"/bin/busybox", "ash", "-i"}, {"/bin/mksh", "-i"}};
  for (const auto& argv : shells) {
    LiveShell shell(bare(argv));
    ASSERT_TRUE(shell.wait_bytes("bare#> ")) << argv[0];
    const auto one =
        run_sentinel(shell, "echo \"it's !here\"\ncat <<E\nx\ty\nE\nsh -c 'exit 4'", Dialect::Posix);
    ASSERT_TRUE(one) << argv[0];
    EXPECT_EQ(one->finished.exit_code, 4);
    EXPECT_EQ(one->finished.known_by, KnownBy::Sentinel);
    EXPECT_NE(one->output.find("it's !here\r\nx\ty\r\n"), std::string::npos) << one->output;
    const auto two = run_sentinel(shell, "v=5; cd /; printf no-line-end", Dialect::Posix);
    ASSERT_TRUE(two);
    EXPECT_EQ(two->finished.exit_code, 0);
    const auto three =
        run_sentinel(shell, "echo $v $PWD " + std::string(9000, 'x') + " | cut -c 1-3", Dialect::Posix);
    ASSERT_TRUE(three);
    EXPECT_NE(three->output.find("5 /\r\n"), std::string::npos) << argv[0];
  }
}

TEST(Sentinel, fish) {
  LiveShell shell(bare({"/usr/bin/fish", "-i", "--no-config"}));
  // The prompt, whoever the user is.
  ASSERT_TRUE(shell.wait_bytes("\x1b[K\r\x1b["));
  const auto outcome = run_sentinel(shell, "echo 'a b'\nsh -c 'exit 4'", Dialect::Fish);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 4);
  EXPECT_NE(outcome->output.find("a b\r\n"), std::string::npos);
}

TEST(Sentinel, inside_a_shell_with_hooks) {
  LiveOptions outer;
  outer.argv = {"/bin/bash"};
  LiveShell shell(outer);
  ASSERT_TRUE(shell.submit("env PS1='inner''> ' sh -i"));
  ASSERT_TRUE(shell.wait_bytes("inner> "));
  const auto inner = run_sentinel(shell, "sh -c 'exit 6'", Dialect::Posix);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->finished.exit_code, 6);
  EXPECT_EQ(inner->finished.known_by, KnownBy::Sentinel);
  shell.send("exit 2\r");
  const auto outcome = shell.wait_finished();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 2);
  EXPECT_EQ(outcome->finished.known_by, KnownBy::ShellMark);
}

TEST(Quoting, is_read_back_as_given) {
  std::string bytes;
  for (int c = 1; c < 128; c++) bytes += static_cast<char>(c);
  const std::vector<std::string> words = {
      "",          "plain", "a b",      "it's", "\"", "$HOME `x` \\", "-n", "~", "*?[a]{b,c}", "!x",
      "new\nline", "tab\t", "ünï 日本", "#",    "=x", "\\'",          "%s", "^", bytes};
  struct Reader {
    std::vector<std::string> argv;
    std::string (*quote)(std::string_view);
  };
  const std::vector<Reader> readers = {{{"/bin/dash", "-c"}, quote_posix},
                                       {{"/bin/bash", "-c"}, quote_posix},
                                       {{"/usr/bin/zsh", "-fc"}, quote_posix},
                                       {{"/bin/mksh", "-c"}, quote_posix},
                                       {{"/usr/bin/fish", "-Nc"}, quote_fish}};
  for (const Reader& reader : readers) {
    for (const std::string& word : words) {
      pty::SpawnSpec spec;
      spec.argv = reader.argv;
      spec.argv.push_back("/usr/bin/printf %s. " + reader.quote(word));
      spec.environment = pty::testing::plain_environment();
      spec.provider = pty::Provider::Pipe;
      auto spawned = pty::spawn(spec);
      ASSERT_TRUE(spawned.has_value());
      pty::testing::Running running(std::move(*spawned));
      EXPECT_EQ(pty::testing::read_all(running->stdout_fd.get()), word + ".") << reader.argv[0];
      EXPECT_TRUE(pty::testing::wait_for_exit(running->child).has_value());
    }
  }
}

}  // namespace
}  // namespace ttyward::shell::testing
