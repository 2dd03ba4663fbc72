// What the world can do to a journal: full disks, foreign and linked paths,
// damage. Each is an Error or a stated degradation, and no crash.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include "journal/allocate.h"
#include "journal/scratch_folder.h"

namespace ttyward::journal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
int allocations_allowed = 0;
uint64_t fake_now = 0;

int allocate_a_few(int fd, off_t bytes) {
  if (allocations_allowed == 0) return ENOSPC;
  --allocations_allowed;
  return allocate_room(fd, bytes);
}

std::shared_ptr<Folder> must_open(const std::string& path, uint64_t total = kDefaultTotalQuota) {
  auto folder = Folder::open(path, total);
  EXPECT_TRUE(folder) << (folder ? "" : folder.error().message);
  return *folder;
}

WriterOptions named(const std::string& id) {
  WriterOptions options;
  options.id = id;
  return options;
}

TEST(JournalFaults, an_id_that_is_used_up_never_becomes_a_journal) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  const auto use = [&](const char* id) { return use_up(folder->fd(), id, scratch.journals()); };
  EXPECT_TRUE(use("late"));
  EXPECT_TRUE(use("late"));  // as good twice
  EXPECT_EQ(Reader::open(scratch.journals(), "late").error().code, base::ErrorCode::NotFound);
  EXPECT_EQ(Writer::create(folder, named("late")).error().code, base::ErrorCode::AlreadyExists);
  const auto writer = Writer::create(folder, named("there"));
  ASSERT_TRUE(writer);
  EXPECT_EQ(use("there").error().code, base::ErrorCode::AlreadyExists);
  EXPECT_TRUE(Reader::open(scratch.journals(), "there"));
}

TEST(JournalFaults, a_disk_that_is_full_at_the_start_is_an_error_and_leaves_nothing_behind) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  allocations_allowed = 0;
  WriterOptions options = named("t1");
  options.allocate = allocate_a_few;
  const auto made = Writer::create(folder, options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, base::ErrorCode::Exhausted);
  EXPECT_FALSE(std::filesystem::exists(scratch.journals() + "/t1.main"));
  EXPECT_EQ(folder->used(), 0U);
}

TEST(JournalFaults, a_disk_that_fills_up_later_loses_counted_bytes_and_recovers_when_there_is_room) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  fake_now = 1;
  allocations_allowed = 2;
  WriterOptions options = named("t1");
  options.allocate = allocate_a_few;
  options.monotonic_us = [] { return fake_now; };
  auto w = Writer::create(folder, options);
  ASSERT_TRUE(w);
  ASSERT_EQ(write_pattern(*w, kMiB), kMiB);
  auto r = Reader::open(scratch.journals(), "t1");
  ASSERT_TRUE(r);
  const uint64_t lost_first = r->status()->dropped;
  EXPECT_GT(lost_first, 0U);
  EXPECT_TRUE(r->status()->conditions & kDiscarding);

  allocations_allowed = 100;
  fake_now += 1'000'000;
  ASSERT_EQ(write_pattern(*w, kMiB), kMiB);
  EXPECT_FALSE(r->status()->conditions & kDiscarding);
  EXPECT_TRUE(r->status()->conditions & kDiskWasFull);
  EXPECT_EQ(r->status()->dropped, lost_first);
  const uint64_t kept_from = kMiB - kTailBytes;
  EXPECT_EQ(*r->gaps(), (std::vector<Range>{{kept_from - lost_first, kept_from}}));
  EXPECT_TRUE(is_pattern(r->read_all({kept_from, 2 * kMiB}, 2 * kMiB).value(), kept_from));
  w->finish({});
  EXPECT_FALSE(r->complete().value());
}

TEST(JournalFaults, under_pause_a_full_disk_loses_nothing) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  allocations_allowed = 1;
  WriterOptions options = named("t1");
  options.allocate = allocate_a_few;
  options.overflow = Overflow::Pause;
  auto w = Writer::create(folder, options);
  ASSERT_TRUE(w);
  const uint64_t taken = write_pattern(*w, kMiB);
  EXPECT_TRUE(w->full());
  allocations_allowed = 100;
  w->grant(0);
  EXPECT_EQ(write_pattern(*w, kMiB), kMiB);
  auto r = Reader::open(scratch.journals(), "t1");
  EXPECT_TRUE(is_pattern(r->read_all({0, taken + kMiB}, 2 * kMiB).value(), 0));
  EXPECT_TRUE(r->gaps()->empty());
}

