// Programs that change files, permissions and processes.
#include <algorithm>
#include <cctype>

#include "policy/rules.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {

void rm(Invocation& call, const ProgramRow& row) {
  OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  const bool recursive = scan.has("r") || scan.has("R") || scan.has("recursive");
  const bool force = scan.has("f") || scan.has("force");
  const std::vector<Field> targets = std::move(scan.arguments);
  scan.arguments.clear();
  scan.doubtful.clear();
  apply_scan(call, row, scan);
  for (const Field& target : targets) {
    if (call.input.deletes_vital && target.has(kAny)) {
      call.deny(EffectKind::Delete, "deletes what was found in a whole system or home directory");
    }
    call.delete_path(target, recursive, force);
    // A name may turn out to be an option: rm * where a file is called -rf.
    if (!target.other.empty()) {
      Field other = target;
      other.text = target.other;
      other.other.clear();
      call.delete_path(other, recursive, force);
    }
  }
  if (targets.empty()) call.ask(Risk::Medium, EffectKind::Delete, "deletes files");
  if (scan.has("no-preserve-root") && recursive)
    call.deny(EffectKind::Delete, "turns off the protection of the root directory");
}

// systemctl start poweroff.target and its kind.
void service(Invocation& call, const ProgramRow& row) {
  for (const Field& field : call.rest(1)) {
    for (const std::string_view end :
         {"poweroff.target", "reboot.target", "halt.target", "kexec.target", "emergency.target",
          "rescue.target", "shutdown.target", "runlevel0.target", "runlevel6.target"}) {
      if (field.text == end) call.deny(EffectKind::Process, "stops the machine", shown(field));
    }
  }
  any_inner(call, row);
}

// rimraf, trash, del: whole trees, whatever their options.
void remove_trees(Invocation& call, const ProgramRow&) {
  for (const Field& field : call.rest(1)) {
    if (!field.text.starts_with("-")) call.delete_path(field, true, true);
  }
  if (call.fact.findings.empty()) call.ask(Risk::High, EffectKind::Delete, "deletes a tree of files");
}

// shred and its kind: what is lost is lost.
void shred(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  for (const Field& field : scan.arguments) {
    if (call.look(field).vital)
      call.deny(EffectKind::Delete, "deletes a whole system or home directory", shown(field));
  }
}

namespace {

// Into a folder a file goes under its own name: that name counts, too. Whole trees are not looked through.
void copy_single_files(Invocation& call, const Field& target, const std::vector<Field>& sources) {
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word.starts_with("-") && word.find_first_not_of("finpuv", 1) != std::string_view::npos) return;
  }
  for (const Field& source : sources) {
    if (!source.constant()) return;
    const size_t slash = source.text.find_last_of('/');
    const std::string name = slash == std::string::npos ? source.text : source.text.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") return;
    Field inside = target;
    inside.text += "/" + name;
    const PathFacts facts = call.look(inside);
    if (facts.zone != Zone::Workspace || facts.control || facts.secret || facts.agent) return;
  }
  call.writes_nothing_else();
}

}  // namespace

// mv: the sources go, the target is written. cp, ln and install write only.
void move(Invocation& call, const ProgramRow& row) {
  OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  std::vector<Field> arguments = std::move(scan.arguments);
  scan.arguments.clear();
  apply_scan(call, row, scan);
  const bool moves = row.name == "mv";
  const bool links = row.name == "ln";
  const bool given_target = scan.value("t") != nullptr || scan.value("target-directory") != nullptr;
  if (!given_target && !arguments.empty() && !(links && arguments.size() == 1)) {
    call.write_path(arguments.back());
    const Field target = std::move(arguments.back());
    arguments.pop_back();
    if (row.name == "cp" && target.constant()) copy_single_files(call, target, arguments);
  }
  for (const Field& source : arguments) {
    const PathFacts facts = call.look(source);
    if (moves) {
      if (facts.vital) {
        call.deny(EffectKind::Delete, "moves a whole system or home directory away", shown(facts.path));
      } else {
        call.ask(facts.zone == Zone::Workspace && !facts.control ? Risk::Medium : Risk::High,
                 EffectKind::Delete, "moves files away", shown(facts.path));
      }
    } else if (links) {
      // A link makes writes through it land somewhere else, later.
      const bool outside = facts.zone != Zone::Workspace;
      call.ask(outside ? Risk::High : Risk::Medium, EffectKind::Write,
               outside ? "makes a link to a place outside the workspace" : "makes a link", shown(facts.path));
    } else {
      call.read_path(source);
    }
  }
}

