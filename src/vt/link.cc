#include "vt/link.h"

namespace ttyward::vt {
namespace {

std::string key_of(std::string_view id, std::string_view uri) {
  std::string key(id);
  key += '\0';
  key += uri;
  return key;
}

}  // namespace

uint16_t LinkTable::intern(std::string_view id, std::string_view uri) {
  if (uri.empty() || uri.size() > kMaxUriBytes || id.size() > kMaxIdBytes) return 0;
  std::string key = key_of(id, uri);
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  if (is_full()) return 0;
  uint16_t number = 0;
  if (free_.empty()) {
    number = static_cast<uint16_t>(links_.size());
    links_.push_back({std::string(id), std::string(uri)});
  } else {
    number = free_.back();
    free_.pop_back();
    links_[number] = {std::string(id), std::string(uri)};
  }
  numbers_.emplace(std::move(key), number);
  return number;
}

void LinkTable::sweep(const std::vector<bool>& used) {
  free_.clear();
  for (size_t i = 1; i < links_.size(); i++) {
    const auto number = static_cast<uint16_t>(i);
    if (number < used.size() && used[number]) continue;
    numbers_.erase(key_of(links_[number].id, links_[number].uri));
    links_[number] = {};
    free_.push_back(number);
  }
}

void LinkTable::clear() {
  *this = LinkTable();
}

}  // namespace ttyward::vt
