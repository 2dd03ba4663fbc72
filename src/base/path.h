// Paths compared by what they say, without asking the file system.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ttyward::base {

// Without ".", doubled slashes, a trailing slash, and ".." where what it undoes
// is known. "" stays "", "/.." is "/". Symbolic links are not followed, so
// "a/.." becomes "." even where `a` is a link to elsewhere.
std::string normalize_path(std::string_view path);

// Whether two paths name the same place. Two missing ones do, a missing one and a
// given one do not. Case counts.
bool same_path(std::optional<std::string_view> a, std::optional<std::string_view> b);

}  // namespace ttyward::base
