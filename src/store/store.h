// History and audit: what was run, what was decided about it and by whom, kept
// in one SQLite file that survives a kill at any instruction.
//
//   daemon loop ── post ──► Worker (worker.h) ──► Store ──► history.db
//
// A row that `put_…` reported as written is there after a crash of this process
// or of any other; a power cut may cost the last moments, never the file. Rows
// are written by id, so writing one again is harmless. Commands and reasons are
// masked (base/mask_secrets.h) and bounded before they are written.
//
// Damage is noticed when the file is opened or when SQLite meets it; the file is
// set aside and a fresh one begun. `take_notices` says so.
//
// Thread rule: one thread at a time; may be handed to another. Several
// processes may have the same file open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/chain.h"
#include "store/database.h"
#include "store/place.h"
#include "store/rows.h"
#include "store/schema.h"

namespace ttyward::store {

struct Pruned {
  int64_t commands = 0;
  int64_t decisions = 0;

  bool operator==(const Pruned&) const = default;
};

class Store {
 public:
  // `path` is Folders::history() of base/folders.h, except in tests. `schema` must outlive the store.
  static base::Result<Store> open(const std::string& path, const Schema& schema = current_schema());

  base::Result<void> put_command(const CommandRow& row);
  base::Result<std::optional<CommandRow>> command(std::string_view id);
  base::Result<std::vector<CommandRow>> find_commands(const HistoryQuery& query);  // newest first

  base::Result<void> put_decision(const DecisionRow& row);
  base::Result<std::optional<DecisionRow>> decision(std::string_view id);
  base::Result<std::vector<DecisionRow>> find_decisions(const DecisionQuery& query);  // newest first

  // Whether the decisions are all there and as they were written: see chain.h.
  base::Result<ChainReport> verify_decisions();

  // The same rule in the same scope is kept once. Returns its number. Rules are
  // kept as they are, not masked: they have to match.
  base::Result<int64_t> put_session_rule(const SessionRule& rule);
  // Oldest first; of all scopes, if none is given.
  base::Result<std::vector<SessionRule>> session_rules(std::optional<std::string_view> scope);
  base::Result<bool> remove_session_rule(int64_t number);

  // Keeps the newest `max_rows` of each table, and of those none from before
  // `older_than_ms` (since the epoch; 0: any age). Gives the space back.
  base::Result<Pruned> prune(int64_t max_rows, int64_t older_than_ms);

  // What a person should hear of: a damaged file that was set aside.
  std::vector<std::string> take_notices();
  const std::string& path() const { return file_.path; }
  // The file that says which decision is the newest.
  std::string noted_path() const { return file_.path + "-head"; }

 private:
  Store(PreparedFile file, Database database, const Schema& schema)
      : file_(std::move(file)), database_(std::move(database)), schema_(&schema) {}

  Store(PreparedFile file, const Schema& schema) : file_(std::move(file)), schema_(&schema) {}

  static base::Result<Database> open_database(const PreparedFile& file, const Schema& schema);
  base::Result<void> begin_afresh(const base::Error& damage);
  // Runs `work`; if it meets damage, begins a fresh file and runs it once more.
  template <typename Work>
  auto surviving_damage(Work work) -> decltype(work());

  PreparedFile file_;
  std::optional<Database> database_;  // empty only when damage could not be put right
  const Schema* schema_;
  std::vector<std::string> notices_;
};

}  // namespace ttyward::store
