// Programs with one habit that their row cannot express.
#include <algorithm>
#include <array>
#include <utility>

#include "policy/folder_code.h"
#include "policy/name_expansion.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {

// BSD-style letters: an e without a dash shows the environment.
void ps(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  bool shows = false;
  bool value = false;  // the word belongs to the letter before it
  for (const Field& field : scan.arguments) {
    if (std::exchange(value, false)) continue;
    if (!field.constant()) {
      shows |= field.text[0] < '0' || field.text[0] > '9';
      continue;
    }
    for (size_t i = 0; i < field.text.size(); ++i) {
      shows |= field.text[i] == 'e';
      if (std::string_view("okOpqtU").find(field.text[i]) == std::string_view::npos) continue;
      value = i + 1 == field.text.size();
      break;
    }
  }
  for (const Field& field : call.rest(1)) shows |= field.text.find("environ") != std::string::npos;
  if (shows) call.ask(Risk::Medium, EffectKind::Secret, "shows the variables of processes");
}

// The loader that a program names is started: only those of the system are known.
void ldd(Invocation& call, const ProgramRow& row) {
  OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  const std::vector<Field> files = std::move(scan.arguments);
  scan.arguments.clear();
  apply_scan(call, row, scan);
  for (const Field& file : files) {
    const PathFacts facts = call.look(file);
    const bool systems = facts.known && facts.absolute && facts.zone == Zone::System &&
                         (facts.path.starts_with("/usr/") || facts.path.starts_with("/bin/") ||
                          facts.path.starts_with("/lib") || facts.path.starts_with("/sbin/"));
    if (systems) continue;
    call.ask(Risk::High, EffectKind::Execute, "runs another program", shown(file));
  }
  if (files.empty()) call.ask(Risk::High, EffectKind::Execute, "runs another program");
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
  // Its options end at the first file.
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::AtFirstArgument));
  for (const Field& field : call.rest(1)) {
    if (field.text.starts_with("+") || field.text == "cache")
      call.ask(Risk::High, EffectKind::Execute, "a pager told to run something", shown(field));
    if (field.text.starts_with("+") && field.text.find_first_of("!|") != std::string::npos)
      check_command_text(call, field.text);
  }
  if (call.input.given) call.output = call.input.text;
}

namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    // These wildcards match a leading dot, too.
    return glob_matches(pattern, name) ||
           (pattern.starts_with(kStar) && glob_matches("\x06" + pattern.substr(1), name));
  });
}

std::vector<std::string> values_of(const OptionScan& scan, std::string_view name) {
  std::vector<std::string> out;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name == name && hit.has_value) out.push_back(live_pattern(hit.value.text));
  }
  return out;
}

// Whether names that the patterns take can be those of credentials, as far as the patterns say.
bool can_take_secrets(const Invocation& call, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    Field field;
    field.text = pattern;
    Place bare = call.walk.place();
    bare.files = nullptr;
    return pattern.find_first_not_of("\x04\x05\x06./") != std::string::npos &&
           look_at(pattern, "/", bare).secret;
  });
}

// grep -r reads hidden and ignored files, too; it follows no links unless -R.
void search_with_grep(Invocation& call, const OptionScan& scan, const std::vector<Field>& places) {
  const std::vector<std::string> include = values_of(scan, "include");
  const std::vector<std::string> exclude = values_of(scan, "exclude");
  const std::vector<std::string> exclude_folders = values_of(scan, "exclude-dir");
  if (can_take_secrets(call, include)) {
    return call.ask(Risk::High, EffectKind::Secret, "searches files that are likely to hold credentials",
                    shown(include.front()));
  }
  FolderSearch search;
  search.follow = scan.has("R") || scan.has("dereference-recursive");
  search.links_count = search.follow;
  search.takes = [&](std::string_view name) {
    return (include.empty() || matches_any(include, name)) && !matches_any(exclude, name);
  };
  search.skips_folder = [&](std::string_view name) { return matches_any(exclude_folders, name); };
  for (const Field& place : places) call.search_path(place, search);
}

