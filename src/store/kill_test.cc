// SIGKILL at any moment: what was reported as written is there, and the file is whole.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "base/unique_fd.h"
#include "store/scratch.h"

namespace ttyward::store {
namespace {

// A child that puts rows and writes each one's number to a pipe once it is put.
class Putter {
 public:
  Putter(const std::string& path, int first) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    ::fcntl(ends[1], F_SETPIPE_SZ, 4096);  // so that it cannot run far ahead of us
    pid_ = ::fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) run(path, first, ends[1]);
    ::close(ends[1]);
    reports_.reset(ends[0]);
  }
  Putter(const Putter&) = delete;
  Putter& operator=(const Putter&) = delete;
  ~Putter() { kill(); }

  // The next number put; -1 once the child is gone.
  int next() const {
    int number = 0;
    return ::read(reports_.get(), &number, sizeof number) == sizeof number ? number : -1;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  [[noreturn]] static void run(const std::string& path, int first, int reports) {
    auto store = Store::open(path);
    if (!store || !store->take_notices().empty()) ::_exit(1);
    for (int i = first;; ++i) {
      CommandRow row = a_command("c" + std::to_string(i), i);
      row.command = std::string(static_cast<size_t>(i % 700), 'x');
      if (!store->put_command(row)) ::_exit(2);
      if (i % 3 == 0 && !store->put_decision(a_decision("d" + std::to_string(i), i))) ::_exit(3);
      if (::write(reports, &i, sizeof i) != sizeof i) ::_exit(4);
    }
  }

  pid_t pid_ = -1;
  base::UniqueFd reports_;
};

TEST(StoreKill, what_was_reported_is_there_after_any_of_many_kills) {
  constexpr int kFiles = 15;
  constexpr int kKillsPerFile = 8;
  std::mt19937 random(11);
  int total = 0;
  for (int file = 0; file < kFiles; ++file) {
    Scratch scratch("/dev/shm");
    int last = -1;
    for (int round = 0; round < kKillsPerFile; ++round) {
      Putter putter(scratch.path(), last + 1);
      // Killed after a random number of reports; sometimes before the first, while it opens the file.
      const int reports = round % 4 == 0 ? 0 : static_cast<int>(random() % 60);
      for (int i = 0; i < reports; ++i) {
        const int number = putter.next();
        ASSERT_GE(number, 0) << "the child ended by itself";
        last = number;
      }
      putter.kill();
      for (int number = putter.next(); number >= 0; number = putter.next()) last = number;

      auto store = Store::open(scratch.path());
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_TRUE(store->take_notices().empty());
      const auto rows = store->find_commands({.limit = kMaxRows});
      ASSERT_TRUE(rows) << rows.error().message;
      // All that was reported, and at most the one that was put but not yet reported.
      ASSERT_GE(rows->size(), static_cast<size_t>(last + 1));
      ASSERT_LE(rows->size(), static_cast<size_t>(last + 2));
      for (int i = 0; i <= last; i += 3) {
        ASSERT_TRUE(store->decision("d" + std::to_string(i)).value()) << i;
      }
      if (rows->empty()) continue;
      last = static_cast<int>(rows->size()) - 1;
      ASSERT_EQ(rows->front().id, "c" + std::to_string(last));
      // The row beyond the last report may lack its decision; the next child goes on after it.
      if (last % 3 == 0) {
        ASSERT_TRUE(store->put_decision(a_decision("d" + std::to_string(last), last)));
      }
    }
    total += last + 1;
  }
  EXPECT_GT(total, kFiles * kKillsPerFile);
}

}  // namespace
}  // namespace ttyward::store
