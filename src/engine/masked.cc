#include "engine/masked.h"

#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/mask_secrets.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

// NOLINTNEXTLINE(misc-no-recursion): as deep as what we wrote ourselves
void mask(json::value& value) {
  if (value.is_string()) {
    const json::string& text = value.get_string();
    value = base::mask_secrets(std::string_view(text.data(), text.size()));
  } else if (value.is_array()) {
    for (json::value& each : value.get_array()) mask(each);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) mask(member.value());
  }
}

}  // namespace

std::vector<std::string> masked(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) out.push_back(base::mask_secrets(word));
  return out;
}

std::string masked_json(const std::string& text) {
  boost::system::error_code wrong;
  json::value value = json::parse(text, wrong);
  if (wrong) return {};
  mask(value);
  return json::serialize(value);
}

}  // namespace ttyward::engine
