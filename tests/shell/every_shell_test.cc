// Each situation a shell can be in, in each shell there is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ostream>

#include "shell/live_shell.h"

namespace ttyward::shell::testing {
namespace {

struct Row {
  const char* name;
  std::vector<std::string> argv;
  Quality quality;
  bool posix;  // speaks sh
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

class EveryShell : public ::testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (::access(GetParam().argv[0].c_str(), X_OK) != 0)
      GTEST_SKIP() << GetParam().argv[0] << " is not installed";
    LiveOptions options;
    options.argv = GetParam().argv;
    shell_.emplace(options);
  }
  bool is(const char* name) const { return std::string(GetParam().name) == name; }
  bool posix() const { return GetParam().posix; }
  bool rich() const { return GetParam().quality == Quality::Rich; }
  LiveShell& shell() { return *shell_; }
  // Runs and compares; `output` is what the terminal shows, with its line ends.
  void expect(const std::string& text, int code, const std::string& output) {
    const auto outcome = shell().run(text);
    ASSERT_TRUE(outcome) << text;
    EXPECT_EQ(outcome->finished.exit_code, code) << text;
    EXPECT_EQ(visible(outcome->output), output) << text;
    EXPECT_EQ(outcome->finished.command_line, text);
    EXPECT_EQ(outcome->finished.known_by, rich() ? KnownBy::ShellMark : KnownBy::PromptMark);
    EXPECT_TRUE(outcome->finished.trusted);
    EXPECT_TRUE(outcome->finished.executed);
    EXPECT_FALSE(outcome->finished.output_has_echo);
  }
  // What the shell said last about a variable of its environment.
  std::optional<EnvironmentChange> last_change(const std::string& name) {
    std::optional<EnvironmentChange> found;
    for (const EnvironmentChanged& event : shell().events<EnvironmentChanged>())
      for (const EnvironmentChange& change : event.changes)
        if (change.name == name) found = change;
    return found;
  }