// A real file system of one megabyte, in a mount namespace of its own.
TEST(JournalFaults, a_really_full_file_system_is_survived) {
  const ScratchFolder scratch;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(77);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
      ::_exit(77);
    }
    auto folder = Folder::open(scratch.journals());
    auto w = folder ? Writer::create(*folder, named("t1")) : tl::unexpected(folder.error());
    if (!w || write_pattern(*w, 5 * kMiB) != 5 * kMiB) ::_exit(1);
    ExitRecord record;
    record.kind = EndKind::Exited;
    w->finish(record);
    auto r = Reader::open(scratch.journals(), "t1");
    if (!r) ::_exit(2);
    const auto status = r->status();
    uint64_t missing = 0;
    const auto gaps = r->gaps();
    for (const Range gap : *gaps) missing += gap.end - gap.begin;
    if (!status->exit || status->end != 5 * kMiB || missing != status->dropped || missing == 0) ::_exit(3);
    if (r->complete().value() || !(status->conditions & kDiskWasFull)) ::_exit(4);
    if (!is_pattern(r->read_all({0, gaps->front().begin}, kMiB).value(), 0)) ::_exit(5);
    ::umount2(scratch.path().c_str(), MNT_DETACH);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right to mount a small file system here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The smallest journals are filled with zeros instead of allocated: their bytes go through the mapping, so