// rg leaves hidden and ignored files out, unless told otherwise.
void search_with_rg(Invocation& call, const OptionScan& scan, const std::vector<Field>& places) {
  std::vector<std::string> globs;
  for (const std::string_view name : {"g", "glob", "iglob"}) {
    for (std::string& pattern : values_of(scan, name)) {
      std::transform(pattern.begin(), pattern.end(), pattern.begin(), [&](char c) {
        return name == "iglob" && c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
      });
      if (!pattern.starts_with("!")) globs.push_back(std::move(pattern));
    }
  }
  if (can_take_secrets(call, globs)) {
    return call.ask(Risk::High, EffectKind::Secret, "searches files that are likely to hold credentials",
                    shown(globs.front()));
  }
  bool everything = false;
  for (const Field& field : call.rest(1)) {
    const std::string_view word = field.text;
    everything |= word == "--hidden" || word.starts_with("--no-ignore") || word == "--unrestricted" ||
                  word == "--follow" ||
                  (word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                   word.find_first_of("u.L") != std::string_view::npos);
  }
  // A glob that takes names wins over what is hidden or ignored.
  if (!everything && globs.empty()) return;
  FolderSearch search;
  search.takes = [&](std::string_view name) { return globs.empty() || matches_any(globs, name); };
  for (const Field& place : places) call.search_path(place, search);
}

}  // namespace

// With -l or --files it prints names.
void grep(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan rest = scan;
  if (scan.has("files")) rest.arguments.insert(rest.arguments.begin(), Field{});  // every argument is a place
  apply_scan(call, row, rest);
  const bool taken = scan.has("e") || scan.has("f") || scan.has("regexp") || scan.has("file");
  std::vector<Field> places(rest.arguments.begin() + (taken || rest.arguments.empty() ? 0 : 1),
                            rest.arguments.end());
  const bool rg = row.recursive;
  bool recursive = rg;
  for (const OptionHit& hit : scan.hits) {
    recursive |= hit.row->use == Use::Recursive;
    recursive |= !rg && (hit.row->name == "d" || hit.row->name == "directories") &&
                 (!hit.value.constant() || hit.value.text.starts_with("r"));
  }
  if (recursive && places.empty()) {
    Field here;
    here.text = ".";
    places.push_back(here);
  }
  if (rg && !scan.has("files")) search_with_rg(call, scan, places);
  if (!rg && recursive) {
    for (const Field& place : places) call.read_path(place, true);
    search_with_grep(call, scan, places);
  }
  const bool names = scan.has("l") || scan.has("files-with-matches") || scan.has("L") ||
                     scan.has("files-without-match") || scan.has("files") ||
                     (rg && std::any_of(call.argv.begin() + 1, call.argv.end(), [](const Field& field) {
                        return field.text.size() > 1 && field.text[0] == '-' && field.text[1] != '-' &&
                               field.text.find('l') != std::string::npos;
                      }));
  if (!names) return;
  call.output.clear();
  for (const Field& place : places) {
    call.output += recursive && !rg ? place.text + "/" + kListed + "\n" : place.text + "\n";
  }
  if (rg) call.output = std::string(1, kListed) + "\n" + kStar + "/" + kListed + "\n";
}

// ack searches hidden files, ag leaves them out unless told otherwise.
void ag(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  bool hidden = call.word(0).find("ack") != std::string_view::npos;
  for (const Field& field : call.rest(1)) {
    hidden |= field.text == "--hidden" || field.text == "--unrestricted" || field.text == "--all-types" ||
              (field.text.size() > 1 && field.text[0] == '-' && field.text[1] != '-' &&
               field.text.find_first_of("uUat") != std::string::npos);
  }
  if (!hidden) return;
  FolderSearch search;
  if (scan.arguments.size() < 2) {
    Field here;
    here.text = ".";
    return call.search_path(here, search);
  }
  for (size_t i = 1; i < scan.arguments.size(); ++i) call.search_path(scan.arguments[i], search);
}

