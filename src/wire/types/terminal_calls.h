// Calls about terminals: opened, found, typed into, named, lent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/arguments.h"
#include "wire/types/objects.h"
#include "wire/types/role.h"

namespace ttyward::wire {

struct OneTerminal {
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct TerminalList {
  std::vector<Terminal> terminals;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminals", self.terminals, "oldest first");
  }
};

enum class Owner : uint8_t { Agent, User, System };
constexpr std::array<std::string_view, 3> names_of(Owner) {
  return {"agent", "user", "system"};
}

struct OpenRequest {
  static constexpr std::string_view kCall = "open";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Opens a terminal. Answers once its shell is ready, or integration has timed out.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf = "with a `request`";
  static constexpr RepeatAid kRepeatAid{"request", 'o'};
  static bool repeatable(const OpenRequest& self) { return !self.request.empty(); }
  using Answer = OneTerminal;
  std::string name;
  std::string cwd;
  std::string shell;
  std::vector<std::string> shell_args;
  bool login = false;
  std::optional<Provider> provider;
  std::string task;
  std::optional<Owner> owner;
  Variables env;
  std::optional<Size> size;
  std::string request;
  std::string sandbox;
  std::string place;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "a name that no living terminal has");
    v.field("cwd", self.cwd, "where it begins", Usual{"the home folder"});
    v.field("shell", self.shell,
            "a path or a name; an agent is asked about what is in neither /etc/shells nor the configuration",
            Usual{"`shell.path`"});
    v.field("shell_args", self.shell_args,
            "for that shell; an agent is asked about them, as about a command");
    v.field("login", self.login, "a login shell");
    v.field(
        "provider", self.provider,
        "`pipe`: a shell without a terminal, whose commands read nothing, and to which nothing can be typed",
        Usual{"`terminal.provider`"});
    v.field("task", self.task, "the task it is bound to");
    v.field("owner", self.owner, "whose it is; an agent's are an agent's", Usual{"the caller's"});
    v.field("env", self.env, "variables to set");
    v.field("size", self.size, "of the terminal", Usual{"`terminal.cols`, `terminal.rows`"});
    v.field("request", self.request,
            "chosen by the client; a call that is repeated with the same id opens no second terminal");
    v.field(
        "sandbox", self.sandbox,
        "the profile that confines it and all its commands (docs/sandbox.md); an agent can only ask for a "
        "stricter one than is configured",
        Usual{"`sandbox.profile` for an agent, none for a person"});
    v.field(
        "place", self.place,
        "where it is opened: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); an agent is asked "
        "about, unless a rule allows it",
        Usual{"this machine"});
  }
};

struct AcquiredTerminal {
  Terminal terminal;
  bool created = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
    v.field("created", self.created, "it is a new one");
  }
};

struct AcquireRequest {
  static constexpr std::string_view kCall = "acquire";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "An idle terminal of the same provider, task and live cwd, else an idle one of the same provider and "
      "live "
      "cwd, else a new one. A terminal whose cwd is unknown never matches. It is bound to the task, and no "
      "other "
      "task gets it before a command was sent to it, it was released, or 30 s have passed. Where no more may "
      "be "
      "opened (`pool.limit`, `limits.terminals`) the call waits for one that fits to be free, or for room.";
  using Answer = AcquiredTerminal;
  std::string cwd;
  std::string task;
  std::optional<Provider> provider;
  std::optional<std::chrono::milliseconds> wait;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("cwd", self.cwd, "where it has to be", Usual{"the home folder"});
    v.field("task", self.task, "the task it is for");
    v.field("provider", self.provider, "in a terminal, or on pipes", Usual{"`terminal.provider`"});
    v.field("wait_ms", self.wait, "how long to wait where no more may be opened; 0: not at all",
            Usual{"`pool.wait`"});
  }
};

struct ReleaseRequest {
  static constexpr std::string_view kCall = "release";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Removes the task from its terminals; they stay open as background terminals.";
  using Answer = TerminalList;
  std::string task;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("task", self.task, "the task", kRequired);
  }
};

