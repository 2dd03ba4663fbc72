#include "policy/judge.h"

#include <algorithm>
#include <array>

#include "policy/danger.h"
#include "policy/folder_code.h"
#include "policy/name_expansion.h"
#include "policy/risk_scale.h"

namespace ttyward::policy {
namespace {

constexpr auto kTrustedFolders = std::to_array<std::string_view>(
    {"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/sbin/"});

constexpr auto kLineFilters = std::to_array<std::string_view>(
    {"head", "tail", "sort", "uniq", "grep", "egrep", "fgrep", "tac", "shuf"});

// The name to look up, or empty if what runs cannot be told from the name.
std::string_view trusted_name(Invocation& call) {
  const Field& first = call.argv.front();
  if (!first.constant() || first.text.empty()) {
    const bool fetched = call.runs_fetched(first);
    call.ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
             fetched ? "runs what comes from the network" : "the program is only known when it runs");
    return {};
  }
  const std::string_view text = first.text;
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return text;
  if (is_trusted_folder(text.substr(0, slash + 1))) return text.substr(slash + 1);
  const bool fetched = call.runs_fetched(first);
  call.ask(
      fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
      fetched ? "runs what comes from the network" : "runs a program by a path outside the system's folders",
      std::string(text));
  return text.substr(slash + 1);
}

bool only_asks_version(const Invocation& call, const ProgramRow& row) {
  return call.argv.size() == 2 &&
         std::find(row.version.begin(), row.version.end(), call.argv[1].text) != row.version.end();
}

// A glob whose matches are known now: an option only if one of them looks like one.
bool may_turn_out_an_option(const Invocation& call, const Field& field, const ProgramRow& row) {
  const FileView* files = call.walk.place().files;
  const std::vector<std::string>& cwds = call.walk.state().cwds;
  const bool only_globs = field.text.find_first_of("\x01\x02\x03\x06") == std::string::npos;
  if (files == nullptr || cwds.size() != 1 || !only_globs) return !row.inert;
  if (!files->exists(cwds.front())) return !row.inert && !row.inert_globs;
  const NameExpansion found = expand_glob(cwds.front() + "/" + field.text, *files);
  if (found.too_many) return true;
  return std::any_of(found.names.begin(), found.names.end(), [&](const ExpandedName& name) {
    return name.path.substr(std::min(normalize(cwds.front()).size() + 1, name.path.size())).starts_with("-");
  });
}

// nm @file: the program takes more arguments from that file.
void check_argument_files(Invocation& call) {
  for (const Field& field : call.rest(1)) {
    if (!field.text.starts_with("@")) continue;
    call.ask(Risk::High, EffectKind::Unknown, "reads further arguments from a file", shown(field));
  }
}

void apply_use(Invocation& call, Use use, const Field& value, bool recursive) {
  switch (use) {
    case Use::Text:
    case Use::Recursive:
      return;
    case Use::Read:
      return call.read_path(value, recursive);
    case Use::List:
      return call.list_path(value);
    case Use::Write:
      return call.write_path(value);
    case Use::Delete:
      return call.delete_path(value, false, false);
    case Use::Directory: {
      const PathFacts facts = call.look(value);
      if (facts.zone != Zone::Workspace) {
        call.ask(Risk::High, EffectKind::Execute,
                 "works in a folder outside the workspace, whose settings it obeys", shown(facts.path));
      }
      return;
    }
    case Use::Program:
      if (value.text.empty()) return;
      call.ask(Risk::High, EffectKind::Execute, "runs another program", shown(value));
      return check_command_text(call, value.text);
    case Use::Script:
      call.ask(Risk::High, EffectKind::Execute, "runs a shell command", shown(value));
      call.run_script(value, false);
      return;
    case Use::Code:
      return call.run_code(value, call.fact.program);
    case Use::Host:
      return call.ask(Risk::Medium, EffectKind::Network, "talks to another machine", shown(value));
  }
}

void apply_effects(Invocation& call, const ProgramRow& row) {
  for (const EffectRow& effect : row.effects) {
    if (effect.denies) {
      call.deny(effect.effect, std::string(effect.reason));
    } else {
      call.ask(effect.risk, effect.effect, std::string(effect.reason));
    }
  }
}

}  // namespace

bool is_trusted_folder(std::string_view folder) {
  return std::find(kTrustedFolders.begin(), kTrustedFolders.end(), folder) != kTrustedFolders.end();
}

