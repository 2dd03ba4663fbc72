// Directory and environment guessed from the text of commands: the last resort, where
// neither the shell nor the kernel can be asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttyward::shell {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Where `cd …` leads from `cwd`; nullopt if the command is no plain cd, or its target is not plain text
// (`cd $X`, `cd a && b`, `cd -`). `home` is for `cd` and `~`.
std::optional<std::string> cwd_after(std::string_view command, std::string_view cwd, std::string_view home);

// What `export NAME=value` or `set NAME=value` assigns; empty for anything else.
Variables assigned_by(std::string_view command);

}  // namespace ttyward::shell
