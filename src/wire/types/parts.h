// What a streamed call says before it is answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/types/objects.h"

namespace ttyward::wire {

// A place in the output that does not move when more is printed.
struct OutputPosition {
  int64_t line = 1;
  std::string text;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("line", self.line, "the line's number", Range{1});
    v.field("text", self.text, "what it held, up to this place");
  }
};

struct Again {
  std::optional<uint64_t> from_line;
  std::string command;
  std::optional<OutputPosition> from_place;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("from_line", self.from_line, "of `exec` and `run`: how many lines came so far", kLeftOut);
    v.field("command", self.command, "of `wait`: the command that is meant", kLeftOut);
    v.field("from_place", self.from_place, "of `wait`: where it began to look", kLeftOut);
  }
};

struct BinaryBytes {
  uint64_t bytes = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("bytes", self.bytes, "so far");
  }
};

struct StreamPart {
  static constexpr std::string_view kName = "Part";
  static constexpr std::string_view kAbout =
      "What a call with `stream` sends before its answer. Only what is new is present.";
  std::string output;
  std::optional<Again> again;
  std::string state;
  std::optional<std::optional<Waiting>> waiting;
  std::string approval;
  std::optional<std::optional<std::string>> reason;
  std::optional<BinaryBytes> binary;
  std::optional<std::optional<Progress>> progress;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("output", self.output, "finished lines as a person sees them, at most every 100 ms", kLeftOut);
    v.field("again", self.again, "arguments to add when this call has to be repeated", kLeftOut);
    v.field("state", self.state, "of the command, when it changes", kLeftOut);
    v.field("waiting", self.waiting, "what it waits for now; null: for nothing", kLeftOut);
    v.field("approval", self.approval, "with `pending_approval`: the open question", kLeftOut);
    v.field("reason", self.reason, "with `pending_approval`: why it was asked", kLeftOut);
    v.field("binary", self.binary, "the output is not text: only its size is told", kLeftOut);
    v.field("progress", self.progress, "as the program reports it; null: it has ended", kLeftOut);
  }
};

}  // namespace ttyward::wire
