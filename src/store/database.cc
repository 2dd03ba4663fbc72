#include "store/database.h"

#include <sqlite3.h>

#include <utility>

namespace ttyward::store {
namespace {

// Another process may be writing: a person's query, a daemon that just ends.
constexpr int kBusyTimeoutMs = 5000;

base::ErrorCode code_of(int rc) {
  switch (rc & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return base::ErrorCode::Corrupt;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return base::ErrorCode::Exhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return base::ErrorCode::PermissionDenied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return base::ErrorCode::Unavailable;
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return base::ErrorCode::InvalidArgument;
    default:
      return base::ErrorCode::Io;
  }
}

const char* advice(int rc) {
  switch (rc & 0xFF) {
    case SQLITE_FULL:
      return "; free some space on its disk";
    case SQLITE_READONLY:
      return "; its file system or folder cannot be written to";
    case SQLITE_BUSY:
      return "; another process holds it, try again";
    default:
      return "";
  }
}

tl::unexpected<base::Error> failed(sqlite3* connection, int rc) {
  base::Error error;
  error.code = code_of(rc);
  error.sys_errno = connection != nullptr ? sqlite3_system_errno(connection) : 0;
  error.message = std::string("history: ") + sqlite3_errstr(rc);
  if (connection != nullptr) {
    const std::string detail = sqlite3_errmsg(connection);
    if (detail != sqlite3_errstr(rc)) error.message += " (" + detail + ")";
  }
  error.message += advice(rc);
  return tl::unexpected(error);
}

}  // namespace

const char* sqlite_version() {
  return sqlite3_libversion();
}

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      handle_(std::exchange(other.handle_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

Statement& Statement::text(int parameter, std::string_view value) {
  const char* bytes = value.data() != nullptr ? value.data() : "";
  const int rc = sqlite3_bind_text64(handle_, parameter, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (rc != SQLITE_OK) bind_error_ = rc;
  return *this;
}

Statement& Statement::text_or_null(int parameter, std::string_view value) {
  if (!value.empty()) return text(parameter, value);
  const int rc = sqlite3_bind_null(handle_, parameter);
  if (rc != SQLITE_OK) bind_error_ = rc;
  return *this;
}

Statement& Statement::number(int parameter, int64_t value) {
  const int rc = sqlite3_bind_int64(handle_, parameter, value);
  if (rc != SQLITE_OK) bind_error_ = rc;
  return *this;
}

Statement& Statement::number(int parameter, const std::optional<int64_t>& value) {
  if (value) return number(parameter, *value);
  const int rc = sqlite3_bind_null(handle_, parameter);
  if (rc != SQLITE_OK) bind_error_ = rc;
  return *this;
}

base::Result<bool> Statement::step() {
  if (bind_error_ != 0) return failed(connection_, bind_error_);
  const int rc = sqlite3_step(handle_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return failed(connection_, sqlite3_extended_errcode(connection_));
}

base::Result<void> Statement::run() {
  while (true) {
    auto row = step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
  }
}

void Statement::again() {
  sqlite3_reset(handle_);
}

std::string Statement::text_at(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle_, column))};
}

int64_t Statement::number_at(int column) const {
  return sqlite3_column_int64(handle_, column);
}

std::optional<int64_t> Statement::number_or_null_at(int column) const {
  if (sqlite3_column_type(handle_, column) == SQLITE_NULL) return std::nullopt;
  return number_at(column);
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

base::Result<Database> Database::open(const std::string& path) {
  return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, kBusyTimeoutMs);
}

base::Result<Database> Database::open_to_look(const std::string& path) {
  // Not SQLITE_OPEN_READONLY: the log's shared memory may have to be made.
  auto database = open(path, SQLITE_OPEN_READWRITE, 0);
  if (!database) return database;
  if (auto set = database->execute("PRAGMA query_only = ON; PRAGMA cache_size = -64"); !set)
    return tl::unexpected(set.error());
  return database;
}

base::Result<Database> Database::open(const std::string& path, int flags, int busy_timeout_ms) {
  sqlite3* raw = nullptr;
  const int rc =
      sqlite3_open_v2(path.c_str(), &raw,
                      flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE, nullptr);
  Database database(raw);
  if (rc != SQLITE_OK) {
    auto error = failed(raw, raw != nullptr ? sqlite3_extended_errcode(raw) : rc);
    error.value().message += ": " + path;
    return error;
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  return database;
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int rc =
      sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (rc != SQLITE_OK) return failed(connection_.get(), sqlite3_extended_errcode(connection_.get()));
  return Statement(connection_.get(), handle);
}

base::Result<void> Database::execute(const char* sql) {
  const int rc = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return failed(connection_.get(), sqlite3_extended_errcode(connection_.get()));
  return {};
}

base::Result<std::string> Database::ask(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? statement->text_at(0) : std::string();
}

int64_t Database::changes() const {
  return sqlite3_changes64(connection_.get());
}

base::Result<Transaction> Transaction::begin(Database& database) {
  if (auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return tl::unexpected(begun.error());
  return Transaction(database);
}

Transaction::~Transaction() {
  // A failed statement may have rolled back already; then there is nothing left to undo.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

base::Result<void> Transaction::commit() {
  auto done = database_->execute("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace ttyward::store
