// The call that recordings are made from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/types/describe.h"
#include "wire/types/role.h"

namespace ttyward::wire {

enum class RecordingMarkKind : uint8_t { Time, Resize, Gap };
constexpr std::array<std::string_view, 3> names_of(RecordingMarkKind) {
  return {"time", "resize", "gap"};
}

// Something that holds from a byte of a recording on.
struct RecordingMark {
  RecordingMarkKind kind = RecordingMarkKind::Time;
  uint64_t offset = 0;
  uint64_t at_us = 0;
  std::optional<int64_t> cols;
  std::optional<int64_t> rows;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> newlines;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("kind", self.kind, "bytes arrived then; the terminal got another size; bytes are missing");
    v.field("offset", self.offset, "the byte");
    v.field("at_us", self.at_us, "microseconds since the terminal was made");
    v.field("cols", self.cols, "of `resize`", kLeftOut);
    v.field("rows", self.rows, "of `resize`", kLeftOut);
    v.field("bytes", self.bytes, "of `gap`: how many are missing", kLeftOut);
    v.field("newlines", self.newlines, "of `gap`: line feeds among them", kLeftOut);
  }
};

// A command in a recording.
struct RecordedCommand {
  std::string command_id;
  std::string command;
  uint64_t offset = 0;
  Time started_at;
  std::optional<int64_t> exit_code;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "its id");
    v.field("command", self.command, "the command line; secrets are masked");
    v.field("offset", self.offset, "the first byte of its output");
    v.field("started_at", self.started_at, "when it began");
    v.field("exit_code", self.exit_code, "only if it was observed");
  }
};

struct RecordingPart {
  std::string terminal_id;
  std::string command_id;
  std::string name;
  std::string provider;
  bool ended = false;
  uint64_t created_at_us = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t next_offset = 0;
  bool more = false;
  Bytes base64;
  std::vector<RecordingMark> marks;
  std::vector<RecordedCommand> commands;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal_id", self.terminal_id, "of which terminal");
    v.field("command_id", self.command_id, "of which command", kNull);
    v.field("name", self.name, "of the terminal", kNull);
    v.field("provider", self.provider, "how its process was made");
    v.field("ended", self.ended, "nothing more will come");
    v.field("created_at_us", self.created_at_us,
            "when the terminal was made, in microseconds since the epoch: the zero of the marks' times");
    v.field("begin", self.begin, "the first byte of what was asked for, in the terminal's output");
    v.field("end", self.end, "the byte after the last, as of now");
    v.field("next_offset", self.next_offset, "where to go on");
    v.field("more", self.more, "there is more");
    v.field("base64", self.base64, "the bytes that are there, in order");
    v.field("marks", self.marks, "in order; the first part begins with the time and size that hold there");
    v.field("commands", self.commands, "of the first part: those that are known, in order");
  }
};

struct RecordingRequest {
  static constexpr std::string_view kCall = "recording";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "A part of what a terminal or a command printed, with the times, sizes and gaps a recording is made "
      "of.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = RecordingPart;
  std::string terminal;
  std::string command;
  std::optional<int64_t> offset;
  int64_t bytes = 1 << 20;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this or `command`");
    v.field("command", self.command, "the command's id");
    v.field("offset", self.offset, "where to go on", Range{0}, Usual{"the beginning"});
    v.field("bytes", self.bytes, "how many at most", Range{1, 4 << 20});
  }
};

}  // namespace ttyward::wire
