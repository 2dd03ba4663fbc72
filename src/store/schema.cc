#include "store/schema.h"

#include <string>

namespace ttyward::store {
namespace {

// As it was until version 2: one row for each decision, which was written over when a question was answered.
#define DECISIONS_OF_2                                                                                     \
  "CREATE TABLE decisions (\n"                                                                             \
  "  id             TEXT PRIMARY KEY NOT NULL,\n"                                                          \
  "  at_ms          INTEGER NOT NULL,\n"                                                                   \
  "  command_id     TEXT,\n"                                                                               \
  "  terminal_id    TEXT,\n"                                                                               \
  "  asked_by       TEXT NOT NULL,\n"                                                                      \
  "  command        TEXT NOT NULL,\n"                                                                      \
  "  cwd            TEXT NOT NULL,\n"                                                                      \
  "  decision       TEXT NOT NULL\n"                                                                       \
  "                 CHECK (decision IN ('allow', 'ask_allow', 'deny', 'skip', 'expired', 'withdrawn')),\n" \
  "  decided_by     TEXT NOT NULL,\n"                                                                      \
  "  risk           TEXT NOT NULL,\n"                                                                      \
  "  effects        TEXT NOT NULL,\n"                                                                      \
  "  reason         TEXT NOT NULL,\n"                                                                      \
  "  answered_by    TEXT,\n"                                                                               \
  "  answered_at_ms INTEGER\n"                                                                             \
  ") WITHOUT ROWID;\n"                                                                                     \
  "CREATE INDEX decisions_by_time ON decisions (at_ms, id);\n"                                             \
  "CREATE INDEX decisions_by_command ON decisions (command_id);\n"

// Rows are added and never changed; store/chain.h says what `hash` is. In use twice.
#define DECISIONS                                                                                          \
  "CREATE TABLE decisions (\n"                                                                             \
  "  number         INTEGER PRIMARY KEY NOT NULL,\n"                                                       \
  "  hash           TEXT NOT NULL,\n"                                                                      \
  "  id             TEXT NOT NULL,\n"                                                                      \
  "  at_ms          INTEGER NOT NULL,\n"                                                                   \
  "  command_id     TEXT,\n"                                                                               \
  "  terminal_id    TEXT,\n"                                                                               \
  "  action         TEXT NOT NULL,\n"                                                                      \
  "  asked_by       TEXT NOT NULL,\n"                                                                      \
  "  command        TEXT NOT NULL,\n"                                                                      \
  "  cwd            TEXT NOT NULL,\n"                                                                      \
  "  decision       TEXT NOT NULL\n"                                                                       \
  "                 CHECK (decision IN ('allow', 'ask_allow', 'deny', 'skip', 'expired', 'withdrawn')),\n" \
  "  decided_by     TEXT NOT NULL,\n"                                                                      \
  "  risk           TEXT NOT NULL,\n"                                                                      \
  "  effects        TEXT NOT NULL,\n"                                                                      \
  "  reason         TEXT NOT NULL,\n"                                                                      \
  "  answered_by    TEXT,\n"                                                                               \
  "  answered_at_ms INTEGER\n"                                                                             \
  ");\n"                                                                                                   \
  "CREATE INDEX decisions_by_id ON decisions (id, number);\n"                                              \
  "CREATE INDEX decisions_by_time ON decisions (at_ms, id);\n"                                             \
  "CREATE INDEX decisions_by_command ON decisions (command_id);\n"

constexpr const char* kCreate = R"sql(
CREATE TABLE commands (
  id            TEXT PRIMARY KEY NOT NULL,
  terminal_id   TEXT NOT NULL,
  terminal_name TEXT NOT NULL,
  task          TEXT NOT NULL,
  owner         TEXT NOT NULL CHECK (owner IN ('agent', 'user', 'system')),
  command       TEXT NOT NULL,
  cwd           TEXT NOT NULL,
  cwd_after     TEXT,
  state         TEXT NOT NULL,
  exit_code     INTEGER,
  signal        TEXT,
  known_by      TEXT NOT NULL,
  provider      TEXT NOT NULL,
  integration   TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  duration_ms   INTEGER,
  journal_id    TEXT NOT NULL,
  output_begin  INTEGER NOT NULL,
  output_end    INTEGER NOT NULL,
  total_bytes   INTEGER NOT NULL,
  total_lines   INTEGER NOT NULL,
  note          TEXT NOT NULL,
  description   TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX commands_by_time ON commands (started_at_ms, id);
CREATE INDEX commands_by_terminal ON commands (terminal_id, started_at_ms, id);

)sql" DECISIONS R"sql(
CREATE TABLE session_rules (
  number        INTEGER PRIMARY KEY AUTOINCREMENT,
  scope         TEXT NOT NULL,
  rule          TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  created_by    TEXT NOT NULL,
  UNIQUE (scope, rule)
);

CREATE TABLE settings (
  key   TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;
)sql";

constexpr const char* kFrom1 = R"sql(
ALTER TABLE decisions RENAME TO decisions_of_1;
DROP INDEX decisions_by_time;
DROP INDEX decisions_by_command;
)sql" DECISIONS_OF_2 R"sql(
INSERT INTO decisions SELECT * FROM decisions_of_1;
UPDATE decisions SET decision = 'withdrawn' WHERE decision = 'deny' AND decided_by = 'withdrawal';
DROP TABLE decisions_of_1;
)sql";

// Hashes are made when the file is opened: SQL has no function for them.
constexpr const char* kFrom2 = R"sql(
ALTER TABLE decisions RENAME TO decisions_of_2;
DROP INDEX decisions_by_time;
DROP INDEX decisions_by_command;
)sql" DECISIONS R"sql(
INSERT INTO decisions SELECT row_number() OVER (ORDER BY at_ms, id), '', id, at_ms, command_id, terminal_id, 'run',
    asked_by, command, cwd, decision, decided_by, risk, effects, reason, answered_by, answered_at_ms
  FROM decisions_of_2;
DROP TABLE decisions_of_2;
INSERT OR REPLACE INTO settings VALUES ('decisions_unchained', 'from version 2');
)sql";

constexpr const char* kFrom3 = "ALTER TABLE commands ADD COLUMN description TEXT NOT NULL DEFAULT '';";

constexpr SchemaStep kSteps[] = {{1, kFrom1}, {2, kFrom2}, {3, kFrom3}};

#undef DECISIONS
#undef DECISIONS_OF_2

base::Result<void> set_version(Database& database, int version) {
  const std::string sql =
      "CREATE TABLE IF NOT EXISTS schema (version INTEGER NOT NULL);"
      "DELETE FROM schema; INSERT INTO schema VALUES (" +
      std::to_string(version) + ");";
  return database.execute(sql.c_str());
}

// The file's version; nothing for a file without tables.
base::Result<std::optional<int64_t>> version_of(Database& database) {
  const auto tables = database.ask("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == "0") return std::optional<int64_t>();
  const auto known =
      database.ask("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema'");
  if (!known) return tl::unexpected(known.error());
  if (*known == "0") {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the history file is the database of another program; move it away");
  }
  auto statement = database.prepare("SELECT version FROM schema");
  if (!statement) return tl::unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  if (!*row) return base::fail(base::ErrorCode::Corrupt, "the history file does not say its version");
  return std::optional<int64_t>(statement->number_at(0));
}

base::Result<void> migrate(Database& database, const Schema& schema, int64_t version) {
  while (version < schema.version) {
    const SchemaStep* step = nullptr;
    for (const SchemaStep& each : schema.steps)
      if (each.from == version) step = &each;
    if (step == nullptr) {
      return base::fail(base::ErrorCode::Unsupported, "the history file has the old version " +
                                                          std::to_string(version) +
                                                          ", which cannot be upgraded; move it away");
    }
    if (auto done = database.execute(step->sql); !done) return done;
    ++version;
  }
  return set_version(database, schema.version);
}

}  // namespace

const Schema& current_schema() {
  static constexpr Schema kCurrent = {4, kCreate, kSteps};
  return kCurrent;
}

base::Result<void> check_known(Database& database, const Schema& schema) {
  const auto version = version_of(database);
  if (!version) return tl::unexpected(version.error());
  if (version->value_or(0) <= schema.version) return {};
  return base::fail(base::ErrorCode::Unsupported,
                    "the history file was written by a newer ttyward (version " + std::to_string(**version) +
                        ", this one knows " + std::to_string(schema.version) +
                        "); use that one, or move the file away");
}

base::Result<void> bring_to(Database& database, const Schema& schema) {
  auto version = version_of(database);
  if (!version) return tl::unexpected(version.error());
  if (*version == schema.version) return {};
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  // Asked again inside: another process may have been quicker.
  if (auto known = check_known(database, schema); !known) return known;
  version = version_of(database);
  if (!version) return tl::unexpected(version.error());
  if (!*version) {
    if (auto made = database.execute(schema.create); !made) return made;
    if (auto made = set_version(database, schema.version); !made) return made;
  } else if (auto done = migrate(database, schema, **version); !done) {
    return done;
  }
  return transaction->commit();
}

}  // namespace ttyward::store
