#include "digest/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "digest/line_scan.h"
#include "digest/testing.h"

namespace ttyward::digest {
namespace {

std::string digest_of(const std::string& text, const std::string& command = "",
                      std::optional<int> exit = std::nullopt) {
  Options options;
  options.command = command;
  options.exit_status = exit;
  return make_digest(text, options).text();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LineScan, FindsAlarmsInAnyCase) {
  EXPECT_TRUE(is_alarm("Segfault: FATAL"));
  EXPECT_TRUE(is_alarm("bash: foo: command not found"));
  EXPECT_TRUE(is_alarm("an Exception"));
  EXPECT_FALSE(is_alarm("all is well"));
  EXPECT_FALSE(is_alarm("erro"));
}

TEST(LineScan, ShapesIgnoreNumbersAndHashes) {
  EXPECT_EQ(shape_of("at 12:30:01.250 id=3fa90b12"), shape_of("at 9:01:59.1 id=00ffa1c9"));
  EXPECT_NE(shape_of("worker a"), shape_of("worker b"));
  EXPECT_EQ(skeleton_of("Unpacking libfoo (1.2) ..."), skeleton_of("Unpacking libbar (3.4) ..."));
}

TEST(Digest, ShortOutputIsShownAsItIs) {
  EXPECT_EQ(digest_of("one\ntwo\n\nthree\n"), "one\ntwo\n\nthree\n");
}

TEST(Digest, FoldsLinesThatDifferInNumbersAndKeepsTheRareOne) {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text +=
        i == 313 ? "cannot read block 77 of disk sdb\n" : fmt::format("copied block {} in {} ms\n", i, i % 7);
  }
  const std::string out = digest_of(text);
  EXPECT_TRUE(has(out, "cannot read block 77 of disk sdb"));
  EXPECT_TRUE(has(out, "[×499, 1–500]"));
  EXPECT_LT(out.size(), 400U);
}

TEST(Digest, KeepsAnOddValueInAColumnWhereOthersAgree) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += fmt::format("GET /item/{} {} {}ms\n", i, i == 150 ? 503 : 200, i * 7 % 90);
  EXPECT_TRUE(has(digest_of(text), "GET /item/150 503"));
}

TEST(Digest, KeepsTheOddRowOfATable) {
  std::string text = "NAME                READY   STATUS              AGE\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("{:20}{:8}{:20}{}d\n", fmt::format("web-{}x", static_cast<char>('a' + i % 26)),
                        i == 21 ? "0/1" : "1/1", i == 21 ? "CrashLoopBackOff" : "Running", i % 9);
  }
  const std::string out = digest_of(text, "kubectl get pods");
  EXPECT_TRUE(has(out, "CrashLoopBackOff"));
  EXPECT_TRUE(has(out, "[×39,"));
}

TEST(Digest, SaysWhenExitStatusAndTextDisagree) {
  EXPECT_TRUE(has(digest_of("checking\nAll checks passed\n", "x", 1),
                  "exit status 1, although line 2 reports success"));
  EXPECT_TRUE(has(digest_of("x.c:3:1: error: no\n", "make | tee log", 0),
                  "exit status 0, but line 1 reports a failure"));
  EXPECT_FALSE(has(digest_of("done\n", "x", 0), "exit status"));
  EXPECT_FALSE(has(digest_of("error: bad\n", "x", 1), "exit status"));
}

TEST(Digest, ReadsDiagnosticsAsFacts) {
  const Digest digest =
      make_digest("a.c:5:11: error: no member named 'z' [-Wx]\nsrc/b.ts(3,4): error TS2322: Type\n", {});
  ASSERT_EQ(digest.facts.diagnostics.size(), 2U);
  EXPECT_EQ(digest.facts.diagnostics[0],
            (Diagnostic{"a.c", 5, 11, "error", "-Wx", "no member named 'z'", 1}));
  EXPECT_EQ(digest.facts.diagnostics[1], (Diagnostic{"src/b.ts", 3, 4, "error", "TS2322", "Type", 2}));
}

TEST(Digest, LeavesDiffsAlone) {
  std::string text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,40 +1,40 @@\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("-value = {}\n+value = {}\n", i, i + 1);
  const std::string out = digest_of(text, "git diff");
  EXPECT_TRUE(has(out, "+value = 17\n"));
  EXPECT_FALSE(has(out, "×"));
}

