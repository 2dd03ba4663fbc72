// Programs with one habit that their row cannot express.
#include "policy/special/special.h"

namespace ttyward::policy::special {

// BSD-style letters: an e without a dash shows the environment.
void ps(Invocation& call, const ProgramRow& row) {
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (call.argv[i].constant() && !word.starts_with("-") &&
        word.find_first_not_of("abcdefghjklmnoprstuvwxABCHLNOSTUVXZ") == std::string_view::npos &&
        word.find('e') != std::string_view::npos) {
      call.ask(Risk::Medium, EffectKind::Secret, "shows the variables of processes");
    }
    if (word.find("environ") != std::string_view::npos)
      call.ask(Risk::Medium, EffectKind::Secret, "shows the variables of processes");
  }
}

// Interactive, it can signal processes.
void top(Invocation& call, const ProgramRow& row) {
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  bool batch = false;
  for (const Field& field : call.rest(1))
    batch |= field.text.starts_with("-b") || field.text.starts_with("-cb");
  if (!batch) call.ask(Risk::Medium, EffectKind::Process, "an interactive program that can signal processes");
}

// To standard output, or only looking: the files stay as they are.
void compress(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const bool looks = scan.has("c") || scan.has("stdout") || scan.has("to-stdout") || scan.has("l") ||
                     scan.has("list") || scan.has("t") || scan.has("test");
  if (!looks && !(scan.arguments.empty() && call.input.given))
    call.ask(Risk::Medium, EffectKind::Write, "replaces files by packed or unpacked ones");
}

// Pagers run commands that are typed into them, or given after +.
void pager(Invocation& call, const ProgramRow& row) {
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  for (const Field& field : call.rest(1)) {
    if (field.text.starts_with("+") || field.text == "cache")
      call.ask(Risk::High, EffectKind::Execute, "a pager told to run something", shown(field));
  }
  if (call.input.given) call.output = call.input.text;
}

// With -l or --files it prints names.
void grep(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan rest = scan;
  if (scan.has("files")) rest.arguments.insert(rest.arguments.begin(), Field{});  // every argument is a place
  apply_scan(call, row, rest);
  if (scan.has("l") || scan.has("files-with-matches") || scan.has("L") || scan.has("files"))
    call.output = std::string(1, kListed);
}

void lsof(Invocation& call, const ProgramRow&) {
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word.starts_with("-") && word.find_first_of("DSOrmeE") != std::string_view::npos &&
        !word.starts_with("-i") && !word.starts_with("-s")) {
      call.ask(Risk::Medium, EffectKind::Unknown, "an option that is not known to be harmless",
               std::string(word));
    }
  }
}

void go_env(Invocation& call, const ProgramRow& row) {
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
}

// Compilers and builders: the row asks already; asking for the version alone was let through before.
void build(Invocation& call, const ProgramRow& row) {
  if (call.argv.size() == 2 &&
      (call.word(1) == "-version" || call.word(1) == "-V" || (call.word(1) == "-v" && row.name != "make"))) {
    call.fact.findings.clear();
    call.fact.effects.clear();
    return;
  }
  any_inner(call, row);
}

void disk_tool(Invocation& call, const ProgramRow&) {
  for (const Field& field : call.rest(1)) {
    const std::string_view word = field.text;
    for (const std::string_view fatal :
         {"format", "luksFormat", "luksErase", "erase", "sanitize", "--security-erase",
          "--security-erase-enhanced", "destroy", "eraseDisk", "zeroDisk", "--zero-superblock", "mklabel",
          "secure-erase", "--trim-sector-ranges", "write-zeroes"}) {
      if (word == fatal) call.deny(EffectKind::Write, "erases a disk or a pool", std::string(word));
    }
    if (call.look(field).disk && (call.fact.program.ends_with("remove")))
      call.deny(EffectKind::Delete, "erases a disk", shown(field));
  }
}

void container_run(Invocation& call, const ProgramRow& row) {
  for (const Field& field : call.rest(1)) {
    const std::string_view word = field.text;
    const bool whole_root =
        word == "/:" || word.starts_with("/:/") || word.find("=/:/") != std::string_view::npos ||
        word.find("source=/,") != std::string_view::npos || word.find("src=/,") != std::string_view::npos;
    if (word.starts_with("--privileged") || whole_root ||
        word.find("docker.sock") != std::string_view::npos || word == "--pid=host" || word == "--net=host" ||
        word == "--network=host" || word.starts_with("--cap-add") || word.starts_with("--security-opt") ||
        word.starts_with("--device")) {
      call.ask(Risk::Critical, EffectKind::Privilege, "opens the machine to what runs in the container",
               shown(field));
    }
  }
  any_inner(call, row);
}

}  // namespace ttyward::policy::special
