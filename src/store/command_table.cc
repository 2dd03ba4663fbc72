#include "store/tables.h"
#include "store/where.h"

namespace ttyward::store {
namespace {

#define TTYWARD_COMMAND_COLUMNS                                                                         \
  "id, terminal_id, terminal_name, task, owner, command, cwd, cwd_after, state, exit_code, signal, "    \
  "known_by, provider, integration, started_at_ms, duration_ms, journal_id, output_begin, output_end, " \
  "total_bytes, total_lines, note, description"

// Whoever reads a terminal back may know less than whoever saw the end: that it was lost replaces nothing.
constexpr std::string_view kPut =
    "INSERT OR REPLACE INTO commands (" TTYWARD_COMMAND_COLUMNS
    ") SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,"
    " ?22, ?23 WHERE ?9 <> 'lost' OR NOT EXISTS (SELECT 1 FROM commands WHERE id = ?1 AND state <> 'lost')";
constexpr std::string_view kSelect = "SELECT " TTYWARD_COMMAND_COLUMNS " FROM commands";
#undef TTYWARD_COMMAND_COLUMNS

constexpr std::string_view kFailed =
    "(exit_code <> 0 OR signal IS NOT NULL OR"
    " state IN ('signaled', 'timed_out', 'interrupted', 'denied', 'failed_to_start', 'lost'))";

base::Result<CommandRow> row_of(const Statement& s) {
  CommandRow row;
  row.id = s.text_at(0);
  row.terminal_id = s.text_at(1);
  row.terminal_name = s.text_at(2);
  row.task = s.text_at(3);
  const std::optional<Owner> owner = owner_named(s.text_at(4));
  if (!owner) return base::fail(base::ErrorCode::InvalidArgument, "history: no known owner: " + s.text_at(4));
  row.owner = *owner;
  row.command = s.text_at(5);
  row.cwd = s.text_at(6);
  row.cwd_after = s.text_at(7);
  row.state = s.text_at(8);
  if (const auto code = s.number_or_null_at(9)) row.exit_code = static_cast<int>(*code);
  row.signal = s.text_at(10);
  row.known_by = s.text_at(11);
  row.provider = s.text_at(12);
  row.integration = s.text_at(13);
  row.started_at_ms = s.number_at(14);
  row.duration_ms = s.number_or_null_at(15);
  row.journal_id = s.text_at(16);
  row.output_begin = static_cast<uint64_t>(s.number_at(17));
  row.output_end = static_cast<uint64_t>(s.number_at(18));
  row.total_bytes = static_cast<uint64_t>(s.number_at(19));
  row.total_lines = static_cast<uint64_t>(s.number_at(20));
  row.note = s.text_at(21);
  row.description = s.text_at(22);
  return row;
}

}  // namespace

base::Result<void> write_command(Database& database, const CommandRow& row) {
  if (row.id.empty()) return base::fail(base::ErrorCode::InvalidArgument, "a command needs an id to be kept");
  auto s = database.prepare(kPut);
  if (!s) return tl::unexpected(s.error());
  s->text(1, row.id).text(2, row.terminal_id).text(3, row.terminal_name).text(4, row.task);
  s->text(5, owner_name(row.owner)).text(6, keepable(row.command)).text(7, row.cwd);
  s->text_or_null(8, row.cwd_after).text(9, row.state);
  s->number(10, row.exit_code ? std::optional<int64_t>(*row.exit_code) : std::nullopt);
  s->text_or_null(11, row.signal).text(12, row.known_by).text(13, row.provider).text(14, row.integration);
  s->number(15, row.started_at_ms).number(16, row.duration_ms).text(17, row.journal_id);
  s->number(18, static_cast<int64_t>(row.output_begin)).number(19, static_cast<int64_t>(row.output_end));
  s->number(20, static_cast<int64_t>(row.total_bytes)).number(21, static_cast<int64_t>(row.total_lines));
  s->text(22, keepable(row.note)).text(23, keepable(row.description));
  return s->run();
}

base::Result<std::optional<CommandRow>> read_command(Database& database, std::string_view id) {
  auto s = database.prepare(std::string(kSelect) + " WHERE id = ?");
  if (!s) return tl::unexpected(s.error());
  s->text(1, id);
  const auto found = s->step();
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::optional<CommandRow>();
  return row_of(*s).map([](CommandRow row) { return std::optional<CommandRow>(std::move(row)); });
}

base::Result<std::vector<CommandRow>> search_commands(Database& database, const HistoryQuery& query) {
  if (auto fits = check_limit(query.limit); !fits) return tl::unexpected(fits.error());
  Where where;
  where.equals("terminal_id", query.terminal);
  where.equals("task", query.task);
  where.between("started_at_ms", query.since_ms, query.until_ms);
  if (query.exit == ExitFilter::Ok) where.add("exit_code = 0");
  if (query.exit == ExitFilter::Failed) where.add(kFailed);
  where.is_under("cwd", query.cwd);
  where.contains("command", query.text);
  if (!query.before_id.empty()) {
    const auto page = read_command(database, query.before_id);
    if (!page) return tl::unexpected(page.error());
    if (!*page) {
      return base::fail(base::ErrorCode::NotFound,
                        "no command " + query.before_id + " to continue from; start again without it");
    }
    where.add("(started_at_ms, id) < (SELECT started_at_ms, id FROM commands WHERE id = ?)", query.before_id);
  }
  auto s = database.prepare(std::string(kSelect) + where.clause() +
                            " ORDER BY started_at_ms DESC, id DESC LIMIT ?");
  if (!s) return tl::unexpected(s.error());
  s->number(where.bind(*s), int64_t{query.limit});
  std::vector<CommandRow> rows;
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