  std::optional<LiveShell> shell_;
};

TEST_P(EveryShell, a_command_and_its_status) {
  expect("echo one", 0, "one\r\n");
  expect("false", 1, "");
  expect("sh -c 'exit 42'", 42, "");
  expect("echo two", 0, "two\r\n");
  EXPECT_EQ(shell().tracker().quality(), GetParam().quality);
  EXPECT_EQ(shell().tracker().foreign_marks(), 0u);
}

TEST_P(EveryShell, the_status_of_the_command_before) {
  expect("sh -c 'exit 7'", 7, "");
  expect(posix() ? "echo \"was $?\"" : "echo \"was $status\"", 0, "was 7\r\n");
  expect("sh -c 'exit 9'", 9, "");
  // The same, handed over by file.
  expect((posix() ? "echo \"was $?!\"" : "echo \"was $status!\"") + std::string(5000, ' '), 0, "was 9!\r\n");
}

TEST_P(EveryShell, pipelines) {
  if (!rich()) GTEST_SKIP() << "the shell keeps no statuses of a pipeline's parts";
  const auto outcome = shell().run("sh -c 'exit 3' | sh -c 'exit 0' | sh -c 'exit 5'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 5);
  // What is handed over by file passes through eval, which fish counts as one command.
  if (!is("fish")) {
    EXPECT_EQ(outcome->finished.pipeline, (std::vector<int>{3, 0, 5}));
  }
}

TEST_P(EveryShell, directories) {
  expect("cd /usr/lib", 0, "");
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(shell().tracker().cwd(), "/usr/lib");
  expect("mkdir -p '" + shell().home() + "/a b;c'", 0, "");
  expect("cd '" + shell().home() + "/a b;c'", 0, "");
  ASSERT_TRUE(shell().wait_ready());
  // A prompt cannot spell a semicolon; there the place is not reported rather than wrong.
  EXPECT_EQ(shell().tracker().cwd(), rich() ? shell().home() + "/a b;c" : "/usr/lib");
}

TEST_P(EveryShell, output_without_a_line_end) {
  expect("printf abc", 0, "abc");
  expect("printf 'x\\ny'", 0, "x\r\ny");
  expect("echo next", 0, "next\r\n");
}

TEST_P(EveryShell, output_with_fake_marks) {
  const std::string fakes =
      "printf '\\033]633;D;0\\007\\033]133;D;0\\007\\033]633;A;00ff\\007\\033]133;C\\007'; ";
  const auto outcome = shell().run(fakes + "sh -c 'exit 6'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 6);
  EXPECT_EQ(shell().tracker().foreign_marks(), 4u);
  expect("echo fine", 0, "fine\r\n");
}

TEST_P(EveryShell, children_do_not_know_the_nonce) {
  const auto outcome =
      shell().run("env; tr '\\0' '\\n' </proc/self/environ; sh -c 'tr \"\\0\" \"\\n\" </proc/$PPID/environ'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(visible(outcome->output).find(shell().nonce()), std::string::npos);
}

TEST_P(EveryShell, several_lines) {
  if (posix()) {
    expect("for i in 1 2\ndo\n\techo $i\ndone\nfalse", 1, "1\r\n2\r\n");
    expect("cat <<'END'\na  'b' \"c\n\tend\nEND\nsh -c 'exit 4'", 4, "a  'b' \"c\r\n\tend\r\n");
  } else {
    expect("for i in 1 2\n\techo $i\nend\nfalse", 1, "1\r\n2\r\n");
  }
  expect("echo one\n\n\necho two", 0, "one\r\ntwo\r\n");
  expect("echo one\n", 0, "one\r\n");
}

TEST_P(EveryShell, tabs_exclamation_marks_and_quotes) {
  expect("echo 'a\tb'", 0, "a\tb\r\n");
  expect("echo \"hi!there\" '!!' !x", 0, "hi!there !! !x\r\n");
  expect("echo \"it's\" 'a\"b' \\\\", 0, "it's a\"b \\\r\n");
  expect("echo ünïcödé 日本", 0, "ünïcödé 日本\r\n");
  expect("  echo spaces", 0, "spaces\r\n");
  expect("echo x # a comment", 0, "x\r\n");
}

TEST_P(EveryShell, a_megabyte_of_text) {
  std::string text = "echo '";
  while (text.size() < (1u << 20)) text += "some text, \"quotes\", !bangs! $dollars `ticks`\tand tabs\n";
  const size_t size = text.size() - std::string("echo '").size() + 1;
  const auto outcome = shell().run(text + "' | wc -c");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 0);
  EXPECT_NE(outcome->output.find(std::to_string(size) + "\r\n"), std::string::npos)
      << visible(outcome->output);
}

TEST_P(EveryShell, a_line_of_twenty_thousand_bytes) {
  const std::string word(20000, 'x');
  expect("test " + word + " = " + word, 0, "");
}

TEST_P(EveryShell, exit_with_a_status) {
  const auto outcome = shell().run("exit 3");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 3);
  // fish still tells the status of its last command.
  EXPECT_EQ(outcome->finished.known_by, is("fish") ? KnownBy::ShellMark : KnownBy::Wait);
  EXPECT_EQ(outcome->finished.shell_gone, !is("fish"));
  EXPECT_TRUE(shell().wait_for([&] { return shell().gone(); }, "the shell's end"));
}

TEST_P(EveryShell, exec) {
  const auto outcome = shell().run("exec sh -c 'echo replaced; exit 8'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 8);
  EXPECT_EQ(outcome->finished.known_by, KnownBy::Wait);
  EXPECT_NE(outcome->output.find("replaced\r\n"), std::string::npos);
}

TEST_P(EveryShell, exec_that_moves_the_output_away) {
  if (is("fish")) GTEST_SKIP() << "fish cannot redirect itself";
  if (is("busybox")) GTEST_SKIP() << "its prompt, and with it the marks, go to stdout";
  expect("exec 5>&1 >out.txt", 0, "");
  expect("echo hidden", 0, "");
  expect("exec >&5", 0, "");
  expect("cat out.txt", 0, "hidden\r\n");
}

TEST_P(EveryShell, errexit) {
  if (!posix()) GTEST_SKIP() << "no such option";
  expect("set -e", 0, "");
  expect("true", 0, "");
  expect("echo still", 0, "still\r\n");
  const auto outcome = shell().run("sh -c 'exit 5'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 5);
  EXPECT_EQ(outcome->finished.known_by, KnownBy::Wait);
}

TEST_P(EveryShell, nounset) {
  if (!posix()) GTEST_SKIP() << "no such option";
  expect("set -u", 0, "");
  expect("echo a", 0, "a\r\n");
  expect("cd /", 0, "");
  expect("sh -c 'exit 2'", 2, "");
}

TEST_P(EveryShell, xtrace) {
  if (!posix()) GTEST_SKIP() << "no such option";
  ASSERT_TRUE(shell().run("set -x"));
  const auto outcome = shell().run("echo a; sh -c 'exit 2'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 2);
  EXPECT_NE(outcome->output.find("\na\r\n"), std::string::npos) << visible(outcome->output);
  if (rich()) {
    EXPECT_EQ(shell().bytes().find("+ __ttyward"), std::string::npos);
    EXPECT_EQ(visible(outcome->output).find("ttyward"), std::string::npos);
  }
  ASSERT_TRUE(shell().run("set +x"));
  expect("echo b", 0, "b\r\n");
}

TEST_P(EveryShell, traps_and_subshells) {
  if (!posix()) {
    expect("begin; cd /; sh -c 'exit 3'; end", 3, "");
    return;
  }
  expect("trap 'echo got' USR1; kill -USR1 $$; sh -c 'exit 3'", 3, "got\r\n");
  expect("(cd /; exit 4)", 4, "");
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(shell().tracker().cwd(), shell().home());
  expect("trap 'echo bye' EXIT", 0, "");
  expect("echo x=$(echo y; exit 2)", 0, "x=y\r\n");
  const auto outcome = shell().run("exit 5");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 5);
  EXPECT_NE(outcome->output.find("bye\r\n"), std::string::npos);
}

TEST_P(EveryShell, functions_and_variables_stay) {
  if (posix()) {
    expect("v=1; f() { v=2; return 3; }", 0, "");
    expect("f", 3, "");
    expect("echo $v", 0, "2\r\n");
  } else {
    expect("set v 1; function f; set -g v 2; return 3; end", 0, "");
    expect("f", 3, "");
    expect("echo $v", 0, "2\r\n");
  }
}

TEST_P(EveryShell, background_jobs) {
  // The job waits for the shell's next command before it prints.
  expect("mkfifo go", 0, "");
  ASSERT_TRUE(shell().run("sh -c 'read x <go; echo late' &"));
  expect("true", 0, "");
  const size_t before = shell().bytes().size();
  const auto outcome = shell().run("echo >go; sh -c 'exit 2'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 2);
  ASSERT_TRUE(shell().wait_bytes("late", before));
  const auto after = shell().run("sh -c 'exit 3'");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->finished.exit_code, 3);
}

TEST_P(EveryShell, a_command_interrupted) {
  // Only keys reach it, so it is there when they are sent.
  ASSERT_TRUE(shell().submit("sh -c 'echo started; exec sleep 1000'"));
  ASSERT_TRUE(shell().wait_bytes("started\r\n"));
  shell().send("\x03");
  const auto outcome = shell().wait_finished();
  ASSERT_TRUE(outcome);
  // ksh93 reports a death by signal n as 256 + n.
  EXPECT_EQ(outcome->finished.exit_code, is("ksh93") ? 258 : 130);
  expect("echo on", 0, "on\r\n");
}

TEST_P(EveryShell, interrupt_and_empty_lines_at_the_prompt_are_no_commands) {
  expect("true", 0, "");
  ASSERT_TRUE(shell().wait_ready());
  const size_t before = shell().events<PromptReady>().size();
  shell().type("garbage");
  ASSERT_TRUE(shell().wait_bytes("garbage"));
  shell().press_until("\x03", [&] { return shell().events<PromptReady>().size() > before; });
  expect("echo on", 0, "on\r\n");
  ASSERT_TRUE(shell().wait_ready());
  const size_t prompts = shell().events<PromptReady>().size();
  shell().type("\r");
  ASSERT_TRUE(
      shell().wait_for([&] { return shell().events<PromptReady>().size() > prompts; }, "a new prompt"));
  expect("echo on", 0, "on\r\n");
  EXPECT_EQ(shell().events<CommandFinished>().size(), 3u);
}

TEST_P(EveryShell, a_person_types) {
  ASSERT_TRUE(shell().wait_ready());
  shell().type("echo by hand; sh -c 'exit 5'\r");
  const auto outcome = shell().wait_finished();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, 5);
  EXPECT_EQ(outcome->finished.submission, std::nullopt);
  EXPECT_EQ(outcome->finished.command_line, "echo by hand; sh -c 'exit 5'");
  EXPECT_EQ(outcome->finished.output_has_echo, !rich());
  EXPECT_NE(outcome->output.find("by hand\r\n"), std::string::npos);
}

TEST_P(EveryShell, nested_shell_and_python) {
  for (const char* program : {"env PS1='inner> ' sh -i", "python3 -q"}) {
    ASSERT_TRUE(shell().submit(program));
    const size_t started = shell().events<CommandStarted>().size();
    ASSERT_TRUE(
        shell().wait_for([&] { return shell().events<CommandStarted>().size() > started; }, "its start"));
    const size_t from = shell().events<CommandStarted>().back().output_begin;
    ASSERT_TRUE(shell().wait_bytes(program[0] == 'p' ? ">>> " : "inner> ", from));
    EXPECT_EQ(shell().tracker().state(), CommandTracker::State::Executing);
    shell().send(program[0] == 'p' ? "exit(4)\r" : "exit 4\r");
    const auto outcome = shell().wait_finished();
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->finished.exit_code, 4);
  }
  expect("echo outside", 0, "outside\r\n");
}

TEST_P(EveryShell, a_full_screen_program_that_is_killed) {
  const auto outcome = shell().run("sh -c 'printf \"\\033[?1049h\\033[2J\"; kill -9 $$'");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->finished.exit_code, is("ksh93") ? 265 : 137);
  EXPECT_TRUE(outcome->finished.left_alternate);
  const auto next = shell().run("sh -c 'exit 2'");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->finished.exit_code, 2);
}

