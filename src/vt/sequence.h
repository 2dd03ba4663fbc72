// A parsed control sequence, before anybody gives it a meaning.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ttyward::vt {

// CSI and DCS parameters. A missing parameter is 0, as DEC terminals have it.
class Params {
 public:
  static constexpr unsigned kMax = 32;          // xterm keeps 30; further ones are ignored
  static constexpr uint32_t kMaxValue = 65535;  // larger numbers saturate

  unsigned size() const { return count_; }
  uint16_t operator[](unsigned i) const { return i < count_ ? values_[i] : 0; }
  // The parameter, with 0 and "missing" both meaning `fallback`.
  int get(unsigned i, int fallback) const {
    const int value = (*this)[i];
    return value == 0 ? fallback : value;
  }
  // True if parameter i was joined to the one before it by a colon.
  bool is_sub(unsigned i) const { return i < kMax && (subs_ >> i & 1) != 0; }

  void clear() {
    count_ = 0;
    subs_ = 0;
    overflow_ = false;
  }
  // Used by the parser only. read_plain takes digits and semicolons up to the first other byte in one go and
  // returns its place; the parameters count only if that byte turns out to be the final.
  const uint8_t* read_plain(const uint8_t* p, const uint8_t* end) {
    unsigned count = 0;
    uint32_t value = 0;
    bool any = false;
    for (; p < end; p++) {
      const auto digit = static_cast<uint32_t>(*p - '0');
      if (digit < 10) {
        value = std::min(value * 10 + digit, kMaxValue);
        any = true;
      } else if (*p == ';' && count < kMax - 1) {
        values_[count++] = static_cast<uint16_t>(value);
        value = 0;
        any = true;
      } else {
        break;
      }
    }
    if (any) values_[count++] = static_cast<uint16_t>(value);
    count_ = count;
    return p;
  }
  void start() {
    values_[0] = 0;
    count_ = 1;
  }
  void digit(uint8_t d) {
    if (overflow_) return;
    if (count_ == 0) start();
    const uint32_t value = values_[count_ - 1] * 10u + d;
    values_[count_ - 1] = static_cast<uint16_t>(std::min(value, kMaxValue));
  }
  void separator(bool colon) {
    if (overflow_) return;
    if (count_ == 0) start();
    if (count_ == kMax) {
      overflow_ = true;
      return;
    }
    values_[count_] = 0;
    if (colon) subs_ |= 1u << count_;
    count_++;
  }

 private:
  uint16_t values_[kMax];
  unsigned count_ = 0;
  uint32_t subs_ = 0;
  bool overflow_ = false;
};

struct Sequence {
  Params params;
  char prefix = 0;             // '<' '=' '>' '?', or 0
  char intermediates[2] = {};  // 0x20..0x2F, or 0
  char final = 0;

  void clear() {
    params.clear();
    prefix = 0;
    intermediates[0] = intermediates[1] = 0;
    final = 0;
  }
  // Prefix, intermediates and final as one number, for tables and switches.
  static constexpr uint32_t key(char prefix, char first, char second, char final) {
    return static_cast<uint32_t>(static_cast<uint8_t>(prefix)) << 24 |
           static_cast<uint32_t>(static_cast<uint8_t>(first)) << 16 |
           static_cast<uint32_t>(static_cast<uint8_t>(second)) << 8 | static_cast<uint8_t>(final);
  }
  uint32_t key() const { return key(prefix, intermediates[0], intermediates[1], final); }
};

enum class Terminator : uint8_t { Bel, St };

}  // namespace ttyward::vt
