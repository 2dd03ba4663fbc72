// sed, awk and jq: programs whose first argument is a program.
#include <cctype>

#include "policy/special/awk_program.h"
#include "policy/special/jq_filter.h"
#include "policy/special/sed_script.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

Field named(std::string text) {
  Field field;
  field.text = std::move(text);
  return field;
}

void judge_sed_script(Invocation& call, const Field& script) {
  if (!script.constant())
    return call.ask(Risk::High, EffectKind::Execute,
                    "a sed script that is only known when it runs could run commands");
  const SedScript found = read_sed_script(script.text);
  if (!found.problem.empty()) call.ask(Risk::High, EffectKind::Execute, found.problem);
  for (const std::string& run : found.runs) check_command_text(call, run);
  for (const std::string& name : found.writes) {
    call.write_path(named(name));
    call.raise(Risk::High);
  }
  for (const std::string& name : found.reads) call.read_path(named(name));
}

void judge_awk_program(Invocation& call, const Field& code) {
  if (!code.constant())
    return call.ask(Risk::High, EffectKind::Execute,
                    "an awk program that is only known when it runs could run commands");
  const AwkProgram found = read_awk_program(code.text);
  if (!found.problem.empty()) {
    call.ask(Risk::High, EffectKind::Execute, found.problem);
    return check_foreign_code(call, code.text);
  }
  if (found.runs_commands) {
    call.ask(Risk::High, EffectKind::Execute, "awk runs a shell command, or pipes to or from one");
    check_foreign_code(call, code.text);
  }
  if (found.loads_code) call.ask(Risk::High, EffectKind::Execute, "awk loads code or calls by name");
  if (found.writes_unknown) call.ask(Risk::Medium, EffectKind::Write, "awk writes files");
  for (const std::string& name : found.writes) call.write_path(named(name));
  if (found.reads_unknown) call.ask(Risk::Medium, EffectKind::Read, "awk reads files named in its program");
  for (const std::string& name : found.reads) {
    if (name.starts_with("/inet"))
      call.ask(Risk::Critical, EffectKind::Network, "awk opens a network connection", name);
    if (name != "-") call.read_path(named(name));
  }
  if (found.reads_environment) call.ask(Risk::Medium, EffectKind::Secret, "awk reads environment variables");
  for (const std::string& name : found.environment) {
    if (is_secret_name(name))
      call.ask(Risk::Medium, EffectKind::Secret, "awk reads a variable that is likely to be a credential",
               name);
  }
  if (found.changes_input) call.ask(Risk::Medium, EffectKind::Unknown, "awk changes what it reads or how");
}

}  // namespace

void sed(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan rest = scan;
  bool has_script = false;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name == "e" || hit.row->name == "expression") {
      has_script = true;
      judge_sed_script(call, hit.value);
    }
    has_script |= hit.row->name == "f" || hit.row->name == "file";
  }
  if (!has_script && !rest.arguments.empty()) {
    judge_sed_script(call, rest.arguments.front());
    rest.arguments.erase(rest.arguments.begin());
  }
  const bool in_place = scan.has("i") || scan.has("in-place");
  if (in_place) {
    for (const Field& file : rest.arguments) call.write_path(file, "edits");
    rest.arguments.clear();
  }
  apply_scan(call, row, rest);
  if (in_place) call.writes_nothing_else();
}

void awk(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  OptionScan rest = scan;
  bool has_program = false;
  for (const OptionHit& hit : scan.hits) {
    has_program |= hit.row->name == "f" || hit.row->name == "file" || hit.row->name == "E";
    if (hit.row->name == "e" || hit.row->name == "source") {
      has_program = true;
      judge_awk_program(call, hit.value);
    }
  }
  if (!has_program && !rest.arguments.empty()) {
    judge_awk_program(call, rest.arguments.front());
    rest.arguments.erase(rest.arguments.begin());
  }
  for (const Field& field : rest.arguments) {
    // Some versions take options behind the program, too.
    if (field.text.size() > 1 && field.text.starts_with("-"))
      call.ask(Risk::High, EffectKind::Unknown, "an option after the program", shown(field));
    if (field.text.starts_with("/inet"))
      call.ask(Risk::Critical, EffectKind::Network, "awk opens a network connection", shown(field));
  }
  // NAME=value among the files is an assignment.
  std::erase_if(rest.arguments, [](const Field& field) {
    const size_t equals = field.text.find('=');
    return field.constant() && equals != std::string::npos && is_plain_name(field.text.substr(0, equals));
  });
  apply_scan(call, row, rest);
}

namespace {

// jq takes two words after --arg and its kin, which the table cannot say.
std::vector<Field> without_named_values(Invocation& call) {
  std::vector<Field> argv;
  for (size_t i = 0; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    const bool named = word == "--arg" || word == "--argjson" || word == "--slurpfile" || word == "--rawfile";
    for (size_t value = i + 1; named && value <= i + 2 && value < call.argv.size(); ++value) {
      if (call.argv[value].may_split())
        call.ask(Risk::Medium, EffectKind::Read, "a value that may become a filter or a file",
                 shown(call.argv[value]));
    }
    if (word == "--arg" || word == "--argjson") {
      i += 2;
    } else if (word == "--slurpfile" || word == "--rawfile") {
      i += 2;
      if (i < call.argv.size()) call.read_path(call.argv[i]);
    } else {
      argv.push_back(call.argv[i]);
    }
  }
  return argv;
}

}  // namespace

void jq(Invocation& call, const ProgramRow& row) {
  const std::vector<Field> argv = without_named_values(call);
  OptionScan scan = scan_options(row, argv, ScanStop::Never);
  const bool from_file = scan.has("f") || scan.has("from-file");
  // yq eval FILTER: the filter is the second word.
  if (row.name == "yq" && !scan.arguments.empty()) {
    const std::string_view first = scan.arguments.front().text;
    if (first == "e" || first == "ea" || first == "eval" || first == "eval-all")
      scan.arguments.erase(scan.arguments.begin());
  }
  if (!from_file && !scan.arguments.empty()) {
    const Field& code = scan.arguments.front();
    const JqFilter found = read_jq_filter(code.text);
    if (!code.constant() || !found.understood)
      call.ask(Risk::Medium, EffectKind::Read, "a filter that is not understood");
    if (found.reads_environment) call.ask(Risk::Medium, EffectKind::Secret, "reads environment variables");
    if (found.loads_files) call.ask(Risk::Medium, EffectKind::Read, "loads other files");
    scan.arguments.erase(scan.arguments.begin());
  }
  // Behind --args there are values; what stands before it is a file.
  size_t files = scan.arguments.size();
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string_view word = argv[i].text;
    if (!word.starts_with("--args") && !word.starts_with("--jsonargs")) continue;
    const OptionScan before = scan_options(row, std::span<const Field>(argv).first(i), ScanStop::Never);
    const size_t filter = from_file || before.arguments.empty() ? 0 : 1;
    files = std::min(files, before.arguments.size() - filter);
    break;
  }
  for (size_t i = 0; i < files; ++i) call.read_path(scan.arguments[i]);
  scan.arguments.clear();
  apply_scan(call, row, scan);
}

}  // namespace ttyward::policy::special
