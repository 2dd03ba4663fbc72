#include "store/chain.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/hex.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "store/tables.h"

namespace ttyward::store {
namespace {

constexpr const char* kAnchorKey = "decisions_anchor";
constexpr const char* kUnchainedKey = "decisions_unchained";
constexpr size_t kHashText = 64;

std::string text_of(const ChainLink& link) {
  return std::to_string(link.number) + " " + link.hash;
}

std::optional<ChainLink> link_of(std::string_view text) {
  ChainLink link;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), link.number);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || text.size() < used + 1 + kHashText || text[used] != ' ') return std::nullopt;
  link.hash = text.substr(used + 1, kHashText);
  return link;
}

// Each with its length: no two rows have the same text.
void add(std::string& text, std::string_view field) {
  text += std::to_string(field.size());
  text += ':';
  text += field;
}

}  // namespace

std::string chain_hash(const std::string& before, int64_t number, const DecisionRow& row) {
  std::string text;
  add(text, before);
  add(text, std::to_string(number));
  add(text, row.id);
  add(text, std::to_string(row.at_ms));
  for (const std::string* field :
       {&row.command_id, &row.terminal_id, &row.action, &row.asked_by, &row.command, &row.cwd}) {
    add(text, *field);
  }
  add(text, decision_name(row.decision));
  for (const std::string* field : {&row.decided_by, &row.risk, &row.effects, &row.reason, &row.answered_by})
    add(text, *field);
  add(text, row.answered_at_ms ? std::to_string(*row.answered_at_ms) : "");
  return base::to_hex(base::sha256(text));
}

base::Result<ChainLink> read_anchor(Database& database) {
  const auto kept = read_setting(database, kAnchorKey);
  if (!kept) return tl::unexpected(kept.error());
  return (*kept ? link_of(**kept) : std::nullopt).value_or(ChainLink{0, std::string(kHashText, '0')});
}

base::Result<void> write_anchor(Database& database, const ChainLink& anchor) {
  return write_setting(database, kAnchorKey, text_of(anchor));
}

base::Result<ChainLink> newest_link(Database& database) {
  auto s = database.prepare("SELECT number, hash FROM decisions ORDER BY number DESC LIMIT 1");
  if (!s) return tl::unexpected(s.error());
  const auto row = s->step();
  if (!row) return tl::unexpected(row.error());
  if (*row) return ChainLink{s->number_at(0), s->text_at(1)};
  return read_anchor(database);
}

base::Result<void> chain_old_rows(Database& database) {
  const auto due = read_setting(database, kUnchainedKey);
  if (!due) return tl::unexpected(due.error());
  if (!*due) return {};
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  auto before = read_anchor(database);
  if (!before) return tl::unexpected(before.error());
  // All hashes are computed before any is written: SQLite does not define what a SELECT sees of rows that are
  // updated while it runs.
  std::vector<ChainLink> links;
  const auto chained = each_decision(database, [&](const NumberedDecision& each) {
    links.push_back({each.number, chain_hash(before->hash, each.number, each.row)});
    before->hash = links.back().hash;
  });
  if (!chained) return chained;
  for (const ChainLink& link : links) {
    auto s = database.prepare("UPDATE decisions SET hash = ? WHERE number = ?");
    if (!s) return tl::unexpected(s.error());
    if (auto done = s->text(1, link.hash).number(2, link.number).run(); !done) return done;
  }
  if (auto done = database.execute("DELETE FROM settings WHERE key = 'decisions_unchained'"); !done)
    return done;
  return transaction->commit();
}

base::Result<int64_t> prune_decisions(Database& database, int64_t max_rows, int64_t older_than_ms) {
  const auto newest = newest_link(database);
  if (!newest) return tl::unexpected(newest.error());
  const int64_t by_count = newest->number - max_rows;  // the last that goes
  auto s = database.prepare("SELECT coalesce(min(number), ?2 + 1) - 1 FROM decisions WHERE at_ms >= ?1");
  if (!s) return tl::unexpected(s.error());
  const auto found = s->number(1, older_than_ms).number(2, newest->number).step();
  if (!found) return tl::unexpected(found.error());
  const int64_t last = std::max(by_count, s->number_at(0));
  s->again();
  auto hash =
      database.prepare("SELECT number, hash FROM decisions WHERE number <= ? ORDER BY number DESC LIMIT 1");
  if (!hash) return tl::unexpected(hash.error());
  const auto there = hash->number(1, last).step();
  if (!there) return tl::unexpected(there.error());
  if (!*there) return 0;
  // The number and hash of the last removed row stay, so that the first row left can still be verified.
  const ChainLink anchor{hash->number_at(0), hash->text_at(1)};
  hash->again();
  auto gone = database.prepare("DELETE FROM decisions WHERE number <= ?");
  if (!gone) return tl::unexpected(gone.error());
  if (auto done = gone->number(1, last).run(); !done) return tl::unexpected(done.error());
  const int64_t count = database.changes();
  if (auto done = write_anchor(database, anchor); !done) return tl::unexpected(done.error());
  return count;
}

base::Result<ChainReport> verify_chain(Database& database, const std::optional<ChainLink>& noted) {
  ChainReport report;
  const auto problem = [&](int64_t number, std::string what) {
    if (report.problems.size() < kMostProblems) report.problems.push_back({number, std::move(what)});
  };
  auto anchor = read_anchor(database);
  if (!anchor) return tl::unexpected(anchor.error());
  report.anchor = report.head = *anchor;
  bool noted_seen = !noted || *noted == *anchor;
  const auto read = each_decision(database, [&](const NumberedDecision& each) {
    report.rows++;
    if (each.number != report.head.number + 1) {
      const int64_t first = report.head.number + 1;
      problem(first, first == each.number - 1 ? "row is missing"
                                              : "rows are missing, up to " + std::to_string(each.number - 1));
    }
    if (chain_hash(report.head.hash, each.number, each.row) != each.hash) {
      problem(each.number, "row was changed, or does not follow the row before it");
    }
    // The rest is judged by what it says itself: one change is one problem.
    report.head = {each.number, each.hash};
    if (noted && noted->number == each.number) {
      noted_seen = true;
      if (noted->hash != each.hash) problem(each.number, "row does not match the note beside the database");
    }
  });
  if (!read) return tl::unexpected(read.error());
  if (!noted_seen && noted->number > report.head.number) {
    problem(report.head.number + 1, "rows are missing at the end, up to " + std::to_string(noted->number) +
                                        ": they were cut off, or lost when the machine lost power");
  } else if (!noted_seen && noted->number > report.anchor.number) {
    problem(noted->number, "row that was noted beside the database is missing");
  }
  if (!noted && report.head.number > 0) {
    problem(
        report.head.number,
        "the note beside the database is missing, so it is not known whether rows are missing at the end");
  }
  return report;
}

std::optional<ChainLink> read_noted(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  char text[128];
  const ssize_t n = file ? ::read(file.get(), text, sizeof text) : -1;
  return n > 0 ? link_of({text, static_cast<size_t>(n)}) : std::nullopt;
}

// In place and in one write: a reader sees the old text or the new one.
void write_noted(const std::string& path, const ChainLink& link) {
  // Never backwards: if an older database is put back, the note keeps showing that newer rows are missing.
  if (const auto before = read_noted(path); before && before->number > link.number) return;
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string text = text_of(link) + "\n";
  if (file) static_cast<void>(::pwrite(file.get(), text.data(), text.size(), 0) < 0);
}

}  // namespace ttyward::store
