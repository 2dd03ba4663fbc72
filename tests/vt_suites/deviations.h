// Where other projects' suites and this engine knowingly differ: deviations.txt, one line each.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace ttyward::test {

// What the suites' folder is called, or empty if it is not there.
std::string suites_folder();

// Deviations of one case ("libvterm/12state_scroll"): place -> reason. A place that ends in * stands for all
// that begin like it. Adjustments are not among them.
std::map<std::string, std::string> deviations_of(const std::string& test_case);

// What has to be different about the whole case before its places can be compared at all: the text after
// "KIND:" of the line that has it, or nothing. The file says which kinds there are.
std::optional<std::string> adjustment_of(const std::string& test_case, const std::string& kind);

// Every difference must be listed and every listed one must occur. Empty, or what is wrong.
std::string judge(const std::string& test_case, const std::map<std::string, std::string>& differences);

}  // namespace ttyward::test
