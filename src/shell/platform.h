// What a command line looks like on another platform. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::shell {

enum class Platform : uint8_t { Linux, Mac, Windows, Unknown };

// The command that lists the files of a folder: `dir` on Windows, `ls -la` elsewhere.
std::string_view list_files_command(Platform platform);

// A command line written with `/` in its paths, for this platform. On Windows the slashes of paths become
// backslashes; everywhere else the line stays as it is.
//
// Only what is surely a path changes: a word that begins with ./ ../ ~/ a drive or //server/, has several
// components below the root, ends with a slash, has a file's extension, is the program of a command, or is an
// argument of a command that takes nothing but paths (cd, type, mkdir, …). Switches (/S, /p:x=y), addresses
// (https://…, git@host:…), expressions of sed, and names such as origin/main or text/html stay. What follows
// the `=` of an option or a variable is looked at as a word of its own. Quotes and spaces stay as they are.
std::string platform_command(std::string_view command, Platform platform);

}  // namespace ttyward::shell
