// Any file as an asciicast: never a crash, the same however it is cut; what is read is written and read again
// unchanged, and always safe to play.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "record/asciicast.h"
#include "record/recording.h"

namespace {

using namespace ttyward::record;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Read {
  std::vector<Event> events;
  std::optional<Header> header;
  bool good = false;
};

Read read(std::string_view bytes, size_t piece) {
  Read out;
  CastReader reader;
  const auto take = [&](const Event& event) -> ttyward::base::Result<void> {
    out.events.push_back(event);
    return {};
  };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const auto fed = reader.feed(bytes.substr(at, piece), take);
    if (fed) continue;
    require(!fed.error().message.empty());
    return out;
  }
  out.good = reader.finish(take).has_value();
  out.header = reader.header();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t piece = size_t{data[0]} + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const Read got = read(bytes, bytes.size() + 1);
  const Read cut = read(bytes, piece);
  require(got.good == cut.good && got.events == cut.events);
  if (!got.good || got.header->size.cols * got.header->size.rows > 10'000) return 0;
  Maker maker(*got.header, LineFeeds::AsTheyAre);
  for (const Event& event : got.events) {
    switch (event.kind) {
      case Event::Kind::Output:
        require(maker.output(event.at_us, event.text).has_value());
        break;
      case Event::Kind::Resize:
        if (event.size.cols * event.size.rows <= 10'000) maker.resize(event.at_us, event.size);
        break;
      case Event::Kind::Marker:
        maker.marker(event.at_us, event.text);
        break;
      case Event::Kind::Exit:
        maker.exit(event.at_us, event.text);
        break;
    }
  }
  const Recording recording = maker.finish();
  std::string first;
  write_asciicast(recording, CastVersion::V3, [&](std::string_view text) { first += text; });
  require(ttyward::base::is_valid_utf8(first));
  const Read again = read(first, first.size());
  require(again.good);
  size_t count = 0;
  recording.for_each([&](const Event& event) {
    require(count < again.events.size() && again.events[count].text == event.text &&
            again.events[count].at_us == event.at_us);
    count++;
    return true;
  });
  require(count == again.events.size());
  return 0;
}
