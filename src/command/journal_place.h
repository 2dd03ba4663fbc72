// The folder journals go to: the user's state folder, or memory where that cannot be used.
#pragma once

#include <memory>
#include <string>

#include "base/folders.h"
#include "base/result.h"
#include "journal/folder.h"

namespace ttyward::command {

struct JournalPlace {
  std::shared_ptr<journal::Folder> folder;
  std::string degraded;  // why it is not the usual one; output is then lost at reboot
};

// Fails only if no private folder can be had anywhere; the error names all that was tried.
base::Result<JournalPlace> find_journal_place(const base::Folders& folders);

}  // namespace ttyward::command