void apply_subcommand(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
  if (scan.arguments.empty()) {
    const std::string_view only = call.argv.size() == 2 ? call.word(1) : std::string_view();
    const bool informs = std::find(row.version.begin(), row.version.end(), only) != row.version.end();
    if (row.no_args && !informs) {
      call.ask(Risk::Medium, EffectKind::Unknown, "has a default action that is not known to be harmless");
    }
    return;
  }
  const Field& sub = scan.arguments.front();
  const std::string full = std::string(row.name) + " " + sub.text;
  if (call.fact.subcommand.empty()) call.fact.subcommand = shown(sub);
  const ProgramRow* found = sub.constant() ? find_program(full) : nullptr;
  if (found == nullptr) {
    call.ask(Risk::Medium, EffectKind::Unknown,
             "'" + shown(full) + "' is not a command known to be harmless");
    return;
  }
  Invocation inner(call.walk, std::vector<Field>(scan.arguments.begin(), scan.arguments.end()), call.span,
                   call.input);
  inner.fact.program = call.fact.program;
  inner.fact.subcommand = call.fact.subcommand;
  apply_row(inner, *found);
  for (Effect& effect : inner.fact.effects) call.effect(effect.kind, effect.target);
  for (Finding& finding : inner.fact.findings) call.fact.findings.push_back(std::move(finding));
  call.output = std::move(inner.output);
  if (!inner.fact.subcommand.empty()) call.fact.subcommand = inner.fact.subcommand;
  call.only_looks = inner.only_looks;
}

namespace {

// Arguments whose place matters: the first may be a pattern, the last a target.
void apply_arguments(Invocation& call, const ProgramRow& row, const OptionScan& scan) {
  bool recursive = row.recursive;
  for (const OptionHit& hit : scan.hits) recursive |= hit.row->use == Use::Recursive;
  bool first_taken = false;
  for (const OptionHit& hit : scan.hits) {
    first_taken |=
        (hit.row->name.size() == 1 && row.first_unless.find(hit.row->name[0]) != std::string_view::npos) ||
        (!row.first_unless.empty() &&
         (hit.row->name == "regexp" || hit.row->name == "file" || hit.row->name == "expression"));
  }
  const size_t count = scan.arguments.size();
  bool reads_named = false;
  for (size_t i = 0; i < count; ++i) {
    Use use = row.args;
    if (i == 0 && !first_taken) use = row.first;
    if (i + 1 == count && i > 0) use = row.last;
    if (i == 0 && count == 1 && row.last != row.args && row.first == row.args) use = row.last;
    reads_named |= use == Use::Read;
    apply_use(call, use, scan.arguments[i], recursive);
    // What splits can fill the places behind it, too.
    if (use != row.args && scan.arguments[i].has(kAnyFields))
      apply_use(call, row.args, scan.arguments[i], recursive);
  }
  if (recursive && !reads_named && row.args == Use::Read) {
    Field here;
    here.text = ".";
    call.read_path(here, true);
  }
}

}  // namespace

void ask_about_option(Invocation& call, const OptionHit& hit) {
  if (!hit.row->asks) return;
  call.ask(hit.row->risk, hit.row->effect, std::string(hit.row->reason), shown(hit.value));
  if (hit.has_value && hit.row->effect == EffectKind::Execute) check_command_text(call, hit.value.text);
}

void apply_scan(Invocation& call, const ProgramRow& row, const OptionScan& scan) {
  for (const std::string& option : scan.unknown) {
    call.ask(Risk::High, EffectKind::Unknown, "the option " + shown(option) + " is not known to be harmless");
  }
  for (const Field* field : scan.doubtful) {
    if (!may_turn_out_an_option(call, *field, row)) continue;
    call.ask(Risk::Medium, EffectKind::Unknown,
             "an argument that is only known when it runs could be an option", shown(*field));
    break;
  }
  for (const OptionHit& hit : scan.hits) {
    ask_about_option(call, hit);
    if (hit.has_value) apply_use(call, hit.row->use, hit.value, false);
    const bool wants_value = hit.row->use == Use::Write || hit.row->use == Use::Program ||
                             hit.row->use == Use::Script || hit.row->use == Use::Code;
    if (!hit.has_value && wants_value && !hit.row->asks)
      call.ask(Risk::High, EffectKind::Unknown, "an option that writes or runs something unknown",
               std::string(hit.row->name));
    if (hit.row->use == Use::Write && row.effects.empty()) call.raise(Risk::High);
  }
  if (!row.words.empty() && !scan.arguments.empty() &&
      std::find(row.words.begin(), row.words.end(), scan.arguments.front().text) == row.words.end()) {
    call.ask(Risk::Medium, EffectKind::Unknown,
             "'" + shown(scan.arguments.front()) + "' is not known to be harmless here");
  }
  if (row.no_args && !scan.arguments.empty() && !row.subcommands) {
    call.ask(Risk::Medium, EffectKind::Unknown, "does more than print information");
  }
  apply_arguments(call, row, scan);
  if (row.args == Use::Write) call.writes_nothing_else();
}