TEST(Digest, CountsWhatDidNotChangeAndFoldsNumberedChanges) {
  std::string text =
      "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,40 +1,40 @@ int main()\n";
  for (int i = 0; i < 20; ++i) text += fmt::format(" unchanged line {} of the file\n", i);
  text += "-limit = 10\n+limit = 25\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("+row {} of the table\n", i);
  const std::string out = digest_of(text, "git diff");
  EXPECT_TRUE(has(out, "diff --git a/x b/x\n@@ -1,40 +1,40 @@ int main()\n")) << out;
  EXPECT_TRUE(has(out, "-limit = 10\n+limit = 25\n+row 0 of the table  [×30, 28–57]\n+row 29 of the table\n"))
      << out;
  EXPECT_FALSE(has(out, "unchanged"));
}

TEST(Digest, ShowsPlainDiffsWhole) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += fmt::format("{}c{}\n< key_{} = some old value\n---\n> key_{} = another value\n", i * 7, i * 7, i,
                        i * i);
  const std::string out = digest_of(text, "diff a b", 1);
  EXPECT_TRUE(has(out, "> key_49 = another value\n"));
  EXPECT_FALSE(has(out, "×"));
}

TEST(Digest, SaysACommitInOneLineAndItsAuthorsOnce) {
  std::string text;
  for (int i = 9; i > 0; --i) {
    text += fmt::format(
        "commit {:040x}{}\nAuthor: {} <x@y>\nDate:   Mon Mar {} 10:00:00 2026\n\n    {} part {}\n\n    "
        "Why.\n\n",
        i * 1234567, i == 9 ? " (HEAD -> main)" : "", i == 4 ? "Bob" : "Ann", i,
        i == 5 ? "Fix the error of" : "Add", i);
  }
  const std::string out = digest_of(text, "git log", 0);
  EXPECT_TRUE(has(
      out, fmt::format("{} (HEAD -> main) Add part 9\n", fmt::format("{:040x}", 9 * 1234567).substr(0, 7))))
      << out;
  EXPECT_TRUE(has(out, "Fix the error of part 5"));
  EXPECT_TRUE(has(out, "[9 commits by Ann ×8, Bob ×1; Mon Mar 1 10:00:00 2026 – Mon Mar 9 10:00:00 2026]"))
      << out;
  Options options;
  options.command = "git log";
  EXPECT_EQ(alarms_accounted(make_digest(text, options)), 1U);
}

TEST(Digest, KeepsTheSectionsOfAStatusApart) {
  const std::string out = digest_of(
      "On branch main\nChanges to be committed:\n  (use \"git restore --staged <file>...\" to unstage)\n"
      "\tmodified:   src/a.c\n\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what "
      "will be committed)\n"
      "\tmodified:   src/b.c\n\tmodified:   src/c.c\n\tmodified:   src/d.c\n\tmodified:   src/e.c\n\n"
      "Untracked files:\n  (use \"git add <file>...\" to include in what will be committed)\n\tnotes.txt\n",
      "git status", 0);
  EXPECT_TRUE(has(out, "src/a.c\nChanges not staged for commit:\n")) << out;
  EXPECT_TRUE(has(out, "src/b.c  [×4, 8–11; also src/c.c, src/d.c, src/e.c]\n")) << out;
}

TEST(Digest, SaysAColumnOnceInWhichAllRowsAgree) {
  std::string text = "NAME      READY   STATUS    NODE          CPU\n";
  for (int i = 0; i < 6; ++i)
    text += fmt::format("{:10}1/1     Running   worker-eu-1   {}m\n",
                        std::string(1, static_cast<char>('p' + i)) + "-web", i * i + 7);
  text += std::string(120, 'x') + "\n";
  const std::string out = digest_of(text, "kubectl get pods");
  EXPECT_TRUE(has(out, "NAME  CPU  [in all rows: READY 1/1, STATUS Running, NODE worker-eu-1]\n")) << out;
  EXPECT_TRUE(has(out, "r-web  11m\n"));
}

TEST(Digest, SaysAFolderOnce) {
  std::string text;
  for (const char* name : {"alpha", "beta", "gamma", "delta"})
    text += fmt::format(
        "/home/dev/work/project/src/{0}.c:7:1: error: '{0}' is odd in its own way: {0}{0}{0}\n", name);
  const std::string out =
      digest_of(text + "the end of it, in so many words as are needed for this\n", "cc x.c", 1);
  EXPECT_TRUE(has(out, "…/beta.c:7:1: error: 'beta' is odd")) << out;
  EXPECT_TRUE(has(out, "…/ is /home/dev/work/project/src/]")) << out;
}

