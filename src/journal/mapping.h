// A shared mapping of part of a file, unmapped when it goes out of scope.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/result.h"

namespace ttyward::journal {

enum class Access : uint8_t { Read, ReadWrite };

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }

  static base::Result<Mapping> map(int fd, uint64_t bytes, Access access, const std::string& what);

  std::byte* data() const { return static_cast<std::byte*>(at_); }
  size_t size() const { return bytes_; }
  template <typename T>
  T* as(size_t offset = 0) const {
    return reinterpret_cast<T*>(data() + offset);
  }

 private:
  void* at_ = nullptr;
  size_t bytes_ = 0;
};

// A field of a mapped header is shared with other processes: every access to
// one that changes goes through these two.
template <typename T>
void publish(T& field, T value) {
  std::atomic_ref<T>(field).store(value, std::memory_order_release);
}
template <typename T>
T observe(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_acquire);
}

// Fills in a header that begins with eight bytes of magic, those last: whoever
// sees the magic sees a whole header, wherever the writer was killed.
template <typename Header>
void publish_header(Header* shared, const Header& fresh) {
  static_assert(sizeof fresh.magic == sizeof(uint64_t));
  const auto* from = reinterpret_cast<const std::byte*>(&fresh);
  auto* to = reinterpret_cast<std::byte*>(shared);
  std::memcpy(to + sizeof(uint64_t), from + sizeof(uint64_t), sizeof(Header) - sizeof(uint64_t));
  publish(*reinterpret_cast<uint64_t*>(to), std::bit_cast<uint64_t>(fresh.magic));
}

}  // namespace ttyward::journal