TEST_P(EveryShell, open_quotes_are_reported_and_left) {
  ASSERT_TRUE(shell().submit("echo 'never closed"));
  if (is("bash") || is("zsh")) {
    ASSERT_TRUE(shell().wait_for([&] { return !shell().events<IncompleteInput>().empty(); }, "the report"));
    shell().press_until(std::string(kAbandonInput),
                        [&] { return !shell().events<CommandFinished>().empty(); });
  }
  const auto outcome = shell().wait_finished();
  ASSERT_TRUE(outcome);
  // Handed over by file, the shell itself complains and gives a status.
  EXPECT_EQ(outcome->finished.incomplete, is("bash") || is("zsh"));
  EXPECT_EQ(outcome->finished.exit_code.has_value(), !outcome->finished.incomplete);
  EXPECT_NE(outcome->finished.exit_code, 0);
  expect("echo well", 0, "well\r\n");
}

TEST_P(EveryShell, syntax_errors) {
  const auto outcome = shell().run("echo a )");
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->finished.exit_code.value_or(1), 0);
  expect("echo well", 0, "well\r\n");
}

TEST_P(EveryShell, type_ahead_while_the_shell_starts) {
  // A person's keys before the first prompt; ours wait for it.
  shell().send("echo early; sh -c 'exit 6'\r");
  ASSERT_TRUE(shell().wait_ready());
  ASSERT_TRUE(shell().submit("echo mine; sh -c 'exit 5'"));
  if (rich()) {
    const auto first = shell().wait_finished();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->finished.exit_code, 6);
    EXPECT_EQ(first->finished.submission, std::nullopt);
    const auto second = shell().wait_finished();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->finished.exit_code, 5);
    EXPECT_EQ(second->finished.submission, 1u);
    EXPECT_EQ(visible(second->output), "mine\r\n");
  } else {
    ASSERT_TRUE(shell().wait_bytes("mine\r\n"));
    ASSERT_TRUE(shell().wait_finished());
  }
  EXPECT_NE(shell().bytes().find("early\r\n"), std::string::npos);
}

