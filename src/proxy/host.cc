#include "proxy/host.h"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

namespace ttyward::proxy {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr size_t kLongestName = 253;
constexpr size_t kLongestLabel = 63;

tl::unexpected<base::Error> bad(const char* why) {
  return fail(ErrorCode::InvalidArgument, std::string("not a host name: ") + why);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// RFC 3492. Empty: the label is too long to be one.
std::string punycode(const std::vector<int32_t>& points) {
  constexpr uint32_t kBase = 36;
  constexpr uint32_t kLeast = 1;
  constexpr uint32_t kMost = 26;
  std::string out;
  for (const int32_t point : points)
    if (point < 0x80) out += static_cast<char>(point);
  auto handled = static_cast<uint32_t>(out.size());
  const uint32_t basic = handled;
  if (basic > 0) out += '-';
  uint32_t n = 0x80;
  uint32_t delta = 0;
  uint32_t bias = 72;
  while (handled < points.size()) {
    uint32_t next = 0x10ffff;
    for (const int32_t point : points)
      if (static_cast<uint32_t>(point) >= n) next = std::min(next, static_cast<uint32_t>(point));
    delta += (next - n) * (handled + 1);  // fits: a label has at most 253 characters
    n = next;
    for (const int32_t signed_point : points) {
      const auto point = static_cast<uint32_t>(signed_point);
      if (point < n) delta++;
      if (point != n) continue;
      uint32_t rest = delta;
      for (uint32_t k = kBase;; k += kBase) {
        const uint32_t threshold = k <= bias ? kLeast : std::min(k - bias, kMost);
        const bool last = rest < threshold;
        const uint32_t digit = last ? rest : threshold + (rest - threshold) % (kBase - threshold);
        out += static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26));
        if (last) break;
        rest = (rest - threshold) / (kBase - threshold);
      }
      delta = handled == basic ? delta / 700 : delta / 2;
      delta += delta / (handled + 1);
      uint32_t k = 0;
      for (; delta > ((kBase - kLeast) * kMost) / 2; k += kBase) delta /= kBase - kLeast;
      bias = k + (kBase - kLeast + 1) * delta / (delta + 38);
      delta = 0;
      handled++;
      if (out.size() > kLongestLabel) return {};
    }
    delta++;
    n++;
  }
  return "xn--" + out;
}

// International labels in their ASCII form; characters that look alike in width or case become one.
Result<std::string> to_ascii(std::string_view text) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE | UTF8PROC_REJECTNA);
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (length <= 0) return bad("it is not text");
  std::string out;
  std::vector<int32_t> label;
  const auto finish_label = [&] {
    const bool ascii = std::all_of(label.begin(), label.end(), [](int32_t point) { return point < 0x80; });
    if (ascii) {
      for (const int32_t point : label) out += static_cast<char>(point);
      label.clear();
      return true;
    }
    const std::string coded = punycode(label);
    out += coded;
    label.clear();
    return !coded.empty();
  };
  for (utf8proc_ssize_t at = 0; at < length;) {
    utf8proc_int32_t point = 0;
    const utf8proc_ssize_t used = utf8proc_iterate(mapped + at, length - at, &point);
    if (used <= 0) return bad("it is not text");
    at += used;
    const bool dot = point == '.' || point == 0x3002;  // the ideographic full stop
    if (!dot) {
      label.push_back(point);
      continue;
    }
    if (!finish_label()) return bad("a part of it is too long");
    out += '.';
  }
  if (!finish_label()) return bad("a part of it is too long");
  return out;
}

// Whether resolvers take a name that ends in this label for an IPv4 address.
bool is_number(std::string_view label) {
  const bool hex = label.size() >= 2 && label[0] == '0' && label[1] == 'x';
  const std::string_view digits = hex ? label.substr(2) : label;
  if (digits.empty()) return hex;
  return digits.find_first_not_of(hex ? "0123456789abcdef" : "0123456789") == std::string_view::npos;
}

Result<Host> checked_name(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  if (name.empty()) return bad("it is empty");
  if (name.size() > kLongestName) return bad("it is too long");
  size_t begin = 0;
  std::string_view last;
  for (;;) {
    const size_t dot = name.find('.', begin);
    last = std::string_view(name).substr(begin, dot == std::string::npos ? dot : dot - begin);
    if (last.empty()) return bad("a part of it is empty");
    if (last.size() > kLongestLabel) return bad("a part of it is too long");
    if (last.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") != std::string_view::npos)
      return bad("it has characters that no host name has");
    if (dot == std::string::npos) break;
    begin = dot + 1;
  }
  if (!is_number(last)) return Host{std::move(name), std::nullopt};
  const auto address = parse_loose_v4(name);
  if (!address) return bad("it ends in a number but is no address");
  return Host{"", *address};
}

}  // namespace

std::string Host::text() const {
  if (!address) return name;
  return address->v6 ? "[" + address->text() + "]" : address->text();
}

Result<Host> parse_host(std::string_view text) {
  if (text.empty()) return bad("it is empty");
  if (text.size() > 4 * kLongestName) return bad("it is too long");
  if (text.find('\0') != std::string_view::npos) return bad("it has a NUL");
  if (text.front() == '[' && text.back() == ']' && text.size() > 2) {
    const auto address = parse_address(text.substr(1, text.size() - 2));
    // In brackets only IPv6 is meant, also where it carries an IPv4 address.
    if (!address || text.find(':') == std::string_view::npos) return bad("no address is in the brackets");
    return Host{"", *address};
  }
  if (text.find(':') != std::string_view::npos) {
    const auto address = parse_address(text);
    if (!address) return bad("it has a colon");
    return Host{"", *address};
  }
  std::string name(text);
  if (!is_ascii(text)) {
    auto ascii = to_ascii(text);
    if (!ascii) return tl::unexpected(ascii.error());
    name = std::move(*ascii);
  }
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return checked_name(std::move(name));
}

std::optional<uint16_t> parse_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > 65535)
    return std::nullopt;
  return static_cast<uint16_t>(value);
}

Result<HostPort> parse_host_port(std::string_view text, uint16_t usual) {
  const size_t colon = text.rfind(':');
  const bool in_brackets = colon != std::string_view::npos && text.find(']', colon) != std::string_view::npos;
  std::string_view host = text;
  uint16_t port = usual;
  if (colon != std::string_view::npos && !in_brackets) {
    host = text.substr(0, colon);
    if (host.find(':') != std::string_view::npos && !(host.starts_with('[') && host.ends_with(']')))
      return bad("an IPv6 address has to be in brackets");
    const auto parsed = parse_port(text.substr(colon + 1));
    if (!parsed) return bad("its port is not a number from 1 to 65535");
    port = *parsed;
  }
  if (port == 0) return bad("it has no port");
  auto parsed = parse_host(host);
  if (!parsed) return tl::unexpected(parsed.error());
  return HostPort{std::move(*parsed), port};
}

std::string HostPort::text() const {
  return host.text() + ":" + std::to_string(port);
}

}  // namespace ttyward::proxy
