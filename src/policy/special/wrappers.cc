// Programs that start other programs: what they start is judged as if it stood alone.
#include "policy/special/special.h"
#include "policy/special/xargs_input.h"

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
  for (const OptionHit& hit : scan.hits) {
    if ((hit.row->name == "u" || hit.row->name == "unset") &&
        (!hit.value.constant() || is_code_loading(hit.value.text))) {
      call.ask(Risk::High, EffectKind::Execute, "removes a variable that programs obey", shown(hit.value));
    }
  }
  if (const Field* text = scan.value("S")) call.run_script(*text, false);
  if (const Field* text = scan.value("split-string")) call.run_script(*text, false);
  size_t at = 0;
  std::string_view name;
  std::string_view value;
  // A lone dash is -i.
  if (!scan.arguments.empty() && scan.arguments.front().text == "-") {
    call.ask(Risk::High, EffectKind::Execute,
             "removes the variables that keep git and pagers from running programs");
    ++at;
  }
  while (at < scan.arguments.size() && is_assignment(scan.arguments[at], name, value)) {
    judge_assignment(call, name, value, AssignmentScope::Command);
    ++at;
  }
  if (at == scan.arguments.size()) {
    if (scan.value("S") == nullptr)
      call.ask(Risk::Medium, EffectKind::Secret, "prints every variable, credentials too");
    return;
  }
  const std::vector<std::string> before = call.walk.state().cwds;
  bool moved = false;
  for (const OptionHit& hit : scan.hits) {
    if ((hit.row->name != "C" && hit.row->name != "chdir") || !hit.has_value) continue;
    call.walk.state().cwds = hit.value.constant() ? call.folders(hit.value.text) : std::vector<std::string>{};
    moved = true;
  }
  call.run_program(std::span<const Field>(scan.arguments).subspan(at), call.input);
  if (moved) call.walk.state().cwds = before;
}

// sh, bash, dash, zsh …: -c is judged like the line itself, so is a script on standard input.
void shell(Invocation& call, const ProgramRow& row) {
  bool takes_text = false;
  bool takes_input = false;
  bool reads_profile = false;
  bool only_checks = false;
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
    takes_input |= word[0] == '-' && word.find('s') != std::string_view::npos;
    reads_profile |= word.find_first_of("li") != std::string_view::npos;
    only_checks |= word == "-n";
    if (word.back() == 'o' || word.back() == 'O') ++at;
  }
  if (reads_profile) call.ask(Risk::High, EffectKind::Execute, "starts a shell with its start-up files");
  const bool is_bash = row.name == "bash" || row.name == "sh" || row.name == "dash";
  if (!is_bash) call.ask(Risk::High, EffectKind::Execute, "runs a shell with a different syntax");
  for (const Field& field : call.rest(1)) {
    if (!is_bash && field.text.find("iex") != std::string::npos && field.text.find("iw") != std::string::npos)
      call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
  }
  if (takes_text) {
    if (at < call.argv.size()) {
      for (const Field& field : call.rest(at + 1)) call.input.parameters.push_back(field.text);
      call.run_script(call.argv[at], false);
    } else {
      call.ask(Risk::High, EffectKind::Execute, "runs a shell whose commands are not known");
    }
    return;
  }
  // `sh -s -- -y` reads commands from its input; what follows are parameters. So does `sh /dev/stdin`.
  const bool script = at < call.argv.size() && !takes_input && call.word(at) != "/dev/stdin" &&
                      call.word(at) != "/proc/self/fd/0" && call.word(at) != "/dev/fd/0";
  // -n reads the script and runs nothing of it.
  if (script && only_checks && is_bash && !reads_profile) return call.read_path(call.argv[at]);
  if (script) {
    const bool fetched = call.runs_fetched(call.argv[at]);
    call.ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
             fetched ? "runs what comes from the network" : "runs a script that is not part of the command",
             shown(call.argv[at]));
    for (const Field& field : call.rest(at + 1)) call.input.parameters.push_back(field.text);
    return check_known_script(call, call.argv[at]);
  }
  if (!call.input.given)
    return call.ask(Risk::High, EffectKind::Execute, "starts a shell that waits for commands");
  Field text;
  text.text = call.input.text;
  const bool fetched = call.input.from_network || (!text.constant() && call.runs_fetched(text));
  call.ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
           fetched ? "runs what comes from the network" : "runs its input as commands");
  if (text.constant()) {
    call.run_script(text, false);
  } else if (!call.input.likely.empty()) {
    deny_only(call, [&] { call.walk.run_script(call.input.likely, call.span, false, Input{}); });
  }
}

