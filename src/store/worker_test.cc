#include "store/worker.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <vector>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

TEST(StoreWorker, work_is_done_in_order_and_drain_waits_for_it) {
  Scratch scratch;
  Worker worker(Store::open(scratch.path()).value());
  std::vector<int> order;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(worker.post([&order, i](Store& store) {
      order.push_back(i);
      EXPECT_TRUE(store.put_command(a_command("c" + std::to_string(i), i)));
    }));
  }
  worker.drain();
  ASSERT_EQ(order.size(), 200U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(StoreWorker, the_destructor_finishes_what_was_posted) {
  Scratch scratch;
  {
    Worker worker(Store::open(scratch.path()).value());
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(worker.post(
          [i](Store& store) { EXPECT_TRUE(store.put_command(a_command("c" + std::to_string(i), i))); }));
    }
  }
  EXPECT_EQ(Store::open(scratch.path())->find_commands({}).value().size(), 100U);
}

TEST(StoreWorker, a_full_queue_says_no_and_takes_more_once_there_is_room) {
  Scratch scratch;
  Worker worker(Store::open(scratch.path()).value(), 3);
  std::promise<void> begun;
  std::promise<void> go_on;
  ASSERT_TRUE(worker.post([&](Store&) {
    begun.set_value();
    go_on.get_future().wait();
  }));
  begun.get_future().wait();  // it is taken off the queue; three more fit
  std::atomic<int> done = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(worker.post([&](Store&) { ++done; }));
  EXPECT_FALSE(worker.post([&](Store&) { ++done; }));
  EXPECT_EQ(worker.refused(), 1U);
  go_on.set_value();
  worker.drain();
  EXPECT_EQ(done, 3);
  EXPECT_TRUE(worker.post([&](Store&) { ++done; }));
  worker.drain();
  EXPECT_EQ(done, 4);
}

TEST(StoreWorker, many_threads_may_post) {
  Scratch scratch;
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  {
    Worker worker(Store::open(scratch.path()).value());
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&worker, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string id = "c" + std::to_string(t) + "-" + std::to_string(i);
          EXPECT_TRUE(worker.post([id](Store& store) { EXPECT_TRUE(store.put_command(a_command(id))); }));
          if (i % 25 == 0) worker.drain();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(Store::open(scratch.path())->find_commands({.limit = 1000}).value().size(),
            size_t{kThreads} * kEach);
}

TEST(StoreWorker, opens_the_store_itself_and_says_when_there_is_none) {
  Scratch scratch;
  {
    Worker worker([&] { return Store::open(scratch.path()); });
    ASSERT_TRUE(worker.post([](Store& store) { EXPECT_TRUE(store.put_command(a_command("c1"))); },
                            [](const base::Error&) { ADD_FAILURE(); }));
  }
  EXPECT_THAT(ids(Store::open(scratch.path())->find_commands({}).value()), ::testing::ElementsAre("c1"));
  std::string why;
  {
    Worker worker([]() -> base::Result<Store> { return base::fail(base::ErrorCode::Io, "no disk"); });
    ASSERT_TRUE(worker.post([](Store&) { ADD_FAILURE(); }));
    ASSERT_TRUE(worker.post([](Store&) { ADD_FAILURE(); }, [&](const base::Error& e) { why = e.message; }));
  }
  EXPECT_EQ(why, "no disk");
}

TEST(StoreWorker, a_question_is_answered_through_the_work_itself) {
  Scratch scratch;
  Worker worker(Store::open(scratch.path()).value());
  std::promise<std::vector<std::string>> answer;
  ASSERT_TRUE(worker.post([](Store& store) { EXPECT_TRUE(store.put_command(a_command("c1"))); }));
  ASSERT_TRUE(worker.post([&](Store& store) { answer.set_value(ids(store.find_commands({}).value())); }));
  EXPECT_THAT(answer.get_future().get(), ::testing::ElementsAre("c1"));
}

}  // namespace
}  // namespace ttyward::store
