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
  bool posix() const { return GetParam().posix; }
  bool rich() const { return GetParam().quality == Quality::Rich; }
  LiveShell& shell() { return *shell_; }
  // Runs and compares; `output` is what the terminal shows, with its line ends.
  void expect(const std::string& text, int code, const std::string& output) {
    const auto outcome = shell().run(text);
    ASSERT_TRUE(outcome) << text;
    EXPECT_EQ(outcome->finished.exit_code, code) << text;
    EXPECT_EQ(outcome->output, output) << text;
    EXPECT_EQ(outcome->finished.command_line, text);
    EXPECT_TRUE(outcome->finished.trusted);
    EXPECT_FALSE(outcome->finished.output_has_echo);
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
