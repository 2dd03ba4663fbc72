// Any bytes from a peer: never a crash; what is a message comes back unchanged when it is sent on.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "base/base64.h"
#include "base/utf8.h"
#include "wire/decoder.h"
#include "wire/encoder.h"
#include "wire/json.h"
#include "wire/line_reader.h"
#include "wire/messages.h"
#include "wire/types/all_calls.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <typename Parsed, typename Parse>
void check_round_trip(const Parsed& message, Parse parse) {
  std::string line = std::visit([](const auto& value) { return ttyward::wire::encode(value); }, message);
  require(line.ends_with('\n'));
  line.pop_back();
  require(line.find('\n') == std::string::npos && ttyward::base::is_valid_utf8(line));
  const auto again = parse(line);
  require(again.has_value());
  // Numbers that no double holds exactly may change once, but never again.
  std::string second = std::visit([](const auto& value) { return ttyward::wire::encode(value); }, *again);
  second.pop_back();
  const auto third = parse(second);
  require(third.has_value() && third->index() == message.index());
}

// What is read as some call's arguments is written and read again unchanged.
void check_arguments(const boost::json::object& args) {
  using namespace ttyward::wire;
  AllCalls::for_each([&]<class Request>() {
    const auto request = decode<Request>(args);
    if (!request) return require(!request.error().empty());
    const std::string text = arguments_text(*request);
    const auto parsed = parse_object(text);
    require(parsed.has_value());
    const auto again = decode<Request>(*parsed);
    require(again.has_value() && arguments_text(*again) == text);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ttyward::wire;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  LineReader reader(size > 0 ? size_t{data[0]} * 16 : 0);
  const size_t piece = size > 1 ? size_t{data[1]} + 1 : 1;
  for (size_t at = 0; at < size; at += piece) {
    reader.push(bytes.substr(at, piece));
    while (const auto line = reader.next()) {
      if (const auto message = parse_from_client(*line)) {
        check_round_trip(*message, parse_from_client);
        if (const auto* call = std::get_if<Call>(&*message)) check_arguments(call->args);
      }
      if (const auto message = parse_from_daemon(*line)) check_round_trip(*message, parse_from_daemon);
      if (const auto decoded = ttyward::base::from_base64(*line)) {
        require(ttyward::base::to_base64(*decoded) == *line);
      }
    }
  }
  return 0;
}