void change_mode(Invocation& call, const ProgramRow& row) {
  // A mode like -x is an argument, not an option.
  std::vector<Field> argv;
  bool recursive = false;
  bool reference = false;
  size_t skip = 0;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "--recursive" || word == "-R" ||
        (word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find('R') != std::string_view::npos)) {
      recursive = true;
    } else if (word.starts_with("--reference")) {
      reference = true;
    } else if (word.starts_with("--") || (word.starts_with("-") && argv.empty() && row.name != "chmod" &&
                                          row.name != "chattr" && row.name != "setfacl")) {
      continue;
    } else if (word.starts_with("-") && argv.empty() &&
               word.find_first_not_of("vcfhHLP", 1) == std::string_view::npos) {
      continue;
    } else {
      argv.push_back(call.argv[i]);
    }
  }
  skip = reference || row.name == "setfacl" ? 0 : 1;
  for (size_t i = skip; i < argv.size(); ++i) {
    if (row.name == "setfacl" && !argv[i].text.starts_with("/") &&
        argv[i].text.find(':') != std::string::npos)
      continue;
    call.change_tree(argv[i], recursive);
  }
  if (argv.size() <= skip) call.ask(Risk::Medium, EffectKind::Privilege, "changes permissions or owners");
  for (const Field& mode : argv) {
    if (row.name == "chmod" &&
        (mode.text.find("+s") != std::string::npos ||
         (mode.text.size() == 4 && mode.text.find_first_not_of("01234567") == std::string::npos &&
          mode.text[0] > '1'))) {
      call.ask(Risk::Critical, EffectKind::Privilege, "lets a program run with its owner's rights");
    }
  }
}

void dd(Invocation& call, const ProgramRow&) {
  bool writes = false;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    Field value = call.argv[i];
    if (value.text.starts_with("of=")) {
      value.text.erase(0, 3);
      call.write_path(value);
      writes = true;
    } else if (value.text.starts_with("if=")) {
      value.text.erase(0, 3);
      call.read_path(value);
    } else if (!value.constant()) {
      call.ask(Risk::High, EffectKind::Unknown, "an operand that is only known when it runs");
    }
  }
  if (!writes) call.ask(Risk::Low, EffectKind::Read, "copies raw data");
}

// tar -t lists; everything else writes. Old style (tar xf) has its options in the first word.
void tar(Invocation& call, const ProgramRow& row) {
  if (call.argv.size() > 1 && !call.word(1).starts_with("-") && !call.argv[1].may_be_option()) {
    call.argv[1].text.insert(0, "-");
    // Values of a bundle come in order: tar tvfz a.tar takes f's value from the next word.
    std::string letters;
    std::string with_value;
    for (const char c : call.argv[1].text.substr(1))
      (std::string_view("fCbIXTKLNVg").find(c) == std::string_view::npos ? letters : with_value).push_back(c);
    if (with_value.size() <= 1)
      call.argv[1].text = "-" + letters + with_value;
    else
      call.ask(Risk::Medium, EffectKind::Unknown, "options that are not understood");
  }
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  if (scan.has("remove-files")) {
    for (const Field& field : scan.arguments) {
      if (call.look(field).vital)
        call.deny(EffectKind::Delete, "deletes a whole system or home directory", shown(field));
    }
  }
  const bool lists = (scan.has("t") || scan.has("list")) && !scan.has("x") && !scan.has("c");
  if (!lists) {
    const Field* archive = scan.value("f") != nullptr ? scan.value("f") : scan.value("file");
    const Field* folder = scan.value("C") != nullptr ? scan.value("C") : scan.value("directory");
    const bool creates = scan.has("c") || scan.has("create") || scan.has("r") || scan.has("u");
    if (creates && archive != nullptr) {
      call.write_path(*archive);
    } else if (!creates && folder != nullptr) {
      call.write_path(*folder, "unpacks files into");
    } else {
      call.ask(Risk::Medium, EffectKind::Write, "writes files");
    }
  } else {
    const Field* archive = scan.value("f") != nullptr ? scan.value("f") : scan.value("file");
    if (archive != nullptr && archive->text.find(':') != std::string::npos) {
      call.ask(Risk::High, EffectKind::Network, "an archive on another machine");
    } else if (archive != nullptr) {
      call.read_path(*archive);
    }
  }
}

