#include "shell/reading_state.h"

#include <algorithm>
#include <cctype>

namespace ttyward::shell {
namespace {

bool contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace

bool ReadingState::has_option(std::string_view name) const {
  return contains(options, name);
}

bool ReadingState::has_alias(std::string_view name) const {
  return contains(aliases, name);
}

bool ReadingState::has_function(std::string_view name) const {
  return contains(functions, name);
}

bool ReadingState::locale_is_plain() const {
  if (locale.empty() || locale == "C" || locale == "POSIX") return true;
  std::string charset = locale.substr(std::min(locale.find('.'), locale.size()));
  charset.resize(std::min(charset.find('@'), charset.size()));
  std::transform(charset.begin(), charset.end(), charset.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return charset == ".utf-8" || charset == ".utf8";
}

}  // namespace ttyward::shell
