// What people have confirmed of the policy: the rules and settings that may loosen something.
//
//   STATE/policy/confirmed   one line for each confirmation; the last one counts
//   STATE/policy/key         a random key, readable by its owner only
//
// Every line carries the hash of the line before it and a message authentication
// code made with the key: a line that was added, changed or left out by anybody who
// does not know the key is noticed, and then nothing that loosens holds until a
// person confirms again. The daemon alone writes; it goes by what it knows, not by
// what the file says later. A program of the same user can read the key: see
// docs/policy.md for what that means.
//
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/folders.h"
#include "base/result.h"
#include "config/load.h"

namespace ttyward::gate {

struct ConfirmedPolicy {
  std::string rules;     // the text of rules.toml
  std::string settings;  // those of [policy] that can loosen, as config.toml would hold them
  bool operator==(const ConfirmedPolicy&) const = default;
};

class Confirmations {
 public:
  enum class Standing : uint8_t {
    None,    // nothing was ever confirmed: the first start
    Good,    //
    Broken,  // the record was changed or removed by somebody else
  };

  // Reads what is there. `state_folder` need not exist.
  explicit Confirmations(const std::string& state_folder);

  Standing standing() const { return standing_; }
  const std::string& problem() const { return problem_; }  // of Broken
  // Empty unless Good.
  const ConfirmedPolicy& confirmed() const { return confirmed_; }
  const std::string& by() const { return by_; }
  // Another number after each confirmation.
  uint64_t version() const { return version_; }

  base::Result<void> store(ConfirmedPolicy policy, const std::string& by);

 private:
  void read();

  std::string folder_;
  Standing standing_ = Standing::None;
  std::string problem_;
  ConfirmedPolicy confirmed_;
  std::string by_;
  uint64_t version_ = 0;
  std::string last_line_;
};

// A setting that is looser than what was confirmed.
struct LoosenedSetting {
  std::string name;   // policy.mode
  std::string holds;  // as a file would have it
  std::string wanted;
  std::string where;  // FILE:LINE or a variable

  std::string in_words() const;
};

// The settings of [policy] that can loosen something, one line each.
std::string policy_lines(const config::Settings& settings);
// Those that are looser in `now` than in `before`; `before` is what policy_lines() gave.
std::vector<LoosenedSetting> loosened(const config::Loaded& now, const std::string& before);

struct ConfirmedConfig {
  config::Loaded loaded;                     // what holds
  std::string file_lines;                    // policy_lines() of what config.toml says
  std::vector<LoosenedSetting> unconfirmed;  // in config.toml, and not in effect
  std::vector<LoosenedSetting> from_environment;
};

// As config::load, but what loosens [policy] in config.toml counts only once it is confirmed.
ConfirmedConfig load_confirmed(const base::Folders& folders, const std::string& cwd,
                               const std::vector<std::string>& environment,
                               const Confirmations& confirmations);

}  // namespace ttyward::gate
