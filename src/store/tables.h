// Rows to SQL and back, one file per table. Used by Store alone; each call is one statement or transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/chain.h"
#include "store/database.h"
#include "store/rows.h"

namespace ttyward::store {

// As it may be kept: secrets masked, no longer than kMaxTextBytes.
std::string keepable(std::string_view text);
base::Result<void> check_limit(int limit);

base::Result<void> write_command(Database& database, const CommandRow& row);
base::Result<std::optional<CommandRow>> read_command(Database& database, std::string_view id);
base::Result<std::vector<CommandRow>> search_commands(Database& database, const HistoryQuery& query);

// Appends to the chain (chain.h); what was said before under the same id stays, and is not shown any more.
base::Result<ChainLink> write_decision(Database& database, const DecisionRow& row);
struct NumberedDecision {
  int64_t number = 0;
  DecisionRow row;
  std::string hash;
};
// All rows, oldest first.
base::Result<void> each_decision(Database& database,
                                 const std::function<void(const NumberedDecision&)>& take);
base::Result<std::optional<DecisionRow>> read_decision(Database& database, std::string_view id);
base::Result<std::vector<DecisionRow>> search_decisions(Database& database, const DecisionQuery& query);

base::Result<int64_t> write_session_rule(Database& database, const SessionRule& rule);
base::Result<std::vector<SessionRule>> read_session_rules(Database& database,
                                                          std::optional<std::string_view> scope);
base::Result<bool> delete_session_rule(Database& database, int64_t number);

base::Result<void> write_setting(Database& database, std::string_view key, std::string_view value);
base::Result<std::optional<std::string>> read_setting(Database& database, std::string_view key);

// Of commands. Deletes all but the newest `max_rows`, and what is older than `older_than_ms`. Returns how
// many went.
base::Result<int64_t> delete_old(Database& database, const char* table, const char* time_column,
                                 int64_t max_rows, int64_t older_than_ms);

}  // namespace ttyward::store
