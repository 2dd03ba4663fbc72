// The chain of decisions: each row's hash covers the row before it, so that a row that is changed, taken out
// or put in between is noticed.
//
//   hash(n) = SHA-256(hash(n-1), number, every field)
//
// Rows are numbered without gaps and never changed. Pruning takes rows from the beginning, and leaves an
// anchor: number and hash of the last row that went. The newest number and hash are also kept in a file
// beside the database, so that rows cut off the end are missed. A program that can write both files can make
// a new chain: compare the hash that `verify` prints with one that was noted elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"
#include "store/rows.h"

namespace ttyward::store {

struct ChainLink {
  int64_t number = 0;  // 0: before the first
  std::string hash;    // in hexadecimal

  bool operator==(const ChainLink&) const = default;
};

struct ChainProblem {
  int64_t number = 0;
  std::string what;

  bool operator==(const ChainProblem&) const = default;
};

struct ChainReport {
  int64_t rows = 0;
  ChainLink anchor;                    // what the chain begins after
  ChainLink head;                      // its newest row
  std::vector<ChainProblem> problems;  // at most kMostProblems
};
inline constexpr size_t kMostProblems = 100;

std::string chain_hash(const std::string& before, int64_t number, const DecisionRow& row);

base::Result<ChainLink> read_anchor(Database& database);
base::Result<void> write_anchor(Database& database, const ChainLink& anchor);
// The newest row, or the anchor if there is none.
base::Result<ChainLink> newest_link(Database& database);
// Rows from before there was a chain become one, once.
base::Result<void> chain_old_rows(Database& database);
// Takes decisions from the beginning: all but the newest `max_rows`, and those before `older_than_ms` that no
// newer one precedes. Returns how many went.
base::Result<int64_t> prune_decisions(Database& database, int64_t max_rows, int64_t older_than_ms);

// `noted` is what the file beside the database says.
base::Result<ChainReport> verify_chain(Database& database, const std::optional<ChainLink>& noted);

// The file beside the database. Nothing: there is none, or it is none of ours.
std::optional<ChainLink> read_noted(const std::string& path);
void write_noted(const std::string& path, const ChainLink& link);

}  // namespace ttyward::store
