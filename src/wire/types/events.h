// What the daemon tells without being asked: one closed set of events.
//
// On the wire each is an object with `event`, its name, and `subscription`, the number it is sent for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "wire/types/objects.h"
#include "wire/types/screen.h"

namespace ttyward::wire {

struct TerminalOpened {
  static constexpr std::string_view kEvent = "terminal_opened";
  static constexpr std::string_view kAbout = "A terminal was opened.";
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct TerminalChanged {
  static constexpr std::string_view kEvent = "terminal_changed";
  static constexpr std::string_view kAbout =
      "Its name, task, cwd, integration, lease or title changed, or it became ready.";
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct TerminalLent {
  static constexpr std::string_view kEvent = "terminal_lent";
  static constexpr std::string_view kAbout = "A person lent it to agents.";
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct TerminalTakenBack {
  static constexpr std::string_view kEvent = "terminal_taken_back";
  static constexpr std::string_view kAbout = "A person took it back.";
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct TerminalClosed {
  static constexpr std::string_view kEvent = "terminal_closed";
  static constexpr std::string_view kAbout = "It has ended.";
  std::string id;
  std::optional<int64_t> exit_code;
  std::string signal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "the terminal's id");
    v.field("exit_code", self.exit_code, "of the shell");
    v.field("signal", self.signal, "what killed it", kNull);
  }
};

struct CommandStarted {
  static constexpr std::string_view kEvent = "command_started";
  static constexpr std::string_view kAbout = "A command began.";
  CommandResult result;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("result", self.result, "without output");
  }
};

struct CommandStateChanged {
  static constexpr std::string_view kEvent = "command_state";
  static constexpr std::string_view kAbout = "It waits for input, or no longer does.";
  std::string command_id;
  std::string state;
  std::optional<Waiting> waiting;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "the command's id", kNull);
    v.field("state", self.state, "as in a Result");
    v.field("waiting", self.waiting, "what it waits for");
  }
};

struct CommandFinished {
  static constexpr std::string_view kEvent = "command_finished";
  static constexpr std::string_view kAbout = "A command ended.";
  CommandResult result;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("result", self.result, "without output");
  }
};

struct OutputCame {
  static constexpr std::string_view kEvent = "output";
  static constexpr std::string_view kAbout =
      "Something was printed; at most every 100 ms. With `text` in the subscription it carries the lines "
      "that "
      "have ended since the last such event, at most 16 000 characters.";
  std::string id;
  uint64_t lines = 0;
  std::optional<uint64_t> first_line;
  std::optional<std::string> text;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "the terminal's id");
    v.field("lines", self.lines, "how many there are");
    v.field("first_line", self.first_line, "the number of the first line in `text`", kLeftOut);
    v.field("text", self.text, "the lines", kLeftOut);
  }
};

struct IntegrationChanged {
  static constexpr std::string_view kEvent = "integration_changed";
  static constexpr std::string_view kAbout = "The shell reports better or worse than before.";
  std::string id;
  std::string from;
  std::string to;
  std::string reason;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "the terminal's id");
    v.field("from", self.from, "as it was", OneOf{"rich|basic|none"});
    v.field("to", self.to, "as it is", OneOf{"rich|basic|none"});
    v.field("reason", self.reason, "why");
  }
};

struct ApprovalOpened {
  static constexpr std::string_view kEvent = "approval_opened";
  static constexpr std::string_view kAbout = "A person is asked.";
  Approval approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approval", self.approval, "the question");
  }
};

struct ApprovalClosed {
  static constexpr std::string_view kEvent = "approval_closed";
  static constexpr std::string_view kAbout = "A question was closed.";
  Approval approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approval", self.approval, "how it ended");
  }
};

struct Notice {
  static constexpr std::string_view kEvent = "notice";
  static constexpr std::string_view kAbout = "A change that loosens policy was not confirmed.";
  std::string text;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "what");
  }
};

struct Lagged {
  static constexpr std::string_view kEvent = "lagged";
  static constexpr std::string_view kAbout = "Events were dropped, because the client did not read.";
  uint64_t count = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("count", self.count, "how many");
  }
};

struct AttachScreen {
  static constexpr std::string_view kEvent = "attach_screen";
  static constexpr std::string_view kAbout =
      "What changed on the screen. A slow reader gets fewer and later ones.";
  ScreenDelta screen;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("screen", self.screen, "since the last one");
  }
};

struct AttachKeyboard {
  static constexpr std::string_view kEvent = "attach_keyboard";
  static constexpr std::string_view kAbout =
      "The watcher lost the keyboard: somebody took it, or it was idle for `give_back_ms`.";
  bool writable = false;
  std::string reason = "taken";
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("writable", self.writable, "the watcher has the keyboard");
    v.field("reason", self.reason, "why it changed", OneOf{"taken|idle"});
  }
};

struct AttachClosed {
  static constexpr std::string_view kEvent = "attach_closed";
  static constexpr std::string_view kAbout = "The attachment has ended.";
  std::string reason;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("reason", self.reason, "why");
  }
};

// What subscriptions are told.
using AnyEvent =
    std::variant<TerminalOpened, TerminalChanged, TerminalLent, TerminalTakenBack, TerminalClosed,
                 CommandStarted, CommandStateChanged, CommandFinished, OutputCame, IntegrationChanged,
                 ApprovalOpened, ApprovalClosed, Notice, Lagged, AttachScreen, AttachKeyboard, AttachClosed>;

inline std::string_view event_name(const AnyEvent& event) {
  return std::visit([](const auto& each) { return std::decay_t<decltype(each)>::kEvent; }, event);
}

}  // namespace ttyward::wire
