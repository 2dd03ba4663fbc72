#include "store/store.h"

#include <gmock/gmock.h>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : store_(Store::open(scratch_.path()).value()) {}

  void put(const CommandRow& row) {
    const auto done = store_.put_command(row);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::vector<std::string> find(const HistoryQuery& query) {
    const auto rows = store_.find_commands(query);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? ids(*rows) : std::vector<std::string>();
  }

  Scratch scratch_;
  Store store_;
};

TEST_F(StoreTest, a_command_comes_back_as_it_was_put) {
  CommandRow row = a_command("c1");
  row.owner = Owner::User;
  row.cwd_after = "/srv";
  row.note = "n";
  put(row);
  EXPECT_EQ(store_.command("c1").value(), row);
  EXPECT_EQ(store_.command("c2").value(), std::nullopt);

  CommandRow running = a_command("c3");
  running.state = "running";
  running.exit_code.reset();
  running.duration_ms.reset();
  running.known_by = "";
  put(running);
  EXPECT_EQ(store_.command("c3").value(), running);
}

TEST_F(StoreTest, any_bytes_come_back) {
  CommandRow row = a_command("c1");
  row.command = std::string("printf '\0\xff'; ls ü", 18);
  put(row);
  EXPECT_EQ(store_.command("c1").value()->command, row.command);
}

TEST_F(StoreTest, the_same_row_again_changes_nothing_and_a_newer_one_replaces_it) {
  CommandRow row = a_command("c1");
  row.state = "running";
  row.exit_code.reset();
  put(row);
  put(row);
  row.state = "signaled";
  row.signal = "SIGKILL";
  put(row);
  EXPECT_THAT(find({}), ElementsAre("c1"));
  EXPECT_EQ(store_.command("c1").value(), row);
}