// source FILE, . FILE: what it says happens to this shell.
void source(Invocation& call, const ProgramRow& row) {
  if (call.argv.size() > 1 && call.runs_fetched(call.argv[1]))
    call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network", shown(call.argv[1]));
  if (call.argv.size() > 1) check_known_script(call, call.argv[1]);
  if (call.word(1) == "/dev/stdin" && call.input.given)
    deny_only(call, [&] { call.walk.run_script(call.input.text, call.span, true, Input{}); });
  poison(call, row);
}

void sudo(Invocation& call, const ProgramRow& row) {
  // su and runuser take -c after the user's name, too.
  const bool anywhere = row.name == "su" || row.name == "runuser";
  const OptionScan scan =
      scan_options(row, call.argv, anywhere ? ScanStop::Never : ScanStop::AtFirstArgument);
  call.ask(Risk::High, EffectKind::Privilege, "runs with somebody else's rights");
  for (const OptionHit& hit : scan.hits) {
    ask_about_option(call, hit);
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
  check_command_text(call, scan.arguments[at].text);  // sudo -s hands it to a shell
  const std::string_view inner = scan.arguments[at].text;
  if (inner.starts_with("chmod") || inner.starts_with("chown") || inner.starts_with("mount") ||
      inner.starts_with("umount") || inner.starts_with("chgrp") || inner.starts_with("mkfs")) {
    call.ask(Risk::Critical, EffectKind::Privilege,
             "changes permissions, owners or mounts with somebody else's rights");
  }
  call.run_program(std::span<const Field>(scan.arguments).subspan(at), call.input);
}

namespace {

constexpr size_t kMaxXargsInput = 4096;
constexpr size_t kMaxXargsRuns = 32;

XargsSplit split_of(const OptionScan& scan, bool replaces) {
  XargsSplit split;
  if (replaces) split.by = XargsSplit::By::Lines;
  // The last of them counts.
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name == "d" || hit.row->name == "delimiter") {
      split.by = XargsSplit::By::Byte;
      const std::string_view text = hit.value.text;
      split.delimiter = text == "\\n" ? '\n' : text == "\\t" ? '\t' : text.empty() ? '\n' : text[0];
    }
  }
  return split;
}

bool reads_null_ended(const Invocation& call, const OptionScan& scan) {
  for (size_t i = 1; i < scan.options_end && i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "--null" ||
        (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find('0') != std::string_view::npos))
      return true;
  }
  return false;
}

// -P 0 starts as many at once as there are inputs.
void check_many_processes(Invocation& call, const OptionScan& scan) {
  constexpr size_t kFew = 64;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name != "P" && hit.row->name != "max-procs") continue;
    size_t count = 0;
    for (const char c : hit.value.text) {
      count = c >= '0' && c <= '9' && count <= kFew ? count * 10 + static_cast<size_t>(c - '0') : kFew + 1;
    }
    if (count > 0 && count <= kFew) continue;
    if (call.input.endless)
      call.deny(EffectKind::Process, "starts processes without end and would exhaust the machine");
    call.ask(Risk::High, EffectKind::Process, "starts as many processes at once as there are inputs");
  }
}

