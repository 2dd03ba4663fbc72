// Little-endian numbers and counted strings, to and from bytes. Whatever bytes
// come in, a Decoder stays within them: what is not there reads as zero or empty
// and turns ok() false.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::hold {

class Encoder {
 public:
  template <typename T>
  Encoder& number(T value) {
    static_assert(std::is_integral_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Encoder& string(std::string_view text) {
    number(static_cast<uint32_t>(text.size()));
    out_.append(text);
    return *this;
  }
  Encoder& strings(const std::vector<std::string>& list) {
    number(static_cast<uint32_t>(list.size()));
    for (const std::string& text : list) string(text);
    return *this;
  }
  Encoder& raw(const void* data, size_t bytes) {
    out_.append(static_cast<const char*>(data), bytes);
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : left_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  std::string string() {
    const auto size = number<uint32_t>();
    if (size > left_.size()) return fail(), std::string();
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }
  std::vector<std::string> strings() {
    const auto count = number<uint32_t>();
    std::vector<std::string> list;
    for (uint32_t i = 0; i < count && ok_; ++i) list.push_back(string());
    return list;
  }
  void raw(void* into, size_t bytes) {
    if (bytes > left_.size()) return fail();
    std::memcpy(into, left_.data(), bytes);
    left_.remove_prefix(bytes);
  }

  std::string_view rest() const { return left_; }
  bool ok() const { return ok_; }
  // Everything was there, and nothing more.
  bool complete() const { return ok_ && left_.empty(); }

 private:
  void fail() {
    ok_ = false;
    left_ = {};
  }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace ttyward::hold