TEST(Digest, SaysAnErrorOnceOfWhichAnotherLineSaysAll) {
  const std::string out = digest_of(
      "collected 3 items\n=== FAILURES ===\n___ test_total ___\n    def test_total():\n        cart = "
      "Cart()\n        cart.add(1)\n"
      "        cart.add(2)\n        cart.add(3)\n        cart.add(4)\n>       assert cart.total() == 14\n"
      "E       AssertionError: assert 13 == 14\n\ntests/test_cart.py:15: AssertionError\n=== short test "
      "summary info ===\n"
      "FAILED tests/test_cart.py::test_total - AssertionError: assert 13 == 14\n=== 1 failed, 62 passed in "
      "0.57s ===\n",
      "pytest", 1);
  EXPECT_FALSE(has(out, "E       AssertionError")) << out;
  EXPECT_TRUE(has(out, "FAILED tests/test_cart.py::test_total - AssertionError: assert 13 == 14\n")) << out;
}

TEST(Digest, ReadsALogThatIsPrintedByCat) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += i == 31
                ? "2026-03-01 10:00:31 WARN  pool is exhausted\n"
                : fmt::format("2026-03-01 10:00:{:02} INFO  request {} done in {} ms\n", i, i * 31, i % 9);
  const std::string out = digest_of(text, "cat app.log", 0);
  EXPECT_TRUE(has(out, "pool is exhausted"));
  EXPECT_LT(out.size(), 400U);
}

TEST(Digest, KeepsErrorsApartThatSayOtherThingsBelow) {
  std::string text;
  for (const char* name : {"List", "ArrayList"})
    text += fmt::format(
        "src/shop/Order.java:6: error: cannot find symbol\n  symbol:   class {}\n  location: class Order\n",
        name);
  for (int i = 0; i < 8; ++i)
    text += fmt::format("note {} that only fills this page with words\n",
                        std::string(static_cast<size_t>(i) + 1, 'x'));
  const std::string out = digest_of(text, "javac x", 1);
  EXPECT_TRUE(has(out, "cannot find symbol\n  symbol:  class List\n")) << out;
  EXPECT_TRUE(has(out, "cannot find symbol\n  symbol:  class ArrayList\n")) << out;
}

TEST(Digest, ListsMatchesByFile) {
  std::string text;
  const std::vector<std::string> kTexts = {"return parse(line);", "if (!parse(argv[1])) usage();",
                                           "// parse is slow here", "bool parse(std::string_view text);",
                                           "auto parse = [&] { return 0; };"};
  for (size_t i = 0; i < 30; ++i)
    text += fmt::format("src/module/deep/folder/file_{}.cc:{}:  {} // {}\n", i / 6, i * 17 + 3,
                        kTexts[i % kTexts.size()], std::string(1 + i % 7, static_cast<char>('a' + i % 26)));
  const std::string out = digest_of(text, "grep -rn parse src", 0);
  EXPECT_TRUE(has(out, "src/module/deep/folder/file_1.cc:105: if (!parse(argv[1])) usage();")) << out;
  EXPECT_TRUE(has(out, ", 139, 156, 173, 190\n")) << out;
  EXPECT_TRUE(has(out, "[×30 matches, 1–30]"));
}

TEST(Digest, ShowsTheMatchThatTellsOfAnError) {
  std::string text;
  for (size_t i = 0; i < 60; ++i)
    text += fmt::format("src/a{}.log:{}:line number {} {} {}word\n", i / 9, i, std::string(i % 7, 'x'),
                        i == 31 ? "FATAL: database corrupt" : "all good", static_cast<char>('a' + i % 26));
  Options options;
  options.command = "grep -rn line src";
  const Digest digest = make_digest(text, options);
  EXPECT_TRUE(has(digest.text(), "FATAL: database corrupt")) << digest.text();
  EXPECT_EQ(alarms_hidden(text, digest), 0U);
}

