// Any bytes on a JSON-RPC conversation: never a crash, never more than the bound held, and what is understood
// does not depend on how the bytes were split. The handler answers half of the requests, so that ids in use,
// cancellation and batches are met.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/line_reader.h"
#include "rpc/peer.h"

namespace {

using namespace ttyward::rpc;

constexpr size_t kLargest = 256;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<std::string> lines(std::string_view bytes, size_t piece) {
  LineReader reader(kLargest);
  std::vector<std::string> found;
  const auto add = [&](const LineReader::Line& line) {
    require(line.text.size() <= kLargest && line.text.find('\n') == std::string_view::npos);
    found.emplace_back(line.too_long ? "\n" : line.text);
  };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.push(bytes.substr(at, piece));
    while (const auto line = reader.next()) add(*line);
    require(reader.held() <= kLargest);
  }
  while (const auto line = reader.rest()) add(*line);
  return found;
}

class Checked final : public Outlet {
 public:
  void send(const json::object& message, Last) override {
    require(json::serialize(message).find('\n') == std::string::npos);
  }
  void close() override {}
};

class EveryOther final : public Handler {
 public:
  void on_request(const RequestPtr& request) override {
    if ((++count_ & 1) != 0) return request->reply(request->params);
    request->ask("question", {}, [request](const Answer& answer) {
      if (answer.result) request->reply(*answer.result);
    });
  }
  void on_notification(const Message&) override {}

 private:
  size_t count_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> found = lines(bytes, size > 0 ? size_t{data[0]} + 1 : 1);
  require(found == lines(bytes, size + 1));
  static const auto loop = std::move(ttyward::io::Loop::create().value());
  EveryOther handler;
  const auto out = std::make_shared<Checked>();
  const auto peer = std::make_shared<Peer>(*loop, Dialect{"cancel"}, handler, out);
  peer->set_batches(size % 2 == 0 ? Peer::Batches::Taken : Peer::Batches::Refused);
  for (const std::string& line : found) peer->receive(parse(line), out);
  return 0;
}
