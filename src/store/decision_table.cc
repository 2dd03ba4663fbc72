#include "store/tables.h"
#include "store/where.h"

namespace ttyward::store {
namespace {

#define TTYWARD_DECISION_COLUMNS                                                                      \
  "id, at_ms, command_id, terminal_id, asked_by, command, cwd, decision, decided_by, risk, effects, " \
  "reason, answered_by, answered_at_ms"

constexpr std::string_view kPut = "INSERT OR REPLACE INTO decisions (" TTYWARD_DECISION_COLUMNS
                                  ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelect = "SELECT " TTYWARD_DECISION_COLUMNS " FROM decisions";
#undef TTYWARD_DECISION_COLUMNS

base::Result<DecisionRow> row_of(const Statement& s) {
  DecisionRow row;
  row.id = s.text_at(0);
  row.at_ms = s.number_at(1);
  row.command_id = s.text_at(2);
  row.terminal_id = s.text_at(3);
  row.asked_by = s.text_at(4);
  row.command = s.text_at(5);
  row.cwd = s.text_at(6);
  const std::optional<Decision> decision = decision_named(s.text_at(7));
  if (!decision)
    return base::fail(base::ErrorCode::InvalidArgument, "history: no known decision: " + s.text_at(7));
  row.decision = *decision;
  row.decided_by = s.text_at(8);
  row.risk = s.text_at(9);
  row.effects = s.text_at(10);
  row.reason = s.text_at(11);
  row.answered_by = s.text_at(12);
  row.answered_at_ms = s.number_or_null_at(13);
  return row;
}

}  // namespace

base::Result<void> write_decision(Database& database, const DecisionRow& row) {
  if (row.id.empty())
    return base::fail(base::ErrorCode::InvalidArgument, "a decision needs an id to be kept");
  auto s = database.prepare(kPut);
  if (!s) return tl::unexpected(s.error());
  s->text(1, row.id).number(2, row.at_ms).text_or_null(3, row.command_id).text_or_null(4, row.terminal_id);
  s->text(5, row.asked_by).text(6, keepable(row.command)).text(7, row.cwd);
  s->text(8, decision_name(row.decision)).text(9, row.decided_by).text(10, row.risk);
  s->text(11, keepable(row.effects)).text(12, keepable(row.reason));
  s->text_or_null(13, row.answered_by).number(14, row.answered_at_ms);
  return s->run();
}

base::Result<std::optional<DecisionRow>> read_decision(Database& database, std::string_view id) {
  auto s = database.prepare(std::string(kSelect) + " WHERE id = ?");
  if (!s) return tl::unexpected(s.error());
  s->text(1, id);
  const auto found = s->step();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::optional<DecisionRow>();
  return row_of(*s).map([](DecisionRow row) { return std::optional<DecisionRow>(std::move(row)); });
}

base::Result<std::vector<DecisionRow>> search_decisions(Database& database, const DecisionQuery& query) {
  if (auto fits = check_limit(query.limit); !fits) return tl::unexpected(fits.error());
  Where where;
  where.equals("command_id", query.command_id);
  where.equals("terminal_id", query.terminal);
  if (query.decision) where.equals("decision", std::string(decision_name(*query.decision)));
  where.between("at_ms", query.since_ms, query.until_ms);
  where.is_under("cwd", query.cwd);
  where.contains("command", query.text);
  if (!query.before_id.empty()) {
    const auto page = read_decision(database, query.before_id);
    if (!page) return tl::unexpected(page.error());
    if (!*page) {
      return base::fail(base::ErrorCode::NotFound,
                        "no decision " + query.before_id + " to go on from; start again without it");
    }
    where.add("(at_ms, id) < (SELECT at_ms, id FROM decisions WHERE id = ?)", query.before_id);
  }
  auto s = database.prepare(std::string(kSelect) + where.clause() + " ORDER BY at_ms DESC, id DESC LIMIT ?");
  if (!s) return tl::unexpected(s.error());
  s->number(where.bind(*s), int64_t{query.limit});
  std::vector<DecisionRow> rows;
  while (true) {
    const auto found = s->step();
    if (!found) return tl::unexpected(found.error());
    if (!*found) return rows;
    auto row = row_of(*s);
    if (!row) return tl::unexpected(row.error());
    rows.push_back(std::move(*row));
  }
}

}  // namespace ttyward::store
