// Calls that wait, read, watch and attach.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/arguments.h"
#include "wire/types/objects.h"
#include "wire/types/parts.h"
#include "wire/types/role.h"
#include "wire/types/screen.h"

namespace ttyward::wire {

struct Match {
  uint64_t line = 0;
  std::string text;
  std::optional<uint64_t> repeat;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("line", self.line, "the line's number");
    v.field("text", self.text, "the line");
    v.field("repeat", self.repeat, "in `read`: how often the line is repeated", kLeftOut);
  }
};

struct WaitOutcome {
  std::string condition;
  std::optional<std::optional<Match>> match;
  std::optional<std::optional<int64_t>> port;
  std::optional<std::optional<std::string>> file;
  std::optional<CommandResult> result;
  std::optional<std::optional<Terminal>> terminal;
  std::optional<std::optional<Approval>> approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("condition", self.condition, "the condition that was met first",
            OneOf{"exit|pattern|port|file|quiet|stable|input|prompt|closed|approval|timeout"});
    v.field("match", self.match, "of `pattern`", kLeftOut);
    v.field("port", self.port, "of `port`", kLeftOut);
    v.field("file", self.file, "of `file`", kLeftOut);
    v.field("result", self.result, "of the command it was about");
    v.field("terminal", self.terminal, "as it is now", kLeftOut);
    v.field("approval", self.approval, "of `approval`", kLeftOut);
  }
};

enum class WaitFrom : uint8_t { Now, Start };
constexpr std::array<std::string_view, 2> names_of(WaitFrom) {
  return {"now", "start"};
}

struct WaitRequest {
  static constexpr std::string_view kCall = "wait";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "Waits for the first of several conditions of a terminal, a command or a question.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf =
      "for a `command` or an `approval`, `from` the start or a place, or for nothing but a state (`prompt`, "
      "`port`, `file`, `quiet_ms`, `stable_ms`): what happened meanwhile still counts then";
  static constexpr RepeatAid kRepeatAid{"stream"};
  static bool repeatable(const WaitRequest& self) {
    // Without a command, `exit` and `input` mean the one that runs.
    const bool of_a_state = !self.exit && self.pattern.empty() && !self.input;
    return self.from == WaitFrom::Start || of_a_state || !self.command.empty() || !self.approval.empty() ||
           self.from_place.has_value();
  }
  using Answer = WaitOutcome;
  std::string terminal;
  std::string command;
  std::string approval;
  bool exit = false;
  std::string pattern;
  std::optional<int64_t> port;
  std::string file;
  std::chrono::milliseconds quiet{0};
  std::chrono::milliseconds stable{0};
  bool input = false;
  bool prompt = false;
  WaitFrom from = WaitFrom::Now;
  std::optional<OutputPosition> from_place;
  bool stream = false;
  bool only_new = false;
  std::chrono::milliseconds timeout{30'000};
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this, `command` or `approval`");
    v.field("command", self.command, "the command's id");
    v.field("approval", self.approval, "a question's id");
    v.field("exit", self.exit, "the command has ended");
    v.field("pattern", self.pattern, "RE2; a line of the output matches");
    v.field("port", self.port, "a process of the command listens on it; 0: on any port", Range{0, 65535});
    v.field("file", self.file, "it exists");
    v.field("quiet_ms", self.quiet, "nothing was printed for this long");
    v.field("stable_ms", self.stable, "the screen did not change for this long");
    v.field("input", self.input, "the command waits for input");
    v.field("prompt", self.prompt, "the terminal is idle");
    v.field("from", self.from, "where `pattern` begins to look");
    v.field("from_place", self.from_place, "the same, for a wait that is repeated");
    v.field("stream", self.stream, "report in a first part what \"now\" means");
    v.field("only_new", self.only_new, "the result's output is what this reader has not seen");
    v.field("timeout_ms", self.timeout, "after which it answers `timeout`; 0: never");
    ViewArguments::describe(v, self.view);
  }
};

struct RawRange {
  int64_t offset = 0;
  int64_t bytes = 65536;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("offset", self.offset, "the first byte", Range{0});
    v.field("bytes", self.bytes, "how many at most", Range{1, 4 << 20});
  }
};

