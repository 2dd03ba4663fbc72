#include "store/store.h"

#include <cstdio>
#include <utility>

#include "store/tables.h"

namespace ttyward::store {

base::Result<Database> Store::open_database(const PreparedFile& file, const Schema& schema) {
  auto database = Database::open(file.path);
  if (!database) return database;
  if (auto known = check_known(*database, schema); !known) return tl::unexpected(known.error());
  const auto health = database->ask("PRAGMA quick_check(1)");
  if (!health) return tl::unexpected(health.error());
  if (*health != "ok")
    return base::fail(base::ErrorCode::Corrupt, "history: the file is damaged: " + *health);
  // Only a file without tables takes this up; prune gives space back by it.
  if (auto set = database->execute("PRAGMA auto_vacuum = INCREMENTAL"); !set)
    return tl::unexpected(set.error());
  const auto mode = database->ask("PRAGMA journal_mode = WAL");
  if (!mode) return tl::unexpected(mode.error());
  // Some file systems have no shared memory for the log; then each commit is synced instead.
  const char* sync = *mode == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL";
  if (auto set = database->execute(sync); !set) return tl::unexpected(set.error());
  if (auto ready = bring_to(*database, schema); !ready) return tl::unexpected(ready.error());
  if (auto chained = chain_old_rows(*database); !chained) return tl::unexpected(chained.error());
  return database;
}

base::Result<Store> Store::open(const std::string& path, const Schema& schema) {
  auto file = prepare_file(path);
  if (!file) return tl::unexpected(file.error());
  auto database = open_database(*file, schema);
  if (database) return Store(std::move(*file), std::move(*database), schema);
  if (database.error().code != base::ErrorCode::Corrupt) return tl::unexpected(database.error());
  Store store(std::move(*file), schema);
  if (auto begun = store.begin_afresh(database.error()); !begun) return tl::unexpected(begun.error());
  return store;
}

base::Result<void> Store::begin_afresh(const base::Error& damage) {
  database_.reset();
  const auto aside = set_aside(file_);
  if (!aside) return tl::unexpected(aside.error());
  // What was noted is of that file: the new one begins its own chain.
  if (!aside->empty()) ::rename(noted_path().c_str(), (*aside + "-head").c_str());
  auto file = prepare_file(file_.path);
  if (!file) return tl::unexpected(file.error());
  auto database = open_database(*file, *schema_);
  if (!database) return tl::unexpected(database.error());
  file_ = std::move(*file);
  database_ = std::move(*database);
  notices_.push_back(damage.message +
                     (aside->empty() ? "; another process has started a new history"
                                     : "; it was moved to " + *aside + " and a new history was started"));
  return {};
}

template <typename Work>
auto Store::surviving_damage(Work work) -> decltype(work()) {
  if (database_) {
    auto done = work();
    if (done || done.error().code != base::ErrorCode::Corrupt) return done;
    if (auto begun = begin_afresh(done.error()); !begun) return tl::unexpected(begun.error());
    return work();
  }
  // An earlier attempt to begin afresh failed, on a full disk perhaps. By now it may work.
  const base::Error earlier{base::ErrorCode::Corrupt, 0, "history: the file was damaged"};
  if (auto begun = begin_afresh(earlier); !begun) return tl::unexpected(begun.error());
  return work();
}

base::Result<void> Store::put_command(const CommandRow& row) {
  return surviving_damage([&] { return write_command(*database_, row); });
}

base::Result<std::optional<CommandRow>> Store::command(std::string_view id) {
  return surviving_damage([&] { return read_command(*database_, id); });
}

base::Result<std::vector<CommandRow>> Store::find_commands(const HistoryQuery& query) {
  return surviving_damage([&] { return search_commands(*database_, query); });
}

base::Result<void> Store::put_decision(const DecisionRow& row) {
  auto written = surviving_damage([&] { return write_decision(*database_, row); });
  if (!written) return tl::unexpected(written.error());
  write_noted(noted_path(), *written);
  return {};
}

base::Result<std::optional<DecisionRow>> Store::decision(std::string_view id) {
  return surviving_damage([&] { return read_decision(*database_, id); });
}

base::Result<std::vector<DecisionRow>> Store::find_decisions(const DecisionQuery& query) {
  return surviving_damage([&] { return search_decisions(*database_, query); });
}

base::Result<int64_t> Store::put_session_rule(const SessionRule& rule) {
  return surviving_damage([&] { return write_session_rule(*database_, rule); });
}

base::Result<std::vector<SessionRule>> Store::session_rules(std::optional<std::string_view> scope) {
  return surviving_damage([&] { return read_session_rules(*database_, scope); });
}

base::Result<bool> Store::remove_session_rule(int64_t number) {
  return surviving_damage([&] { return delete_session_rule(*database_, number); });
}

base::Result<Pruned> Store::prune(int64_t max_rows, int64_t older_than_ms) {
  if (max_rows < 0) return base::fail(base::ErrorCode::InvalidArgument, "cannot keep fewer than 0 rows");
  return surviving_damage([&]() -> base::Result<Pruned> {
    auto transaction = Transaction::begin(*database_);
    if (!transaction) return tl::unexpected(transaction.error());
    const auto commands = delete_old(*database_, "commands", "started_at_ms", max_rows, older_than_ms);
    if (!commands) return tl::unexpected(commands.error());
    const auto decisions = prune_decisions(*database_, max_rows, older_than_ms);
    if (!decisions) return tl::unexpected(decisions.error());
    if (auto done = transaction->commit(); !done) return tl::unexpected(done.error());
    if (*commands + *decisions > 0) {
      if (auto freed = database_->execute("PRAGMA incremental_vacuum"); !freed)
        return tl::unexpected(freed.error());
    }
    return Pruned{*commands, *decisions};
  });
}

base::Result<ChainReport> Store::verify_decisions() {
  return surviving_damage([&] { return verify_chain(*database_, read_noted(noted_path())); });
}

std::vector<std::string> Store::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace ttyward::store
