// Any lines between an editor and an agent: never a crash; what is passed on is a line that a strict parser
// reads as one object; and what the scan accepts does not depend on how the bytes were split.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "acp/json_edit.h"
#include "acp/plain_text.h"
#include "rpc/line_reader.h"

namespace {

using namespace ttyward::acp;
namespace json = boost::json;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::string> lines(std::string_view bytes, size_t piece) {
  ttyward::rpc::LineReader reader(1 << 16);
  std::vector<std::string> found;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.push(bytes.substr(at, piece));
    while (const auto line = reader.next()) found.emplace_back(line->text);
  }
  while (const auto line = reader.rest()) found.emplace_back(line->text);
  return found;
}

void check_line(const std::string& line) {
  const auto outline = Outline::of(line);
  json::parse_options options;
  options.max_depth = kDeepest;
  json::error_code error;
  const json::value value = json::parse(line, error, {}, options);
  // The scan does not look at UTF-8 and is right about everything else, but for members that are there twice.
  if (outline)
    require(error ? error == json::error::illegal_leading_surrogate ||
                        error == json::error::illegal_trailing_surrogate ||
                        error == json::error::expected_utf16_escape || error == json::error::syntax ||
                        error == json::error::exponent_overflow
                  : value.is_object() && value.get_object().size() == outline->size());
  if (!outline || error) return;
  for (const auto& member : value.get_object()) {
    const auto text = outline->value(std::string_view(member.key().data(), member.key().size()));
    require(text.has_value());
    require(json::parse(json::string_view(text->data(), text->size()), error, {}, options) == member.value());
  }
  const auto changed = with_value(line, {"params", "a", "b"}, "[1]");
  require(changed.has_value());
  const json::value after = json::parse(*changed, error, {}, options);
  if (!error) require(after.at("params").at("a").at("b") == json::array{1});
}

void check_text(std::string_view bytes) {
  PlainText whole(64);
  PlainText pieces(64);
  PlainText growing(1 << 20);
  std::string seen;
  whole.feed(bytes);
  for (const char& byte : bytes) {
    pieces.feed({&byte, 1});
    growing.feed({&byte, 1});
    growing.settle();
    require(growing.text().starts_with(seen));
    seen = growing.text();
  }
  whole.settle();
  pieces.settle();
  require(whole.text() == pieces.text() && whole.text().size() <= 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> found = lines(bytes, size > 0 ? size_t{data[0]} + 1 : 1);
  require(found == lines(bytes, size + 1));
  for (const std::string& line : found) check_line(line);
  check_text(bytes.substr(0, 512));
  return 0;
}
