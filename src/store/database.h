// SQLite with our errors: a connection and its statements. Outside store/ only its version is of interest.
//
// Thread rule: one thread at a time; a connection may be handed to another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ttyward::store {

// Of the library that is loaded.
const char* sqlite_version();

// Parameters are given by number from 1, columns are read by number from 0.
// Ends with the row set: a statement left half read would keep the log from being folded back.
class Statement {
 public:
  Statement(sqlite3* connection, sqlite3_stmt* handle) : connection_(connection), handle_(handle) {}
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& text(int parameter, std::string_view value);
  Statement& text_or_null(int parameter, std::string_view value);  // empty is NULL
  Statement& number(int parameter, int64_t value);
  Statement& number(int parameter, const std::optional<int64_t>& value);

  // True: there is a row to read. False: that was the last.
  base::Result<bool> step();
  // For statements without rows.
  base::Result<void> run();
  // To the beginning, whatever step() said: for a statement that is kept.
  void again();

  std::string text_at(int column) const;  // NULL is empty
  int64_t number_at(int column) const;
  std::optional<int64_t> number_or_null_at(int column) const;

 private:
  sqlite3* connection_;
  sqlite3_stmt* handle_;
  int bind_error_ = 0;
};

class Database {
 public:
  // Opens or makes the file, which has been found fit to be used (place.h).
  static base::Result<Database> open(const std::string& path);
  // One that is there, for reading only; what would have to wait fails.
  static base::Result<Database> open_to_look(const std::string& path);

  base::Result<Statement> prepare(std::string_view sql);
  // One or more statements without parameters; rows are dropped.
  base::Result<void> execute(const char* sql);
  // The first column of the first row, empty if there is none.
  base::Result<std::string> ask(std::string_view sql);
  int64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit Database(sqlite3* connection) : connection_(connection) {}
  static base::Result<Database> open(const std::string& path, int flags, int busy_timeout_ms);

  std::unique_ptr<sqlite3, Close> connection_;
};

// All or nothing: rolled back unless `commit` was called and said yes.
class Transaction {
 public:
  static base::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  base::Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace ttyward::store