// unzip -l, -Z, -t, -v, -z, -p and -c look; everything else unpacks. Options stand before the archive; after
// it come members, -x with members to leave out, and -d.
void unzip(Invocation& call, const ProgramRow&) {
  bool looks = false;
  bool unpacks = false;
  size_t at = 1;
  for (; at < call.argv.size() && call.word(at).starts_with("-") && call.word(at).size() > 1; ++at) {
    const std::string_view word = call.word(at);
    looks |= word.find_first_of("lZtvzpc") != std::string_view::npos;
    // The rest changes only how it is shown. -Z has letters of its own.
    const std::string_view known = word.starts_with("-Z") ? "Z12slmvhMtTzC" : "lZtvzpcq12aCUL";
    unpacks |= word.find_first_not_of(known, 1) != std::string_view::npos;
  }
  if (at < call.argv.size()) call.read_path(call.argv[at]);
  for (const Field& field : call.rest(at + 1))
    unpacks |= field.text.starts_with("-") || field.may_be_option();
  if (unpacks || !looks) call.ask(Risk::Medium, EffectKind::Write, "unpacks files into the working folder");
  for (size_t i = 1; i + 1 < call.argv.size(); ++i) {
    if (call.word(i) == "-d") call.write_path(call.argv[i + 1], "unpacks files into");
  }
}

void kill(Invocation& call, const ProgramRow&) {
  if (call.word(1) == "-l" || call.word(1) == "-L" || call.word(1) == "--list") return;
  // Signal 0 only asks whether a process is there.
  const std::span<const Field> pids = call.rest(2);
  if (call.word(1) == "-0" && std::all_of(pids.begin(), pids.end(), [](const Field& pid) {
        return !pid.text.empty() && pid.text.find_first_not_of("0123456789\x03") == std::string::npos;
      }))
    return;
  bool signal_taken = false;
  bool after_dashes = false;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "--") {
      after_dashes = true;
      continue;
    }
    if (!after_dashes && (word == "-s" || word == "-n" || word == "--signal")) {
      ++i;
      signal_taken = true;
      continue;
    }
    if (!after_dashes && word.starts_with("-") && word.size() > 1 && !signal_taken &&
        !(word == "-1" && i + 1 == call.argv.size() && i > 1)) {
      signal_taken = true;  // -9, -KILL
      if (!(word == "-1" && i + 1 == call.argv.size())) continue;
    }
    if (word == "-1") call.deny(EffectKind::Process, "signals every process of the user");
    if (word == "1") call.deny(EffectKind::Process, "signals the first process of the machine");
    if (word == "0") call.ask(Risk::High, EffectKind::Process, "signals its own group");
  }
  call.ask(Risk::Medium, EffectKind::Process, "signals processes");
}

void killall(Invocation& call, const ProgramRow&) {
  bool everybody = false;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "-u" || word == "--euid" || word == "-U" || word == "--user") everybody = true;
    if (word.empty() || word == "." || word == ".*" || word == "init" || word == "systemd" || word == "-1" ||
        word == "^") {
      call.deny(EffectKind::Process, "signals every process", std::string(word));
    }
  }
  call.ask(everybody ? Risk::Critical : Risk::High, EffectKind::Process,
           "signals processes by name, whoever started them");
}

void rsync(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  bool deletes = false;
  for (const Field& field : call.argv)
    deletes |= field.text.starts_with("--del") || field.text.starts_with("--remove-source");
  call.ask(Risk::Medium, EffectKind::Network, "copies files, perhaps to another machine");
  for (const OptionHit& hit : scan.hits) ask_about_option(call, hit);
  if (scan.arguments.empty()) return;
  const Field& target = scan.arguments.back();
  if (target.text.find(':') == std::string::npos) {
    if (deletes && call.look(target).vital)
      call.deny(EffectKind::Delete, "empties a whole system or home directory", shown(target));
    call.write_path(target);
  }
  for (const Field& source : scan.arguments) {
    const bool removes = std::any_of(call.argv.begin(), call.argv.end(), [](const Field& field) {
      return field.text.starts_with("--remove-source");
    });
    if (removes && &source != &scan.arguments.back() && call.look(source).vital)
      call.deny(EffectKind::Delete, "empties a whole system or home directory", shown(source));
  }
  if (deletes) call.ask(Risk::High, EffectKind::Delete, "deletes what is not in the source");
}