TEST_P(EveryShell, history_is_left_alone) {
  expect("echo secret-of-the-agent", 0, "secret-of-the-agent\r\n");
  ASSERT_TRUE(shell().run(std::string("echo hi! ") + std::string(4500, 'x')));
  const auto listed = shell().run(posix() ? "history 2>/dev/null || fc -l 2>/dev/null" : "history");
  ASSERT_TRUE(listed);
  if (rich()) {
    EXPECT_EQ(visible(listed->output).find("secret-of"), std::string::npos);
  }
  ASSERT_TRUE(shell().run("exit"));
  for (const char* file : {".bash_history", ".zsh_history", ".sh_history", ".ash_history", ".mksh_history",
                           ".local/share/fish/fish_history"})
    EXPECT_EQ(shell().file(file).find("secret-of"), std::string::npos) << file;
}

TEST_P(EveryShell, exported_variables) {
  if (!rich()) GTEST_SKIP() << "prompts carry no environment";
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(last_change("HOME"), (EnvironmentChange{"HOME", shell().home(), false}));
  ASSERT_TRUE(shell().run(posix() ? "export NEW='a;b\\c\n\td'" : "set -gx NEW 'a;b\\c\n\td'"));
  ASSERT_TRUE(shell().run(posix() ? "export MY_TOKEN=hunter2" : "set -gx MY_TOKEN hunter2"));
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(last_change("NEW"), (EnvironmentChange{"NEW", "a;b\\c\n\td", false}));
  EXPECT_EQ(last_change("MY_TOKEN"), (EnvironmentChange{"MY_TOKEN", std::nullopt, true}));
  ASSERT_TRUE(shell().run(posix() ? "unset NEW" : "set -e NEW"));
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(last_change("NEW"), (EnvironmentChange{"NEW", std::nullopt, false}));
}

