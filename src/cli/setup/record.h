// What a set-up has changed, kept so that it can be undone: STATE/setup/AGENT.json, and beside it the files
// as they were.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup/edit.h"

namespace ttyward::cli::setup {

struct ChangedFile {
  std::string path;
  bool toml = false;
  bool existed = false;  // before the set-up
  std::string backup;    // where it is kept as it was; empty if it did not exist
  std::string sha256;    // of what we wrote: while it is the same, the back-up is what undoing gives
  std::vector<Revert> reverts;

  const Editor& editor() const { return toml ? toml_editor() : json_editor(); }
};

struct Record {
  std::vector<ChangedFile> files;
};

std::string to_json(const Record& record);
base::Result<Record> read_record(const std::string& json);

}  // namespace ttyward::cli::setup
