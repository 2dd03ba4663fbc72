// Session rules and settings, and what all tables share.
#include "base/mask_secrets.h"
#include "store/tables.h"

namespace ttyward::store {

std::string keepable(std::string_view text) {
  // Cut first: masking a pasted gigabyte would be work for nothing. What is cut
  // in two is a secret's tail at worst, and that half is dropped.
  if (text.size() <= kMaxTextBytes) return base::mask_secrets(text);
  size_t cut = kMaxTextBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return base::mask_secrets(text.substr(0, cut)) + " … (" + std::to_string(text.size() - cut) +
         " more bytes)";
}

base::Result<void> check_limit(int limit) {
  if (limit >= 1 && limit <= kMaxRows) return {};
  return base::fail(base::ErrorCode::InvalidArgument,
                    "ask for 1 to " + std::to_string(kMaxRows) + " rows, not " + std::to_string(limit));
}

base::Result<int64_t> write_session_rule(Database& database, const SessionRule& rule) {
  if (rule.scope.empty() || rule.rule.empty())
    return base::fail(base::ErrorCode::InvalidArgument, "a session rule needs a scope and its text");
  if (rule.rule.size() > kMaxTextBytes) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the rule is too long: at most " + std::to_string(kMaxTextBytes) + " bytes");
  }
  auto s = database.prepare(
      "INSERT INTO session_rules (scope, rule, created_at_ms, created_by) VALUES (?, ?, ?, ?)"
      " ON CONFLICT (scope, rule) DO UPDATE SET created_by = created_by RETURNING number");
  if (!s) return tl::unexpected(s.error());
  s->text(1, rule.scope).text(2, rule.rule).number(3, rule.created_at_ms).text(4, rule.created_by);
  const auto row = s->step();
  if (!row) return tl::unexpected(row.error());
  const int64_t number = s->number_at(0);
  if (auto done = s->run(); !done) return tl::unexpected(done.error());
  return number;
}

base::Result<std::vector<SessionRule>> read_session_rules(Database& database,
                                                          std::optional<std::string_view> scope) {
  auto s = database.prepare(
      "SELECT number, scope, rule, created_at_ms, created_by FROM session_rules WHERE scope = ?1 OR ?1 IS "
      "NULL"
      " ORDER BY number");
  if (!s) return tl::unexpected(s.error());
  if (scope) s->text(1, *scope);
  std::vector<SessionRule> rules;
  while (true) {
    const auto row = s->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return rules;
    rules.push_back({s->number_at(0), s->text_at(1), s->text_at(2), s->number_at(3), s->text_at(4)});
  }
}

base::Result<bool> delete_session_rule(Database& database, int64_t number) {
  auto s = database.prepare("DELETE FROM session_rules WHERE number = ?");
  if (!s) return tl::unexpected(s.error());
  if (auto done = s->number(1, number).run(); !done) return tl::unexpected(done.error());
  return database.changes() > 0;
}

base::Result<void> write_setting(Database& database, std::string_view key, std::string_view value) {
  auto s = database.prepare("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)");
  if (!s) return tl::unexpected(s.error());
  return s->text(1, key).text(2, value).run();
}

base::Result<std::optional<std::string>> read_setting(Database& database, std::string_view key) {
  auto s = database.prepare("SELECT value FROM settings WHERE key = ?");
  if (!s) return tl::unexpected(s.error());
  s->text(1, key);
  const auto row = s->step();
  if (!row) return tl::unexpected(row.error());
  return *row ? std::optional<std::string>(s->text_at(0)) : std::nullopt;
}

base::Result<int64_t> delete_old(Database& database, const char* table, const char* time_column,
                                 int64_t max_rows, int64_t older_than_ms) {
  const std::string name = table;
  const std::string time = time_column;
  auto s = database.prepare("DELETE FROM " + name + " WHERE " + time + " < ?1 OR (" + time +
                            ", id) <= (SELECT " + time + ", id FROM " + name + " ORDER BY " + time +
                            " DESC, id DESC LIMIT 1 OFFSET ?2)");
  if (!s) return tl::unexpected(s.error());
  if (auto done = s->number(1, older_than_ms).number(2, max_rows).run(); !done)
    return tl::unexpected(done.error());
  return database.changes();
}

}  // namespace ttyward::store