namespace {

// Anything but an address in digits.
bool names_a_host(std::string_view text) {
  return text.find_first_not_of("0123456789.:/*[]()=!<>,-%") != std::string_view::npos;
}

}  // namespace

void lsof(Invocation& call, const ProgramRow&) {
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word.starts_with("-") && word.find_first_of("DSOrmeE") != std::string_view::npos &&
        !word.starts_with("-i") && !word.starts_with("-s")) {
      call.ask(Risk::Medium, EffectKind::Unknown, "an option that is not known to be harmless",
               std::string(word));
    }
    // -i @name asks a name server.
    const size_t at = word.find('@');
    if (at != std::string_view::npos && names_a_host(word.substr(at + 1)))
      call.ask(Risk::Medium, EffectKind::Network, "asks a name server", shown(call.argv[i]));
  }
}

// A filter with the name of a machine asks a name server for it.
void ss(Invocation& call, const ProgramRow& row) {
  OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  for (const Field& field : scan.arguments) {
    static constexpr auto kWords = std::to_array<std::string_view>(
        {"state",    "exclude",   "dst",        "src",          "dport",     "sport",  "dev",
         "fwmark",   "cgroup",    "autobound",  "and",          "or",        "not",    "eq",
         "ne",       "ge",        "le",         "gt",           "lt",        "neq",    "geq",
         "leq",      "all",       "connected",  "synchronized", "bucket",    "big",    "established",
         "syn-sent", "syn-recv",  "fin-wait-1", "fin-wait-2",   "time-wait", "closed", "close-wait",
         "last-ack", "listening", "listen",     "closing"});
    const bool known = std::find(kWords.begin(), kWords.end(), field.text) != kWords.end();
    const bool service = field.text.starts_with(":");  // looked up in /etc/services
    if (!known && !service && names_a_host(field.text))
      call.ask(Risk::Medium, EffectKind::Network, "asks a name server", shown(field));
  }
  scan.arguments.clear();
  apply_scan(call, row, scan);
}

// cargo version is a row of its own; every other subcommand builds or runs.
void build(Invocation& call, const ProgramRow& row) {
  if (call.argv.size() == 2 && call.word(1) == "version") {
    call.fact.findings.clear();
    call.fact.effects.clear();
    return check_obeyed_files(call, row);
  }
  any_inner(call, row);
}

// Of two folders it compares the files in them: those of the same name, with -N all.
void diff(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const FileView* files = call.walk.place().files;
  if (files == nullptr) return;
  FolderSearch here;
  if (!scan.has("r") && !scan.has("recursive")) here.depth = FolderSearch::Depth::Here;
  here.links_count = true;
  for (const Field& field : scan.arguments) {
    for (const std::string& folder : call.folders(field.text)) {
      if (field.constant() && files->list(folder, kMaxFolderEntries)) call.search_path(field, here);
    }
  }
}

// A name that is looked up may be data that leaves this way.
void getent(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const std::string_view table =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments[0].text);
  if ((table.find("hosts") != std::string_view::npos || table == "networks") && scan.arguments.size() > 1) {
    call.ask(Risk::Medium, EffectKind::Network, "asks a name server", shown(scan.arguments[1]));
  }
}

// Pages by name are the system's; a path may be anything, and formatters are programs.
void man(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  for (const Field& page : scan.arguments) {
    if (!page.constant() || page.text.find('/') != std::string::npos)
      call.ask(Risk::High, EffectKind::Execute, "formats a file from an unknown source", shown(page));
  }
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

namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

// An address or option that starts a program joins it to another machine.
void relay(Invocation& call, const ProgramRow& row) {
  any_inner(call, row);
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string word = lower_case(call.word(i));
    const bool option = row.name != "socat" && (word.starts_with("--exec") || word.starts_with("--sh-exec") ||
                                                (word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                                                 word.find_first_of("ec") != std::string::npos));
    if (!option && word.find("exec:") == std::string::npos && word.find("system:") == std::string::npos)
      continue;
    call.ask(Risk::Critical, EffectKind::Execute, "runs a program on another machine", shown(call.argv[i]));
    check_command_text(call, call.word(i));
  }
}