// the space must be theirs, before the disk has looked for it and after.
TEST(JournalFaults, a_small_journal_has_its_space_on_an_ext4_that_fills_up) {
  const ScratchFolder scratch;
  const std::string image = scratch.path() + "/image";
  const std::string mounted = scratch.path() + "/mounted";
  ASSERT_EQ(::mkdir(mounted.c_str(), 0700), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string make = "truncate -s 8M " + image + " && mkfs.ext4 -q -m 0 " + image + " 2>/dev/null";
    const std::string mount = "mount -o loop,delalloc " + image + " " + mounted + " 2>/dev/null";
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        std::system(make.c_str()) != 0 || std::system(mount.c_str()) != 0) {
      ::_exit(77);
    }
    auto folder = Folder::open(mounted + "/journals");
    auto w = folder ? Writer::create(*folder, named("t1")) : tl::unexpected(folder.error());
    if (!w) ::_exit(1);
    const int hog = ::open((mounted + "/hog").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<char> block(4096);
    while (::write(hog, block.data(), block.size()) > 0) {
    }
    if (errno != ENOSPC) ::_exit(2);
    if (write_pattern(*w, 3000) != 3000 || ::syncfs(hog) != 0) ::_exit(3);
    if (write_pattern(*w, 3000) != 3000) ::_exit(4);
    auto r = Reader::open(mounted + "/journals", "t1");
    if (!r || !is_pattern(r->read_all({0, 6000}, kMiB).value(), 0) || r->status()->dropped != 0) ::_exit(5);
    ::umount2(mounted.c_str(), MNT_DETACH);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no right, or no programs, to mount an ext4 here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(JournalFaults, a_folder_that_is_missing_is_made_private) {
  ScratchFolder scratch;
  must_open(scratch.path() + "/a/b/journals");
  struct stat st{};
  ASSERT_EQ(::stat((scratch.path() + "/a/b").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0700U);
  EXPECT_EQ(Reader::open(scratch.path() + "/nowhere", "t1").error().code, base::ErrorCode::NotFound);
}

TEST(JournalFaults, a_folder_open_to_others_or_linked_is_refused) {
  ScratchFolder scratch;
  const std::string open = scratch.path() + "/open";
  ASSERT_EQ(::mkdir(open.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(open.c_str(), 0750), 0);
  EXPECT_EQ(Folder::open(open).error().code, base::ErrorCode::PermissionDenied);
  ASSERT_EQ(::chmod(open.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(open.c_str(), (scratch.path() + "/link").c_str()), 0);
  const auto linked = Folder::open(scratch.path() + "/link");
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().code, base::ErrorCode::PermissionDenied);
  EXPECT_NE(linked.error().message.find("symbolic link"), std::string::npos);
}

TEST(JournalFaults, a_linked_journal_or_file_is_refused) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  ASSERT_TRUE(Writer::create(folder, named("real")));
  ASSERT_EQ(::symlink("real.main", (scratch.journals() + "/fake.main").c_str()), 0);
  EXPECT_EQ(Reader::open(scratch.journals(), "fake").error().code, base::ErrorCode::PermissionDenied);
  EXPECT_FALSE(Writer::create(folder, named("fake")));

  ASSERT_EQ(::mkfifo((scratch.journals() + "/pipe.main").c_str(), 0600), 0);
  EXPECT_EQ(Reader::open(scratch.journals(), "pipe").error().code, base::ErrorCode::PermissionDenied);
  ASSERT_EQ(::symlink("/tmp", (scratch.journals() + "/real").c_str()), 0);
  EXPECT_EQ(Reader::open(scratch.journals(), "real").error().code, base::ErrorCode::PermissionDenied);
}

TEST(JournalFaults, what_belongs_to_another_user_is_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  ASSERT_TRUE(Writer::create(folder, named("t1")));
  ASSERT_EQ(::chown((scratch.journals() + "/t1.main").c_str(), 12345, 12345), 0);
  EXPECT_EQ(Reader::open(scratch.journals(), "t1").error().code, base::ErrorCode::PermissionDenied);
  ASSERT_EQ(::chown(scratch.journals().c_str(), 12345, 12345), 0);
  const auto foreign = Folder::open(scratch.journals());
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find("another user"), std::string::npos);
}

TEST(JournalFaults, a_read_only_file_system_is_an_error) {
  const auto folder = Folder::open("/proc/ttyward-journals");  // proc refuses new names, whoever asks
  ASSERT_FALSE(folder);
  EXPECT_FALSE(folder.error().message.empty());
}

TEST(JournalFaults, the_total_is_kept_by_removing_finished_journals_oldest_first) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals(), kMiB);
  std::vector<Writer> alive;
  for (int i = 0; i < 40; ++i) {
    auto w = Writer::create(folder, named("c" + std::to_string(i)));
    ASSERT_TRUE(w) << w.error().message;
    write_pattern(*w, 50'000);
    timespec when[2] = {{1000 + i, 0}, {1000 + i, 0}};
    if (i % 10 == 0) {
      alive.push_back(std::move(*w));
    } else {
      w->finish({});
      ::utimensat(folder->fd(), ("c" + std::to_string(i) + ".main").c_str(), when, 0);
    }
    EXPECT_LE(folder->used(), kMiB);
  }
  for (const char* kept : {"c0", "c10", "c20", "c30", "c39"}) {
    EXPECT_TRUE(Reader::open(scratch.journals(), kept)) << kept;
  }
  EXPECT_EQ(Reader::open(scratch.journals(), "c1").error().code, base::ErrorCode::NotFound);
}

TEST(JournalFaults, when_all_are_alive_the_total_is_an_error_that_says_so) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals(), 60'000);
  auto w = Writer::create(folder, named("t1"));
  ASSERT_TRUE(w);
  const auto second = Writer::create(folder, named("t2"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::ErrorCode::Exhausted);
  // The one that lives goes on: nothing lost without being counted.
  EXPECT_EQ(write_pattern(*w, kMiB), kMiB);
  auto r = Reader::open(scratch.journals(), "t1");
  EXPECT_EQ(r->gaps()->front().begin + r->status()->dropped + kTailBytes, kMiB);
}

TEST(JournalFaults, journals_removed_behind_our_back_do_not_block_the_total) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals(), 200'000);
  for (int i = 0; i < 20; ++i) {
    auto w = Writer::create(folder, named("t1"));
    ASSERT_TRUE(w) << w.error().message;
    std::filesystem::remove_all(scratch.journals() + "/t1.main");
  }
}

