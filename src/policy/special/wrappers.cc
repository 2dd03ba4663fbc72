// Programs that start other programs: what they start is judged as if it stood alone.
#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

bool is_assignment(const Field& field, std::string_view& name, std::string_view& value) {
  const std::string_view text = field.text;
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  name = text.substr(0, equals);
  value = text.substr(equals + 1);
  return name.find_first_of("/ -") == std::string_view::npos;
}

}  // namespace

void env(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
  if (const Field* text = scan.value("S")) call.run_script(*text, false);
  if (const Field* text = scan.value("split-string")) call.run_script(*text, false);
  size_t at = 0;
  std::string_view name;
  std::string_view value;
  while (at < scan.arguments.size() && is_assignment(scan.arguments[at], name, value)) {
    judge_assignment(call, name, value, AssignmentScope::Command);
    ++at;
  }
  if (at == scan.arguments.size()) {
    if (scan.value("S") == nullptr)
      call.ask(Risk::Medium, EffectKind::Secret, "prints every variable, credentials too");
    return;
  }
  call.run_program(std::span<const Field>(scan.arguments).subspan(at), call.input);
}

// sh, bash, dash, zsh …: -c is judged like the line itself, so is a script on standard input.
void shell(Invocation& call, const ProgramRow& row) {
  bool takes_text = false;
  bool reads_profile = false;
  size_t at = 1;
  for (; at < call.argv.size(); ++at) {
    const std::string_view word = call.word(at);
    if (call.argv[at].may_be_option()) break;
    if (word == "--" || word == "-") {
      ++at;
      break;
    }
    if (word.size() < 2 || (word[0] != '-' && word[0] != '+')) break;
    if (word.starts_with("--")) {
      if (word == "--version" || word == "--help") return;
      reads_profile |= word != "--norc" && word != "--noprofile" && word != "--posix";
      if (word == "--rcfile" || word == "--init-file") ++at;
      continue;
    }
    takes_text |= word.find('c') != std::string_view::npos;
    reads_profile |= word.find_first_of("li") != std::string_view::npos;
    if (word.back() == 'o' || word.back() == 'O') ++at;
  }
  if (reads_profile) call.ask(Risk::High, EffectKind::Execute, "starts a shell with its start-up files");
  const bool is_bash = row.name == "bash" || row.name == "sh" || row.name == "dash";
  if (!is_bash) call.ask(Risk::High, EffectKind::Execute, "runs a shell that is read differently");
  if (takes_text) {
    if (at < call.argv.size()) {
      for (const Field& field : call.rest(at + 1)) call.input.parameters.push_back(field.text);
      call.run_script(call.argv[at], false);
    } else {
      call.ask(Risk::High, EffectKind::Execute, "runs a shell without saying what");
    }
    return;
  }
  if (at < call.argv.size()) {
    call.ask(Risk::High, EffectKind::Execute, "runs a script that is not part of the command",
             shown(call.argv[at]));
    return;
  }
  if (!call.input.given)
    return call.ask(Risk::High, EffectKind::Execute, "starts a shell that waits for commands");
  call.ask(call.input.from_network ? Risk::Critical : Risk::High, EffectKind::Execute,
           call.input.from_network ? "runs what comes from the network" : "runs what it is fed as commands");
  Field text;
  text.text = call.input.text;
  if (text.constant()) call.run_script(text, false);
}

void sudo(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  call.ask(Risk::High, EffectKind::Privilege, "runs with somebody else's rights");
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->asks) call.ask(hit.row->risk, hit.row->effect, std::string(hit.row->reason));
    if (hit.row->use == Use::Script && hit.has_value) call.run_script(hit.value, false);
  }
  size_t at = 0;
  std::string_view name;
  std::string_view value;
  while (at < scan.arguments.size() && is_assignment(scan.arguments[at], name, value)) {
    judge_assignment(call, name, value, AssignmentScope::Command);
    ++at;
  }
  if (row.name == "su" || at >= scan.arguments.size()) return;
  const std::string_view inner = scan.arguments[at].text;
  if (inner.starts_with("chmod") || inner.starts_with("chown") || inner.starts_with("mount") ||
      inner.starts_with("umount") || inner.starts_with("chgrp") || inner.starts_with("mkfs")) {
    call.ask(Risk::Critical, EffectKind::Privilege,
             "changes permissions, owners or mounts with somebody else's rights");
  }
  call.run_program(std::span<const Field>(scan.arguments).subspan(at), call.input);
}

