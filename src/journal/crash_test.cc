// Kills at random instructions. The writer is a child that floods its journal;
// whenever SIGKILL finds it, what is left must be a whole prefix.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>

#include "journal/scratch_folder.h"

namespace ttyward::journal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class Flood {
 public:
  Flood(const std::string& journals, const std::string& id, uint64_t quota, uint64_t seed) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) run(journals, id, quota, seed, ends[1]);
    ::close(ends[1]);
    progress_.reset(ends[0]);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() { kill(); }

  // Waits until the writer says that it has begun.
  bool begun() const {
    char c = 0;
    return ::read(progress_.get(), &c, 1) == 1;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void run(const std::string& journals, const std::string& id, uint64_t quota,
                               uint64_t seed, int progress) {
    auto folder = Folder::open(journals);
    WriterOptions options;
    options.id = id;
    options.quota = quota;
    auto writer = folder ? Writer::create(*folder, options) : tl::unexpected(folder.error());
    if (!writer) ::_exit(1);
    if (::write(progress, "b", 1) != 1) ::_exit(1);
    std::mt19937_64 random(seed);
    for (;;) write_pattern(*writer, 1 + random() % 20'000, 1 + random() % 5000);
  }

  pid_t pid_ = -1;
  base::UniqueFd progress_;
};

TEST(JournalCrash, a_killed_writer_leaves_a_whole_prefix) {
  ScratchFolder scratch("/dev/shm");
  std::mt19937_64 random(7);
  for (int round = 0; round < 150; ++round) {
    const std::string id = "t" + std::to_string(round);
    const bool drops = round % 3 == 0;
    Flood flood(scratch.journals(), id, drops ? kSmallestQuota : kDefaultQuota, random());
    if (round % 5 != 0) {
      ASSERT_TRUE(flood.begun());
      // Kill once the journal has grown past a random point, seen by a reader.
      auto live = Reader::open(scratch.journals(), id);
      ASSERT_TRUE(live) << live.error().message;
      const uint64_t enough = random() % (2 * kMiB);
      while (live->end() < enough) ::sched_yield();
      EXPECT_EQ(live->writer().value(), WriterLife::Alive);
    }
    flood.kill();

    auto r = Reader::open(scratch.journals(), id);
    if (!r) {  // killed before the journal was there: said so, and only in the rounds that do not wait
      EXPECT_EQ(round % 5, 0);
      const auto code = r.error().code;
      EXPECT_TRUE(code == base::ErrorCode::NotFound || code == base::ErrorCode::Unavailable)
          << r.error().message;
      continue;
    }
    EXPECT_EQ(r->writer().value(), WriterLife::Gone);
    EXPECT_EQ(r->status()->state, State::Running);
    EXPECT_FALSE(r->complete().value());
    const auto gaps = r->gaps();
    ASSERT_TRUE(gaps) << gaps.error().message;
    ASSERT_LE(gaps->size(), drops ? 1U : 0U);
    uint64_t at = 0;
    uint64_t missing = 0;
    std::vector<std::byte> buffer(64 * 1024);
    while (at < r->end()) {
      const auto chunk = r->read(at, buffer);
      ASSERT_TRUE(chunk) << chunk.error().message;
      ASSERT_TRUE(is_pattern({reinterpret_cast<const char*>(buffer.data()), chunk->bytes}, at));
      missing += chunk->gap;
      at += chunk->bytes + chunk->gap;
    }
    // Between the count and the unlink of a dropped segment the count is ahead by one segment.
    EXPECT_LE(missing, r->status()->dropped);
    EXPECT_TRUE(r->marks({0, ~0ULL}));
  }
}

TEST(JournalCrash, a_reader_that_follows_a_flood_sees_every_byte_in_order) {
  ScratchFolder scratch("/dev/shm");
  Flood flood(scratch.journals(), "t1", kDefaultQuota, 42);
  ASSERT_TRUE(flood.begun());
  auto r = Reader::open(scratch.journals(), "t1");
  ASSERT_TRUE(r);
  std::vector<std::byte> buffer(100'000);
  for (uint64_t at = 0; at < 40 * kMiB;) {
    const auto chunk = r->read(at, buffer);
    ASSERT_TRUE(chunk) << chunk.error().message;
    ASSERT_EQ(chunk->gap, 0U);
    ASSERT_TRUE(is_pattern({reinterpret_cast<const char*>(buffer.data()), chunk->bytes}, at));
    at += chunk->bytes;
  }
}

TEST(JournalCrash, a_reader_that_follows_a_flood_with_a_small_quota_is_told_every_gap) {
  ScratchFolder scratch("/dev/shm");
  Flood flood(scratch.journals(), "t1", kSmallestQuota, 43);
  ASSERT_TRUE(flood.begun());
  auto r = Reader::open(scratch.journals(), "t1");
  ASSERT_TRUE(r);
  std::vector<std::byte> buffer(4096);
  for (uint64_t at = 0; at < 40 * kMiB;) {
    const auto chunk = r->read(at, buffer);
    ASSERT_TRUE(chunk) << chunk.error().message;
    ASSERT_TRUE(is_pattern({reinterpret_cast<const char*>(buffer.data()), chunk->bytes}, at));
    at += chunk->bytes + chunk->gap;
  }
}

}  // namespace
}  // namespace ttyward::journal
