#include "config/tighten.h"

#include <algorithm>
#include <limits>

#include "base/path.h"

namespace ttyward::config {
namespace {

using List = std::vector<std::string>;

int64_t amount(const Setting& setting, const Value& value) {
  const auto* time = std::get_if<Milliseconds>(&value);
  const int64_t number = time != nullptr ? time->count() : std::get<int64_t>(value);
  return number == 0 && setting.zero_is_none ? std::numeric_limits<int64_t>::max() : number;
}

bool is_under(const std::string& path, const std::string& root) {
  const std::string inner = base::normalize_path(path);
  const std::string outer = base::normalize_path(root);
  return outer == "/" || inner == outer || inner.starts_with(outer + "/");
}

std::optional<Value> if_that(bool tighter, const Value& project) {
  return tighter ? std::optional<Value>(project) : std::nullopt;
}

}  // namespace

std::optional<Value> tightened(const Setting& setting, const Value& now, const Value& project) {
  switch (setting.tighten) {
    case Tighten::Never:
      return std::nullopt;
    case Tighten::Lower:
      return if_that(amount(setting, project) <= amount(setting, now), project);
    case Tighten::True:
      return if_that(std::get<bool>(project) || !std::get<bool>(now), project);
    case Tighten::False:
      return if_that(!std::get<bool>(project) || std::get<bool>(now), project);
    case Tighten::Earlier:
      return if_that(std::get<int64_t>(project) <= std::get<int64_t>(now), project);
    case Tighten::Add: {
      List all = std::get<List>(now);
      for (const std::string& word : std::get<List>(project))
        if (std::find(all.begin(), all.end(), word) == all.end()) all.push_back(word);
      return all;
    }
    case Tighten::Narrow: {
      const List& roots = std::get<List>(now);
      const List& wanted = std::get<List>(project);
      const bool inside = std::all_of(wanted.begin(), wanted.end(), [&](const std::string& path) {
        return roots.empty() || std::any_of(roots.begin(), roots.end(),
                                            [&](const auto& root) { return is_under(path, root); });
      });
      return if_that(inside && (roots.empty() || !wanted.empty()), project);
    }
  }
  return std::nullopt;
}

}  // namespace ttyward::config
