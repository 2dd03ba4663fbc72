// Hyperlinks (OSC 8): each distinct (id, address) pair gets a number for Style::link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ttyward::vt {

struct Link {
  std::string id;  // what the program called it; may be empty
  std::string uri;

  bool operator==(const Link&) const = default;
};

class LinkTable {
 public:
  // Links kept at once. At the limit text is printed without its link until a sweep frees numbers.
  static constexpr size_t kMaxLinks = 4096;
  // Longest address and id accepted, in bytes; a longer one is not a link.
  static constexpr size_t kMaxUriBytes = 2083;
  static constexpr size_t kMaxIdBytes = 250;

  LinkTable() { links_.emplace_back(); }

  // 0 if the link cannot be kept.
  uint16_t intern(std::string_view id, std::string_view uri);
  const Link& operator[](uint16_t number) const { return links_[number]; }
  size_t capacity() const { return links_.size(); }
  bool is_full() const { return free_.empty() && links_.size() > kMaxLinks; }
  void sweep(const std::vector<bool>& used);
  void clear();

 private:
  std::vector<Link> links_;  // [0] is "no link"
  std::vector<uint16_t> free_;
  std::unordered_map<std::string, uint16_t> numbers_;  // by id NUL uri
};

}  // namespace ttyward::vt