TEST(Digest, TakesNoTimeForTheFileOfAMatch) {
  static constexpr std::array kSaid = {"pool resized by hand", "(cache) warmed up", "order moved to on_hold",
                                       "settings: reloaded",   "backup, done",      "signal [HUP] received"};
  std::string text;
  for (size_t i = 0; i < 12; ++i)
    text += fmt::format("Nov 03 08:{}:{} web-2 app: {}{}\n", 10 + i, 15 + i, kSaid[i % kSaid.size()],
                        std::string(i / kSaid.size(), '!'));
  const std::string out = digest_of(text, "grep -v GET app.log", 0);
  EXPECT_FALSE(has(out, "matches")) << out;
  EXPECT_TRUE(has(out, "Nov 03 08:12:17 web-2 app: order moved to on_hold")) << out;
}

TEST(Digest, TakesARowForAHeadingOnlyIfItNamesColumns) {
  std::string text = "alpha-service-one    stopped     10.2.0.11\n";
  for (int i = 1; i < 11; ++i)
    text += fmt::format("svc-{0}{0}-worker         running     10.2.0.{1}\n", static_cast<char>('a' + i),
                        17 + 3 * i);
  const std::string out = digest_of(text, "svc list");
  EXPECT_FALSE(has(out, "[in all rows")) << out;
  EXPECT_TRUE(has(out, "stopped")) << out;
}

TEST(Digest, ReadsWhichProgramsWriteTheOutput) {
  const std::string failed = "cc -c a.c\nmake: *** [Makefile:5: a.o] Error 1\n";
  for (const char* command : {"cd src/git && make", "sed -i s/a/b/ x.c; make", "time make",
                              "bash -c 'make; true'", "make 2>&1 | grep -v cc", "CC=gcc make | tee log"})
    EXPECT_TRUE(has(digest_of(failed, command, 0), "exit status 0, but line 2 reports a failure")) << command;
  for (const char* command : {"git log", "cat build.log", "grep make log", "cd x && cat build.log"})
    EXPECT_FALSE(has(digest_of(failed, command, 0), "exit status")) << command;
  EXPECT_TRUE(
      has(digest_of("test 1 ... ok\nAll tests passed\nSegmentation fault (core dumped)\n", "./t.sh", 0),
          "exit status 0, but line 3 reports a failure"));
}

TEST(Digest, FoldsWhatDuAndDfPrint) {
  std::string text;
  for (int i = 1; i < 60; ++i) text += fmt::format("{}.0M\t/usr/share/folder{}\n", i, i);
  EXPECT_LT(digest_of(text, "du -h /usr/share", 0).size(), 300U);
  EXPECT_EQ(digest_of(text, "tool -h", 0), text);
}

TEST(Digest, ShowsSettingsThatSomebodyReads) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += fmt::format("worker {} listens on port {}\n", i, 9000 + i);
  EXPECT_EQ(digest_of(text, "cat workers.conf", 0), text);
}

TEST(Digest, FoldsRowsOfValuesThatSomebodyReads) {
  std::string text = "id,name,total\n";
  for (int i = 0; i < 30; ++i) text += fmt::format("{},customer {},{}.50\n", i, i, 100 + i);
  EXPECT_LT(digest_of(text, "head -31 orders.csv", 0).size(), 200U);
}

TEST(Digest, NamesNoRangeInWhichLinesAreShown) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += i == 30   ? std::string("the pool was resized from 200 to 350 by hand\n")
            : i == 40 ? std::string("ERROR gateway returned 502\n")
                      : fmt::format("GET /api/{}/{} 200\n", i % 2 ? "items" : "users", i * 37);
  const Digest digest = make_digest(text, {});
  EXPECT_TRUE(has(digest.text(), "the pool was resized")) << digest.text();
  for (const Piece& gap : digest.pieces) {
    if (gap.kind != Piece::Kind::Gap) continue;
    for (const Piece& piece : digest.pieces) {
      if (piece.kind == Piece::Kind::Text) {
        EXPECT_FALSE(gap.first_line <= piece.first_line && piece.first_line <= gap.last_line)
            << digest.text();
      }
    }
  }
}

TEST(Digest, CountsOwnFoldersNamedInternalAsOwn) {
  std::string text =
      "Error: boom\n    at query (/srv/app/src/internal/db.js:10:5)\n    at load "
      "(/srv/app/src/internal/load.js:20:5)\n"
      "    at node:internal/x:1:1\n    at run (/srv/app/src/run.js:3:1)\n    at Module._compile "
      "(node:internal/modules/cjs/loader:1521:14)\n    at main (/srv/app/src/main.js:3:1)\n";
  text += "the worker was started by the supervisor of billing, which starts it again after a second\n";
  const std::string out = digest_of(text, "node x.js", 1);
  EXPECT_TRUE(has(out, "load.js:20:5")) << out;
  EXPECT_FALSE(has(out, "Module._compile")) << out;
}

