// Changing a person's rules.toml without touching what they wrote themselves.
//
// The new content is checked, written beside the file, made durable and renamed
// over it: a reader sees the old file or the new one, a crash leaves one of them.
// A symbolic link stays a link; what it leads to is replaced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::engine {

// Appends rules, each the text of a [[rule]]. The file and its folder are made if need be.
base::Result<void> append_rules(const std::string& path, const std::vector<std::string>& rules);

// Takes the rules of that name out, with their lines and nothing else. Returns how many there were.
base::Result<size_t> remove_rules(const std::string& path, std::string_view name);

}  // namespace ttyward::engine
