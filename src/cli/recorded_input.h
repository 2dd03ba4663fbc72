// What verbs read that are given recorded output: a file, or standard input.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::cli {

class RecordedInput {
 public:
  // Standard input for no name and for "-".
  static base::Result<RecordedInput> open(const std::string& file);

  int fd() const;
  const std::string& name() const { return name_; }

 private:
  RecordedInput(base::UniqueFd opened, std::string name);

  base::UniqueFd opened_;  // none: standard input
  std::string name_;       // for messages
};

}  // namespace ttyward::cli