TEST(Digest, ShowsNoSourceWithoutItsFrame) {
  std::string text = "Traceback (most recent call last):\n";
  for (int i = 0; i < 12; ++i)
    text +=
        fmt::format("  File \"/srv/app/{0}/module_{0}.py\", line {1}, in step_{0}\n    call_number_{0}()\n",
                    std::string(1 + static_cast<size_t>(i), static_cast<char>('a' + i)), i * 11);
  const std::string out = digest_of(text + "ValueError: no\n", "python3 x.py", 1);
  for (int i = 0; i < 12; ++i) {
    const std::string name(1 + static_cast<size_t>(i), static_cast<char>('a' + i));
    if (has(out, "    call_number_" + name + "()")) {
      EXPECT_TRUE(has(out, "in step_" + name + "\n    call_number_")) << out;
    }
  }
}

TEST(Digest, KeepsWhatAWarningSaysBelow) {
  const std::string text =
      "-- The C compiler identification is GNU 12.2.0\n-- Detecting C compiler ABI info\n"
      "-- Detecting C compiler ABI info - done\n-- Check for working C compiler: /usr/bin/cc - skipped\n"
      "-- Detecting C compile features\n-- Building for Linux\n"
      "CMake Warning at CMakeLists.txt:6 (message):\n  USE_TLS is experimental\n\n\n"
      "CMake Error at CMakeLists.txt:7 (find_package):\n"
      "  By not providing \"FindFoo.cmake\" in CMAKE_MODULE_PATH this project\n"
      "  has asked CMake to find a package configuration file provided by\n"
      "  \"Foo\", but CMake did not find one.\n\n"
      "  Could not find a package configuration file provided by \"Foo\"\n"
      "  (requested version 2.3) with any of the following names:\n\n"
      "    FooConfig.cmake\n    foo-config.cmake\n\n"
      "  Add the installation prefix of \"Foo\" to CMAKE_PREFIX_PATH or set\n"
      "  \"Foo_DIR\" to a directory containing one of the above files.\n\n\n"
      "-- Configuring incomplete, errors occurred!\n";
  EXPECT_TRUE(has(digest_of(text, "cmake .", 1), "USE_TLS is experimental"));
}

TEST(Digest, NamesTheItemsOfJsonWithARareValue) {
  std::string text = "[\n";
  for (int i = 0; i < 16; ++i)
    text += fmt::format(
        "  {{\"id\": {0}, \"name\": \"node-{0:02}\", \"status\": \"{1}\", \"zone\": \"eu-west-1\"}}{2}\n", i,
        i == 4 || i == 11 ? "draining" : "ready", i < 15 ? "," : "");
  const std::string out = digest_of(text + "]\n", "curl x", 0);
  EXPECT_TRUE(has(out, "node-04")) << out;
  EXPECT_TRUE(has(out, "node-11")) << out;
}

TEST(Digest, NamesTheFilesOfCommits) {
  std::string text;
  for (int i = 3; i > 0; --i)
    text += fmt::format(
        "commit {:040x}\nAuthor: Ann <x@y>\nDate:   Mon Mar {} 10:00:00 2026\n\n    Add part {}\n\n"
        " mod_{}.py | 8 ++++++++\n notes.txt | 1 +\n 2 files changed, 9 insertions(+)\n\n",
        i * 1234567, i, i, i);
  EXPECT_TRUE(has(digest_of(text, "git log --stat", 0), "[mod_2.py, notes.txt]"));
}

TEST(Digest, TellsOutputsApartThatItShowsAlike) {
  const auto of = [](const std::string& text, const std::string& command) {
    Options options;
    options.command = command;
    return make_digest(text, options);
  };
  std::string one;
  for (int i = 0; i < 200; ++i) one += fmt::format("copied block {} of the disk\n", i);
  std::string other = one;
  other.replace(other.find("block 77 "), 9, "block 977 ");
  EXPECT_EQ(of(one, "x").text(), of(other, "x").text());
  EXPECT_NE(of(one, "x").fingerprint, of(other, "x").fingerprint);
  EXPECT_EQ(of(one, "x").fingerprint, of(one, "x").fingerprint);
  EXPECT_TRUE(of("a: 1\n", "cat x").exact);
  EXPECT_TRUE(of("a.c:1: x\n", "grep -n x a.c").exact);
  EXPECT_FALSE(of("a\n", "make test").exact);
}