// The arguments xargs adds come from its input: constant if that is, otherwise unknown.
void xargs(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
  std::vector<Field> inner = scan.arguments;
  if (inner.empty()) {
    Field echoed;
    echoed.text = "echo";
    inner.push_back(echoed);
  }
  const Field* file = scan.value("a") != nullptr ? scan.value("a") : scan.value("arg-file");
  std::vector<Field> added;
  const std::string& text = call.input.text;
  if (file == nullptr && call.input.given && text.size() < 4096 && text.find(kAny) == std::string::npos &&
      text.find(kAnyFields) == std::string::npos) {
    Field field;
    for (const char c : text + " ") {
      if (c != ' ' && c != '\n' && c != '\t' && c != '\'' && c != '"') {
        field.text.push_back(c == kListed ? kListed : c);
      } else if (!field.text.empty()) {
        added.push_back(field);
        field = Field{};
      }
    }
  } else {
    Field unknown;
    unknown.text = std::string(1, kAnyFields);
    added.push_back(unknown);
  }
  if (call.input.deletes_vital) {
    if (inner.front().text == "rm" || inner.front().text == "unlink" || inner.front().text == "shred") {
      call.deny(EffectKind::Delete, "deletes what was found in a whole system or home directory");
    }
    Field vital;
    vital.text = "/";
    deny_only(call, [&] {
      std::vector<Field> argv = inner;
      argv.push_back(vital);
      call.walk.run_command(argv, call.span, Input{});
    });
  }
  const Field* replaced = scan.value("I") != nullptr ? scan.value("I") : scan.value("replace");
  const std::string token = replaced != nullptr ? replaced->text : scan.has("i") ? "{}" : "";
  if (token.empty()) {
    inner.insert(inner.end(), added.begin(), added.end());
  } else {
    const std::string value = added.size() == 1 ? added.front().text : std::string(1, kAny);
    for (Field& field : inner) {
      for (size_t at = field.text.find(token); at != std::string::npos;
           at = field.text.find(token, at + value.size())) {
        field.text.replace(at, token.size(),
                           value == std::string(1, kAnyFields) ? std::string(1, kAny) : value);
      }
    }
  }
  const size_t commands = call.walk.facts().commands.size();
  call.run_program(inner, Input::of(std::string(1, kAny)));
  raise_since(call.walk.facts(), commands, Risk::High);
}

void parallel(Invocation& call, const ProgramRow&) {
  call.ask(Risk::High, EffectKind::Execute, "runs a command many times over");
  size_t at = 1;
  while (at < call.argv.size() && call.word(at).starts_with("-")) ++at;
  std::vector<Field> inner;
  std::vector<Field> values;
  bool in_values = false;
  for (; at < call.argv.size(); ++at) {
    if (call.word(at).starts_with(":::")) {
      in_values = true;
    } else {
      (in_values ? values : inner).push_back(call.argv[at]);
    }
  }
  for (const Field& value : values) {
    deny_only(call, [&] {
      std::vector<Field> argv = inner;
      argv.push_back(value);
      call.walk.run_command(argv, call.span, Input{});
    });
  }
  call.run_program(inner, call.input);
}

// ssh host command: its own words are run by a shell over there.
void remote(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  call.ask(Risk::High, EffectKind::Network, "runs commands on another machine",
           scan.arguments.empty() ? std::string() : shown(scan.arguments.front()));
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->asks) call.ask(hit.row->risk, hit.row->effect, std::string(hit.row->reason));
  }
  Field text;
  for (size_t i = 1; i < scan.arguments.size(); ++i) text.text += (i > 1 ? " " : "") + scan.arguments[i].text;
  if (!text.text.empty() && text.constant()) {
    deny_only(call, [&] { call.walk.run_script(text.text, call.span, false, Input{}); });
  } else if (text.text.empty() && call.input.given) {
    deny_only(call, [&] { call.walk.run_script(call.input.text, call.span, false, Input{}); });
  }
}

// busybox, toybox: one program under many names, with options of its own making.
void multi_call(Invocation& call, const ProgramRow&) {
  call.ask(Risk::High, EffectKind::Execute, "runs a command under another name");
  size_t at = 1;
  while (at < call.argv.size() && call.word(at).starts_with("-")) ++at;
  if (at < call.argv.size() && find_program(call.word(at)) != nullptr)
    call.run_program(call.rest(at), call.input);
}

// python, perl, ruby, node …
void interpreter(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  if (call.argv.size() == 2 && (call.word(1) == "--version" || call.word(1) == "-V" || call.word(1) == "-v" ||
                                call.word(1) == "-version"))
    return;
  bool inline_code = false;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->asks) call.ask(hit.row->risk, hit.row->effect, std::string(hit.row->reason));
    if (hit.row->use == Use::Code && hit.has_value) {
      inline_code = true;
      call.run_code(hit.value, row.name);
    }
    if (hit.row->use == Use::Program && hit.has_value)
      call.ask(Risk::High, EffectKind::Execute, "runs a module", shown(hit.value));
  }
  if (inline_code) return;
  if (call.input.given && scan.arguments.empty()) {
    call.ask(call.input.from_network ? Risk::Critical : Risk::High, EffectKind::Execute,
             "runs what it is fed as a program");
    check_foreign_code(call, call.input.text);
    return;
  }
  call.ask(Risk::High, EffectKind::Execute, "runs a program that is not part of the command",
           scan.arguments.empty() ? std::string() : shown(scan.arguments.front()));
}

// Wrappers that are asked about in any case; what they start may still be a catastrophe.
void any_inner(Invocation& call, const ProgramRow&) {
  for (size_t i = 1; i < call.argv.size() && i <= 12; ++i) {
    if (!call.argv[i].constant()) continue;
    if (call.argv[i].text.find(' ') != std::string::npos) {
      // Editors and pagers take `!command`.
      const std::string text = call.argv[i].text.substr(
          std::min(call.argv[i].text.find_first_not_of(":!"), call.argv[i].text.size()));
      deny_only(call, [&] { call.walk.run_script(text, call.span, false, Input{}); });
    } else if (find_program(call.word(i).substr(call.word(i).rfind('/') + 1)) != nullptr) {
      deny_only(call, [&] { call.walk.run_command(call.rest(i), call.span, Input{}); });
    }
  }
}

}  // namespace ttyward::policy::special
