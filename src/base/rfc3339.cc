#include "base/rfc3339.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace ttyward::base {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// Reads exactly `count` digits.
bool take_digits(std::string_view& text, size_t count, int& value) {
  if (text.size() < count) return false;
  value = 0;
  for (size_t i = 0; i < count; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456" as milliseconds; what is finer is cut off.
bool take_fraction(std::string_view& text, int64_t& ms) {
  if (!take(text, '.')) return true;
  int64_t scale = 100;
  size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), digits++) {
    ms += (text.front() - '0') * scale;
    scale /= 10;
  }
  return digits > 0;
}

// "Z" or "+02:00", as minutes east.
bool take_zone(std::string_view& text, int& minutes) {
  if (take(text, 'Z') || take(text, 'z')) return true;
  const bool east = !text.empty() && text.front() == '+';
  int hours = 0;
  int rest = 0;
  if (!take(text, east ? '+' : '-') || !take_digits(text, 2, hours) || !take(text, ':') ||
      !take_digits(text, 2, rest) || hours > 23 || rest > 59) {
    return false;
  }
  minutes = (east ? 1 : -1) * (hours * 60 + rest);
  return true;
}

}  // namespace

std::string rfc3339(int64_t ms) {
  const std::chrono::sys_time<milliseconds> moment{milliseconds(ms)};
  const auto day = std::chrono::floor<days>(moment);
  const year_month_day date(day);
  const auto within = (moment - day).count();
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(within / 3'600'000),
                static_cast<int>(within / 60'000 % 60), static_cast<int>(within / 1000 % 60),
                static_cast<int>(within % 1000));
  return text.data();
}

std::optional<int64_t> parse_rfc3339(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int64_t fraction = 0;
  int zone = 0;
  if (!take_digits(text, 4, year) || !take(text, '-') || !take_digits(text, 2, month) || !take(text, '-') ||
      !take_digits(text, 2, day)) {
    return std::nullopt;
  }
  if (!take(text, 'T') && !take(text, 't') && !take(text, ' ')) return std::nullopt;
  if (!take_digits(text, 2, hour) || !take(text, ':') || !take_digits(text, 2, minute) || !take(text, ':') ||
      !take_digits(text, 2, second) || !take_fraction(text, fraction) || !take_zone(text, zone)) {
    return std::nullopt;
  }
  const year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (!text.empty() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const int64_t minutes = int64_t{hour} * 60 + minute - zone;
  return sys_days(date).time_since_epoch().count() * int64_t{86'400'000} + minutes * 60'000 +
         int64_t{second} * 1000 + fraction;
}

}  // namespace ttyward::base