TEST(Digest, KeepsEveryFindingOfALinter) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += fmt::format("app/{0}_views.py:{1}:{2}: {3}{4} finding about `{0}` of its own kind {0}{0}\n",
                        std::string(1 + static_cast<size_t>(i) % 3, static_cast<char>('a' + i)), i * 9 + 1, i,
                        i % 2 ? "F" : "E", 400 + i);
  const Digest digest = make_digest(text, {});
  EXPECT_TRUE(has(digest.text(), "app/l_views.py") || has(digest.text(), "app/lll_views.py"))
      << digest.text();
  ASSERT_EQ(digest.facts.diagnostics.size(), 12U);
  EXPECT_EQ(digest.facts.diagnostics[1].code, "F401");
  EXPECT_EQ(digest.facts.diagnostics[1].severity, "warning");
}

TEST(Digest, ShowsOddItemsOfLongJsonArrays) {
  std::string text = "[\n";
  for (int i = 0; i < 80; ++i) {
    text += fmt::format("  {{\"id\": {}, \"state\": \"{}\", \"zone\": \"eu\"}}{}\n", i,
                        i == 41 ? "failed" : "up", i < 79 ? "," : "");
  }
  const std::string out = digest_of(text + "]\n", "curl x");
  EXPECT_TRUE(has(out, "80 items"));
  EXPECT_TRUE(has(out, "id=41: state=\"failed\""));
  EXPECT_LT(out.size(), 400U);
}

TEST(Digest, ReadsGitAsData) {
  const auto facts = [](const std::string& text, const std::string& command) {
    Options options;
    options.command = command;
    return make_digest(text, options).facts;
  };
  EXPECT_EQ(
      facts("## main...origin/main\n M src/a.c\nA  b.c\n?? notes.txt\nUU both.c\n", "git status -sb").entries,
      (std::vector<Entry>{{"src/a.c", "modified", 0},
                          {"b.c", "new file", 0},
                          {"notes.txt", "untracked", 0},
                          {"both.c", "conflict", 0}}));
  const Facts diff = facts(
      "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n",
      "git diff");
  ASSERT_EQ(diff.entries.size(), 1U);
  EXPECT_EQ(diff.entries[0], (Entry{"x.c", "modified", 0, 2, 1}));
  EXPECT_EQ(facts(" src/a.c | 3 ++-\n 1 file changed\n", "git diff --stat").entries,
            (std::vector<Entry>{{"src/a.c", "modified", 0, 2, 1}}));
  EXPECT_EQ(facts("commit 0123456789abcdef0123456789abcdef01234567\nAuthor: Ada <a@x>\nDate:   Mon Mar 1\n\n "
                  "   Fix it\n",
                  "git log")
                .commits,
            (std::vector<Commit>{
                {"0123456789abcdef0123456789abcdef01234567", "Ada <a@x>", "Mon Mar 1", "Fix it"}}));
  EXPECT_EQ(facts("* 0123abc (HEAD -> main) Fix it\n* 9876fed Begin\n", "git log --oneline --graph").commits,
            (std::vector<Commit>{{"0123abc", "", "", "Fix it"}, {"9876fed", "", "", "Begin"}}));
}

TEST(Digest, ReadsListingsAsData) {
  const auto entries = [](const std::string& text, const std::string& command) {
    Options options;
    options.command = command;
    return make_digest(text, options).facts.entries;
  };
  EXPECT_EQ(entries("a.c  build/  my file\n", "ls"),
            (std::vector<Entry>{{"a.c", "", 0}, {"build/", "directory", 0}, {"my file", "", 0}}));
  EXPECT_EQ(entries(" Directory of C:\\x\n\n03/01/2026  10:15 AM    <DIR>          src\n03/01/2026  10:15 AM "
                    "            1,234 "
                    "a.txt\n               1 File(s)          1,234 bytes\n",
                    "dir"),
            (std::vector<Entry>{{"src", "directory", 0}, {"a.txt", "file", 1234}}));
  EXPECT_TRUE(entries("ls: cannot access 'x': No such file or directory\nerror\n", "ls x").empty());
}

