#include "deviations.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ttyward::test {
namespace {

// Everything the file says about a case.
std::map<std::string, std::string> listed(const std::string& test_case) {
  std::ifstream file(std::string(TTYWARD_SOURCE_DIR) + "/tests/vt_suites/deviations.txt");
  std::map<std::string, std::string> found;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, place, reason;
    words >> name >> place;
    std::getline(words >> std::ws, reason);
    if (name == test_case) found[place] = reason;
  }
  return found;
}

bool is_adjustment(const std::string& place) {
  return place.starts_with("before:") || place.starts_with("rows:");
}

}  // namespace

std::string suites_folder() {
  const std::filesystem::path folder =
      std::filesystem::path(TTYWARD_SOURCE_DIR).parent_path() / "shared" / "vt-suites";
  return std::filesystem::is_directory(folder) ? folder.string() : "";
}

std::map<std::string, std::string> deviations_of(const std::string& test_case) {
  std::map<std::string, std::string> found = listed(test_case);
  std::erase_if(found, [](const auto& entry) { return is_adjustment(entry.first); });
  return found;
}

std::optional<std::string> adjustment_of(const std::string& test_case, const std::string& kind) {
  for (const auto& [place, reason] : listed(test_case)) {
    if (place.starts_with(kind + ":")) return place.substr(kind.size() + 1);
  }
  return std::nullopt;
}

std::string judge(const std::string& test_case, const std::map<std::string, std::string>& differences) {
  const std::map<std::string, std::string> known = deviations_of(test_case);
  std::string wrong;
  const auto covers = [](const std::string& listed, const std::string& place) {
    return listed.ends_with("*") ? place.starts_with(listed.substr(0, listed.size() - 1)) : place == listed;
  };
  for (const auto& [place, what] : differences) {
    const bool listed = std::any_of(known.begin(), known.end(),
                                    [&, at = place](const auto& entry) { return covers(entry.first, at); });
    if (!listed) wrong += test_case + " " + place + ": " + what + "\n";
  }
  for (const auto& [place, reason] : known) {
    const bool occurs =
        std::any_of(differences.begin(), differences.end(),
                    [&, at = place](const auto& difference) { return covers(at, difference.first); });
    if (!occurs) {
      wrong += test_case + " " + place + " is listed as a deviation and does not occur any more\n";
    }
    if (reason.empty()) wrong += test_case + " " + place + ": a deviation without a reason\n";
  }
  return wrong;
}

}  // namespace ttyward::test
