#include <algorithm>
#include <set>

#include "config/load.h"

namespace ttyward::config {
namespace {

// How many letters have to be added, removed or replaced.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view wrong) {
  constexpr size_t kLongestName = 100;  // nothing near is longer, and the work is its square
  if (wrong.empty() || wrong.size() > kLongestName) return {};
  std::string best;
  size_t least = 2 + wrong.size() / 4;
  const auto consider = [&](const std::string& name, std::string_view compared) {
    const size_t found = distance(wrong, compared);
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
