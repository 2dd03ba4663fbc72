// Who may use a terminal now, beside its owner.
//
//   lease     a person has the keyboard; agents' commands wait until it is given back
//   loan      a person lets agents read a terminal that is not theirs, or act in it; survives the engine
//   promise   it was handed out to somebody who is about to use it
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

namespace ttyward::engine {

struct Lease {
  uint64_t connection = 0;
  std::string by;
  int64_t since_ms = 0;
};

struct Loan {
  enum class Use : uint8_t { Read, Act };
  Use use = Use::Act;
  std::string to;  // a session; empty: every agent
  std::string by;
  int64_t since_ms = 0;
};

class Access {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  // A promise that is not used is void after this time.
  static constexpr std::chrono::seconds kPromise{30};

  const std::optional<Lease>& lease() const { return lease_; }
  void set_lease(std::optional<Lease> lease) { lease_ = std::move(lease); }

  const std::optional<Loan>& loan() const { return loan_; }
  // Nothing: it is taken back.
  void set_loan(std::optional<Loan> loan);
  // Now, or at any time before: what an agent started may still run.
  bool lent_for_acting() const { return lent_for_acting_; }
  void set_lent_for_acting() { lent_for_acting_ = true; }

  void promise(TimePoint now) { promised_until_ = now + kPromise; }
  void release_promise() { promised_until_ = {}; }
  bool promised(TimePoint now) const { return now < promised_until_; }

  // The loan as a record of the terminal's log, and back.
  boost::json::object loan_record() const;
  void apply_loan(const boost::json::object& record);

 private:
  std::optional<Lease> lease_;
  std::optional<Loan> loan_;
  bool lent_for_acting_ = false;
  TimePoint promised_until_;
};

}  // namespace ttyward::engine