namespace {

bool is_plain_word(const Field& field) {
  return field.constant() && field.other.empty() && !field.text.empty() && !field.text.starts_with("-") &&
         field.text.find('=') == std::string::npos;
}

bool among_alternatives(std::string_view alternatives, std::string_view word) {
  while (true) {
    const size_t bar = std::min(alternatives.find('|'), alternatives.size());
    if (alternatives.substr(0, bar) == word) return true;
    if (bar == alternatives.size()) return false;
    alternatives.remove_prefix(bar + 1);
  }
}

// Matches the arguments with one of the forms of `looks`; `uses` says what becomes of each.
bool matches_form(std::string_view form, const OptionScan& scan, std::vector<Use>& uses) {
  const std::vector<Field>& words = scan.arguments;
  size_t at = 0;
  while (!form.empty()) {
    const size_t end = std::min(form.find(' '), form.size());
    const std::string_view token = form.substr(0, end);
    form.remove_prefix(std::min(end + 1, form.size()));
    const bool here = at < words.size();
    if (token.size() > 1 && token.starts_with("-")) {
      if (!scan.has(token.substr(std::min(token.find_first_not_of('-'), token.size())))) return false;
    } else if (token == "*") {
      for (; at < words.size() && is_plain_word(words[at]); ++at) uses.push_back(Use::Text);
    } else if (token == "<files>" || token == "<list>") {
      for (; at < words.size(); ++at) uses.push_back(token == "<list>" ? Use::List : Use::Read);
    } else if (token == "<file>" || token == "<text>") {
      if (!here || (token == "<text>" && !is_plain_word(words[at]))) return false;
      uses.push_back(token == "<text>" ? Use::Text : Use::Read);
      ++at;
    } else if (token.starts_with("[")) {
      if (!here || !among_alternatives(token.substr(1, token.size() - 2), words[at].text)) continue;
      uses.push_back(Use::Text);
      ++at;
    } else {
      if (!here || !words[at].constant() || !among_alternatives(token, words[at].text)) return false;
      uses.push_back(Use::Text);
      ++at;
    }
  }
  return at == words.size();
}

// Whether the command is one of the forms in which the program only looks.
bool apply_look(Invocation& call, const ProgramRow& row) {
  if (row.looks.empty()) return false;
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  if (!scan.unknown.empty() || !scan.doubtful.empty()) return false;
  for (const OptionHit& hit : scan.hits) {
    const Use use = hit.row->use;
    if (hit.row->asks || (use != Use::Text && use != Use::Read && use != Use::List)) return false;
    if (hit.row->value == OptionValue::Required && !hit.has_value) return false;
    if (hit.has_value && hit.value.may_split()) return false;
  }
  for (const Field& field : call.rest(1)) {
    if (row.at_files && field.text.starts_with("@")) return false;
  }
  for (const std::string_view form : row.looks) {
    std::vector<Use> uses;
    if (!matches_form(form, scan, uses)) continue;
    for (const OptionHit& hit : scan.hits) {
      if (hit.has_value) apply_use(call, hit.row->use, hit.value, false);
    }
    for (size_t i = 0; i < uses.size(); ++i) apply_use(call, uses[i], scan.arguments[i], false);
    call.only_looks = true;
    return true;
  }
  return false;
}

}  // namespace

void apply_row(Invocation& call, const ProgramRow& row) {
  check_obeyed_files(call, row);
  if (apply_look(call, row)) return;
  apply_effects(call, row);
  if (row.at_files) check_argument_files(call);
  if (!row.special.empty()) {
    if (const SpecialReader special = find_special(row.special)) return special(call, row);
    call.ask(Risk::High, EffectKind::Unknown, "there is no parser for this program");
    return;
  }
  if (row.subcommands) return apply_subcommand(call, row);
  if (row.inner_skip >= 0) {
    OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
    const std::vector<Field> arguments = std::move(scan.arguments);
    scan.arguments.clear();
    apply_scan(call, row, scan);
    const auto skip = static_cast<size_t>(row.inner_skip);
    if (arguments.size() > skip) {
      call.run_program(std::span<const Field>(arguments).subspan(skip), call.input);
    }
    return;
  }
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
}

