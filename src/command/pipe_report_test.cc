#include "command/pipe_report.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ttyward::command {
namespace {

// What a line does to whoever looks at it from outside.
struct Seen {
  int wait_status = 0;
  std::string out;
  std::string err;
  bool operator==(const Seen&) const = default;
};

std::ostream& operator<<(std::ostream& to, const Seen& seen) {
  return to << "wait status " << seen.wait_status << ", out <" << seen.out << ">, err <" << seen.err << ">";
}

class PipeReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "pipe_report.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(report()) << "";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string report() const { return folder_ + "/report"; }
  std::string content(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Seen run(const std::string& line) const {
    const std::string out = folder_ + "/out";
    const std::string err = folder_ + "/err";
    const pid_t child = ::fork();
    if (child == 0) {
      const int null = ::open("/dev/null", O_RDONLY);
      const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      const int complaints = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
      ::dup2(null, 0);
      ::dup2(to, 1);
      ::dup2(complaints, 2);
      ::execl("/bin/bash", "/bin/bash", "-c", line.c_str(), nullptr);
      ::_exit(99);
    }
    Seen seen;
    ::waitpid(child, &seen.wait_status, 0);
    seen.out = content(out);
    seen.err = content(err);
    return seen;
  }

  std::string folder_;
};

TEST_F(PipeReportTest, makes_no_difference_and_tells_every_status) {
  struct Row {
    const char* line;
    std::vector<int> statuses;
  };
  const Row rows[] = {
      {"false | true", {1, 0}},
      {"true | (exit 7) | false", {0, 7, 1}},
      {"! false | true", {1, 0}},
      {"cd / && false | true", {1, 0}},
      {"echo \"$0 $- $# $LINENO\" | cat; (exit 3) | true", {3, 0}},
      {"sh -c 'kill -9 $$' | true", {137, 0}},
      {"true | sh -c 'kill -TERM $$'", {0, 143}},
      {"nosuchprogram 2>/dev/null | cat", {127, 0}},
      {"cat <<E | sed s/a/b/\na\nE", {0, 0}},
      {"echo a | cat # and a remark", {0, 0}},
      {"echo a | cat;\n\n", {0, 0}},
      {"set -C; umask 777; false | true", {1, 0}},
      {"set -u; set -o pipefail; false | true", {1, 0}},
      {"exec 1>&-; false | true", {1, 0}},
      {"exec 2>&1; false | true", {1, 0}},
      {"f() { return 4; }; f | true", {4, 0}},
      {"printf() { echo mine; }; false | true", {1, 0}},
      {"for i in 1 2; do echo $i; done | (cat; exit 2)", {0, 2}},
      {"sleep 0.01 & false | true", {1, 0}},
      {"set | true; exit 3 | exit 4", {}},
      // The line that would tell is not reached.
      {"set -e; set -o pipefail; false | true", {}},
      {"true | true && exit 5; false | true", {}},
      {"sh -c 'kill -9 $PPID'; false | true", {}},
      // The last pipeline did not run.
      {"true || false | true", {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.line);
    std::ofstream(report()) << "";
    const Seen alone = run(row.line);
    const auto line = reporting_line(row.line, report());
    if (!line) {
      EXPECT_TRUE(row.statuses.empty());
      continue;
    }
    const Seen told = run(*line);
    EXPECT_EQ(told, alone);
    const int code = WIFEXITED(told.wait_status) ? WEXITSTATUS(told.wait_status) : -1;
    EXPECT_EQ(statuses_in(content(report()), code), row.statuses);
  }
}

TEST_F(PipeReportTest, leaves_alone_what_would_see_it) {
  for (const char* line : {
           "echo one",
           "false | true &",
           "false | true; echo two",
           "(false | true)",
           "false | true || ./fallback",
           "echo 'open | true",
           "false | true \\",
           "cat <<E | true",
           "trap 'echo $BASH_COMMAND' EXIT; false | true",
           "trap 'echo debug' DEBUG; false | true",
           "eval 'trap x EXIT'; false | true",
           ". ./settings; false | true",
           "$what x; false | true",
           "shopt -s extdebug; false | true",
           "set -v; false | true",
           "set -n; false | true",
           "ulimit -f 0; false | true",
           "echo \"$BASH_EXECUTION_STRING\" | cat",
           "set | cat",
           "declare -p | cat",
           "ps aux | grep x",
           "sudo /bin/ps aux | cat",
           "cat /proc/$$/cmdline | tr '\\0' ' '",
           "BASH_XTRACEFD=1; set -x; false | true",
           "builtin() { :; }; false | true",
       }) {
    EXPECT_FALSE(reporting_line(line, report())) << line;
  }
  EXPECT_TRUE(reporting_line(". venv/bin/activate && pytest | tail -5", report()));
  EXPECT_TRUE(reporting_line("command -v git && git log | head", report()));
}

TEST(PipeReport, only_a_whole_report_of_this_end_counts) {
  EXPECT_EQ(statuses_in("0 1 0 .", 0), (std::vector<int>{1, 0}));
  EXPECT_TRUE(statuses_in("0 1 0 .", 1).empty());
  EXPECT_TRUE(statuses_in("0 1 ", 0).empty());
  EXPECT_TRUE(statuses_in("0 1 .", 0).empty());
  EXPECT_TRUE(statuses_in("0 1 999 .", 0).empty());
  EXPECT_TRUE(statuses_in("", 0).empty());
  EXPECT_TRUE(statuses_in("x", 0).empty());
}

TEST(PipeReport, goes_to_this_process_by_memory_alone) {
  std::vector<std::string> argv{"/bin/bash", "-c", "(exit 3) | true"};
  const auto made = PipeReport::add_to(argv);
  ASSERT_TRUE(made);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(argv[0].c_str(), "bash", "-c", argv[2].c_str(), nullptr);
    ::_exit(99);
  }
  int ended = 0;
  ::waitpid(child, &ended, 0);
  EXPECT_EQ(WEXITSTATUS(ended), 0);
  EXPECT_EQ(made->statuses(0), (std::vector<int>{3, 0}));

  std::vector<std::string> other{"/bin/sh", "-c", "false | true"};
  EXPECT_FALSE(PipeReport::add_to(other));
  EXPECT_EQ(other[2], "false | true");
}

}  // namespace
}  // namespace ttyward::command
