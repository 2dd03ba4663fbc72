// Files that are not as they should be: foreign, damaged, on a full or a read-only disk.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void make_folder(const Scratch& scratch, mode_t mode = 0700) {
  ASSERT_EQ(::mkdir((scratch.folder() + "/state").c_str(), mode), 0);
  ASSERT_EQ(::chmod((scratch.folder() + "/state").c_str(), mode), 0);
}

mode_t mode_of(const std::string& path) {
  struct stat st{};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}

std::vector<std::string> set_aside_files(const Scratch& scratch) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder() + "/state")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("history.db.corrupt-") && !name.ends_with("-wal"))
      found.push_back(std::filesystem::canonical(entry.path()));
  }
  return found;
}

TEST(StorePlace, folder_and_files_are_private_whatever_the_umask) {
  Scratch scratch;
  const mode_t before = ::umask(0);
  auto store = Store::open(scratch.path());
  ::umask(before);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(store->put_command(a_command("c1")));
  EXPECT_EQ(mode_of(scratch.folder() + "/state"), 0700U);
  for (const char* suffix : {"", "-wal", "-shm"})
    EXPECT_EQ(mode_of(scratch.path() + suffix), 0600U) << suffix;
}

TEST(StorePlace, a_symbolic_link_is_refused) {
  Scratch scratch;
  make_folder(scratch);
  ASSERT_EQ(::symlink("elsewhere.db", scratch.path().c_str()), 0);
  const auto store = Store::open(scratch.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::PermissionDenied);
  EXPECT_THAT(store.error().message, HasSubstr("symbolic link"));
}

TEST(StorePlace, a_link_on_the_way_to_the_folder_is_fine) {
  Scratch scratch;
  make_folder(scratch);
  ASSERT_EQ(::symlink("state", (scratch.folder() + "/link").c_str()), 0);
  EXPECT_TRUE(Store::open(scratch.folder() + "/link/history.db"));
}

TEST(StorePlace, a_folder_open_to_others_is_refused_with_what_to_do) {
  Scratch scratch;
  make_folder(scratch, 0777);
  const auto store = Store::open(scratch.path());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("chmod go="));
}

TEST(StorePlace, a_file_of_somebody_else_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  Scratch scratch;
  make_folder(scratch);
  std::ofstream(scratch.path()).close();
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0600), 0);
  ASSERT_EQ(::chown(scratch.path().c_str(), 12345, 12345), 0);
  const auto store = Store::open(scratch.path());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("belongs to another user"));
}

// A second store in the same process must not cost the first its locks.
TEST(StorePlace, opening_it_again_here_leaves_locks_alone) {
  Scratch scratch;
  auto first = Store::open(scratch.path());
  ASSERT_TRUE(first->put_command(a_command("c1")));
  const auto locks = [&] {
    struct stat st{};
    EXPECT_EQ(::stat(scratch.path().c_str(), &st), 0);
    std::ifstream in("/proc/locks");
    int count = 0;
    for (std::string line; std::getline(in, line);)
      count += line.find(":" + std::to_string(st.st_ino) + " ") != std::string::npos ? 1 : 0;
    return count;
  };
  const int before = locks();
  if (before == 0) GTEST_SKIP() << "locks are not listed here";
  {
    auto second = Store::open(scratch.path());
  }
  EXPECT_EQ(locks(), before);
}

TEST(StorePlace, what_is_no_file_is_refused) {
  Scratch scratch;
  make_folder(scratch);
  ASSERT_EQ(::mkfifo(scratch.path().c_str(), 0600), 0);
  EXPECT_FALSE(Store::open(scratch.path()));
  EXPECT_FALSE(Store::open(scratch.folder() + "/state"));
  EXPECT_FALSE(Store::open("history.db"));
  EXPECT_FALSE(Store::open(""));
}

TEST(StoreDamage, a_file_that_is_no_database_is_set_aside) {
  Scratch scratch;
  make_folder(scratch);
  std::ofstream(scratch.path()) << std::string(10'000, 'x');
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0600), 0);
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT(store->take_notices(),
              ElementsAre(HasSubstr("it was moved to " + set_aside_files(scratch).at(0))));
  EXPECT_THAT(store->take_notices(), IsEmpty());
  EXPECT_TRUE(store->put_command(a_command("c1")));
  EXPECT_TRUE(Store::open(scratch.path())->command("c1").value());
}

// A file with many rows whose middle is overwritten.
void damage(const std::string& path) {
  const auto size = static_cast<off_t>(std::filesystem::file_size(path));
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  const std::string noise(4096, '\xA5');
  for (off_t at = 4096; at + 4096 <= size; at += 4096) {
    ASSERT_EQ(::pwrite(fd, noise.data(), noise.size(), at), static_cast<ssize_t>(noise.size()));
  }
  ::close(fd);
}

