#include "store/chain.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChainTest : public ::testing::Test {
 protected:
  ChainTest() {
    for (int i = 1; i <= 5; i++) put("d" + std::to_string(i), i);
  }
  void put(const std::string& id, int64_t at) { ASSERT_TRUE(store().put_decision(a_decision(id, at))); }
  Store& store() {
    if (!store_) store_.emplace(std::move(Store::open(scratch_.path()).value()));
    return *store_;
  }
  // As somebody who has the file can.
  void tamper(const char* sql) {
    store_.reset();
    auto database = Database::open(scratch_.path());
    ASSERT_TRUE(database);
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  ChainReport report() {
    auto made = store().verify_decisions();
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  }

  Scratch scratch_;
  std::optional<Store> store_;
};

TEST_F(ChainTest, rows_that_nobody_touched_are_whole) {
  const ChainReport whole = report();
  EXPECT_EQ(whole.rows, 5);
  EXPECT_EQ(whole.head.number, 5);
  EXPECT_EQ(whole.head, *read_noted(store().noted_path()));
  EXPECT_THAT(whole.problems, IsEmpty());
}

TEST_F(ChainTest, an_answer_is_a_row_of_its_own) {
  DecisionRow again = a_decision("d2", 2);
  again.decision = Decision::Deny;
  ASSERT_TRUE(store().put_decision(again));
  EXPECT_EQ(store().decision("d2").value()->decision, Decision::Deny);
  EXPECT_EQ(store().find_decisions({}).value().size(), 5U);
  EXPECT_EQ(report().rows, 6);
  EXPECT_THAT(report().problems, IsEmpty());
}

TEST_F(ChainTest, a_changed_row_is_named) {
  tamper("UPDATE decisions SET decision = 'allow' WHERE number = 3");
  EXPECT_THAT(report().problems, ElementsAre(Field(&ChainProblem::number, 3)));
}

TEST_F(ChainTest, a_changed_answer_is_named) {
  tamper("UPDATE decisions SET answered_by = NULL WHERE number = 2");
  EXPECT_THAT(report().problems, ElementsAre(Field(&ChainProblem::number, 2)));
}

TEST_F(ChainTest, a_row_that_is_gone_is_missed) {
  tamper("DELETE FROM decisions WHERE number = 3");
  const auto problems = report().problems;
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0], (ChainProblem{3, "row is missing"}));
  EXPECT_EQ(problems[1].number, 4);  // what follows does not fit any more
}

TEST_F(ChainTest, a_row_whose_place_was_filled_is_missed) {
  tamper("DELETE FROM decisions WHERE number = 3; UPDATE decisions SET number = number - 1 WHERE number > 3");
  EXPECT_FALSE(report().problems.empty());
}

TEST_F(ChainTest, an_end_that_was_cut_off_is_missed) {
  tamper("DELETE FROM decisions WHERE number > 3");
  const auto problems = report().problems;
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].number, 4);
  EXPECT_THAT(problems[0].what, HasSubstr("up to 5"));
}

TEST_F(ChainTest, everything_cut_off_is_missed) {
  tamper("DELETE FROM decisions");
  EXPECT_THAT(report().problems, ElementsAre(Field(&ChainProblem::number, 1)));
}

TEST_F(ChainTest, without_the_note_the_end_is_not_known) {
  ASSERT_EQ(::unlink(store().noted_path().c_str()), 0);
  EXPECT_THAT(report().problems, ElementsAre(Field(&ChainProblem::what, HasSubstr("not known"))));
}

TEST_F(ChainTest, pruning_leaves_an_anchor) {
  ASSERT_EQ(store().prune(2, 0).value().decisions, 3);
  const ChainReport pruned = report();
  EXPECT_EQ(pruned.rows, 2);
  EXPECT_EQ(pruned.anchor.number, 3);
  EXPECT_THAT(pruned.problems, IsEmpty());
  ASSERT_EQ(store().prune(0, 0).value().decisions, 2);
  EXPECT_THAT(report().problems, IsEmpty());
  put("d6", 6);
  EXPECT_EQ(report().head.number, 6);
  EXPECT_THAT(report().problems, IsEmpty());
}

TEST_F(ChainTest, pruning_by_age_takes_the_beginning_only) {
  put("late", 2);  // a question that was opened long ago and answered now
  ASSERT_EQ(store().prune(100, 4).value().decisions, 3);
  EXPECT_EQ(report().rows, 3);
  EXPECT_THAT(report().problems, IsEmpty());
}

TEST_F(ChainTest, rows_before_the_anchor_cannot_be_put_back) {
  ASSERT_TRUE(store().prune(2, 0));
  tamper("UPDATE decisions SET number = number + 1 WHERE number = 5");
  EXPECT_FALSE(report().problems.empty());
}

}  // namespace
}  // namespace ttyward::store