TEST_F(StoreTest, a_row_without_an_id_is_refused) {
  EXPECT_EQ(store_.put_command({}).error().code, base::ErrorCode::InvalidArgument);
  EXPECT_EQ(store_.put_decision({}).error().code, base::ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, secrets_are_masked_before_they_are_written) {
  CommandRow row = a_command("c1");
  row.command = "PASSWORD=hunter2 make";
  row.note = "--token abcdef";
  put(row);
  EXPECT_EQ(store_.command("c1").value()->command, "PASSWORD=*** make");
  EXPECT_EQ(store_.command("c1").value()->note, "--token ***");
  DecisionRow decision = a_decision("d1");
  decision.command = "mysql -phunter2";
  ASSERT_TRUE(store_.put_decision(decision));
  EXPECT_EQ(store_.decision("d1").value()->command, "mysql -p***");
}

TEST_F(StoreTest, long_commands_are_cut_at_a_character_and_say_so) {
  CommandRow row = a_command("c1");
  row.command = "x" + std::string("ü");
  while (row.command.size() < kMaxTextBytes + 100) row.command += "ü";
  put(row);
  const std::string kept = store_.command("c1").value()->command;
  EXPECT_LT(kept.size(), kMaxTextBytes + 100);
  EXPECT_THAT(kept, HasSubstr("more bytes)"));
}

TEST_F(StoreTest, newest_first_and_page_by_page) {
  for (int i = 0; i < 10; ++i) put(a_command("c" + std::to_string(i), 100 + i / 2));  // ties are broken by id
  EXPECT_THAT(find({.limit = 3}), ElementsAre("c9", "c8", "c7"));
  EXPECT_THAT(find({.limit = 3, .before_id = "c7"}), ElementsAre("c6", "c5", "c4"));
  EXPECT_THAT(find({.limit = 30, .before_id = "c1"}), ElementsAre("c0"));
  EXPECT_EQ(store_.find_commands({.before_id = "nope"}).error().code, base::ErrorCode::NotFound);
  EXPECT_EQ(store_.find_commands({.limit = 0}).error().code, base::ErrorCode::InvalidArgument);
  EXPECT_EQ(store_.find_commands({.limit = kMaxRows + 1}).error().code, base::ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, search_by_text_is_literal_and_ignores_case) {
  CommandRow a = a_command("c1");
  a.command = "echo 100%_done";
  put(a);
  CommandRow b = a_command("c2");
  b.command = "Make Install";
  put(b);
  EXPECT_THAT(find({.text = "%_"}), ElementsAre("c1"));
  EXPECT_THAT(find({.text = "make"}), ElementsAre("c2"));
  EXPECT_THAT(find({.text = "' OR 1=1 --"}), IsEmpty());
}

TEST_F(StoreTest, search_by_how_it_ended) {
  put(a_command("c1", 1));
  CommandRow failed = a_command("c2", 2);
  failed.exit_code = 2;
  put(failed);
  CommandRow killed = a_command("c3", 3);
  killed.exit_code.reset();
  killed.state = "timed_out";
  put(killed);
  CommandRow running = a_command("c4", 4);
  running.exit_code.reset();
  running.state = "running";
  put(running);
  CommandRow unknown = a_command("c5", 5);
  unknown.exit_code.reset();
  put(unknown);
  EXPECT_THAT(find({.exit = ExitFilter::Ok}), ElementsAre("c1"));
  EXPECT_THAT(find({.exit = ExitFilter::Failed}), ElementsAre("c3", "c2"));
  EXPECT_THAT(find({}), ElementsAre("c5", "c4", "c3", "c2", "c1"));
}

TEST_F(StoreTest, search_by_folder_means_whole_names) {
  const char* folders[] = {"/a", "/a/b", "/ab", "/a/b/c", "/"};
  for (int i = 0; i < 5; ++i) {
    CommandRow row = a_command("c" + std::to_string(i), i);
    row.cwd = folders[i];
    put(row);
  }
  EXPECT_THAT(find({.cwd = "/a"}), ElementsAre("c3", "c1", "c0"));
  EXPECT_THAT(find({.cwd = "/a/b/"}), ElementsAre("c3", "c1"));
  EXPECT_EQ(find({.cwd = "/"}).size(), 5U);
}

TEST_F(StoreTest, search_by_terminal_task_and_time) {
  put(a_command("c1", 10));
  CommandRow other = a_command("c2", 20);
  other.terminal_id = "t2";
  other.task = "task-2";
  put(other);
  EXPECT_THAT(find({.terminal = "t2"}), ElementsAre("c2"));
  EXPECT_THAT(find({.task = "task-1"}), ElementsAre("c1"));
  EXPECT_THAT(find({.since_ms = 20}), ElementsAre("c2"));
  EXPECT_THAT(find({.until_ms = 20}), ElementsAre("c1"));
}

TEST_F(StoreTest, decisions_come_back_and_are_found) {
  DecisionRow first = a_decision("d1", 1);
  DecisionRow second = a_decision("d2", 2);
  second.decision = Decision::Expired;
  second.decided_by = "expiry";
  second.answered_by = "";
  second.answered_at_ms.reset();
  second.command_id = "c7";
  second.terminal_id = "t7";
  ASSERT_TRUE(store_.put_decision(first));
  ASSERT_TRUE(store_.put_decision(second));
  ASSERT_TRUE(store_.put_decision(second));
  EXPECT_THAT(store_.find_decisions({}).value(), ElementsAre(second, first));
  EXPECT_THAT(store_.find_decisions({.decision = Decision::Expired}).value(), ElementsAre(second));
  EXPECT_THAT(store_.find_decisions({.command_id = "c7"}).value(), ElementsAre(second));
  EXPECT_THAT(store_.find_decisions({.terminal = "t7"}).value(), ElementsAre(second));
  EXPECT_THAT(store_.find_decisions({.text = "BUILD", .before_id = "d2"}).value(), ElementsAre(first));
}

TEST_F(StoreTest, session_rules_are_kept_once_per_scope) {
  const std::string text = "[[rule]]\ndecision = \"allow\"\ncommand = \"TOKEN=abc make\"\n";
  const int64_t number = store_.put_session_rule({0, "s1", text, 5, "person"}).value();
  EXPECT_EQ(store_.put_session_rule({0, "s1", text, 6, "person"}).value(), number);
  ASSERT_TRUE(store_.put_session_rule({0, std::string(kGlobalScope), text, 7, "person"}));
  EXPECT_THAT(store_.session_rules("s1").value(), ElementsAre(SessionRule{number, "s1", text, 5, "person"}));
  EXPECT_EQ(store_.remove_session_rule(number).value(), true);
  EXPECT_EQ(store_.remove_session_rule(number).value(), false);
  EXPECT_EQ(store_.session_rules(kGlobalScope).value().size(), 1U);
  EXPECT_EQ(store_.put_session_rule({0, "", text, 5, "person"}).error().code,
            base::ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, pruning_keeps_the_newest_and_nothing_too_old) {
  for (int i = 0; i < 10; ++i) {
    put(a_command("c" + std::to_string(i), 100 + i));
    ASSERT_TRUE(store_.put_decision(a_decision("d" + std::to_string(i), 100 + i)));
  }
  EXPECT_EQ(store_.prune(100, 0).value(), (Pruned{0, 0}));
  EXPECT_EQ(store_.prune(8, 0).value(), (Pruned{2, 2}));
  EXPECT_EQ(store_.prune(100, 105).value(), (Pruned{3, 3}));
  EXPECT_THAT(find({}), ElementsAre("c9", "c8", "c7", "c6", "c5"));
  EXPECT_EQ(store_.prune(0, 0).value(), (Pruned{5, 5}));
  EXPECT_EQ(store_.prune(-1, 0).error().code, base::ErrorCode::InvalidArgument);
}

TEST_F(StoreTest, pruning_gives_space_back) {
  for (int i = 0; i < 500; ++i) {
    CommandRow row = a_command("c" + std::to_string(i), i);
    row.command = std::string(4000, 'x');
    put(row);
  }
  ASSERT_TRUE(store_.prune(1, 0));
  {
    const Store closing = std::move(store_);
  }  // the last to close folds the log back
  EXPECT_LT(std::filesystem::file_size(scratch_.path()), 200'000U);
}

TEST_F(StoreTest, two_processes_worth_of_connections_see_each_other) {
  Store other = Store::open(scratch_.path()).value();
  put(a_command("c1"));
  EXPECT_TRUE(other.command("c1").value());
  ASSERT_TRUE(other.put_command(a_command("c2")));
  EXPECT_EQ(find({}).size(), 2U);
}

}  // namespace
}  // namespace ttyward::store