// Names that a hook may use itself, values that look like the beginning of the next one, many at once.
TEST_P(EveryShell, exported_variables_change_in_every_way) {
  if (!rich() || !posix()) GTEST_SKIP() << "prompts carry no environment, or exporting is not POSIX's";
  ASSERT_TRUE(shell().wait_ready());
  ASSERT_TRUE(shell().run("export name=one value=two out=three now=four s=five p=six"));
  ASSERT_TRUE(shell().run("export AA='1;1=2' AB=3"));
  ASSERT_TRUE(shell().wait_ready());
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"name", "one"},
                                                                                    {"value", "two"},
                                                                                    {"out", "three"},
                                                                                    {"now", "four"},
                                                                                    {"s", "five"},
                                                                                    {"p", "six"},
                                                                                    {"AA", "1;1=2"},
                                                                                    {"AB", "3"}}) {
    EXPECT_EQ(last_change(name), (EnvironmentChange{name, value, false}));
  }
  ASSERT_TRUE(shell().run("AA=1 AB='2;1=3'"));
  ASSERT_TRUE(shell().run("export CC=1; CC="));
  ASSERT_TRUE(shell().run("typeset +x name"));
  ASSERT_TRUE(shell().wait_ready());
  EXPECT_EQ(last_change("AA"), (EnvironmentChange{"AA", "1", false}));
  EXPECT_EQ(last_change("AB"), (EnvironmentChange{"AB", "2;1=3", false}));
  EXPECT_EQ(last_change("CC"), (EnvironmentChange{"CC", "", false}));
  EXPECT_EQ(last_change("name"), (EnvironmentChange{"name", std::nullopt, false}));
  // More than one report holds: the rest follows by itself.
  ASSERT_TRUE(shell().run("x=$(printf %4000d 0); for i in $(seq 40); do export MANY_$i=$x; done"));
  for (int i = 0; i < 4; i++) ASSERT_TRUE(shell().run("true"));
  ASSERT_TRUE(shell().wait_ready());
  for (int i = 1; i <= 40; i++) EXPECT_TRUE(last_change("MANY_" + std::to_string(i))) << i;
}

INSTANTIATE_TEST_SUITE_P(Shells, EveryShell,
                         ::testing::Values(Row{"bash", {"/bin/bash"}, Quality::Rich, true},
                                           Row{"zsh", {"/usr/bin/zsh"}, Quality::Rich, true},
                                           Row{"fish", {"/usr/bin/fish"}, Quality::Rich, false},
                                           Row{"dash", {"/bin/dash"}, Quality::Basic, true},
                                           Row{"busybox", {"/bin/busybox", "ash"}, Quality::Basic, true},
                                           Row{"mksh", {"/bin/mksh"}, Quality::Basic, true},
                                           Row{"ksh93", {"/bin/ksh93"}, Quality::Basic, true}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ttyward::shell::testing