struct ReadAnswer {
  std::string text;
  uint64_t first_line = 0;
  uint64_t last_line = 0;
  uint64_t total_lines = 0;
  uint64_t total_bytes = 0;
  bool more = false;
  bool binary = false;
  std::optional<Omitted> omitted;
  std::optional<Bytes> base64;
  std::optional<uint64_t> next_offset;
  std::string terminal_id;
  std::string command_id;
  std::string state;
  std::vector<Match> matches;
  std::optional<uint64_t> longest_line;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "what was asked for");
    v.field("first_line", self.first_line, "of the text");
    v.field("last_line", self.last_line, "of the text");
    v.field("total_lines", self.total_lines, "of all the output");
    v.field("total_bytes", self.total_bytes, "of all the output");
    v.field("more", self.more, "there is more after it");
    v.field("binary", self.binary, "the output is not text");
    v.field("omitted", self.omitted, "what was cut out of the text");
    v.field("base64", self.base64, "of `raw`: the bytes");
    v.field("next_offset", self.next_offset, "of `raw`: where to go on");
    v.field("terminal_id", self.terminal_id, "of which terminal");
    v.field("command_id", self.command_id, "of which command", kNull);
    v.field("state", self.state, "of the command, or of the terminal");
    v.field("matches", self.matches, "of `grep`");
    v.field("longest_line", self.longest_line, "of `columns`: characters of the longest line", kLeftOut);
  }
};

struct ReadRequest {
  static constexpr std::string_view kCall = "read";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "Any part of the output: one of `range`, `tail`, `grep`, `new` and `raw`; without any, all of it, cut "
      "to size.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf = "without `new`: a second one would miss what the first took";
  static bool repeatable(const ReadRequest& self) { return !self.only_new; }
  using Answer = ReadAnswer;
  std::string terminal;
  std::string command;
  std::optional<std::array<int64_t, 2>> range;
  std::optional<std::array<int64_t, 2>> columns;
  std::optional<int64_t> tail;
  std::optional<std::string> grep;
  int64_t context = 0;
  int64_t most = 100;
  bool only_new = false;
  std::optional<RawRange> raw;
  std::optional<std::string> reader;
  bool ansi = false;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this or `command`");
    v.field("command", self.command, "the command's id");
    v.field("range", self.range, "two line numbers: these lines");
    v.field("columns", self.columns, "with `range`: of each line these characters");
    v.field("tail", self.tail, "the last lines", Range{0});
    v.field("grep", self.grep, "RE2; the lines that match");
    v.field("context", self.context, "with `grep`: lines before and after", Range{0, 1000});
    v.field("most", self.most, "with `grep`: matches at most", Range{1, 100'000});
    v.field("new", self.only_new, "what this reader has not seen");
    v.field("raw", self.raw, "bytes as they were printed");
    v.field("reader", self.reader, "the reader whose unread output is returned", Usual{"the caller's"});
    v.field("ansi", self.ansi, "with colours, as escape sequences");
    ViewArguments::describe(v, self.view);
  }
};

struct TerminalNews {
  std::string id;
  std::string name;
  std::string cwd;
  bool hot = false;
  std::optional<CommandResult> running;
  std::vector<CommandResult> finished;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "the terminal's id");
    v.field("name", self.name, "its name", kNull);
    v.field("cwd", self.cwd, "where it is", kNull);
    v.field("hot", self.hot, "it is still printing");
    v.field("running", self.running, "what runs, with what is new");
    v.field("finished", self.finished, "what has ended, with what is new");
  }
};

struct AtPerson {
  std::string terminal;
  bool attached = false;
  std::string shell;
  std::string last_command;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "the one a person attached to last");
    v.field("attached", self.attached, "somebody is attached to it now");
    v.field("shell", self.shell, "which kind of shell", kNull);
    v.field("last_command", self.last_command, "the last command line there", kNull);
  }
};

struct Selection {
  std::string terminal;
  std::string text;
  std::string by;
  Time at;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "where it stands");
    v.field("text", self.text, "what was marked; at most its last 16 000 characters");
    v.field("by", self.by, "who marked it");
    v.field("at", self.at, "when");
  }
};

struct EnvironmentNews {
  std::string text;
  std::vector<TerminalNews> active;
  std::vector<TerminalNews> inactive;
  std::optional<AtPerson> person;
  std::optional<Selection> selection;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "a summary for a model");
    v.field("active", self.active, "terminals in which something runs");
    v.field("inactive", self.inactive, "the others");
    v.field("person", self.person, "where a person is, if the caller may read that terminal", kLeftOut);
    v.field("selection", self.selection, "what a person marked, if the caller may read that terminal",
            kLeftOut);
  }
};

