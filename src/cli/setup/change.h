// One set-up of one agent: what its files are, what they would become, and the change itself.
//
// A set-up starts from the files without anything that an earlier set-up put there, so a second one with
// other options gives what it says and not the sum of both; one without any edits is the undoing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/setup/agents.h"
#include "cli/setup/config_file.h"
#include "cli/setup/record.h"

namespace ttyward::cli::setup {

struct FileChange {
  ConfigFile now;
  std::optional<std::string> base;   // without us; nothing: the file is not there
  std::optional<std::string> after;  // nothing: the file is not there
  ChangedFile record;                // no reverts: nothing to undo
  bool merged = false;  // `base` is no back-up: the file was changed since, and we took our edits out

  bool changes() const { return now.exists != after.has_value() || (after && *after != now.text); }
};

class Change {
 public:
  // `folder` is where records are kept; `name` is the agent's.
  static base::Result<Change> prepare(std::string folder, std::string name,
                                      const std::vector<PlannedEdit>& edits);

  const std::vector<FileChange>& files() const { return files_; }
  bool changes() const;
  bool was_set_up() const { return was_set_up_; }
  // The record first, then the files; if one cannot be written, those before it get their old content back.
  base::Result<void> carry_out();

 private:
  base::Result<void> add_file(const ChangedFile* earlier, const std::string& path, const Editor* editor,
                              const std::vector<PlannedEdit>& edits);
  base::Result<void> write_record(const Record& record) const;
  std::string record_path() const { return folder_ + "/" + name_ + ".json"; }

  std::string folder_;
  std::string name_;
  bool was_set_up_ = false;
  std::vector<std::string> backups_;  // of the earlier set-up
  std::vector<FileChange> files_;
};

}  // namespace ttyward::cli::setup
