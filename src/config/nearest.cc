#include <set>

#include "base/edit_distance.h"
#include "config/load.h"

namespace ttyward::config {
std::string nearest_name(std::string_view wrong) {
  constexpr size_t kLongestName = 100;  // nothing near is longer, and the work is its square
  if (wrong.empty() || wrong.size() > kLongestName) return {};
  std::string best;
  size_t least = 2 + wrong.size() / 4;
  const auto consider = [&](const std::string& name, std::string_view compared) {
    const size_t found = base::edit_distance(wrong, compared);
    if (found < least) {
      least = found;
      best = name;
    }
  };
  const bool full = wrong.find('.') != std::string_view::npos;
  const std::string_view last = wrong.substr(wrong.rfind('.') + 1);
  std::set<std::string_view> sections;
  for (const Setting& setting : setting_table()) {
    if (full && last == setting.name) return setting.full_name();  // only the section is wrong
    if (full) consider(setting.full_name(), setting.full_name());
    if (!full) consider(setting.full_name(), setting.name);
    if (!full && sections.insert(setting.section).second)
      consider("[" + std::string(setting.section) + "]", setting.section);
  }
  return best;
}

}  // namespace ttyward::config
