// The rule files that count in a folder: the person's own, and those of the
// projects the folder is in, which can only tighten.
//
//   rules.toml ─┐
//   .ttyward.toml of the folder and of every one above it ─┴─► RulesAt
//
// Of the person's own file counts what was confirmed (confirmations.h): a rule that
// allows and was added by somebody else does not hold, one that asks or denies and
// was taken out still does. What makes things stricter counts at once.
//
// Files are looked at anew for every question and read again when they changed.
// One with a mistake in it yields an error, and then nothing may be judged by the
// rest: what it was meant to forbid is not known.
//
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gate/confirmations.h"
#include "policy/rules.h"

namespace ttyward::gate {

// A change in the person's file that loosens something and was not confirmed.
struct UnconfirmedRule {
  enum class Change : uint8_t {
    Added,    // allows; does not hold
    Removed,  // asks or denies; still holds
  };
  Change change = Change::Added;
  policy::Rule rule;
};

struct RulesAt {
  std::vector<policy::Rule> rules;
  std::vector<std::string> sources;  // the file of each rule
  std::vector<std::string> errors;   // FILE:LINE:COLUMN: what is wrong
  std::vector<UnconfirmedRule> unconfirmed;
};

class RuleFiles {
 public:
  // `own_file`: the person's rules.toml. It need not be there. Without `confirmations` all of it counts.
  explicit RuleFiles(std::string own_file, const Confirmations* confirmations = nullptr)
      : own_file_(std::move(own_file)), confirmations_(confirmations) {}

  // Valid until the next call. `folder` is absolute; relative paths in the person's rules are under it.
  const RulesAt& at(const std::string& folder);
  const std::string& own_file() const { return own_file_; }

 private:
  // Which state of a file was read.
  struct Stamp {
    std::string path;
    bool there = false;
    uint64_t device = 0, inode = 0, size = 0;
    int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Known {
    std::vector<Stamp> stamps;
    uint64_t confirmation = 0;
    RulesAt rules;
  };

  static Stamp stamp_of(const std::string& path);
  std::vector<std::string> files_for(const std::string& folder) const;
  void read(const std::string& path, policy::RuleLevel level, const std::string& root, RulesAt& into) const;

  void hold_to_confirmed(const std::string& root, RulesAt& own) const;

  std::string own_file_;
  const Confirmations* confirmations_;
  std::map<std::string, Known> known_;
};

}  // namespace ttyward::gate