// Every state a kill can leave on disk while a segment is begun.
TEST(JournalFaults, half_made_segments_and_headers_are_read_as_what_was_committed) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  auto w = Writer::create(folder, named("t1"));
  ASSERT_TRUE(w);
  write_pattern(*w, 30'000);
  const std::string next = scratch.journals() + "/t1/" + segment_file({30'000, 1});
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{4096}}) {  // created · odd · allocated, not filled
    base::UniqueFd file(::open(next.c_str(), O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
    auto r = Reader::open(scratch.journals(), "t1");
    ASSERT_TRUE(r);
    auto text = r->read_all({0, ~0ULL}, kMiB);
    ASSERT_TRUE(text) << text.error().message << " at " << bytes;
    EXPECT_EQ(text->size(), 30'000U);
    EXPECT_TRUE(r->gaps() && r->gaps()->empty());
    EXPECT_TRUE(r->marks({0, ~0ULL}));
  }
  // A journal's own first moments: folder, empty file, allocated file without the magic.
  const std::string young = scratch.journals() + "/young";
  EXPECT_EQ(Reader::open(scratch.journals(), "young").error().code, base::ErrorCode::NotFound);
  base::UniqueFd file(::open((young + ".main").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  EXPECT_EQ(Reader::open(scratch.journals(), "young").error().code, base::ErrorCode::Unavailable);
  ASSERT_EQ(::ftruncate(file.get(), 65536), 0);
  EXPECT_EQ(Reader::open(scratch.journals(), "young").error().code, base::ErrorCode::Unavailable);
}

TEST(JournalFaults, truncation_at_any_length_is_an_error_or_the_truth) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  {
    auto w = Writer::create(folder, named("t1"));
    ASSERT_TRUE(w);
    write_pattern(*w, 8'000);
    w->finish({});
  }
  const std::string main = scratch.journals() + "/t1.main";
  for (off_t size = static_cast<off_t>(std::filesystem::file_size(main)); size >= 0; size -= 511) {
    ASSERT_EQ(::truncate(main.c_str(), size), 0);
    auto r = Reader::open(scratch.journals(), "t1");
    if (!r) continue;
    auto text = r->read_all({0, ~0ULL}, kMiB);
    if (text) {
      EXPECT_TRUE(is_pattern(*text, 0)) << size;
    }
    static_cast<void>(r->marks({0, ~0ULL}));
    static_cast<void>(r->gaps());
  }
}

TEST(JournalFaults, random_damage_to_headers_never_crashes_a_reader) {
  ScratchFolder scratch;
  auto folder = must_open(scratch.journals());
  {
    auto w = Writer::create(folder, named("t1"));
    ASSERT_TRUE(w);
    write_pattern(*w, 400'000);
    w->finish({});
  }
  std::vector<std::string> files = {scratch.journals() + "/t1.main"};
  for (const auto& entry : std::filesystem::directory_iterator(scratch.journals() + "/t1")) {
    files.push_back(entry.path());
  }
  ASSERT_GE(files.size(), 2U);
  std::mt19937 random(20240501);
  for (int round = 0; round < 4000; ++round) {
    const std::string& path = files[random() % files.size()];
    base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const bool in_main = path.ends_with("main");
    const off_t header = in_main && random() % 2 ? static_cast<off_t>(random() % 600)
                                                 : (in_main ? 4096 : 0) + static_cast<off_t>(random() % 200);
    uint64_t before = 0;
    const size_t width = size_t{1} << (random() % 4);
    ASSERT_EQ(::pread(file.get(), &before, width, header), static_cast<ssize_t>(width));
    const uint64_t garbage = random() % 3 == 0 ? ~uint64_t{0} : (uint64_t{random()} << 32 | random());
    ASSERT_EQ(::pwrite(file.get(), &garbage, width, header), static_cast<ssize_t>(width));
    if (auto r = Reader::open(scratch.journals(), "t1")) {
      std::byte buffer[8192];
      uint64_t at = 0;
      for (int steps = 0; steps < 100; ++steps) {
        const auto chunk = r->read(at, buffer);
        if (!chunk || chunk->bytes + chunk->gap == 0) break;
        at += chunk->bytes + chunk->gap;
      }
      static_cast<void>(r->status());
      static_cast<void>(r->marks({0, ~0ULL}));
      static_cast<void>(r->complete());
    }
    ASSERT_EQ(::pwrite(file.get(), &before, width, header), static_cast<ssize_t>(width));
  }
  auto healed = Reader::open(scratch.journals(), "t1");
  ASSERT_TRUE(healed);
  EXPECT_TRUE(healed->complete().value());
}

}  // namespace
}  // namespace ttyward::journal
