#include "wire/json.h"

#include <exception>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>

#include "wire/messages.h"

namespace ttyward::wire {
namespace {

// Values in `text`, never fewer than a parser would make: each but the first
// follows a comma or an opening bracket. It costs one pass and saves a parser
// from 16 MiB of "0,0,0,…".
size_t most_values(std::string_view text) {
  size_t count = 1;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '[' || c == '{') {
      ++count;
    }
  }
  return count;
}

}  // namespace

tl::expected<boost::json::object, std::string> parse_object(std::string_view line) {
  if (most_values(line) > kMostValues) {
    return tl::unexpected("a message may contain at most " + std::to_string(kMostValues) + " values");
  }
  boost::json::parse_options options;
  options.max_depth = kDeepest;
  try {
    boost::system::error_code error;
    boost::json::value value =
        boost::json::parse(boost::json::string_view(line.data(), line.size()), error, {}, options);
    if (error == boost::json::error::too_deep) {
      return tl::unexpected("a message may be nested " + std::to_string(kDeepest) + " deep at most");
    }
    if (error) return tl::unexpected("not JSON: " + error.message());
    if (!value.is_object()) return tl::unexpected(std::string("a message is a JSON object"));
    return std::move(value.get_object());
  } catch (const std::exception& error) {  // out of memory, or a length the library does not take
    return tl::unexpected(std::string("cannot read the message: ") + error.what());
  }
}

}  // namespace ttyward::wire
