#include "store/schema.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "store/scratch.h"

namespace ttyward::store {
namespace {

using ::testing::HasSubstr;

// A version 0 that never was: fewer columns, seconds instead of milliseconds.
constexpr const char* kVersion0 = R"sql(
  CREATE TABLE schema (version INTEGER NOT NULL);
  INSERT INTO schema VALUES (0);
  CREATE TABLE runs (id TEXT PRIMARY KEY, line TEXT, folder TEXT, code INTEGER, began INTEGER);
  INSERT INTO runs VALUES ('c1', 'make', '/w', 2, 5);
)sql";
constexpr const char* kFrom0 = R"sql(
  INSERT INTO commands (id, terminal_id, terminal_name, task, owner, command, cwd, state, exit_code, known_by,
      provider, integration, started_at_ms, journal_id, output_begin, output_end, total_bytes, total_lines, note)
    SELECT id, '', '', '', 'agent', line, folder, 'exited', code, 'wait', 'pty', 'none', began * 1000, '', 0, 0, 0, 0, ''
    FROM runs;
  DROP TABLE runs;
)sql";

class SchemaTest : public ::testing::Test {
 protected:
  SchemaTest() : from_0_(std::string(current_schema().create) + kFrom0) {}

  void write(const char* sql) {
    ASSERT_EQ(::mkdir((scratch_.folder() + "/state").c_str(), 0700), 0);
    const auto file = prepare_file(scratch_.path());
    auto database = Database::open(file->path);
    ASSERT_TRUE(database);
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::string version() {
    return Database::open(scratch_.path()).value().ask("SELECT version FROM schema").value();
  }

  Scratch scratch_;
  const std::string from_0_;
};

TEST_F(SchemaTest, an_old_file_is_migrated_with_its_rows) {
  write(kVersion0);
  const SchemaStep steps[] = {{0, from_0_.c_str()}};
  const Schema schema{1, current_schema().create, steps};
  {
    auto store = Store::open(scratch_.path(), schema);
    ASSERT_TRUE(store) << store.error().message;
    const CommandRow row = store->command("c1").value().value();
    EXPECT_EQ(row.command, "make");
    EXPECT_EQ(row.exit_code, 2);
    EXPECT_EQ(row.started_at_ms, 5000);
    EXPECT_TRUE(store->put_decision(a_decision("d1")));
  }
  EXPECT_EQ(version(), "1");
  EXPECT_TRUE(Store::open(scratch_.path(), schema)->command("c1").value());  // and only once
}

TEST_F(SchemaTest, the_first_version_is_brought_here) {
  std::string first = "CREATE TABLE schema (version INTEGER NOT NULL); INSERT INTO schema VALUES (1);";
  std::string create = current_schema().create;
  const std::string later = ",\n  description   TEXT NOT NULL DEFAULT ''";
  create.erase(create.find(later), later.size());
  first += create.substr(0, create.find("CREATE TABLE decisions"));
  first += R"sql(
    CREATE TABLE decisions (id TEXT PRIMARY KEY NOT NULL, at_ms INTEGER NOT NULL, command_id TEXT, terminal_id TEXT,
      asked_by TEXT NOT NULL, command TEXT NOT NULL, cwd TEXT NOT NULL, decision TEXT NOT NULL
      CHECK (decision IN ('allow', 'ask_allow', 'deny', 'skip', 'expired')), decided_by TEXT NOT NULL,
      risk TEXT NOT NULL, effects TEXT NOT NULL, reason TEXT NOT NULL, answered_by TEXT, answered_at_ms INTEGER)
      WITHOUT ROWID;
    CREATE INDEX decisions_by_time ON decisions (at_ms, id);
    CREATE INDEX decisions_by_command ON decisions (command_id);
  )sql";
  first += create.substr(create.find("CREATE TABLE session_rules"));
  for (const char* row : {"'d1', 5, NULL, NULL, 'a', 'ls', '/', 'deny', 'withdrawal'",
                          "'d2', 6, NULL, NULL, 'a', 'ls', '/', 'deny', 'person'"}) {
    first += "INSERT INTO decisions VALUES (" + std::string(row) + ", 'low', '', '', NULL, NULL);";
  }
  write(first.c_str());
  {
    auto store = Store::open(scratch_.path());
    ASSERT_TRUE(store) << store.error().message;
    CommandRow described;
    described.id = "c1";
    described.description = "what it was for";
    ASSERT_TRUE(store->put_command(described));
    EXPECT_EQ(store->command("c1").value()->description, "what it was for");
    EXPECT_EQ(store->decision("d1").value()->decision, Decision::Withdrawn);
    EXPECT_EQ(store->decision("d2").value()->decision, Decision::Deny);
    const auto report = store->verify_decisions();  // old rows are chained, too
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->rows, 2);
    EXPECT_EQ(report->head.number, 2);
    ASSERT_TRUE(store->put_decision(a_decision("d3", 7)));
    EXPECT_TRUE(store->verify_decisions()->problems.empty());
  }
  EXPECT_EQ(version(), std::to_string(current_schema().version));
}

TEST_F(SchemaTest, a_migration_that_fails_leaves_the_file_as_it_was) {
  write(kVersion0);
  const std::string broken = from_0_ + "INSERT INTO nowhere VALUES (1);";
  const SchemaStep steps[] = {{0, broken.c_str()}};
  const auto store = Store::open(scratch_.path(), {1, current_schema().create, steps});
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().code, base::ErrorCode::Corrupt);
  EXPECT_EQ(version(), "0");
  EXPECT_EQ(Database::open(scratch_.path()).value().ask("SELECT line FROM runs").value(), "make");
}

TEST_F(SchemaTest, an_old_file_that_nothing_leads_on_from_is_said_to_be_so) {
  write(kVersion0);
  const auto store = Store::open(scratch_.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::Unsupported);
}

TEST_F(SchemaTest, a_newer_file_is_left_alone) {
  write("CREATE TABLE schema (version INTEGER NOT NULL); INSERT INTO schema VALUES (7);");
  const auto store = Store::open(scratch_.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::Unsupported);
  EXPECT_THAT(store.error().message, HasSubstr("newer ttyward (version 7, this one knows 4)"));
  EXPECT_EQ(version(), "7");
}

TEST_F(SchemaTest, a_database_of_another_program_is_left_alone) {
  write("CREATE TABLE bookmarks (url TEXT);");
  const auto store = Store::open(scratch_.path());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, base::ErrorCode::InvalidArgument);
  EXPECT_EQ(Database::open(scratch_.path()).value().ask("PRAGMA journal_mode").value(), "delete");
}

}  // namespace
}  // namespace ttyward::store
