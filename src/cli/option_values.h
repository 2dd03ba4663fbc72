// What people write after an option, read strictly: seconds, sizes, ranges, variables, folders.
// The error says what to write instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "pty/pseudo_terminal.h"

namespace ttyward::cli {

// `option` without its dashes. Fractions are fine; 0 is no limit.
base::Result<std::chrono::milliseconds> parse_seconds(const char* option, double seconds);
// "120x40"; `what` names it in the error: "--size", "SIZE".
base::Result<pty::WindowSize> parse_size(const char* what, const std::string& text);
// "10:20", "10:", ":20", "10": line numbers from 1, both included.
base::Result<std::pair<int64_t, int64_t>> parse_range(const char* option, const std::string& text);
// An existing folder, absolute; empty is this one.
base::Result<std::string> absolute_folder(const std::string& asked);
// "NAME=value", taken apart.
base::Result<std::pair<std::string, std::string>> parse_variable(const std::string& text);

}  // namespace ttyward::cli