struct EnvironmentRequest {
  static constexpr std::string_view kCall = "environment";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "What is running where, and what is new since this reader last asked.";
  using Answer = EnvironmentNews;
  std::string task;
  std::optional<std::string> reader;
  bool edited = false;
  std::optional<std::chrono::milliseconds> cool_down;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("task", self.task, "terminals of this task, and of none");
    v.field("reader", self.reader, "the reader whose unread output is returned", Usual{"the caller's"});
    v.field("edited", self.edited, "a file was just written");
    v.field("cool_down_ms", self.cool_down, "how long to wait for terminals that are still printing",
            Usual{"`times.cool_down`"});
    ViewArguments::describe(v, self.view);
  }
};

struct Attached {
  uint64_t subscription = 0;
  ScreenDelta screen;
  bool writable = false;
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "its number");
    v.field("screen", self.screen, "all of it");
    v.field("writable", self.writable, "the caller has the keyboard");
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct AttachRequest {
  static constexpr std::string_view kCall = "attach";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "Watches a terminal's screen and, for a person, takes the keyboard. Events `attach_screen`, "
      "`attach_keyboard` and `attach_closed` follow.";
  using Answer = Attached;
  std::string terminal;
  bool read_only = false;
  bool take = false;
  std::optional<Size> size;
  int64_t give_back_ms = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("read_only", self.read_only, "only watch");
    v.field("take", self.take, "take the keyboard from another person");
    v.field(
        "give_back_ms", self.give_back_ms,
        "after so long without `attach_input` the keyboard is given back, and the caller watches; 0: never",
        Range{0, 86'400'000});
    v.field("size", self.size, "who takes the keyboard gives the terminal this size", Usual{"as it is"});
  }
};

struct AttachInputRequest {
  static constexpr std::string_view kCall = "attach_input";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Sends what a person types.";
  using Answer = Nothing;
  uint64_t subscription = 0;
  Bytes base64;
  std::optional<std::string> keys;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "of the attachment");
    v.field("base64", self.base64, "the bytes");
    v.field("keys", self.keys,
            "keys, such as \"C-c Up\", encoded as the terminal's modes want them; instead of `base64`");
  }
};

struct AttachResizeRequest {
  static constexpr std::string_view kCall = "attach_resize";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "The screen of whoever has the keyboard has another size, and so has the terminal; of others nothing "
      "happens.";
  using Answer = Nothing;
  uint64_t subscription = 0;
  int64_t cols = 80;
  int64_t rows = 24;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "of the attachment");
    v.field("cols", self.cols, "columns", Range{1, 1000});
    v.field("rows", self.rows, "rows", Range{1, 1000});
  }
};

struct DetachRequest {
  static constexpr std::string_view kCall = "detach";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Ends an attachment.";
  using Answer = Nothing;
  uint64_t subscription = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "of the attachment");
  }
};

struct Selected {
  std::optional<Selection> selection;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("selection", self.selection, "what is marked now");
  }
};

struct SelectRequest {
  static constexpr std::string_view kCall = "select";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Marks text of a terminal for agents that may read it: `environment` tells them. One thing is marked "
      "at a "
      "time, and not beyond the daemon's life.";
  using Answer = Selected;
  std::string terminal;
  std::optional<std::array<int64_t, 2>> range;
  bool clear = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; `@active`: the one a person attached to last");
    v.field("range", self.range, "two line numbers: these lines", Usual{"what its screen shows"});
    v.field("clear", self.clear, "nothing is marked any more");
  }
};

struct Subscribed {
  uint64_t subscription = 0;
  std::vector<Terminal> terminals;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "its number");
    v.field("terminals", self.terminals, "that live now");
  }
};

struct SubscribeRequest {
  static constexpr std::string_view kCall = "subscribe";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Subscribes to events.";
  using Answer = Subscribed;
  std::string terminal;
  std::vector<std::string> kinds;
  bool text = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "only events of this terminal", Usual{"all"});
    v.field("kinds", self.kinds, "names of events", Usual{"all"});
    v.field("text", self.text, "with `terminal`: output events carry the text");
  }
};

struct UnsubscribeRequest {
  static constexpr std::string_view kCall = "unsubscribe";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Ends a subscription.";
  using Answer = Nothing;
  uint64_t subscription = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("subscription", self.subscription, "its number");
  }
};

}  // namespace ttyward::wire
