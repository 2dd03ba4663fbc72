// An agent's configuration file, read whole and replaced whole.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace ttyward::cli::setup {

struct ConfigFile {
  std::string path;  // as it is named
  std::string real;  // behind links: what is replaced
  bool exists = false;
  unsigned mode = 0600;
  std::string text;
};

// What is there. A link is followed; what it leads to must be a regular file of ours that we may write.
// A file that is not there is not an error.
base::Result<ConfigFile> read_config_file(const std::string& path);

// Replaces it with `text`, or removes it: written beside it, made durable, renamed over it. Fails if the file
// is no longer what `before` says. Folders that are missing are made.
base::Result<void> replace_config_file(const ConfigFile& before, const std::optional<std::string>& text);

}  // namespace ttyward::cli::setup