// Statements that throw whole tables away.
void database(Invocation& call, const ProgramRow& row) {
  any_inner(call, row);
  std::string all = lower_case(call.input.text);
  for (const Field& field : call.rest(1)) all += " " + lower_case(field.text);
  for (const std::string_view gone :
       {"drop database", "drop table", "drop schema", "truncate ", "flushall", "flushdb", "dropdatabase"}) {
    if (all.find(gone) != std::string::npos)
      call.ask(Risk::Critical, EffectKind::Delete, "deletes data of a database", std::string(gone));
  }
}

namespace {

// Folders that are the machine itself, or a person's whole home.
bool is_machine_folder(std::string_view path) {
  if (path.empty() || path.front() != '/') return path == "~" || path.starts_with("..");
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (path == "/" || path.find("/..") != std::string_view::npos) return true;
  for (const std::string_view folder : {"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev",
                                        "/proc", "/sys", "/run", "/var/run", "/var/lib", "/root"}) {
    if (path == folder || (path.starts_with(folder) && path[folder.size()] == '/')) return true;
  }
  // /home and /home/somebody, not a project in it.
  return path == "/home" || (path.starts_with("/home/") && path.find('/', 6) == std::string_view::npos);
}

// The folder here that an option of `run` shows inside; empty: none.
std::string_view mounted_folder(std::string_view option, std::string_view value) {
  if (option == "-v" || option == "--volume") return value.substr(0, value.find(':'));
  if (option != "--mount") return {};
  while (!value.empty()) {
    const std::string_view part = value.substr(0, value.find(','));
    for (const std::string_view name : {"source=", "src="}) {
      if (part.starts_with(name)) return part.substr(name.size());
    }
    value.remove_prefix(std::min(value.size(), part.size() + 1));
  }
  return {};
}

bool opens_machine(std::string_view option, std::string_view value) {
  for (const std::string_view shared : {"--net", "--network", "--pid", "--ipc", "--uts", "--cgroupns"}) {
    if (option == shared && value == "host") return true;
  }
  return is_machine_folder(mounted_folder(option, value));
}

}  // namespace

void container_run(Invocation& call, const ProgramRow& row) {
  std::string_view option;  // the word before, if its value may be this one
  for (const Field& field : call.rest(1)) {
    const std::string_view word = field.text;
    const size_t equals = word.find('=');
    const bool opens = word.starts_with("--") && equals != std::string_view::npos
                           ? opens_machine(word.substr(0, equals), word.substr(equals + 1))
                       : word.starts_with("-v/") ? opens_machine("-v", word.substr(2))
                                                 : opens_machine(option, word);
    option = word;
    if (opens) {
      call.ask(Risk::Critical, EffectKind::Privilege, "gives the container access to the machine",
               shown(field));
      continue;
    }
    const bool whole_root =
        word == "/:" || word.starts_with("/:/") || word.find("=/:/") != std::string_view::npos ||
        word.find("source=/,") != std::string_view::npos || word.find("src=/,") != std::string_view::npos;
    if (word.starts_with("--privileged") || whole_root ||
        word.find("docker.sock") != std::string_view::npos || word == "--pid=host" || word == "--net=host" ||
        word == "--network=host" || word.starts_with("--cap-add") || word.starts_with("--security-opt") ||
        word.starts_with("--device")) {
      call.ask(Risk::Critical, EffectKind::Privilege, "gives the container access to the machine",
               shown(field));
    }
  }
  any_inner(call, row);
}

}  // namespace ttyward::policy::special
