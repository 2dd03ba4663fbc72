#include "relay/questions.h"

#include <chrono>
#include <utility>

#include "hold/codec.h"

namespace ttyward::relay {
namespace {

using hold::Decoder;
using hold::Encoder;
using place::Place;

enum class Kind : uint8_t { Process = 1, Descendants, Ports, LeftBehind, File, Text, Program };

constexpr size_t kMostProcesses = 20'000;
constexpr size_t kMostText = 16 << 20;

Encoder begin(Kind kind) {
  Encoder out;
  out.number(static_cast<uint8_t>(kind));
  return out;
}

void put(Encoder& out, const pty::ProcessStat& stat) {
  out.number(int32_t{stat.pid}).string(stat.comm).number(static_cast<uint8_t>(stat.state));
  out.number(int32_t{stat.parent}).number(int32_t{stat.group}).number(int32_t{stat.session});
  out.number(static_cast<uint64_t>(stat.terminal)).number(int32_t{stat.terminal_foreground});
  out.number(int32_t{stat.threads}).number(stat.cpu_ticks).number(stat.start_time);
}

pty::ProcessStat take_stat(Decoder& in) {
  pty::ProcessStat stat;
  stat.pid = in.number<int32_t>();
  stat.comm = in.string();
  stat.state = static_cast<char>(in.number<uint8_t>());
  stat.parent = in.number<int32_t>();
  stat.group = in.number<int32_t>();
  stat.session = in.number<int32_t>();
  stat.terminal = in.number<uint64_t>();
  stat.terminal_foreground = in.number<int32_t>();
  stat.threads = in.number<int32_t>();
  stat.cpu_ticks = in.number<uint64_t>();
  stat.start_time = in.number<uint64_t>();
  return stat;
}

void put(Encoder& out, const Place::Ports& ports) {
  out.number(static_cast<uint32_t>(ports.size()));
  for (const pty::ListeningPort& port : ports)
    out.number(port.port).number(int32_t{port.pid}).string(port.address);
}

Place::Ports take_ports(Decoder& in) {
  Place::Ports ports;
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); i++) {
    pty::ListeningPort port;
    port.port = in.number<uint16_t>();
    port.pid = in.number<int32_t>();
    port.address = in.string();
    if (in.ok()) ports.push_back(std::move(port));
  }
  return ports;
}

void put(Encoder& out, const base::Error& error) {
  out.number(uint8_t{0}).number(static_cast<uint8_t>(error.code)).number(int32_t{error.sys_errno});
  out.string(error.message);
}

base::Error take_error(Decoder& in) {
  base::Error error;
  const auto code = in.number<uint8_t>();
  error.code = code <= static_cast<uint8_t>(base::ErrorCode::Io) ? static_cast<base::ErrorCode>(code)
                                                                 : base::ErrorCode::Io;
  error.sys_errno = in.number<int32_t>();
  error.message = in.string();
  if (!in.ok()) error = {base::ErrorCode::Unavailable, 0, "the place did not answer"};
  return error;
}

std::string answer_process(const Place& place, Decoder& in) {
  const auto pid = in.number<int32_t>();
  const auto parts = in.number<uint32_t>();
  Encoder out;
  place.process(pid, parts, [&](const std::optional<place::ProcessFacts>& facts) {
    out.number(uint8_t{facts.has_value()});
    if (!facts) return;
    put(out, facts->stat);
    out.strings(facts->arguments).string(facts->command_line).strings(facts->names);
    out.string(facts->program_file).string(facts->folder).strings(facts->environment);
    out.number(uint8_t{facts->image.has_value()}).number(facts->image.value_or(0));
    out.number(uint8_t{facts->dies_of_interrupt});
  });
  return out.take();
}

std::string answer_descendants(const Place& place, Decoder& in) {
  Encoder out;
  place.descendants(in.number<int32_t>(), [&](const std::optional<Place::Stats>& stats) {
    out.number(uint8_t{stats.has_value()});
    if (!stats) return;
    out.number(static_cast<uint32_t>(stats->size()));
    for (const pty::ProcessStat& stat : *stats) put(out, stat);
  });
  return out.take();
}

std::string answer_ports(const Place& place, Decoder& in) {
  std::vector<pid_t> pids;
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && i < kMostProcesses && in.ok(); i++) pids.push_back(in.number<int32_t>());
  Encoder out;
  place.ports(pids, [&](const std::optional<Place::Ports>& ports) {
    out.number(uint8_t{ports.has_value()});
    if (ports) put(out, *ports);
  });
  return out.take();
}

std::string answer_left_behind(const Place& place, Decoder& in) {
  place::LeftBehindQuery query;
  query.holder = in.number<int32_t>();
  query.shell = in.number<int32_t>();
  query.newest_before = in.number<int32_t>();
  query.ran = std::chrono::milliseconds(in.number<int64_t>());
  query.shells_group_too = in.number<uint8_t>() != 0;
  Encoder out;
  place.left_behind(query, [&](const place::LeftBehind& left) {
    out.number(static_cast<uint32_t>(left.processes.size()));
    for (const auto& process : left.processes) out.number(int32_t{process.pid}).string(process.command);
    put(out, left.ports);
  });
  return out.take();
}

