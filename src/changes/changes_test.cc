#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <chrono>
#include <thread>

#include "base/unix_time.h"
#include "changes/diff.h"
#include "changes/scan.h"
#include "changes/testing.h"
#include "changes/tree.h"

namespace ttyward::changes {
namespace {

using testing::read_file;
using testing::Workshop;
using testing::write_file;
using Access = ChangeSet::Access;

#define RUN_OR_SKIP(name, ...)          \
  const std::string name = __VA_ARGS__; \
  if (name.empty()) GTEST_SKIP() << "this machine does not let an ordinary user mount an overlay"

class Changes : public ::testing::Test {
 protected:
  void SetUp() override {
    shop.file("a.txt", "one\ntwo\nthree\n");
    shop.file("b.txt", "gone\n");
    shop.file("dir/c.txt", "c\n");
    shop.file("dir/deep/d.txt", "d\n");
    shop.file("run.sh", "#!/bin/sh\n");
  }
  Applied apply(const std::string& id, const ApplyChoice& choice = {}) {
    auto outcome = shop.open(id).apply(choice);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(Applied{});
  }
  std::vector<std::string> conflicts(const Applied& outcome) {
    std::vector<std::string> paths;
    for (const Refused& each : outcome.conflicts) paths.push_back(each.path);
    return paths;
  }
  Workshop shop;
};

TEST_F(Changes, ListsWhatACommandDidAndLeavesTheWorkspaceAlone) {
  RUN_OR_SKIP(
      id, shop.run("printf 'one\\n2\\nthree\\nfour\\n' > a.txt; rm b.txt; echo new > n.txt; chmod +x run.sh; "
                   "head -c 100 /dev/zero > z.bin; ln -s a.txt l; mkdir e; mkdir -p f/g; echo x > f/g/x"));
  EXPECT_EQ(
      shop.listed(id),
      "M a.txt +2 -1\nD b.txt -1\nA e/\nA f/g/x +1\nA l -> a.txt\nA n.txt +1\nM run.sh\nA z.bin binary\n");
  EXPECT_EQ(shop.text("a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(shop.text("b.txt"), "gone\n");
  EXPECT_FALSE(shop.exists("n.txt"));
  const Totals totals = totals_of(*shop.open(id, Access::Read).entries());
  EXPECT_EQ(totals.added, 5);
  EXPECT_EQ(totals.changed, 2);
  EXPECT_EQ(totals.deleted, 1);
}

TEST_F(Changes, WhatIsTheSameAfterwardsIsNoChange) {
  RUN_OR_SKIP(id, shop.run("echo x >> a.txt; printf 'one\\ntwo\\nthree\\n' > a.txt; touch run.sh; "
                           "mv dir other; mv other dir; rm b.txt; echo gone > b.txt"));
  EXPECT_EQ(shop.listed(id), "");
}

TEST_F(Changes, AppliesEverything) {
  RUN_OR_SKIP(
      id, shop.run("echo 2 > a.txt; rm b.txt; mkdir -p f/g; echo x > f/g/x; ln -s ../a.txt f/l; rm -r dir; "
                   "chmod 755 run.sh; chmod 500 f/g"));
  const Applied outcome = apply(id);
  EXPECT_TRUE(outcome.conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "2\n");
  EXPECT_FALSE(shop.exists("b.txt"));
  EXPECT_FALSE(shop.exists("dir"));
  EXPECT_EQ(shop.text("f/g/x"), "x\n");
  EXPECT_EQ(shop.text("f/l"), "2\n");
  struct stat info{};
  ASSERT_EQ(::stat(shop.in("run.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0755U);
  ASSERT_EQ(::stat(shop.in("f/g").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0500U);
  EXPECT_EQ(shop.open(id, Access::Read).info().state, State::Applied);
  // No folder of ours is left in the workspace.
  EXPECT_FALSE(shop.exists(".ttyward-apply-" + id));
  EXPECT_TRUE(apply(id).paths.empty());  // a second time there is nothing to do
}

TEST_F(Changes, AppliesChosenPathsAndTheFoldersTheyNeed) {
  RUN_OR_SKIP(
      id, shop.run("echo 2 > a.txt; rm b.txt; mkdir -p f/g h; echo x > f/g/x; echo y > f/y; echo z > h/z"));
  apply(id, {{"f/g/x", "h"}, false});
  EXPECT_EQ(shop.text("f/g/x"), "x\n");
  EXPECT_EQ(shop.text("h/z"), "z\n");
  EXPECT_FALSE(shop.exists("f/y"));
  EXPECT_EQ(shop.text("a.txt"), "one\ntwo\nthree\n");
  EXPECT_TRUE(shop.exists("b.txt"));
  auto none = shop.open(id).apply({{"nothing"}, false});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::NotFound);
  apply(id);
  EXPECT_EQ(shop.text("f/y"), "y\n");
  EXPECT_FALSE(shop.exists("b.txt"));
}

TEST_F(Changes, StopsWithAListWhereTheWorkspaceChangedMeanwhile) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt; rm b.txt; echo n > n.txt; rm -r dir; echo ok > ok.txt"));
  shop.file("a.txt", "mine\n");
  shop.file("b.txt", "mine\n");
  shop.file("n.txt", "mine\n");
  shop.file("dir/deep/late.txt", "mine\n");
  const Applied outcome = apply(id);
  EXPECT_EQ(conflicts(outcome), (std::vector<std::string>{"a.txt", "b.txt", "dir", "n.txt"}));
  EXPECT_TRUE(outcome.paths.empty());
  EXPECT_EQ(shop.text("a.txt"), "mine\n");
  EXPECT_FALSE(shop.exists("ok.txt"));
  // What is not in conflict can be chosen; the rest only on demand.
  EXPECT_EQ(apply(id, {{"ok.txt"}, false}).paths.size(), 1U);
  EXPECT_TRUE(apply(id, {{}, true}).conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "2\n");
  EXPECT_FALSE(shop.exists("dir"));
}

TEST_F(Changes, AFileThatOnlyGotANewTimeIsNoConflict) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt; rm b.txt"));
  shop.file("a.txt", "one\ntwo\nthree\n");
  shop.file("b.txt", "gone\n");
  EXPECT_TRUE(apply(id).conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "2\n");
}

TEST_F(Changes, AChangeWhileTheCommandRanIsAConflict) {
  // The script waits until the file outside of its view changed: the layer shows the lower one through.
  RUN_OR_SKIP(id, [&] {
    std::thread other([&] {
      while (::access(shop.outside("begun").c_str(), F_OK) != 0) std::this_thread::yield();
      shop.file("a.txt", "mine\n");
      write_file(shop.outside("go"), "");
    });
    const std::string made = shop.run("echo 2 > a.txt; touch ../begun; while [ ! -e ../go ]; do :; done");
    write_file(shop.outside("begun"), "");
    other.join();
    return made;
  }());
  EXPECT_EQ(conflicts(apply(id)), std::vector<std::string>{"a.txt"});
}

TEST_F(Changes, UndoTakesBackWhatWasApplied) {
  RUN_OR_SKIP(id,
              shop.run("echo 2 > a.txt; rm b.txt; mkdir -p f/g; echo x > f/g/x; rm -r dir; chmod 755 run.sh; "
                       "chmod 500 f/g"));
  apply(id);
  EXPECT_EQ(shop.shelf().last_applied(shop.workspace())->id, id);
  auto undone = shop.open(id).undo(false);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_TRUE(undone->conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(shop.text("b.txt"), "gone\n");
  EXPECT_EQ(shop.text("dir/deep/d.txt"), "d\n");
  EXPECT_FALSE(shop.exists("f"));
  struct stat info{};
  ASSERT_EQ(::stat(shop.in("run.sh").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0111U, 0U);
  EXPECT_FALSE(shop.shelf().last_applied(shop.workspace()));
  EXPECT_FALSE(shop.exists(".ttyward-apply-" + id));
  // And again, because the changes are still there.
  EXPECT_TRUE(apply(id).conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "2\n");
  EXPECT_FALSE(shop.exists("dir"));
}

TEST_F(Changes, UndoStopsWhereSomethingCameOnTop) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt; mkdir f; echo x > f/x; rm b.txt"));
  apply(id);
  shop.file("a.txt", "later\n");
  shop.file("f/late", "later\n");
  shop.file("b.txt", "later\n");
  auto undone = shop.open(id).undo(false);
  ASSERT_TRUE(undone);
  EXPECT_EQ(conflicts(*undone), (std::vector<std::string>{"a.txt", "b.txt", "f/late"}));
  EXPECT_EQ(shop.text("a.txt"), "later\n");
  EXPECT_EQ(shop.text("f/x"), "x\n");
}

TEST_F(Changes, AFileBecomesAFolderAndAFolderAFile) {
  RUN_OR_SKIP(id, shop.run("rm a.txt; mkdir a.txt; echo in > a.txt/in; rm -r dir; echo flat > dir"));
  EXPECT_EQ(shop.listed(id), "M a.txt/ -3\nA a.txt/in +1\nM dir +1 files 2\n");
  EXPECT_TRUE(apply(id).conflicts.empty());
  EXPECT_EQ(shop.text("a.txt/in"), "in\n");
  EXPECT_EQ(shop.text("dir"), "flat\n");
  auto undone = shop.open(id).undo(false);
  ASSERT_TRUE(undone) << undone.error().message;
  EXPECT_EQ(shop.text("a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(shop.text("dir/deep/d.txt"), "d\n");
}

TEST_F(Changes, AFolderThatWasMadeAnewHidesTheOldOne) {
  RUN_OR_SKIP(id, shop.run("rm -r dir; mkdir -p dir/deep; echo d > dir/deep/d.txt; echo n > dir/n"));
  EXPECT_EQ(shop.listed(id), "D dir/c.txt -1\nA dir/n +1\n");
  apply(id);
  EXPECT_FALSE(shop.exists("dir/c.txt"));
  EXPECT_EQ(shop.text("dir/deep/d.txt"), "d\n");
}

TEST_F(Changes, ALinkToOutsideIsNotFollowed) {
  write_file(shop.outside("secret"), "secret\n");
  std::filesystem::create_directory(shop.outside("elsewhere"));
  RUN_OR_SKIP(id, shop.run("ln -s " + shop.outside("secret") + " s; rm -r dir; ln -s " +
                           shop.outside("elsewhere") + " dir; echo w > w"));
  const auto entries = *shop.open(id, Access::Read).entries();
  for (const Entry& entry : entries) {
    if (entry.path == "s") {
      EXPECT_EQ(note_of(entry), "points outside the workspace");
    }
  }
  // A second command's file in what is a link by now does not reach through it.
  RUN_OR_SKIP(other, shop.run("echo new > dir/new"));
  apply(id);
  EXPECT_TRUE(std::filesystem::is_symlink(shop.in("s")));
  EXPECT_EQ(conflicts(apply(other)), std::vector<std::string>{"dir/new"});
  EXPECT_FALSE(std::filesystem::exists(shop.outside("elsewhere/new")));
  // A diff shows where it points, not what is there.
  const std::string shown = shop.open(id, Access::Read).diff(entries.at(2));
  EXPECT_EQ(shown.find("secret\n+"), std::string::npos);
  EXPECT_EQ(shown.find("+secret\n"), std::string::npos);
}

TEST_F(Changes, SetuidAndHardLinksBecomeOrdinaryFiles) {
  RUN_OR_SKIP(id, shop.run("cp run.sh s; chmod 4755 s; echo h > h1; ln h1 h2"));
  apply(id);
  struct stat info{};
  ASSERT_EQ(::stat(shop.in("s").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0755U);
  ASSERT_EQ(::stat(shop.in("h1").c_str(), &info), 0);
  EXPECT_EQ(info.st_nlink, 1U);
  EXPECT_EQ(shop.text("h2"), "h\n");
}

TEST_F(Changes, SpecialFilesAreListedAndLeftOut) {
  RUN_OR_SKIP(id, shop.run("mkfifo p; echo ok > ok"));
  EXPECT_EQ(shop.listed(id), "A ok +1\nA p !1\n");
  const Applied outcome = apply(id);
  ASSERT_EQ(outcome.left_out.size(), 1U);
  EXPECT_EQ(outcome.left_out[0].path, "p");
  EXPECT_FALSE(shop.exists("p"));
  EXPECT_EQ(shop.text("ok"), "ok\n");
}

TEST_F(Changes, ControlFilesAreListedAndLeftOut) {
  RUN_OR_SKIP(
      id, shop.run("mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout; echo x > .envrc; echo ok > ok",
                   {".git/hooks", ".envrc"}));
  const Applied outcome = apply(id);
  EXPECT_EQ(outcome.left_out.size(), 3U);
  EXPECT_FALSE(shop.exists(".git/hooks"));
  EXPECT_FALSE(shop.exists(".envrc"));
  EXPECT_EQ(shop.text("ok"), "ok\n");
}

TEST_F(Changes, NamesMayHoldAnything) {
  RUN_OR_SKIP(
      id,
      shop.run(
          "printf x > \"$(printf 'new\\nline\\ttab')\"; printf y > '\\e'; printf z > \"$(printf '\\377')\"; "
          "mkdir ' '; printf s > ' /-rf'"));
  EXPECT_EQ(apply(id).paths.size(), 5U);
  EXPECT_EQ(shop.text("new\nline\ttab"), "x");
  EXPECT_EQ(shop.text("\\e"), "y");
  EXPECT_EQ(shop.text("\xff"), "z");
  EXPECT_EQ(shop.text(" /-rf"), "s");
}

TEST_F(Changes, AVeryDeepTreeIsListedUpToWhereItCanBeAndRemovedWhole) {
  RUN_OR_SKIP(
      id, shop.run("d=$(printf 'deepfolder/%.0s' $(seq 300)); mkdir -p $d; cd -P $d; mkdir -p $d; cd -P $d; "
                   "echo x > x"));
  const auto entries = shop.open(id, Access::Read).entries();
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->back().obstacle, Obstacle::TooDeep);
  ASSERT_TRUE(shop.open(id).discard());
  EXPECT_FALSE(shop.shelf().has(id));
  EXPECT_TRUE(std::filesystem::is_empty(shop.outside("state/changes")));
}

TEST_F(Changes, FoldersWithoutPermissionsAreRemoved) {
  RUN_OR_SKIP(id, shop.run("mkdir -p p/q; echo x > p/q/x; chmod 000 p/q; chmod 000 p"));
  ASSERT_TRUE(shop.open(id).discard());
  EXPECT_TRUE(std::filesystem::is_empty(shop.outside("state/changes")));
}

TEST_F(Changes, ApplyDuringASecondTry) {
  RUN_OR_SKIP(first, shop.run("echo first > a.txt; echo first > new"));
  NewSet wanted;
  wanted.id = base::random_id('c');
  wanted.workspace = shop.workspace();
  auto second = shop.shelf().prepare(wanted);
  ASSERT_TRUE(second);
  apply(first);  // the second one has begun
  ASSERT_EQ(
      testing::run_on_layer(shop.workspace(), second->upper, second->work, "echo second > a.txt; rm new"), 0);
  ASSERT_TRUE(second->set.finish());
  auto outcome = second->set.apply({});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(conflicts(*outcome), (std::vector<std::string>{"a.txt", "new"}));
  EXPECT_EQ(shop.text("a.txt"), "first\n");
}

TEST_F(Changes, ASetInUseIsNotTouched) {
  NewSet wanted;
  wanted.id = base::random_id('c');
  wanted.workspace = shop.workspace();
  auto prepared = shop.shelf().prepare(wanted);
  ASSERT_TRUE(prepared);
  auto opened = shop.shelf().open(wanted.id, Access::Exclusive);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::ErrorCode::Unavailable);
  EXPECT_TRUE(shop.open(wanted.id, Access::Read).running());
  EXPECT_TRUE(shop.shelf().sweep({0, 1}, base::unix_ms() + 1'000'000).empty());
  // Whoever ran it is gone, and so is the lock; a process that is known to be the command counts alone.
  ASSERT_TRUE(prepared->set.set_keeper(::getpid()));
  {
    const ChangeSet gone = std::move(prepared->set);
  }
  EXPECT_FALSE(shop.shelf().open(wanted.id, Access::Exclusive));
}

TEST_F(Changes, ASetWhoseRunnerWasKilledCanBeUsed) {
  NewSet wanted;
  wanted.id = base::random_id('c');
  wanted.workspace = shop.workspace();
  {
    auto prepared = shop.shelf().prepare(wanted);
    ASSERT_TRUE(prepared);
    if (testing::run_on_layer(shop.workspace(), prepared->upper, prepared->work, "echo 2 > a.txt") == -1)
      GTEST_SKIP();
  }
  EXPECT_FALSE(shop.open(wanted.id, Access::Read).running());
  EXPECT_EQ(shop.listed(wanted.id), "M a.txt +1 -3\n");
  EXPECT_TRUE(apply(wanted.id).conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "2\n");
}

// An apply that ended in the middle: the record says it was begun, and a part is in place.
TEST_F(Changes, AnApplyThatWasKilledIsTakenBackAndDoneAgain) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt; rm b.txt; echo n > n.txt; rm -r dir"));
  apply(id);
  // As a kill right after the first renames would leave it.
  const std::string info_path = shop.outside("state/changes/" + id + "/info");
  auto info = decode_info(read_file(info_path));
  ASSERT_TRUE(info);
  info->state = State::Applying;
  write_file(info_path, encode(*info));
  const std::string record_path = shop.outside("state/changes/" + id + "/applied");
  auto record = decode_applied(read_file(record_path));
  ASSERT_TRUE(record);
  const auto entries = *shop.open(id, Access::Read).entries();
  for (AppliedEntry& each : *record) {
    each.done = false;
    for (const Entry& entry : entries)
      if (entry.path == each.entry.path) each.entry.after = entry.after;
  }
  write_file(record_path, encode(*record));
  std::filesystem::remove(shop.in("n.txt"));  // this one had not been put there yet

  auto outcome = shop.open(id).apply({{"n.txt"}, false});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_TRUE(outcome->conflicts.empty());
  EXPECT_EQ(shop.text("a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(shop.text("b.txt"), "gone\n");
  EXPECT_EQ(shop.text("dir/deep/d.txt"), "d\n");
  EXPECT_EQ(shop.text("n.txt"), "n\n");
}

TEST_F(Changes, AReplacedWorkspaceIsRefused) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt"));
  std::filesystem::rename(shop.workspace(), shop.outside("moved"));
  std::filesystem::create_directory(shop.workspace());
  shop.file("a.txt", "other\n");
  EXPECT_FALSE(shop.open(id).apply({}));
  EXPECT_EQ(shop.text("a.txt"), "other\n");
  std::filesystem::remove_all(shop.workspace());
  std::filesystem::create_directory_symlink(shop.outside("moved"), shop.workspace());
  EXPECT_FALSE(shop.open(id).apply({}));
}

TEST_F(Changes, SweepsByAgeAndQuota) {
  RUN_OR_SKIP(old, shop.run("head -c 300000 /dev/urandom > big"));
  RUN_OR_SKIP(young, shop.run("head -c 300000 /dev/urandom > big"));
  EXPECT_TRUE(shop.shelf().sweep({uint64_t{1} << 30, 0}, base::unix_ms()).empty());
  const auto removed = shop.shelf().sweep({400'000, 0}, base::unix_ms());
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].id, old);
  EXPECT_EQ(shop.shelf().sweep({uint64_t{1} << 30, 1000}, base::unix_ms() + 10'000).size(), 1U);
  EXPECT_TRUE(shop.shelf().list().empty());
}

TEST_F(Changes, ShowsAPatchThatGitWouldTake) {
  RUN_OR_SKIP(
      id, shop.run(
              "echo 2 > a.txt; rm b.txt; echo n > n.txt; ln -s a.txt l; chmod 755 run.sh; printf '\\0' > z"));
  std::string patch;
  const ChangeSet set = shop.open(id, Access::Read);
  const auto entries = *set.entries();
  for (const Entry& entry : entries) patch += set.diff(entry);
  EXPECT_EQ(
      patch,
      "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1 @@\n-one\n-two\n-three\n+2\n"
      "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 "
      "@@\n-gone\n"
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a.txt\n"
      "\\ No newline at end of file\n"
      "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n"
      "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
      "diff --git a/z b/z\nnew file mode 100644\nBinary files a/z and b/z differ\n");
  // The same after it was applied.
  apply(id);
  std::string again;
  for (const Entry& entry : entries) again += shop.open(id, Access::Read).diff(entry);
  EXPECT_EQ(again, patch);
}

// The forms that the kernel writes for the root user, and in nested overlays.
TEST_F(Changes, ReadsAllFormsOfWhiteouts) {
  const std::string upper = shop.outside("upper");
  std::filesystem::create_directories(upper + "/dir");
  write_file(upper + "/dir/c.txt", "");
  if (::setxattr((upper + "/dir").c_str(), "user.overlay.opaque", "x", 1, 0) != 0) GTEST_SKIP();
  ASSERT_EQ(::setxattr((upper + "/dir/c.txt").c_str(), "user.overlay.whiteout", "", 0, 0), 0);
  ASSERT_EQ(::mknod((upper + "/b.txt").c_str(), S_IFCHR, makedev(0, 0)), 0);
  const base::UniqueFd upper_fd(::open(upper.c_str(), O_RDONLY | O_DIRECTORY));
  const base::UniqueFd workspace(::open(shop.workspace().c_str(), O_RDONLY | O_DIRECTORY));
  const auto entries = scan(upper_fd.get(), workspace.get(), {});
  ASSERT_TRUE(entries) << entries.error().message;
  std::vector<std::string> deleted;
  for (const Entry& entry : *entries)
    if (entry.kind == Kind::Deleted) deleted.push_back(entry.path);
  EXPECT_EQ(deleted, (std::vector<std::string>{"b.txt", "dir/c.txt"}));
}

TEST_F(Changes, RefusesAPlaceInsideTheWorkspace) {
  NewSet wanted;
  wanted.id = base::random_id('c');
  wanted.workspace = shop.workspace();
  std::filesystem::create_directory(shop.in("state"));
  ::chmod(shop.in("state").c_str(), 0700);
  EXPECT_FALSE(Shelf(std::vector<std::string>{shop.in("state") + "/changes"}).prepare(wanted));
  // Another place that is good is used instead.
  auto prepared =
      Shelf(std::vector<std::string>{shop.in("state") + "/changes", shop.outside("state/changes")})
          .prepare(wanted);
  ASSERT_TRUE(prepared);
  EXPECT_TRUE(prepared->upper.starts_with(shop.outside("state/changes")));
}

TEST_F(Changes, DamagedFilesAreReported) {
  RUN_OR_SKIP(id, shop.run("echo 2 > a.txt"));
  const std::string path = shop.outside("state/changes/" + id + "/entries");
  std::string text = read_file(path);
  text.replace(text.find("a.txt"), 5, "../x!");
  write_file(path, text);
  EXPECT_FALSE(shop.open(id).apply({}));
  for (size_t cut = 0; cut < text.size(); cut += 7) {
    static_cast<void>(decode_entries(text.substr(0, cut)));
    static_cast<void>(decode_info(text.substr(cut)));
  }
  ASSERT_TRUE(shop.open(id).discard());
}

// The disk of the workspace is full: nothing of it changed.
TEST(ChangesOnASmallDisk, AnApplyThatDoesNotFitChangesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small disk here";
  Workshop shop;
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", shop.workspace().c_str(), "tmpfs", 0, "size=1m") != 0)
      ::_exit(7);
    shop.file("a.txt", "one\n");
    const std::string id = shop.run("echo 2 > a.txt; head -c 3000000 /dev/urandom > large; echo z > z");
    if (id.empty()) ::_exit(7);
    const bool failed = !shop.open(id).apply({});
    const bool untouched = shop.text("a.txt") == "one\n" && !shop.exists("z") && !shop.exists("large") &&
                           !shop.exists(".ttyward-apply-" + id);
    const bool small_fits =
        shop.open(id).apply({{"a.txt"}, false}).has_value() && shop.text("a.txt") == "2\n";
    ::_exit(failed && untouched && small_fits ? 0 : failed ? (untouched ? 3 : 2) : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 7) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// All of the above again in the shape of one pass, as an ordinary user.
TEST(ChangesOfAnOrdinaryUser, TryApplyUndoDiscard) {
  if (::geteuid() != 0) GTEST_SKIP() << "the other tests run as an ordinary user already";
  constexpr uid_t kSomebody = 12'345;
  const Workshop shop(kSomebody);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgid(kSomebody) != 0 || ::setuid(kSomebody) != 0) ::_exit(7);
    ::prctl(PR_SET_DUMPABLE, 1);  // or its own files in /proc would stay root's
    shop.file("a.txt", "one\n");
    shop.file("dir/x", "x\n");
    const std::string id =
        shop.run("echo 2 > a.txt; rm -r dir; mkdir -p n/m; echo y > n/m/y; chmod 555 n/m; chmod 555 n");
    if (id.empty()) ::_exit(7);
    auto applied = shop.open(id).apply({});
    if (!applied || shop.text("a.txt") != "2\n" || shop.exists("dir") || shop.text("n/m/y") != "y\n")
      ::_exit(1);
    auto undone = shop.open(id).undo(false);
    if (!undone || !undone->conflicts.empty() || shop.text("a.txt") != "one\n" ||
        shop.text("dir/x") != "x\n" || shop.exists("n"))
      ::_exit(2);
    if (!shop.open(id).discard() || !shop.shelf().list().empty()) ::_exit(3);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 7) GTEST_SKIP() << "no layers here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Where the set belongs to the user for whom root works.
TEST(ChangesForSomebodyElse, FilesKeepTheirOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root works for others";
  constexpr uid_t kSomebody = 12'345;
  Workshop shop;
  shop.file("a.txt", "one\n");
  NewSet wanted;
  wanted.id = base::random_id('c');
  wanted.workspace = shop.workspace();
  wanted.owner = std::pair<uid_t, gid_t>(kSomebody, kSomebody);
  auto prepared = shop.shelf().prepare(wanted);
  ASSERT_TRUE(prepared) << prepared.error().message;
  write_file(prepared->upper + "/n/new", "new\n");
  for (const char* name : {"/n", "/n/new"})
    ASSERT_EQ(::chown((prepared->upper + name).c_str(), kSomebody, kSomebody), 0);
  ASSERT_TRUE(prepared->set.finish());
  auto outcome = prepared->set.apply({});
  ASSERT_TRUE(outcome) << outcome.error().message;
  for (const char* name : {"n", "n/new"}) {
    struct stat info{};
    ASSERT_EQ(::stat(shop.in(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, kSomebody) << name;
  }
}

}  // namespace
}  // namespace ttyward::changes
