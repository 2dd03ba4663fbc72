#include "engine/watchers.h"

#include <gtest/gtest.h>

#include "engine/access.h"
#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

class Noting final : public Watcher {
 public:
  void on_change(Terminal& /*terminal*/, uint32_t changes) override {
    told.push_back(changes);
    if (leaves != nullptr) leaves->remove(*this);
  }
  void on_bytes(uint64_t offset, std::string_view bytes) override {
    text += std::to_string(offset) + ":" + std::string(bytes);
  }
  void on_destroyed() override { destroyed = true; }

  std::vector<uint32_t> told;
  std::string text;
  Watchers* leaves = nullptr;
  bool destroyed = false;
};

class Watching : public ::testing::Test {
 protected:
  Bench bench_;
  Watchers watchers_{bench_.loop(), bench_.run("true")};
};

TEST_F(Watching, changes_are_told_together_and_from_the_loop) {
  Noting one;
  watchers_.add(one);
  watchers_.changed(kOutput);
  watchers_.changed(kMeta);
  EXPECT_TRUE(one.told.empty());
  bench_.until([&] { return !one.told.empty(); });
  EXPECT_EQ(one.told, std::vector<uint32_t>{kOutput | kMeta});
}

TEST_F(Watching, one_that_leaves_while_it_is_told_hears_no_more) {
  Noting one;
  Noting two;
  one.leaves = &watchers_;
  watchers_.add(one);
  watchers_.add(two);
  EXPECT_TRUE(watchers_.any_beside(two));
  watchers_.changed(kOutput);
  bench_.until([&] { return !two.told.empty(); });
  EXPECT_FALSE(watchers_.any_beside(two));
  watchers_.changed(kOutput);
  watchers_.bytes(3, "abc");
  bench_.until([&] { return two.told.size() == 2; });
  EXPECT_EQ(one.told.size(), 1U);
  EXPECT_EQ(one.text, "");
  EXPECT_EQ(two.text, "3:abc");
  watchers_.destroyed();
  EXPECT_TRUE(two.destroyed);
  EXPECT_FALSE(one.destroyed);
}

TEST(Access, a_loan_is_written_and_read_back_and_its_use_is_remembered) {
  Access access;
  access.set_loan(Loan{Loan::Use::Read, "s1", "ann", 7});
  EXPECT_FALSE(access.lent_for_acting());
  Access again;
  again.apply_loan(access.loan_record());
  EXPECT_EQ(again.loan()->to, "s1");
  EXPECT_EQ(again.loan()->use, Loan::Use::Read);
  access.set_loan(Loan{Loan::Use::Act, "", "ann", 8});
  again.apply_loan(access.loan_record());
  access.set_loan(std::nullopt);
  again.apply_loan(access.loan_record());
  EXPECT_FALSE(again.loan());
  EXPECT_TRUE(again.lent_for_acting());
}

TEST(Access, a_promise_is_void_after_its_time) {
  Access access;
  const Access::TimePoint now{};
  access.promise(now);
  EXPECT_TRUE(access.promised(now + Access::kPromise - std::chrono::seconds(1)));
  EXPECT_FALSE(access.promised(now + Access::kPromise));
  access.promise(now);
  access.release_promise();
  EXPECT_FALSE(access.promised(now));
}

}  // namespace
}  // namespace ttyward::engine