struct Typed {
  std::optional<uint64_t> bytes;
  std::string command_id;
  std::string state;
  std::string approval;
  std::string reason;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("bytes", self.bytes, "that were typed; 0 with `pending_approval`", kLeftOut);
    v.field("command_id", self.command_id, "the command it was typed to", kLeftOut);
    v.field("state", self.state, "it is typed once a person allows it", kLeftOut, OneOf{"pending_approval"});
    v.field("approval", self.approval, "the open question", kLeftOut);
    v.field("reason", self.reason, "why it was asked", kLeftOut);
  }
};

struct InputRequest {
  static constexpr std::string_view kCall = "input";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Types into a terminal: exactly one kind of input.";
  using Answer = Typed;
  std::string terminal;
  std::optional<std::string> text;
  std::optional<std::string> keys;
  std::optional<std::string> paste;
  std::optional<std::string> secret;
  std::optional<Bytes> base64;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("text", self.text, "text; a line end is Enter");
    v.field("keys", self.keys, "keys, such as \"C-c Enter\"");
    v.field("paste", self.paste, "text to paste");
    v.field("secret", self.secret, "typed only while echo is off, followed by Enter, never recorded");
    v.field("base64", self.base64, "raw bytes");
  }
};

struct ResizeRequest {
  static constexpr std::string_view kCall = "resize";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Sets the size of a terminal.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = Nothing;
  std::string terminal;
  int64_t cols = 80;
  int64_t rows = 24;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("cols", self.cols, "columns", Range{1, 1000});
    v.field("rows", self.rows, "rows", Range{1, 1000});
  }
};

struct Cursor {
  int64_t row = 0;
  int64_t col = 0;
  bool visible = true;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("row", self.row, "from 0");
    v.field("col", self.col, "from 0");
    v.field("visible", self.visible, "it is shown");
  }
};

enum class ScreenFormat : uint8_t { Text, Ansi, Json, Html, Svg };
constexpr std::array<std::string_view, 5> names_of(ScreenFormat) {
  return {"text", "ansi", "json", "html", "svg"};
}

struct ScreenContent {
  ScreenFormat format = ScreenFormat::Text;
  std::string content;
  int64_t cols = 0;
  int64_t rows = 0;
  Cursor cursor;
  bool alternate = false;
  std::string title;
  std::string terminal;
  std::string state;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("format", self.format, "as asked");
    v.field("content", self.content, "what is visible");
    v.field("cols", self.cols, "columns");
    v.field("rows", self.rows, "rows");
    v.field("cursor", self.cursor, "where it is");
    v.field("alternate", self.alternate, "a full-screen program has it");
    v.field("title", self.title, "as a program set it", kNull);
    v.field("terminal", self.terminal, "its id");
    v.field("state", self.state, "as in a Terminal");
  }
};

struct ScreenRequest {
  static constexpr std::string_view kCall = "screen";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "What the screen shows now.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = ScreenContent;
  std::string terminal;
  ScreenFormat format = ScreenFormat::Text;
  int64_t history = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("format", self.format, "how it is written");
    v.field("history", self.history, "lines above the screen; text only", Range{0, 1'000'000});
  }
};

struct ListRequest {
  static constexpr std::string_view kCall = "list";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Terminals that the caller may see.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = TerminalList;
  std::string task;
  std::optional<Owner> owner;
  bool all = false;
  bool background = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("task", self.task, "of this task");
    v.field("owner", self.owner, "of this owner");
    v.field("all", self.all, "include terminals that have ended");
    v.field("background", self.background, "without a task");
  }
};

struct TerminalDetails {
  Terminal terminal;
  std::vector<CommandResult> commands;
  std::vector<Process> processes;
  std::vector<Port> ports;
  Variables environment;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "as it is now");
    v.field("commands", self.commands, "the last ones, without output");
    v.field("processes", self.processes, "that run in it");
    v.field("ports", self.ports, "those listen on");
    v.field("environment", self.environment, "what its shell has changed");
  }
};

struct ShowRequest {
  static constexpr std::string_view kCall = "show";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "A terminal with its commands, processes and ports.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = TerminalDetails;
  std::string terminal;
  int64_t most = 40;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("most", self.most, "commands at most", Range{0, 1000});
  }
};

