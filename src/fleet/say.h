// What the program says to people: on stderr, as the other verbs say it.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::fleet {

inline constexpr int kExitFailure = 125;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotYet = 75;

// With --json errors are objects. Set once, before anything is said.
void say_as_json();
// Returns `exit_code`.
int complain(const std::string& message, int exit_code = kExitFailure);
void notice(const std::string& message);
// Data on stdout; false if it cannot be written.
bool print(std::string_view text);

}  // namespace ttyward::fleet
