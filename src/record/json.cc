#include <fmt/format.h>

#include "base/json_text.h"
#include "base/rfc3339.h"
#include "record/writers.h"

namespace ttyward::record {
namespace {

const char* kind_name(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::Output:
      return "output";
    case Event::Kind::Resize:
      return "resize";
    case Event::Kind::Marker:
      return "marker";
    case Event::Kind::Exit:
      return "exit";
  }
  return "output";
}

}  // namespace

void write_json(const Recording& recording, const Sink& sink) {
  const Header& header = recording.header();
  base::JsonObject head;
  head.number("version", 1).text("id", header.id);
  head.raw("title", header.title.empty() ? "null" : base::json_quoted(header.title));
  head.raw("command", header.command.empty() ? "null" : base::json_quoted(header.command));
  head.number("cols", header.size.cols).number("rows", header.size.rows);
  head.raw("started_at",
           header.started_at_ms == 0 ? "null" : base::json_quoted(base::rfc3339(header.started_at_ms)));
  head.raw("duration_ms", fmt::format("{:.3f}", static_cast<double>(recording.duration_us()) / 1000));
  std::string begin = head.str();
  begin.pop_back();  // its events follow
  sink(begin + ",\"events\":[");
  bool first = true;
  recording.for_each([&](const Event& event) {
    base::JsonObject out;
    out.raw("at_ms", fmt::format("{:.3f}", static_cast<double>(event.at_us) / 1000));
    out.text("kind", kind_name(event.kind));
    if (event.kind == Event::Kind::Resize) {
      out.number("cols", event.size.cols).number("rows", event.size.rows);
    } else {
      out.text("text", event.text);
    }
    sink((first ? "\n" : ",\n") + out.str());
    first = false;
    return true;
  });
  sink("\n]}\n");
}

}  // namespace ttyward::record