// The arguments that xargs adds: constant if its input is, otherwise unknown.
std::vector<Field> added_arguments(const Invocation& call, const OptionScan& scan, bool replaces) {
  Field unknown;
  unknown.text = std::string(1, replaces ? kAny : kAnyFields);
  const std::string& text = call.input.text;
  const bool known = scan.value("a") == nullptr && scan.value("arg-file") == nullptr && call.input.given &&
                     text.size() < kMaxXargsInput && text.find_first_of("\x01\x02") == std::string::npos;
  if (!known) return {unknown};
  XargsSplit split = split_of(scan, replaces);
  const bool listing = text.find(kListed) != std::string::npos;
  // Names that are ended by a null byte are printed here with line ends between them.
  if (reads_null_ended(call, scan)) {
    if (!listing) return {unknown};
    split = {XargsSplit::By::Byte, '\n'};
  } else if (listing) {
    // Names with blanks, quotes or backslashes become other arguments.
    const std::string_view cut = split.by == XargsSplit::By::Words   ? " \t\n\"'\\"
                                 : split.by == XargsSplit::By::Lines ? "\n\"'\\"
                                                                     : "\n";
    if (call.names_contain(text, cut)) return {unknown};
  }
  std::vector<std::string> found;
  if (!split_xargs_input(text, split, found)) return {unknown};
  std::vector<Field> out;
  for (std::string& one : found) {
    if (one.empty() && split.by != XargsSplit::By::Byte) continue;
    Field field;
    field.text = std::move(one);
    out.push_back(std::move(field));
  }
  return out;
}

std::vector<Field> replaced(std::vector<Field> argv, const std::string& token, const std::string& value) {
  for (Field& field : argv) {
    for (size_t at = field.text.find(token); at != std::string::npos;
         at = field.text.find(token, at + value.size()))
      field.text.replace(at, token.size(), value);
  }
  return argv;
}

}  // namespace

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
  std::string token;
  for (const OptionHit& hit : scan.hits) {
    const std::string_view name = hit.row->name;
    if (name == "I" || name == "i" || name == "replace")
      token = hit.has_value && !hit.value.text.empty() ? hit.value.text : "{}";
    if (name == "I" && !hit.value.constant())
      call.ask(Risk::High, EffectKind::Unknown, "an option that is only known when it runs");
  }
  check_many_processes(call, scan);
  const std::vector<Field> added = added_arguments(call, scan, !token.empty());
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
  const Field* file = scan.value("a") != nullptr ? scan.value("a") : scan.value("arg-file");
  const std::string* listed = file == nullptr ? nullptr : call.walk.state().text_of(call.look(*file).path);
  if (listed != nullptr) {
    const std::string text = *listed;
    deny_only(call, [&] {
      std::vector<Field> argv = inner;
      Field added_text;
      added_text.text = text.substr(0, text.find('\n'));
      argv.push_back(added_text);
      call.walk.run_command(argv, call.span, Input{});
    });
  }
  const size_t commands = call.walk.facts().commands.size();
  const Input own = Input::of(std::string(1, kAny), call.input.from_network);
  if (token.empty()) {
    inner.insert(inner.end(), added.begin(), added.end());
    call.run_program(inner, own);
  } else if (added.size() > kMaxXargsRuns) {
    call.run_program(replaced(inner, token, std::string(1, kAny)), own);
  } else {
    for (const Field& one : added) call.run_program(replaced(inner, token, one.text), own);
  }
  raise_since(call.walk.facts(), commands, Risk::High);
}

void parallel(Invocation& call, const ProgramRow&) {
  call.ask(Risk::High, EffectKind::Execute, "runs a command many times over");
  size_t at = 1;
  while (at < call.argv.size() && call.word(at).starts_with("-")) ++at;
  std::vector<Field> inner;
  std::vector<Field> values;
  for (size_t from = 0; call.input.given && from < call.input.text.size();) {
    const size_t end = std::min(call.input.text.find('\n', from), call.input.text.size());
    Field value;
    value.text = call.input.text.substr(from, end - from);
    if (value.constant() && !value.text.empty()) values.push_back(value);
    from = end + 1;
  }
  bool in_values = false;
  for (; at < call.argv.size(); ++at) {
    if (call.word(at).starts_with(":::")) {
      in_values = true;
    } else {
      (in_values ? values : inner).push_back(call.argv[at]);
    }
  }
  for (const Field& value : values) {
    // The words are joined, {} stands for the value, and a shell reads the result.
    std::string line;
    for (const Field& word : inner) line += (line.empty() ? "" : " ") + word.text;
    const size_t at_value = line.find("{}");
    if (at_value == std::string::npos) {
      line += " " + value.text;
    } else {
      line.replace(at_value, 2, value.text);
    }
    deny_only(call, [&] { call.walk.run_script(line, call.span, false, Input{}); });
  }
  call.run_program(inner, call.input);
}

