#include "command/journal_place.h"

#include <unistd.h>

namespace ttyward::command {

base::Result<JournalPlace> find_journal_place(const base::Folders& folders) {
  auto usual = journal::Folder::open(folders.journals());
  if (usual) return JournalPlace{std::move(*usual), ""};
  std::string tried = usual.error().message;
  const std::string memory = "/dev/shm/ttyward-" + std::to_string(::getuid());
  for (const std::string& place : {folders.runtime, memory}) {
    if (place.empty()) continue;
    auto folder = journal::Folder::open(place + "/journals");
    if (folder) return JournalPlace{std::move(*folder), tried + "; output is kept in " + place + " instead"};
    // Two places can have the same folder above them that cannot be made.
    if (!tried.ends_with(folder.error().message)) tried += "; " + folder.error().message;
  }
  return base::fail(usual.error().code, tried + "; set TTYWARD_HOME to a folder of your own");
}

}  // namespace ttyward::command