namespace {

// find -execdir, env -C and their kind start commands in another folder than the one we are in.
void forget_inner_folders(Invocation& call, size_t from) {
  std::vector<CommandFact>& commands = call.walk.facts().commands;
  if (from >= commands.size()) return;
  const bool moves = std::any_of(call.argv.begin() + 1, call.argv.end(), [](const Field& field) {
    for (const std::string_view option :
         {"-execdir", "-okdir", "-C", "-D", "--chdir", "--directory", "--cwd", "--work"}) {
      if (field.text.starts_with(option)) return true;
    }
    return !field.constant();
  });
  for (; moves && from < commands.size(); ++from) commands[from].cwd.clear();
}

}  // namespace

namespace {

// What is collected before anything is printed fills the memory if it never ends.
void check_endless_input(Invocation& call) {
  static constexpr auto kCollectors =
      std::to_array<std::string_view>({"sort", "tail", "tac", "shuf", "mapfile", "readarray", "sponge",
                                       "column", "tsort", "jq", "ptx", "factor"});
  if (std::find(kCollectors.begin(), kCollectors.end(), call.fact.program) == kCollectors.end()) return;
  bool endless = call.input.endless;
  for (const Field& field : call.rest(1)) endless |= is_endless_device(field.text);
  if (endless) call.ask(Risk::High, EffectKind::Process, "collects endless output until memory is full");
}

}  // namespace

bool is_endless_device(std::string_view path) {
  return path == "/dev/zero" || path == "/dev/urandom" || path == "/dev/random" || path == "/dev/full";
}

void judge_command(Invocation& call) {
  if (call.argv.empty()) return;
  const std::string_view name = trusted_name(call);
  if (name.empty()) return;
  call.fact.program = std::string(name);
  if (call.argv.front().disguised || call.argv.front().expanded) {
    call.trick("the name of the program is disguised", call.argv.front().span);
    call.ask(Risk::High, EffectKind::Unknown, "the name of the program is disguised", call.fact.program);
  }
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const Field& field = call.argv[i];
    if (field.disguised && field.text.starts_with("-") && field.text.find('=') == std::string::npos &&
        field.text.find_first_of(" ,.*") == std::string::npos) {
      call.trick("an option is written so that it does not look like one", field.span);
    }
  }
  if (call.argv.front().text.find('/') != std::string::npos) check_known_script(call, call.argv.front());
  const ProgramRow* row = find_program(name);
  if (row == nullptr) {
    call.ask(Risk::Medium, EffectKind::Unknown,
             "'" + call.fact.program + "' is not a program known to be harmless", call.fact.program);
    // An unknown program may be a wrapper: what it is given may still be a catastrophe.
    for (size_t i = 1; i < call.argv.size() && i <= 4; ++i) {
      if (!call.argv[i].constant() || find_program(call.argv[i].text) == nullptr) continue;
      deny_only(call, [&] { call.walk.run_command(call.rest(i), call.span, Input{}); });
      break;
    }
    return;
  }
  if (only_asks_version(call, *row)) return check_obeyed_files(call, *row);
  const size_t inner_from = call.walk.facts().commands.size();
  apply_row(call, *row);
  // What takes keys could be typed into by whoever started it. less and man cannot run anything with the
  // variables agents' commands get.
  const bool takes_keys = row->interactive == Interactive::Yes || row->interactive == Interactive::Language ||
                          row->interactive == Interactive::Pager;
  if (takes_keys && call.fact.findings.empty() && !call.only_looks)
    call.ask(Risk::Medium, EffectKind::Execute, "waits for keys, some of which run commands");
  scale_risks(call, inner_from);
  forget_inner_folders(call, inner_from);
  check_endless_input(call);
  // A filter that only leaves lines out keeps a listing a listing.
  const bool listing =
      call.input.text.find(kListed) != std::string::npos && call.input.text.find(kAny) == std::string::npos;
  if (listing && call.output == std::string(1, kAny) &&
      std::find(kLineFilters.begin(), kLineFilters.end(), name) != kLineFilters.end()) {
    call.output = call.input.text;
  }
}

}  // namespace ttyward::policy