// uniq in out, xxd in out: a second argument is where it writes.
void output_argument(Invocation& call, const ProgramRow& row) {
  // xxd takes everything after its input for its output; uniq takes options anywhere.
  OptionScan scan =
      scan_options(row, call.argv, row.name == "xxd" ? ScanStop::AtFirstArgument : ScanStop::Never);
  std::vector<Field> arguments = std::move(scan.arguments);
  scan.arguments.clear();
  apply_scan(call, row, scan);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i == 0) {
      call.read_path(arguments[i]);
      if (arguments[i].may_split() || arguments[i].has(kStar) || arguments[i].has(kOne)) {
        call.ask(Risk::Medium, EffectKind::Write, "may become two arguments, of which the second is written");
      }
    } else {
      call.write_path(arguments[i]);
    }
  }
}

void few_arguments(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  if (scan.arguments.size() > 1)
    call.ask(Risk::Medium, EffectKind::Write, "changes something when it gets more than one argument");
}

void date(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  for (const Field& field : scan.arguments) {
    if (!field.text.starts_with("+")) call.ask(Risk::High, EffectKind::State, "sets the clock", shown(field));
  }
}

namespace {

// This machine asks nobody else; addresses inside a network are where credentials are handed out.
Risk request_risk(const Field& address) {
  if (!address.constant()) return Risk::High;
  const std::string host = host_of(address.text);
  const bool web = address.text.find("://") == std::string::npos || address.text.starts_with("http");
  if (web && (host == "localhost" || host == "127.0.0.1" || host == "::1")) return Risk::Low;
  for (const std::string_view inside :
       {"169.254.", "metadata.", "localhost", "127.0.0.1", "[::1]", "file:", "192.168.", "10.", "0.0.0.0",
        "100.100.100.200", "fd00:", "gopher:", "dict:"}) {
    const size_t at = address.text.find(inside);
    if (at == 0 || (at != std::string::npos && (address.text[at - 1] == '/' || address.text[at - 1] == '@')))
      return Risk::High;
  }
  return Risk::Medium;
}

}  // namespace

// curl and wget: a plain request is a question about the network; writing, uploading and settings are more.
void curl(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  for (const Field& field : scan.arguments) {
    call.ask(request_risk(field), EffectKind::Network, "talks to another machine", shown(field));
    if (field.text.starts_with("file:")) {
      Field path = field;
      path.text.erase(0, path.text.find("//") == 5 ? 7 : 5);
      call.read_path(path);
    }
  }
  if (scan.arguments.empty()) call.ask(Risk::Medium, EffectKind::Network, "talks to another machine");
  // Options that name a machine as well.
  for (const std::string_view option : {"url", "resolve", "connect-to"}) {
    const Field* value = scan.value(option);
    if (value == nullptr) continue;
    // HOST:PORT:ADDRESS: it is the address that is talked to.
    std::string target = shown(*value);
    for (int part = 0; part < 2 && option == "resolve"; ++part)
      target.erase(0, std::min(target.find(':'), target.size() - 1) + 1);
    call.ask(Risk::High, EffectKind::Network, "talks to a machine that an option names", target);
  }
  // @file stands for what the file holds; a cookie without = is a file, too.
  for (const OptionHit& hit : scan.hits) {
    const std::string_view name = hit.row->name;
    if (!hit.has_value) continue;
    const bool cookies = name == "b" || name == "cookie";
    Field file = hit.value;
    if (cookies && file.text.find('=') != std::string::npos) continue;
    if (!cookies && !file.text.starts_with("@")) continue;
    if (file.text.starts_with("@")) file.text.erase(0, 1);
    call.ask(Risk::High, EffectKind::Network, "sends or prints what a file holds", shown(file));
    call.read_path(file);
  }
  const Field* format = scan.value("w") != nullptr ? scan.value("w") : scan.value("write-out");
  if (format != nullptr && format->text.find("%{output") != std::string::npos)
    call.ask(Risk::High, EffectKind::Write, "writes a file that its output format names");
  const Field* method = scan.value("X") != nullptr ? scan.value("X") : scan.value("request");
  if (method != nullptr && method->text != "GET" && method->text != "HEAD")
    call.ask(Risk::High, EffectKind::Network, "sends a request that may change something");
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
}

}  // namespace ttyward::policy::special
