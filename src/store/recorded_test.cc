#include "store/recorded.h"

#include <filesystem>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

TEST(Recorded, knows_what_was_put_before_and_since) {
  const Scratch scratch;
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put_command(a_command("c1")));
  Recorded recorded(scratch.path());
  EXPECT_TRUE(recorded.has("c1"));
  EXPECT_FALSE(recorded.has("c2"));
  ASSERT_TRUE(store->put_command(a_command("c2")));
  EXPECT_TRUE(recorded.has("c2"));
  ASSERT_TRUE(store->prune(0, 0));
  EXPECT_FALSE(recorded.has("c1"));
}

TEST(Recorded, without_a_history_nothing_is_and_none_is_made) {
  const Scratch scratch;
  Recorded recorded(scratch.path());
  EXPECT_FALSE(recorded.has("c1"));
  EXPECT_FALSE(std::filesystem::exists(scratch.path()));
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put_command(a_command("c1")));
  EXPECT_TRUE(recorded.has("c1"));
}

TEST(Recorded, keeps_nobody_from_writing) {
  const Scratch scratch;
  auto store = Store::open(scratch.path());
  ASSERT_TRUE(store);
  Recorded recorded(scratch.path());
  for (int i = 0; i < 200; ++i) {
    const std::string id = "c" + std::to_string(i);
    EXPECT_FALSE(recorded.has(id));
    ASSERT_TRUE(store->put_command(a_command(id, i)));
    EXPECT_TRUE(recorded.has(id));
  }
  EXPECT_EQ(store->prune(10, 0)->commands, 190);
}

}  // namespace
}  // namespace ttyward::store