TEST(Digest, SuggestsOnlyWhatTheOutputSays) {
  const auto suggestions = [](const std::string& text, const std::string& command, int exit) {
    Options options;
    options.command = command;
    options.exit_status = exit;
    return make_digest(text, options).facts.suggestions;
  };
  using Commands = std::vector<std::string>;
  EXPECT_EQ(
      suggestions(
          "FAILED tests/a.py::test_x - assert 1\nFAILED tests/a.py::test_y - assert 2\n3 failed\nFAILED "
          "tests/a.py::test_z - no\n",
          "pytest", 1),
      (Commands{"pytest tests/a.py::test_x"}));
  EXPECT_EQ(suggestions("ModuleNotFoundError: No module named 'yaml'\n", "python3 a.py", 1),
            (Commands{"python3 -m pip install yaml"}));
  EXPECT_EQ(suggestions("Error: listen EADDRINUSE: address already in use :::3000\n", "node s.js", 1),
            (Commands{"ss -ltnp 'sport = :3000'"}));
  EXPECT_TRUE(suggestions("ModuleNotFoundError: No module named 'yaml'\n", "cat log", 0).empty());
  EXPECT_TRUE(suggestions("ModuleNotFoundError: No module named 'shop.cart'\n", "python3 a.py", 1).empty());
}

TEST(Digest, SaysALineOnceAndHidesWhatToolsAlwaysSay) {
  std::string text =
      "npm error code E404\nnpm error 404 Not Found - GET https://example.org/x\nnpm error 404\n";
  for (int i = 0; i < 6; ++i)
    text += "the same explanation of some length, with a blank before it\n    other " +
            std::to_string(i * 37) + " thing\n";
  text += "npm error A complete log of this run can be found in: /home/dev/.npm/_logs/x.log\n";
  const std::string out = digest_of(text, "npm i x", 1);
  EXPECT_TRUE(has(out, "with a blank before it  [×6]"));
  EXPECT_TRUE(has(out, "404 Not Found - GET"));
  EXPECT_FALSE(has(out, "A complete log"));
}

TEST(Digest, KeepsOwnFramesOfAGoPanic) {
  const std::string out = digest_of(
      "panic: runtime error: index out of range [0] with length 0 [recovered]\n\ngoroutine 7 [running]:\n"
      "testing.tRunner.func1.2({0x50, 0x60})\n\t/usr/lib/go-1.19/src/testing/testing.go:1396 +0x24e\n"
      "panic({0x508de0, 0x5fea80})\n\t/usr/lib/go-1.19/src/runtime/panic.go:884 +0x212\n"
      "example.org/queue.(*Q).Pop(...)\n\t/home/dev/queue/queue.go:12\n"
      "example.org/queue.TestEmpty(0xc00?)\n\t/home/dev/queue/queue_test.go:6 +0x1d\n"
      "created by testing.(*T).Run\n\t/usr/lib/go-1.19/src/testing/testing.go:1493 +0x35f\nexit status 2\n",
      "go test ./...", 1);
  EXPECT_TRUE(has(out, "queue.go:12"));
  EXPECT_TRUE(has(out, "queue_test.go:6"));
  EXPECT_FALSE(has(out, "testing.go:1396"));
}

TEST(Digest, OfAPartNumbersItsLinesAsTheyAre) {
  Options options;
  options.first_line = 501;
  Builder builder(options);
  for (int i = 0; i < 200; ++i) builder.add(fmt::format("copied block {} of the whole disk", i));
  EXPECT_TRUE(has(builder.finish().text(), "501–700"));
}

