#include "engine/agent_input.h"

#include <algorithm>

#include <boost/json/parse.hpp>

#include "gate/typed_to.h"

namespace ttyward::engine {

using base::Error;
using base::ErrorCode;
using Kind = TypedInput::Kind;

namespace {

TypedInput refuse(ErrorCode code, const std::string& why) {
  TypedInput made;
  made.kind = Kind::Refuse;
  made.error = base::fail(code, why).value();
  return made;
}

// The settings of the terminal are the last words of the evidence.
bool is_raw(const pty::Waiting& waiting) {
  const size_t at = waiting.evidence.rfind("; ");
  return at == std::string::npos ||
         !std::string_view(waiting.evidence).substr(at + 2).starts_with("line mode");
}

bool is_printable(std::string_view bytes) {
  return std::none_of(bytes.begin(), bytes.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// A person said yes to this command, and so to what it reads.
bool allowed_by_person(const Command* command) {
  if (command == nullptr || command->by != Owner::Agent) return false;
  boost::system::error_code wrong;
  const auto verdict = boost::json::parse(command->facts.verdict_json, wrong);
  const auto* object = wrong ? nullptr : verdict.if_object();
  const auto* decision = object != nullptr ? object->if_contains("decision") : nullptr;
  return decision != nullptr && decision->is_string() && decision->get_string() == "ask";
}

// Of another user, after sudo say, nothing more is known than its name: a shell counts as one that takes
// lines then.
gate::ReaderFacts facts_of(const pty::Waiting& waiting, const std::optional<place::ProcessFacts>& reader) {
  gate::ReaderFacts facts;
  facts.raw = is_raw(waiting);
  if (reader) {
    facts.names = reader->names;
    facts.arguments = reader->arguments;
    const auto& environment = reader->environment;
    facts.secure_pager =
        std::find(environment.begin(), environment.end(), "LESSSECURE=1") != environment.end();
  }
  if (facts.names.empty()) facts.names = {waiting.program};
  if (facts.arguments.empty()) facts.arguments = {facts.names.front()};
  return facts;
}

shell::ShellKind shell_of(const gate::ReaderFacts& facts) {
  for (const std::string& name : facts.names) {
    const auto kind = shell::identify_shell({name}).kind;
    if (kind != shell::ShellKind::Other) return kind;
  }
  return shell::ShellKind::Other;
}

// One whole line, as it would be given to exec: keys that edit, recall or complete would make another of it.
TypedInput line_for(const pty::Waiting& waiting, const gate::ReaderFacts& facts, const std::string& folder,
                    std::string_view bytes) {
  TypedInput made;
  made.kind = Kind::Line;
  if (bytes == "\x04" || bytes == "\r" || bytes == "\n") {
    made.kind = Kind::Type;  // leaves that shell, or an empty line
    return made;
  }
  std::string_view line = bytes;
  if (!line.ends_with('\r') && !line.ends_with('\n')) {
    return refuse(
        ErrorCode::InvalidArgument,
        waiting.program + " is a shell that runs each line: send one whole line that ends with Enter");
  }
  line.remove_suffix(1);
  if (!is_printable(line)) {
    return refuse(ErrorCode::InvalidArgument,
                  waiting.program + " is a shell that runs each line: send one line without control keys");
  }
  made.line = line;
  // A shell at its prompt expands '!' from its history, so the resulting line is not known.
  made.language =
      line.find('!') == std::string_view::npos ? gate::language_of(shell_of(facts)) : gate::Language::Other;
  made.cwd = folder;
  if (made.cwd.empty()) made.language = gate::Language::Other;
  return made;
}

}  // namespace

TypedInput judge_agent_input(const Terminal& terminal, const base::Result<pty::RunState>& state,
                             std::string_view bytes) {
  const bool shell_behind = !terminal.spec().temporary();
  if (shell_behind && !terminal.busy()) {
    return refuse(ErrorCode::PermissionDenied,
                  "terminal " + terminal.id() +
                      " is at its shell prompt: run commands with exec (run_persistent_command); send input "
                      "only to programs that ask");
  }
  if (!state) {
    TypedInput made;
    made.kind = Kind::Refuse;
    made.error = state.error();
    return made;
  }
  // A program that polls the terminal or set it to raw mode takes input, though perhaps not at this moment.
  const bool raw =
      state->terminal && !state->terminal->canonical && state->terminal->foreground != terminal.shell_pid();
  const bool listens = state->listened || raw;
  if (!state->waiting && !(listens && state->terminal && state->terminal->foreground > 0)) {
    return refuse(ErrorCode::Unavailable, "no program in " + terminal.id() +
                                              " is reading the terminal now, and a different program could "
                                              "get this input; wait until one asks (wait with input)");
  }
  pty::Waiting listener;
  if (!state->waiting) {
    listener.kind = pty::WaitKind::Key;
    listener.pid = state->terminal->foreground;
    listener.program =
        place::process_now(terminal.place(), listener.pid).value_or(place::ProcessFacts()).stat.comm;
  }
  const pty::Waiting& waiting = state->waiting ? *state->waiting : listener;
  const bool by_line = waiting.kind == pty::WaitKind::Line || waiting.kind == pty::WaitKind::Password;
  const size_t line_end = bytes.find_first_of(kEndsReading);
  if (by_line && line_end != std::string_view::npos && line_end + 1 < bytes.size()) {
    return refuse(
        ErrorCode::InvalidArgument,
        waiting.program + " reads one line at a time: send one line, and the next when it asks again");
  }
  TypedInput made;
  if (waiting.kind != pty::WaitKind::Password) {
    const auto reader =
        place::process_now(terminal.place(), waiting.pid,
                           place::kNames | place::kArguments | place::kEnvironment | place::kFolder);
    const gate::ReaderFacts facts = facts_of(waiting, reader);
    gate::TypedTo to = gate::typed_to(facts);
    // The terminal's own shell is busy with a command, so what reads is that command: its builtin `read`.
    if (shell_behind && waiting.pid == terminal.pid())
      to = facts.raw ? gate::TypedTo::Runner : gate::TypedTo::Prompt;
    switch (to) {
      case gate::TypedTo::Prompt:
        break;
      case gate::TypedTo::Shell:
        made = line_for(waiting, facts, reader ? reader->folder : std::string(), bytes);
        break;
      case gate::TypedTo::Pager:
        if (!gate::only_moves_in_pager(bytes) && !allowed_by_person(terminal.current()))
          made.kind = Kind::Ask;
        break;
      case gate::TypedTo::Runner:
        if (!gate::only_leaves_editor(bytes) && !allowed_by_person(terminal.current())) made.kind = Kind::Ask;
        break;
    }
  }
  // The program may end before it reads, and a shell behind it would get the input: there must be nothing in
  // it that a shell acts on. Behind a relay (ssh) is a shell, too.
  const bool certain = state->waiting || (!state->listened && (!shell_behind || is_printable(bytes)));
  if (!certain && made.kind != Kind::Refuse && !allowed_by_person(terminal.current())) made.kind = Kind::Ask;
  made.program = waiting.program;
  made.pid = waiting.pid;
  made.echo = waiting.kind != pty::WaitKind::Password;
  return made;
}

}  // namespace ttyward::engine