// ssh host command: its own words are run by a shell over there.
void remote(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  call.ask(Risk::High, EffectKind::Network, "runs commands on another machine",
           scan.arguments.empty() ? std::string() : shown(scan.arguments.front()));
  for (const OptionHit& hit : scan.hits) ask_about_option(call, hit);
  Field text;
  for (size_t i = 1; i < scan.arguments.size(); ++i) {
    text.text += (i > 1 ? " " : "") + scan.arguments[i].text;
    if (i > 1) check_command_text(call, scan.arguments[i].text);
  }
  if (!text.text.empty() && text.constant()) {
    Input fed;
    if (call.input.given) fed = Input::of(call.input.text);
    deny_only(call, [&] { call.walk.run_script(text.text, call.span, false, fed); });
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
  bool inline_code = false;
  for (const OptionHit& hit : scan.hits) {
    ask_about_option(call, hit);
    if (hit.row->use == Use::Code && hit.has_value) {
      inline_code = true;
      call.run_code(hit.value, row.name);
    }
    if (hit.row->use == Use::Program && hit.has_value)
      call.ask(Risk::High, EffectKind::Execute, "runs a module", shown(hit.value));
  }
  if (inline_code) return;
  const size_t named = scan.arguments.size() > 1 && scan.arguments.front().text == "run" ? 1 : 0;
  const std::string_view first =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments[named].text);
  if (call.input.given && (first.empty() || first == "-" || first == "/dev/stdin")) {
    Field text;
    text.text = call.input.text;
    const bool fetched = call.input.from_network || (!text.constant() && call.runs_fetched(text));
    call.ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
             fetched ? "runs what comes from the network" : "runs its input as a program");
    check_foreign_code(call, call.input.text);
    return;
  }
  const bool fetched = !scan.arguments.empty() && call.runs_fetched(scan.arguments.front());
  call.ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
           fetched ? "runs what comes from the network" : "runs a program that is not part of the command",
           scan.arguments.empty() ? std::string() : shown(scan.arguments.front()));
  if (!scan.arguments.empty()) check_known_script(call, scan.arguments.front());
}

// at, batch, crontab, ed, make -f -: lines of their input are commands, after a time, a mark or a target.
void fed_commands(Invocation& call, const ProgramRow& row) {
  any_inner(call, row);
  const std::string& text = call.input.text;
  if (!call.input.given || text.find(kAny) != std::string::npos) return;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = std::string_view(text).substr(from, end - from);
    from = end + 1;
    check_command_text(call, line);
    if (const size_t mark = line.find_first_of(":;!"); mark != std::string_view::npos)
      check_command_text(call, line.substr(mark + 1));
    for (int field = 0; field < 5 && row.name == "crontab"; ++field)
      line.remove_prefix(std::min(std::min(line.find(' '), line.size()) + 1, line.size()));
    if (row.name == "crontab") check_command_text(call, line);
  }
}

// Wrappers that are asked about in any case; what they start may still be a catastrophe.
void any_inner(Invocation& call, const ProgramRow&) {
  for (size_t i = 1; i < call.argv.size() && i <= 12; ++i) {
    if (!call.argv[i].constant()) continue;
    const ProgramRow* named = find_program(call.word(i));
    const bool runs_input =
        named != nullptr && (named->special == "shell" || named->special == "interpreter");
    if (call.input.from_network && runs_input)
      call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
    if (call.argv[i].text.find(' ') != std::string::npos) {
      // Editors and pagers take `!command`, and some have languages of their own.
      check_command_text(call, call.argv[i].text);
      if (call.argv[i].text.find('"') != std::string::npos) check_foreign_code(call, call.argv[i].text);
    } else if (find_program(call.word(i).substr(call.word(i).rfind('/') + 1)) != nullptr) {
      deny_only(call, [&] { call.walk.run_command(call.rest(i), call.span, Input{}); });
    }
  }
}

}  // namespace ttyward::policy::special