void fill(Store& store, int rows) {
  for (int i = 0; i < rows; ++i) {
    CommandRow row = a_command("c" + std::to_string(i), i);
    row.command = std::string(1000, 'x');
    ASSERT_TRUE(store.put_command(row));
  }
}

TEST(StoreDamage, damaged_pages_are_found_when_it_is_opened) {
  Scratch scratch;
  {
    auto store = Store::open(scratch.path());
    fill(*store, 200);
  }
  damage(scratch.path());
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->take_notices().size(), 1U);
  EXPECT_EQ(set_aside_files(scratch).size(), 1U);
  EXPECT_THAT(store->find_commands({}).value(), IsEmpty());
}

TEST(StoreDamage, damage_met_in_use_begins_a_new_file_and_work_goes_on) {
  Scratch scratch;
  {
    auto first = Store::open(scratch.path());
    fill(*first, 4000);  // more than SQLite keeps in memory
  }
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store);
  damage(scratch.path());
  const auto rows = store->find_commands({.text = "nowhere"});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_THAT(store->take_notices(), ElementsAre(HasSubstr("a new history was started")));
  ASSERT_TRUE(store->put_command(a_command("new")));
  EXPECT_TRUE(Store::open(scratch.path())->command("new").value());
}

TEST(StoreDamage, a_cut_off_file_is_set_aside) {
  Scratch scratch;
  {
    auto store = Store::open(scratch.path());
    fill(*store, 200);
  }
  ASSERT_EQ(::truncate(scratch.path().c_str(), 20'000), 0);
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(store->take_notices().size(), 1U);
}

TEST(StoreDamage, an_empty_file_is_a_new_one) {
  Scratch scratch;
  make_folder(scratch);
  std::ofstream(scratch.path()).close();
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0600), 0);
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_THAT(store->take_notices(), IsEmpty());
}

// Runs `body` in a child that has a small disk of its own mounted on `folder`.
// The body returns 0 if all is well.
enum class Disk : uint8_t { Had, None };
Disk with_small_disk(const std::string& folder, const std::function<int()>& body, int& result) {
  constexpr int kNoDisk = 77;
  const pid_t child = ::fork();
  if (child < 0) return Disk::None;
  if (child == 0) {
    const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
    if (::unshare(spaces) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("small", folder.c_str(), "tmpfs", 0, "size=512k,mode=0700") != 0)
      ::_exit(kNoDisk);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result == kNoDisk ? Disk::None : Disk::Had;
}

TEST(StoreDisk, a_full_disk_is_an_error_and_what_was_written_stays) {
  Scratch scratch;
  make_folder(scratch);
  int result = 0;
  const auto body = [&] {
    auto store = Store::open(scratch.path());
    if (!store) return 1;
    int written = 0;
    for (; written < 10'000; ++written) {
      CommandRow row = a_command("c" + std::to_string(written), written);
      row.command = std::string(1000, 'x');
      const auto done = store->put_command(row);
      if (done) continue;
      if (done.error().code != base::ErrorCode::Exhausted) return 2;
      break;
    }
    if (written == 0 || written == 10'000) return 3;
    const auto rows = store->find_commands({.limit = kMaxRows});
    if (!rows || rows->size() != static_cast<size_t>(written)) return 4;
    if (!store->take_notices().empty()) return 5;
    return 0;
  };
  if (with_small_disk(scratch.folder() + "/state", body, result) == Disk::None)
    GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(result, 0);
}

TEST(StoreDisk, a_disk_without_any_space_is_an_error_at_open) {
  Scratch scratch;
  make_folder(scratch);
  int result = 0;
  const auto body = [&] {
    std::ofstream filler(scratch.folder() + "/state/filler");
    while (filler << 'x' << std::flush) {
    }
    const auto store = Store::open(scratch.path());
    return !store && store.error().code == base::ErrorCode::Exhausted ? 0 : 1;
  };
  if (with_small_disk(scratch.folder() + "/state", body, result) == Disk::None)
    GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(result, 0);
}

TEST(StoreDisk, a_read_only_disk_is_an_error) {
  Scratch scratch;
  make_folder(scratch);
  int result = 0;
  const auto body = [&] {
    {
      auto store = Store::open(scratch.path());
      if (!store || !store->put_command(a_command("c1"))) return 1;
    }
    if (::mount("small", (scratch.folder() + "/state").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) !=
        0)
      return 2;
    const auto store = Store::open(scratch.path());
    return !store && store.error().code == base::ErrorCode::PermissionDenied ? 0 : 3;
  };
  if (with_small_disk(scratch.folder() + "/state", body, result) == Disk::None)
    GTEST_SKIP() << "no mount namespace here";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace ttyward::store