std::string answer_file(const Place& place, Decoder& in) {
  Encoder out;
  place.file(in.string(), [&](const base::Result<place::FileKind>& kind) {
    if (kind) {
      out.number(uint8_t{1}).number(static_cast<uint8_t>(*kind));
    } else {
      put(out, kind.error());
    }
  });
  return out.take();
}

std::string answer_text(const Place& place, Decoder& in) {
  const std::string path = in.string();
  const size_t most = std::min<size_t>(in.number<uint64_t>(), kMostText);
  Encoder out;
  place.text(path, most, [&](const base::Result<std::string>& text) {
    if (text) {
      out.number(uint8_t{1}).string(*text);
    } else {
      put(out, text.error());
    }
  });
  return out.take();
}

std::string answer_program(const Place& place, Decoder& in) {
  const std::string name = in.string();
  const std::string search = in.string();
  Encoder out;
  place.program(name, search, [&](const std::string& found) { out.string(found); });
  return out.take();
}

}  // namespace

std::string ask_process(pid_t pid, uint32_t parts) {
  return begin(Kind::Process).number(int32_t{pid}).number(parts).take();
}

std::string ask_descendants(pid_t root) {
  return begin(Kind::Descendants).number(int32_t{root}).take();
}

std::string ask_ports(std::span<const pid_t> pids) {
  Encoder out = begin(Kind::Ports);
  out.number(static_cast<uint32_t>(pids.size()));
  for (const pid_t pid : pids) out.number(int32_t{pid});
  return out.take();
}

std::string ask_left_behind(const place::LeftBehindQuery& query) {
  return begin(Kind::LeftBehind)
      .number(int32_t{query.holder})
      .number(int32_t{query.shell})
      .number(int32_t{query.newest_before})
      .number(static_cast<int64_t>(query.ran.count()))
      .number(uint8_t{query.shells_group_too})
      .take();
}

std::string ask_file(const std::string& path) {
  return begin(Kind::File).string(path).take();
}

std::string ask_text(const std::string& path, size_t most) {
  return begin(Kind::Text).string(path).number(uint64_t{most}).take();
}

std::string ask_program(const std::string& name, const std::string& search) {
  return begin(Kind::Program).string(name).string(search).take();
}

std::string answer(const Place& place, std::string_view question) {
  Decoder in(question);
  switch (static_cast<Kind>(in.number<uint8_t>())) {
    case Kind::Process:
      return answer_process(place, in);
    case Kind::Descendants:
      return answer_descendants(place, in);
    case Kind::Ports:
      return answer_ports(place, in);
    case Kind::LeftBehind:
      return answer_left_behind(place, in);
    case Kind::File:
      return answer_file(place, in);
    case Kind::Text:
      return answer_text(place, in);
    case Kind::Program:
      return answer_program(place, in);
  }
  return {};
}

std::optional<place::ProcessFacts> process_in(std::string_view answer) {
  Decoder in(answer);
  if (in.number<uint8_t>() == 0) return std::nullopt;
  place::ProcessFacts facts;
  facts.stat = take_stat(in);
  facts.arguments = in.strings();
  facts.command_line = in.string();
  facts.names = in.strings();
  facts.program_file = in.string();
  facts.folder = in.string();
  facts.environment = in.strings();
  const bool has_image = in.number<uint8_t>() != 0;
  const auto image = in.number<uint64_t>();
  if (has_image) facts.image = image;
  facts.dies_of_interrupt = in.number<uint8_t>() != 0;
  if (!in.complete()) return std::nullopt;
  return facts;
}

std::optional<Place::Stats> descendants_in(std::string_view answer) {
  Decoder in(answer);
  if (in.number<uint8_t>() == 0) return std::nullopt;
  Place::Stats stats;
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); i++) {
    pty::ProcessStat stat = take_stat(in);
    if (in.ok()) stats.push_back(std::move(stat));
  }
  return stats;
}

std::optional<Place::Ports> ports_in(std::string_view answer) {
  Decoder in(answer);
  if (in.number<uint8_t>() == 0) return std::nullopt;
  return take_ports(in);
}

place::LeftBehind left_behind_in(std::string_view answer) {
  Decoder in(answer);
  place::LeftBehind left;
  const auto count = in.number<uint32_t>();
  for (uint32_t i = 0; i < count && in.ok(); i++) {
    place::LeftBehind::Process process;
    process.pid = in.number<int32_t>();
    process.command = in.string();
    if (in.ok()) left.processes.push_back(std::move(process));
  }
  left.ports = take_ports(in);
  return left;
}

base::Result<place::FileKind> file_in(std::string_view answer) {
  Decoder in(answer);
  if (in.number<uint8_t>() == 0) return tl::unexpected(take_error(in));
  const auto kind = in.number<uint8_t>();
  return kind <= static_cast<uint8_t>(place::FileKind::Other) ? static_cast<place::FileKind>(kind)
                                                              : place::FileKind::Other;
}

base::Result<std::string> text_in(std::string_view answer) {
  Decoder in(answer);
  if (in.number<uint8_t>() == 0) return tl::unexpected(take_error(in));
  return in.string();
}

std::string program_in(std::string_view answer) {
  return Decoder(answer).string();
}

}  // namespace ttyward::relay
