#include "record/asciicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "base/json_text.h"
#include "vt/screen.h"

namespace ttyward::record {
namespace {

namespace json = boost::json;

constexpr double kLongestTime = 1e9;  // seconds, about 30 years

// Exact: times are whole microseconds.
std::string seconds(uint64_t us) {
  return fmt::format("{}.{:06}", us / 1'000'000, us % 1'000'000);
}

std::string size_text(Size size) {
  return fmt::format("{}x{}", size.cols, size.rows);
}

std::string header_line(const Recording& recording, CastVersion version) {
  const Header& header = recording.header();
  base::JsonObject out;
  out.number("version", static_cast<int>(version));
  if (version == CastVersion::V3) {
    base::JsonObject term;
    term.number("cols", header.size.cols).number("rows", header.size.rows).text("type", header.term);
    out.raw("term", term.str());
  } else {
    out.number("width", header.size.cols).number("height", header.size.rows);
  }
  if (header.started_at_ms != 0) out.number("timestamp", header.started_at_ms / 1000);
  if (header.idle_limit_s) out.raw("idle_time_limit", fmt::format("{:.3f}", *header.idle_limit_s));
  if (!header.command.empty()) out.text("command", header.command);
  if (!header.title.empty()) out.text("title", header.title);
  if (version == CastVersion::V2) {
    out.raw("duration", seconds(recording.duration_us()));
    out.raw("env", base::JsonObject().text("TERM", header.term).str());
  }
  return out.str() + "\n";
}

const char* code_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::Output:
      return "o";
    case Event::Kind::Resize:
      return "r";
    case Event::Kind::Marker:
      return "m";
    case Event::Kind::Exit:
      return "x";
  }
  return "m";
}

std::optional<int64_t> whole_number(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return INT64_MAX;
  return std::nullopt;
}

std::optional<double> number(const json::value& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_double()) return value.get_double();
  return std::nullopt;
}

std::string text_in(const json::object& object, const char* name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::optional<Size> possible_size(int64_t cols, int64_t rows) {
  if (cols < 1 || rows < 1 || cols > vt::Screen::kMaxCols || rows > vt::Screen::kMaxRows ||
      cols * rows > vt::Screen::kMaxCells)
    return std::nullopt;
  return Size{static_cast<int>(cols), static_cast<int>(rows)};
}

// "80x24"
std::optional<Size> size_in(std::string_view text) {
  int64_t cols = 0;
  int64_t rows = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, cols);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, rows);
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return possible_size(cols, rows);
}

}  // namespace

void write_asciicast(const Recording& recording, CastVersion version, const Sink& sink) {
  sink(header_line(recording, version));
  uint64_t before = 0;
  recording.for_each([&](const Event& event) {
    if (event.kind == Event::Kind::Exit && version == CastVersion::V2) return true;
    const uint64_t time = version == CastVersion::V3 ? event.at_us - before : event.at_us;
    before = event.at_us;
    std::string line = "[" + seconds(time) + ", \"" + code_of(event.kind) + "\", ";
    base::append_json_quoted(line, event.kind == Event::Kind::Resize ? size_text(event.size) : event.text);
    sink(line + "]\n");
    return true;
  });
}

bool looks_like_cast(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  return line.starts_with('{') && line.find("\"version\"") != std::string_view::npos &&
         (line.find("\"width\"") != std::string_view::npos ||
          line.find("\"term\"") != std::string_view::npos);
}

namespace {

auto bad(uint64_t line, const std::string& what) {
  return base::fail(base::ErrorCode::InvalidArgument, fmt::format("line {}: {}", line, what));
}

}  // namespace

base::Result<void> CastReader::feed(std::string_view bytes,
                                    const std::function<base::Result<void>(const Event&)>& event) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (pending_.size() + std::min(end, bytes.size()) > kLongestLine) {
      return bad(number_ + 1,
                 fmt::format("it is longer than {} MiB; is this an asciicast?", kLongestLine >> 20));
    }
    if (end == std::string_view::npos) {
      pending_ += bytes;
      return {};
    }
    const std::string_view rest = bytes.substr(0, end);
    base::Result<void> read;
    if (pending_.empty()) {
      read = line(rest, event);
    } else {
      pending_ += rest;
      const std::string whole = std::exchange(pending_, {});
      read = line(whole, event);
    }
    if (!read) return read;
    bytes.remove_prefix(end + 1);
  }
  return {};
}