TEST(Digest, IsBoundedOnAFlood) {
  Builder builder({});
  for (int i = 0; i < 300'000; ++i) builder.add(fmt::format("row {} of table t{}", i, i % 3));
  builder.add("fatal: disk full");
  for (int i = 0; i < 50'000; ++i) builder.add(fmt::format("row {} of table t{}", i, i % 3));
  const Digest digest = builder.finish();
  EXPECT_EQ(digest.total_lines, 350'001U);
  EXPECT_TRUE(has(digest.text(), "fatal: disk full"));
  EXPECT_TRUE(has(digest.text(), "[×350000, 1–350001]")) << digest.text();
  EXPECT_LT(digest.text().size(), 300U);
}

TEST(Digest, EndsOnADiffInTheMiddleOfAFlood) {
  Builder builder({});
  for (int i = 0; i < 30'000; ++i) {
    builder.add(fmt::format("diff --git a/f{} b/f{}", i, i));
    builder.add(fmt::format("@@ -{},3 +{},3 @@", i, i));
    builder.add(fmt::format("+error {}", i));
  }
  EXPECT_EQ(alarms_accounted(builder.finish()), 30'000U);
}

TEST(Digest, CutsOneEndlessLineAndKeepsItsAlarm) {
  Builder builder({});
  builder.add(std::string(10'000'000, 'x') + " error: here " + std::string(10'000'000, 'y'));
  const std::string out = builder.finish().text();
  EXPECT_TRUE(has(out, "error: here"));
  EXPECT_LT(out.size(), 20'000U);
}

TEST(Digest, AccountsForEveryAlarmInMixedOutput) {
  const std::vector<std::string> kLines = {"a.c:5:11: error: no member named 'z'",
                                           "   5 | return p.z;",
                                           "      |        ^",
                                           "✓ handles errors",
                                           "ok 3 - fails well",
                                           "[       OK ] Suite.Error (0 ms)",
                                           "[  FAILED  ] Suite.Two (1 ms)",
                                           "Traceback (most recent call last):",
                                           "  File \"x.py\", line 3, in f",
                                           "    raise ValueError",
                                           "ValueError: not found",
                                           "diff --git a/error b/error",
                                           "--- a/error",
                                           "+++ b/error",
                                           "@@ -1 +1 @@",
                                           "-fail",
                                           "+pass",
                                           "drwxr-xr-x 2 root root 4096 Nov 16 10:53 errors",
                                           "./src/error/a.c",
                                           "./src/error/b.c",
                                           "Get:1 http://x error",
                                           "{\"error\": 1}",
                                           "[",
                                           "permission denied",
                                           "2026-01-01 10:00:00 ERROR x",
                                           "",
                                           "    at f (node:internal/error:3:4)",
                                           "commit 0123456789012345678901234567890123456789",
                                           "panic: x",
                                           "goroutine 1 [running]:",
                                           "100% tests passed",
                                           "    Fix the error of the importer",
                                           "\tmodified:   src/error.c",
                                           "Changes not staged for commit:",
                                           "3c3",
                                           "< failed = 1",
                                           "> failed = 2",
                                           "web-1     1/1   Failed    worker-1",
                                           "web-2     1/1   Failed    worker-1",
                                           "/home/dev/work/error/a.c:3: error: no",
                                           "E       AssertionError: no error",
                                           "thread 'x' panicked at src/lib.rs:8:62:",
                                           "===== 3 failed, 2 passed =====",
                                           "src/a.c:12: parse(line);",
                                           "src/b.c:40:  return all_good(x);",
                                           "src/b.c:41:  FATAL: corrupt",
                                           "libfoo1   1.2-3   amd64   a library",
                                           "\xff\xfe\x00 fatal"};
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    const size_t lines = random() % 400;
    for (size_t i = 0; i < lines; ++i) {
      std::string line = kLines[random() % kLines.size()];
      if (random() % 3 == 0) line += fmt::format(" {}", random() % 1000);
      if (random() % 9 == 0) line = line.substr(random() % (line.size() + 1));
      const size_t repeat = random() % 20 == 0 ? 30 : 1;
      for (size_t r = 0; r < repeat; ++r) text += line + "\n";
    }
    Options options;
    options.command = std::vector<std::string>{"git log", "git status", "ls -l",     "cat x",
                                               "make",    "pytest",     "grep -rn x"}[random() % 7];
    options.max_chars = 200 + random() % 8000;
    options.exit_status = static_cast<int>(random() % 2);
    const Digest digest = make_digest(text, options);
    ASSERT_EQ(alarms_accounted(digest), alarms_in(text)) << round;
    ASSERT_EQ(alarms_hidden(text, digest), 0U) << round << "\n" << digest.text();
  }
}

TEST(Digest, TakesTimeThatGrowsWithTheInput) {
  const auto seconds = [](size_t lines) {
    Builder builder({});
    std::mt19937 random(1);
    const std::clock_t begin = std::clock();  // of the processor: others' load does not count
    for (size_t i = 0; i < lines; ++i)
      builder.add(fmt::format("error {} in {:x} at /a/{}/b", random() % 7, random(), random() % 99));
    builder.finish();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double one = seconds(20'000);
  EXPECT_LT(seconds(160'000), 40 * one + 2);
}

}  // namespace
}  // namespace ttyward::digest
