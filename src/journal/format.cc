#include "journal/format.h"

namespace ttyward::journal {

uint64_t checksum(const void* data, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t sum = 0xcbf29ce484222325U;
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ p[i]) * 0x100000001b3U;
  return sum;
}

uint64_t fixed_sum(const JournalHeader& header) {
  return checksum(&header, offsetof(JournalHeader, fixed_sum));
}

uint64_t fixed_sum(const SegmentHeader& header) {
  return checksum(&header, offsetof(SegmentHeader, fixed_sum));
}

uint64_t closed_sum(const JournalHeader& header) {
  constexpr size_t from = offsetof(JournalHeader, end);
  return checksum(&header.end, offsetof(JournalHeader, closed_sum) - from);
}

uint64_t closed_sum(const SegmentHeader& header) {
  return checksum(&header, offsetof(SegmentHeader, closed_sum));
}

bool valid_id(const std::string& id) {
  if (id.empty() || id.size() > kLongestId) return false;
  for (const char c : id) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') return false;
  }
  return true;
}

namespace {

constexpr size_t kBaseDigits = 16;
constexpr size_t kNumberDigits = 8;
constexpr std::string_view kSuffix = ".seg";

std::string hex(uint64_t value, size_t digits) {
  std::string text(digits, '0');
  for (size_t i = digits; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c >= 'a' && c <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

}  // namespace

std::string main_file(const std::string& id) {
  return id + ".main";
}

std::string segment_file(SegmentName name) {
  return hex(name.base, kBaseDigits) + "-" + hex(name.number, kNumberDigits) + std::string(kSuffix);
}

std::optional<SegmentName> parse_segment_file(std::string_view file) {
  if (file.size() != kBaseDigits + 1 + kNumberDigits + kSuffix.size()) return std::nullopt;
  if (file[kBaseDigits] != '-' || !file.ends_with(kSuffix)) return std::nullopt;
  const auto base = parse_hex(file.substr(0, kBaseDigits));
  const auto number = parse_hex(file.substr(kBaseDigits + 1, kNumberDigits));
  if (!base || !number) return std::nullopt;
  return SegmentName{*base, static_cast<uint32_t>(*number)};
}

}  // namespace ttyward::journal
