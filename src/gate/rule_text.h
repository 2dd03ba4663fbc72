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

namespace ttyward::gate {

// Appends rules, each the text of a [[rule]]. The file and its folder are made if need be.
base::Result<void> append_rules(const std::string& path, const std::vector<std::string>& rules);

// Takes the rules of that name out, with their lines and nothing else. Returns how many there were.
base::Result<size_t> remove_rules(const std::string& path, std::string_view name);

// The same on a text; `path` is for messages.
base::Result<std::string> with_rules(std::string text, const std::vector<std::string>& rules,
                                     const std::string& path);
struct WithoutRules {
  std::string text;
  size_t removed = 0;
};
base::Result<WithoutRules> without_rules(const std::string& text, std::string_view name,
                                         const std::string& path);

// The lines of the rules of that name, as they are written; empty if there are none.
base::Result<std::string> text_of_rules(const std::string& text, std::string_view name,
                                        const std::string& path);

// Replaces the file if it still is `before`. For config.toml, too.
base::Result<void> replace_rule_file(const std::string& path, std::string_view before,
                                     std::string_view after);

// Empty if there is no such file.
base::Result<std::string> read_rule_file(const std::string& path);

}  // namespace ttyward::gate