struct LendRequest {
  static constexpr std::string_view kCall = "lend";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Lends a person's terminal to agents, for use or only for reading, until it is taken back.";
  using Answer = OneTerminal;
  std::string terminal;
  bool read_only = false;
  std::string to;
  bool back = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("read_only", self.read_only, "only for reading");
    v.field("to", self.to, "a session", Usual{"every agent"});
    v.field("back", self.back, "take it back");
  }
};

struct TokenFile {
  std::string file;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("file", self.file, "the file that holds it");
  }
};

struct PersonTokenRequest {
  static constexpr std::string_view kCall = "person_token";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "The token for `hello.token`.";
  using Answer = TokenFile;
  bool fresh = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("new", self.fresh, "make a new one; the old one is no longer valid");
  }
};

struct Resumed {
  bool resumed = false;
  Terminal terminal;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("resumed", self.resumed, "false: it was not paused");
    v.field("terminal", self.terminal, "as it is now");
  }
};

struct ResumeRequest {
  static constexpr std::string_view kCall = "resume";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Resumes a terminal that is paused because its journal is at its quota (`overflow = \"pause\"`), with "
      "more space.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = Resumed;
  std::string terminal;
  std::optional<int64_t> bytes;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("bytes", self.bytes, "how much more; an agent gets at most `limits.journal`",
            Range{1, int64_t{1} << 40}, Usual{"`limits.journal`"});
  }
};

struct RenameRequest {
  static constexpr std::string_view kCall = "rename";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Names a terminal. A name that another living one has is refused.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = OneTerminal;
  std::string terminal;
  std::string name;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("name", self.name, "the new name; empty: none");
  }
};

struct AssignRequest {
  static constexpr std::string_view kCall = "assign";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Binds a terminal to a task.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = OneTerminal;
  std::string terminal;
  std::string task;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("task", self.task, "the task; empty: none");
  }
};

struct AssociateRequest {
  static constexpr std::string_view kCall = "associate";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Associates a terminal with a session.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = OneTerminal;
  std::string terminal;
  std::string session;
  std::string quality = "none";
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("session", self.session, "the session; an agent's own", kRequired);
    v.field("quality", self.quality, "how close the association is");
  }
};

struct SessionTerminalsRequest {
  static constexpr std::string_view kCall = "session_terminals";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "The terminals of a session.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = TerminalList;
  std::string session;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("session", self.session, "the session", kRequired);
  }
};

struct SessionCwd {
  std::string cwd;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("cwd", self.cwd, "of its newest living terminal", kNull);
  }
};

struct SessionCwdRequest {
  static constexpr std::string_view kCall = "session_cwd";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Where a session works.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = SessionCwd;
  std::string session;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("session", self.session, "the session", kRequired);
  }
};

struct PathContribution {
  std::string contributor;
  std::string path;
  std::string description;
  bool prepend = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("contributor", self.contributor, "who wants it");
    v.field("path", self.path, "a folder for PATH");
    v.field("description", self.description, "what for", kNull);
    v.field("prepend", self.prepend, "before the others");
  }
};

struct PathList {
  std::vector<PathContribution> paths;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("paths", self.paths, "for terminals opened from now on");
  }
};

struct PathAddRequest {
  static constexpr std::string_view kCall = "path_add";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Adds a folder to the PATH of terminals opened from now on.";
  using Answer = PathList;
  std::string contributor;
  std::string path;
  std::string description;
  bool prepend = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("contributor", self.contributor, "who wants it", kRequired);
    v.field("path", self.path, "an absolute folder without a colon", kRequired);
    v.field("description", self.description, "what for");
    v.field("prepend", self.prepend, "before the others");
  }
};

struct PathRemoveRequest {
  static constexpr std::string_view kCall = "path_remove";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Removes what a contributor added.";
  using Answer = PathList;
  std::string contributor;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("contributor", self.contributor, "whose", kRequired);
  }
};

struct PathListRequest {
  static constexpr std::string_view kCall = "path_list";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "The folders that were added.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = PathList;
  template <class V>
  static void describe(V&, auto&) {}
};

}  // namespace ttyward::wire
