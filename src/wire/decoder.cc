#include "wire/decoder.h"

#include <algorithm>
#include <cmath>

#include <boost/json/serialize.hpp>

#include "base/base64.h"
#include "base/rfc3339.h"

namespace ttyward::wire {

namespace json = boost::json;

namespace {

constexpr size_t kLongestQuote = 60;  // of what was sent, in an error

// What somebody sent, short enough for one line.
std::string shown(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = json::serialize(value);
  if (text.size() > kLongestQuote) text = text.substr(0, kLongestQuote) + "…";
  return text;
}

std::string listed(std::string_view words) {
  std::string out;
  for (const char c : words) c == '|' ? out += ", " : out += c;
  return out;
}

bool is_among(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find('|'), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::optional<int64_t> whole(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= uint64_t{INT64_MAX})
    return static_cast<int64_t>(value.get_uint64());
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it a double is no certain number
  if (value.is_double() && std::abs(value.get_double()) <= kExact &&
      value.get_double() == std::trunc(value.get_double())) {
    return static_cast<int64_t>(value.get_double());
  }
  return std::nullopt;
}

}  // namespace

const json::value* Decoder::take(std::string_view name) {
  known_.push_back(name);
  const json::value* value = from_.if_contains(json::string_view(name.data(), name.size()));
  return value != nullptr && !value->is_null() ? value : nullptr;
}

void Decoder::wrong(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

void Decoder::finish() {
  if (unknown_ == Unknown::Ignore) return;
  for (const auto& member : from_) {
    const std::string_view name(member.key().data(), member.key().size());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    std::string all;
    for (const std::string_view each : known_) all += (all.empty() ? "" : ", ") + std::string(each);
    return wrong("there is no argument '" + path(name) + "'" +
                 (all.empty() ? "; this takes none" : "; there is " + all));
  }
}

void Decoder::truth(const json::value& value, bool& into, const Field& field) {
  if (!value.is_bool()) return wrong("'" + path(field.name) + "' must be true or false, not " + shown(value));
  into = value.get_bool();
}

int64_t Decoder::number(const json::value& value, int64_t otherwise, const Field& field, int64_t least,
                        uint64_t most) {
  least = std::max(least, field.least);
  const int64_t top =
      most > uint64_t{INT64_MAX} ? field.most : std::min(static_cast<int64_t>(most), field.most);
  const auto given = whole(value);
  if (given && *given >= least && *given <= top) return *given;
  std::string bounds;
  if (field.least != kNoLeast || field.most != kNoMost || least != kNoLeast)
    bounds = " from " + std::to_string(least) + " to " + std::to_string(top);
  wrong("'" + path(field.name) + "' must be a whole number" + bounds + ", not " + shown(value));
  return otherwise;
}

size_t Decoder::word_of(const json::value& value, size_t otherwise, const Field& field,
                        const std::string_view* names, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; i++) {
    if (value.is_string() &&
        names[i] == std::string_view(value.get_string().data(), value.get_string().size()))
      return i;
    all += (all.empty() ? "" : ", ") + std::string(names[i]);
  }
  wrong("'" + path(field.name) + "' must be one of " + all + ", not " + shown(value));
  return otherwise;
}

void Decoder::get(const json::value& value, std::string& into, const Field& field) {
  if (!value.is_string()) return wrong("'" + path(field.name) + "' must be a string, not " + shown(value));
  into.assign(value.get_string().data(), value.get_string().size());
  if (unknown_ == Unknown::Refuse && !field.words.empty() && !is_among(into, field.words))
    wrong("'" + path(field.name) + "' must be one of " + listed(field.words) + ", not " + shown(value));
}

void Decoder::get(const json::value& value, std::chrono::milliseconds& into, const Field& field) {
  Field bounded = field;
  if (bounded.least == kNoLeast) bounded.least = 0;
  if (bounded.most == kNoMost) bounded.most = kLongestMs;
  into = std::chrono::milliseconds(number(value, into.count(), bounded, 0, kNoMost));
}

void Decoder::get(const json::value& value, Time& into, const Field& field) {
  const auto given =
      value.is_string()
          ? base::parse_rfc3339(std::string_view(value.get_string().data(), value.get_string().size()))
          : std::nullopt;
  if (!given) {
    return wrong("'" + path(field.name) + "' must be a time such as \"2026-11-16T08:30:00Z\", not " +
                 shown(value));
  }
  into.ms = *given;
}

void Decoder::get(const json::value& value, Bytes& into, const Field& field) {
  auto given = value.is_string() ? base::from_base64({value.get_string().data(), value.get_string().size()})
                                 : std::nullopt;
  if (!given) return wrong("'" + path(field.name) + "' is not base64");
  into.bytes = std::move(*given);
}

void Decoder::get(const json::value& value, Variables& into, const Field& field) {
  const auto refuse = [&] { wrong("'" + path(field.name) + "' must map names to strings"); };
  if (!value.is_object()) return refuse();
  for (const auto& [key, text] : value.get_object()) {
    if (!text.is_string()) return refuse();
    const std::string_view variable(key.data(), key.size());
    if (variable.empty() || variable.find('=') != std::string_view::npos)
      return wrong("'" + path(field.name) + "' has a name that is empty or holds a '='");
    into.entries.push_back(std::string(key.data(), key.size()) + "=" +
                           std::string(text.get_string().data(), text.get_string().size()));
  }
}

void Decoder::get(const json::value& value, NumberOrName& into, const Field& field) {
  if (value.is_string()) {
    into = std::string(value.get_string().data(), value.get_string().size());
  } else if (value.is_number()) {
    into = number(value, 0, field, field.least, kNoMost);
  } else {
    wrong("'" + path(field.name) + "' must be a name or a number, not " + shown(value));
  }
}

void Decoder::get(const json::value& value, std::array<int64_t, 2>& into, const Field& field) {
  const auto first =
      value.is_array() && value.get_array().size() == 2 ? whole(value.get_array()[0]) : std::nullopt;
  const auto second = first ? whole(value.get_array()[1]) : std::nullopt;
  if (!second || *first < 1 || *second < *first) {
    return wrong("'" + path(field.name) +
                 "' must be two numbers, the first at least 1 and not above the second");
  }
  into = {*first, *second};
}

void Decoder::object_text(const json::value& value, std::string& into, const Field& field) {
  if (!value.is_object()) return wrong("'" + path(field.name) + "' must be an object");
  into = json::serialize(value);
}

}  // namespace ttyward::wire