base::Result<void> CastReader::finish(const std::function<base::Result<void>(const Event&)>& event) {
  if (!pending_.empty()) {
    const std::string last = std::exchange(pending_, {});
    if (auto read = line(last, event); !read) return read;
  }
  if (header_) return {};
  return base::fail(base::ErrorCode::InvalidArgument, "it is empty: an asciicast begins with a header line");
}

base::Result<void> CastReader::read_header(std::string_view text) {
  boost::system::error_code wrong;
  const json::value value = json::parse({text.data(), text.size()}, wrong);
  if (wrong || !value.is_object())
    return bad(number_, "the header is not a JSON object; is this an asciicast?");
  const json::object& object = value.get_object();
  const auto version = whole_number(object, "version");
  if (!version) return bad(number_, "the header has no version; is this an asciicast?");
  if (*version != 2 && *version != 3)
    return bad(number_, fmt::format("version {} of asciicast is not known; versions 2 and 3 are", *version));
  version_ = *version == 2 ? CastVersion::V2 : CastVersion::V3;
  Header header;
  std::optional<int64_t> cols = whole_number(object, "width");
  std::optional<int64_t> rows = whole_number(object, "height");
  if (version_ == CastVersion::V3) {
    const json::value* term = object.if_contains("term");
    if (term == nullptr || !term->is_object()) return bad(number_, "the header has no \"term\" with a size");
    cols = whole_number(term->get_object(), "cols");
    rows = whole_number(term->get_object(), "rows");
    if (const std::string type = text_in(term->get_object(), "type"); !type.empty()) header.term = type;
  }
  if (!cols || !rows) return bad(number_, "the header has no size in whole numbers");
  const auto size = possible_size(*cols, *rows);
  if (!size) return bad(number_, fmt::format("a screen of {}x{} is not possible", *cols, *rows));
  header.size = *size;
  header.started_at_ms =
      std::clamp<int64_t>(whole_number(object, "timestamp").value_or(0), 0, int64_t{1} << 40) * 1000;
  header.command = text_in(object, "command");
  header.title = text_in(object, "title");
  if (const json::value* limit = object.if_contains("idle_time_limit")) {
    const auto given = number(*limit);
    if (given && std::isfinite(*given) && *given >= 0) header.idle_limit_s = *given;
  }
  header_ = std::move(header);
  return {};
}

base::Result<void> CastReader::line(std::string_view text,
                                    const std::function<base::Result<void>(const Event&)>& event) {
  number_++;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (!header_) return read_header(text);
  if (text.find_first_not_of(" \t") == std::string_view::npos) return {};
  if (version_ == CastVersion::V3 && text.front() == '#') return {};
  boost::system::error_code wrong;
  const json::value value = json::parse({text.data(), text.size()}, wrong);
  if (wrong || !value.is_array() || value.get_array().size() < 3)
    return bad(number_, "an event is [time, \"kind\", data] in JSON");
  const json::array& parts = value.get_array();
  const auto time = number(parts[0]);
  if (!time || !std::isfinite(*time) || *time < 0 || *time > kLongestTime)
    return bad(number_, "the time of an event is a number of seconds, not below 0");
  if (!parts[1].is_string() || !parts[2].is_string())
    return bad(number_, "the kind and the data of an event are strings");
  const auto us = static_cast<uint64_t>(std::llround(*time * 1e6));
  now_us_ = version_ == CastVersion::V3 ? now_us_ + us : std::max(now_us_, us);
  const json::string& kind = parts[1].get_string();
  Event made;
  made.at_us = now_us_;
  made.text = std::string(parts[2].get_string());
  if (kind == "o") {
    made.kind = Event::Kind::Output;
  } else if (kind == "m") {
    made.kind = Event::Kind::Marker;
  } else if (kind == "x") {
    made.kind = Event::Kind::Exit;
  } else if (kind == "r") {
    const auto size = size_in(made.text);
    if (!size) return bad(number_, "the size of a resize is COLSxROWS, such as 80x24");
    made.kind = Event::Kind::Resize;
    made.size = *size;
    made.text.clear();
  } else {
    return {};
  }
  return event(made);
}

}  // namespace ttyward::record
