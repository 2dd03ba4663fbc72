#include "store/tables.h"
#include "store/where.h"

namespace ttyward::store {
namespace {

#define TTYWARD_DECISION_COLUMNS                                                                      \
  "id, at_ms, command_id, terminal_id, asked_by, command, cwd, decision, decided_by, risk, effects, " \
  "reason, answered_by, answered_at_ms, action"

constexpr std::string_view kPut =
    "INSERT INTO decisions (" TTYWARD_DECISION_COLUMNS
    ", number, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr std::string_view kSelect = "SELECT " TTYWARD_DECISION_COLUMNS " FROM decisions";
constexpr std::string_view kSelectAll =
    "SELECT " TTYWARD_DECISION_COLUMNS ", number, hash FROM decisions ORDER BY number";
// A question is recorded when it opens and again when it is answered: the last word counts.
constexpr std::string_view kIsLast =
    "NOT EXISTS (SELECT 1 FROM decisions later WHERE later.id = decisions.id AND later.number > "
    "decisions.number)";
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
  row.action = s.text_at(14);
  return row;
}

}  // namespace

base::Result<ChainLink> write_decision(Database& database, const DecisionRow& given) {
  if (given.id.empty())
    return base::fail(base::ErrorCode::InvalidArgument, "a decision needs an id to be kept");
  DecisionRow row = given;  // as it is kept, and so as it is hashed
  row.command = keepable(row.command);
  row.effects = keepable(row.effects);
  row.reason = keepable(row.reason);
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto before = newest_link(database);
  if (!before) return tl::unexpected(before.error());
  const int64_t number = before->number + 1;
  const ChainLink link{number, chain_hash(before->hash, number, row)};
  auto s = database.prepare(kPut);
  if (!s) return tl::unexpected(s.error());
  s->text(1, row.id).number(2, row.at_ms).text_or_null(3, row.command_id).text_or_null(4, row.terminal_id);
  s->text(5, row.asked_by).text(6, row.command).text(7, row.cwd);
  s->text(8, decision_name(row.decision)).text(9, row.decided_by).text(10, row.risk);
  s->text(11, row.effects).text(12, row.reason);
  s->text_or_null(13, row.answered_by).number(14, row.answered_at_ms);
  s->text(15, row.action).number(16, number).text(17, link.hash);
  if (auto done = s->run(); !done) return tl::unexpected(done.error());
  if (auto done = transaction->commit(); !done) return tl::unexpected(done.error());
  return link;
}

base::Result<void> each_decision(Database& database,
                                 const std::function<void(const NumberedDecision&)>& take) {
  auto s = database.prepare(kSelectAll);
  if (!s) return tl::unexpected(s.error());
  while (true) {
    const auto found = s->step();
    if (!found) return tl::unexpected(found.error());
    if (!*found) return {};
    auto row = row_of(*s);
    if (!row) return tl::unexpected(row.error());
    take({s->number_at(15), std::move(*row), s->text_at(16)});
  }
}

base::Result<std::optional<DecisionRow>> read_decision(Database& database, std::string_view id) {
  auto s = database.prepare(std::string(kSelect) + " WHERE id = ? ORDER BY number DESC LIMIT 1");
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
  where.add(kIsLast);
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
                        "no decision " + query.before_id + " to continue from; start again without it");
    }
    where.add("(at_ms, id) < (SELECT at_ms, id FROM decisions WHERE id = ? LIMIT 1)", query.before_id);
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
