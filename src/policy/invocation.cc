#include "policy/invocation.h"

#include <algorithm>

#include "policy/danger.h"

namespace ttyward::policy {

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case kAny:
      case kAnyFields:
      case kListed:
        out += "…";
        break;
      case kDigits:
        out += "N";
        break;
      case kStar:
        out += "*";
        break;
      case kOne:
        out += "?";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string shown(const Field& field) {
  return shown(std::string_view(field.text));
}

Invocation::Invocation(CommandWalk& owner, std::vector<Field> arguments, Span where, Input stdin_from)
    : walk(owner), argv(std::move(arguments)), span(where), input(std::move(stdin_from)) {
  fact.span = span;
  const std::vector<std::string>& cwds = walk.state().cwds;
  if (cwds.size() == 1) fact.cwd = cwds.front();
  for (const Field& field : argv) {
    fact.argv.push_back(shown(field));
    const bool part = field.text.find_first_of("\x01\x02\x03\x06") != std::string::npos;
    const bool certain = field.constant() && field.other.empty();
    fact.known.push_back(certain ? Known::All : part || !field.other.empty() ? Known::Part : Known::Glob);
  }
}

void Invocation::effect(EffectKind kind, std::string target) {
  Effect found{kind, std::move(target)};
  if (std::find(fact.effects.begin(), fact.effects.end(), found) == fact.effects.end()) {
    fact.effects.push_back(std::move(found));
  }
}

void Invocation::ask(Risk risk, EffectKind kind, std::string reason, std::string target) {
  effect(kind, target);
  Finding finding;
  finding.risk = risk;
  finding.effect = kind;
  finding.target = std::move(target);
  finding.reason = std::move(reason);
  finding.span = span;
  fact.findings.push_back(std::move(finding));
}

void Invocation::deny(EffectKind kind, std::string reason, std::string target) {
  ask(Risk::Critical, kind, std::move(reason), std::move(target));
  fact.findings.back().decision = Decision::Deny;
}

void Invocation::raise(Risk risk) {
  for (Finding& finding : fact.findings) finding.risk = std::max(finding.risk, risk);
}

void Invocation::trick(std::string reason, Span where) {
  Facts& facts = walk.facts();
  facts.least_risk = std::max(facts.least_risk, Risk::High);
  facts.tricks.push_back({std::move(reason), where, Risk::High, Decision::Ask});
}

namespace {

// /dev/tcp/127.0.0.1/80: bash connects to a port of this machine.
bool to_this_machine(std::string_view path) {
  for (const std::string_view kind : {"/dev/tcp/", "/dev/udp/"}) {
    if (!path.starts_with(kind)) continue;
    const std::string_view host = path.substr(kind.size());
    return host.starts_with("127.0.0.1/") || host.starts_with("localhost/") || host.starts_with("::1/");
  }
  return false;
}

}  // namespace

PathFacts Invocation::look(const Field& field) const {
  const std::vector<std::string>& cwds = walk.state().cwds;
  PathFacts facts =
      look_at(field.text, cwds.empty() ? std::string_view() : std::string_view(cwds.front()), walk.place());
  for (size_t i = 1; i < cwds.size() && !facts.absolute; ++i) {
    const PathFacts more = look_at(field.text, cwds[i], walk.place());
    facts.secret |= more.secret;
    facts.agent |= more.agent;
    facts.control |= more.control;
    facts.disk |= more.disk;
    facts.vital |= more.vital;
    facts.terminal |= more.terminal;
    facts.sandbox |= more.sandbox;
    facts.too_many |= more.too_many;
    if (more.zone != Zone::Workspace) {
      facts.zone = more.zone;
      facts.path = more.path;
    }
  }
  if (!field.other.empty()) {
    Field second = field;
    second.text = field.other;
    second.other.clear();
    const PathFacts more = look(second);
    facts.vital |= more.vital;
    facts.disk |= more.disk;
    facts.secret |= more.secret;
  }
  return facts;
}

std::vector<std::string> Invocation::folders(std::string_view path) const {
  if (path.starts_with("/")) return {normalize(path)};
  std::vector<std::string> out;
  for (const std::string& cwd : walk.state().cwds)
    out.push_back(normalize(path.empty() ? cwd : cwd + "/" + std::string(path)));
  return out;
}

namespace {

// Leaves files behind whose names the line may not show.
bool fetches_files(const CommandFact& fact) {
  for (const std::string_view fetcher :
       {"wget", "wget2", "aria2c", "axel", "fetch", "scp", "sftp", "tar", "bsdtar", "unzip", "cpio", "7z"}) {
    if (fact.program == fetcher) return true;
  }
  if (fact.program == "git") return fact.subcommand == "clone";
  if (fact.program != "curl") return false;
  return std::any_of(fact.argv.begin(), fact.argv.end(), [](const std::string& word) {
    const bool letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
    return (letters && word.find_first_of("OoJ") != std::string::npos) || word.starts_with("--remote-name") ||
           word.starts_with("--output");
  });
}

}  // namespace

bool Invocation::runs_fetched(const Field& source) const {
  const bool indirect = !source.constant() || source.text.starts_with("/dev/fd/") || source.text == "-" ||
                        source.text == "/dev/stdin" || source.text.starts_with("/proc/self/fd/");
  const std::string path = indirect ? std::string() : shown(look(source).path);
  bool network = false;
  bool written = indirect;
  for (const CommandFact& before : walk.facts().commands) {
    if (network || before.program != "tar") written |= fetches_files(before);
    for (const Effect& effect : before.effects) {
      network |= effect.kind == EffectKind::Network;
      written |= effect.kind == EffectKind::Write && effect.target == path;
    }
  }
  return network && written;
}

namespace {

// Names that another command prints. `ls` prints names of one folder: kListed alone. `find` prints paths
// below a folder: FOLDER/kListed, with the end of the names if it looks for that: FOLDER/kListed.c.
struct Listing {
  std::string folder;
  FolderSearch search;
};

Listing listing_of(std::string_view text) {
  const size_t mark = text.find(kListed);
  Listing out;
  out.folder = std::string(text.substr(0, mark));
  if (out.folder.empty()) {
    out.search.depth = FolderSearch::Depth::Here;
    out.search.hidden = false;
  }
  const std::string end(text.substr(mark + 1));
  const bool plain = end.find_first_of("/\x01\x02\x03\x04\x05\x06") == std::string::npos;
  if (!end.empty() && plain) out.search.takes = [end](std::string_view name) { return name.ends_with(end); };
  return out;
}

}  // namespace

bool Invocation::names_contain(std::string_view value, std::string_view characters) const {
  const Place& place = walk.place();
  const std::vector<std::string>& cwds = walk.state().cwds;
  if (place.files == nullptr || cwds.empty()) return true;
  const auto odd = [&](std::string_view name) {
    return name.find_first_of(characters) != std::string_view::npos;
  };
  while (!value.empty()) {
    const std::string_view line = value.substr(0, value.find('\n'));
    value.remove_prefix(std::min(line.size() + 1, value.size()));
    if (line.find_first_of("\x01\x02\x03") != std::string_view::npos) return true;
    for (const std::string& cwd : cwds) {
      if (line.find(kListed) != std::string_view::npos) {
        Listing listing = listing_of(line);
        // Below folders that are not known by name: anywhere below this one.
        if (listing.folder.find_first_of("\x04\x05") != std::string::npos) listing.folder = "./";
        const std::string folder =
            normalize(listing.folder.starts_with("/") ? listing.folder : cwd + "/" + listing.folder);
        bool found = false;
        const auto takes = std::move(listing.search.takes);
        listing.search.takes = [&](std::string_view name) {
          found |= odd(name) && (!takes || takes(name));
          return false;
        };
        listing.search.skips_folder = [&](std::string_view name) {
          found |= odd(name);
          return false;
        };
        const FolderFinding looked = search_folder(folder, listing.search, place);
        if (found || looked.too_many) return true;
      } else if (line.find_first_of("\x04\x05") != std::string_view::npos) {
        const std::string path =
            normalize(line.starts_with("/") ? std::string(line) : cwd + "/" + std::string(line));
        const NameExpansion found = expand_glob(path, *place.files);
        if (found.too_many) return true;
        for (const ExpandedName& name : found.names) {
          const bool inside = !line.starts_with("/") && name.path.starts_with(cwd);
          if (odd(std::string_view(name.path).substr(inside ? cwd.size() : 0))) return true;
        }
      }
    }
  }
  return false;
}

// The names that end as the listing says can be looked up, and its folder is not itself one of credentials.
bool Invocation::listed_names_are_known(const Field& field) const {
  const FileView* files = walk.place().files;
  Field folder = field;
  folder.text = listing_of(field.text).folder;
  // Text behind the names is not the lister's: `{}/.env`.
  const std::string_view behind = std::string_view(field.text).substr(field.text.rfind(kListed) + 1);
  if (names_secret(behind)) return false;
  if (files == nullptr || !folder.constant() || look(folder).secret) return false;
  const std::vector<std::string> places = folders(folder.text);
  return places.size() == 1 && files->list(places.front(), kMaxFolderEntries).has_value();
}

void Invocation::search_path(const Field& field, const FolderSearch& search) {
  const std::string_view text = field.text;
  if (text.find_first_of("\x01\x02\x03\x06") != std::string_view::npos) return;
  std::vector<std::string> places = folders(text);
  if (places.empty())
    return ask(Risk::Medium, EffectKind::Read, "searches a folder that is only known when it runs",
               shown(text));
  if (const FileView* files = walk.place().files; files != nullptr && (field.has(kStar) || field.has(kOne))) {
    std::vector<std::string> matched;
    for (const std::string& place : places) {
      for (const ExpandedName& name : expand_glob(place, *files).names) matched.push_back(name.path);
    }
    places = std::move(matched);
  }
  for (const std::string& place : places) {
    const FolderFinding found = search_folder(place, search, walk.place());
    if (!found.secret.empty())
      return ask(Risk::High, EffectKind::Secret, "reads what is likely to hold credentials", found.secret);
    if (!found.outside.empty())
      return ask(Risk::Medium, EffectKind::Read, "reads through a link that leads elsewhere", found.outside);
    if (found.too_many) {
      return ask(Risk::Medium, EffectKind::Read,
                 "searches more files than can be checked: name a smaller folder", place);
    }
  }
}

void Invocation::read_path(const Field& field, bool recursive) {
  if (field.text == "-") return;
  PathFacts facts = look(field);
  const std::string where = shown(facts.path);
  if (facts.secret && field.has(kListed)) facts.secret = !listed_names_are_known(field);
  if (facts.harmless_device) return effect(EffectKind::Read, where);
  if (facts.network)
    return ask(to_this_machine(facts.path) ? Risk::High : Risk::Critical, EffectKind::Network,
               "opens a network connection through /dev", where);
  if (facts.terminal)
    return ask(Risk::Critical, EffectKind::Process, "reads a terminal without its user's knowledge", where);
  if (facts.sandbox)
    return ask(Risk::Critical, EffectKind::Secret, "reads or changes another process", where);
  if (facts.secret)
    return ask(Risk::High, EffectKind::Secret, "reads what is likely to hold credentials", where);
  if (facts.disk) return ask(Risk::High, EffectKind::Read, "reads a device below its file system", where);
  if (facts.zone == Zone::OtherHome)
    return ask(Risk::Medium, EffectKind::Read, "reads another person's files", where);
  if (facts.zone == Zone::Device) return ask(Risk::High, EffectKind::Read, "reads a device", where);
  if (facts.zone == Zone::Unknown && field.text.find(kListed) == std::string::npos) {
    return ask(Risk::Medium, EffectKind::Read, "reads a file that is only known when it runs", where);
  }
  if (recursive && holds_secrets(facts, walk.place())) {
    return ask(Risk::Medium, EffectKind::Secret, "searches through folders that hold credentials", where);
  }
  if (facts.too_many) {
    return ask(Risk::Medium, EffectKind::Read, "matches more files than can be checked: name fewer", where);
  }
  if (field.has(kListed) && walk.place().files != nullptr) {
    const Listing listing = listing_of(field.text);
    Field folder = field;
    folder.text = listing.folder;
    search_path(folder, listing.search);
  }
  effect(EffectKind::Read, where);
}

void Invocation::list_path(const Field& field) {
  // Looking at names does not go through links that a glob matches: what it says counts.
  const bool glob = field.has(kStar) || field.has(kOne);
  Place by_name = walk.place();
  by_name.files = nullptr;
  const std::vector<std::string>& cwds = walk.state().cwds;
  const PathFacts facts = glob && cwds.size() == 1 ? look_at(field.text, cwds.front(), by_name) : look(field);
  const std::string where = shown(facts.path);
  if (facts.sandbox) return ask(Risk::Critical, EffectKind::Secret, "looks into another process", where);
  if (facts.secret && facts.zone != Zone::Workspace && facts.zone != Zone::Unknown) {
    return ask(Risk::Medium, EffectKind::Secret, "looks at where credentials are kept", where);
  }
  effect(EffectKind::List, where);
}

void Invocation::writes_nothing_else() {
  const auto ordinary = [](const Finding& finding) { return finding.plain_write; };
  if (std::none_of(fact.findings.begin(), fact.findings.end(), ordinary)) return;
  for (Finding& finding : fact.findings) {
    finding.plain_write |= finding.effect == EffectKind::Write && finding.decision == Decision::Ask &&
                           finding.target.empty() && finding.risk <= Risk::Medium;
  }
}

void Invocation::write_path(const Field& field, std::string_view verb) {
  const PathFacts facts = look(field);
  const std::string where = shown(facts.path);
  if (facts.harmless_device) return;
  const std::string does(verb);
  if (facts.disk)
    return deny(EffectKind::Write, does + " a device or a kernel control that can bring the machine down",
                where);
  if (facts.network)
    return ask(to_this_machine(facts.path) ? Risk::High : Risk::Critical, EffectKind::Network,
               "opens a network connection through /dev", where);
  if (facts.terminal) return ask(Risk::Critical, EffectKind::Process, does + " somebody's terminal", where);
  if (facts.agent) {
    ask(Risk::Critical, EffectKind::Write, does + " a file that tells agents what to do", where);
    fact.findings.back().control = true;
    return;
  }
  if (facts.sandbox) return ask(Risk::Critical, EffectKind::Write, does + " another process", where);
  if (facts.control || facts.secret) {
    const Risk risk =
        facts.zone == Zone::Workspace || facts.zone == Zone::Unknown ? Risk::High : Risk::Critical;
    ask(risk, EffectKind::Write, does + " a file that shells, editors, git or the system obey", where);
    fact.findings.back().control = true;
    return;
  }
  switch (facts.zone) {
    case Zone::Workspace:
      ask(Risk::Medium, EffectKind::Write, does + " a file in the workspace", where);
      fact.findings.back().zone = facts.zone;
      fact.findings.back().plain_write = true;
      return;
    case Zone::Temporary:
      ask(Risk::High, EffectKind::Write, does + " a file outside the workspace", where);
      break;
    case Zone::Home:
      ask(Risk::High, EffectKind::Write, does + " a file in the home directory, outside the workspace",
          where);
      break;
    case Zone::OtherHome:
      ask(Risk::Critical, EffectKind::Write, does + " another person's file", where);
      break;
    case Zone::System:
      ask(Risk::Critical, EffectKind::Write, does + " a file of the system", where);
      break;
    case Zone::Kernel:
      ask(Risk::Critical, EffectKind::Write, does + " a setting of the kernel", where);
      break;
    case Zone::Device:
      ask(Risk::Critical, EffectKind::Write, does + " a device", where);
      break;
    case Zone::Unknown:
      ask(Risk::High, EffectKind::Write, does + " a file that is only known when it runs", where);
      break;
  }
  fact.findings.back().zone = facts.zone;
}

void Invocation::delete_path(const Field& field, bool recursive, bool force) {
  const PathFacts facts = look(field);
  const std::string where = shown(facts.path);
  if (recursive && facts.vital)
    return deny(EffectKind::Delete, "deletes a whole system or home directory", where);
  if (facts.disk) return deny(EffectKind::Delete, "deletes a device", where);
  if (recursive && facts.absolute && facts.zone != Zone::Workspace) {
    return deny(EffectKind::Delete, "deletes a whole tree outside the workspace, given by its absolute path",
                where);
  }
  Risk risk = Risk::High;
  std::string reason = recursive ? "deletes a tree of files" : "deletes files";
  if (recursive && facts.may_be_root) {
    risk = Risk::Critical;
    reason = "deletes everything from the root if the variable is empty";
  } else if (facts.agent || facts.control || (recursive && force) ||
             (facts.zone != Zone::Workspace && facts.zone != Zone::Temporary)) {
    risk = Risk::Critical;
    if (facts.zone != Zone::Workspace)
      reason += facts.zone == Zone::Unknown ? " that are only known when it runs" : " outside the workspace";
  } else if (!recursive && !force && facts.known) {
    risk = Risk::Medium;
  } else if (!recursive) {
    risk = Risk::High;
  }
  ask(risk, EffectKind::Delete, reason, where);
  fact.findings.back().zone = facts.zone;
  fact.findings.back().control = facts.agent || facts.control;
}

void Invocation::change_tree(const Field& field, bool recursive) {
  const PathFacts facts = look(field);
  const std::string where = shown(facts.path);
  if (recursive && facts.vital)
    return deny(EffectKind::Privilege, "changes the permissions of a whole system or home directory", where);
  Risk risk = Risk::Medium;
  if (facts.zone != Zone::Workspace || recursive) risk = Risk::High;
  if (facts.control || facts.disk || facts.zone == Zone::System || facts.zone == Zone::Device)
    risk = Risk::Critical;
  ask(risk, EffectKind::Privilege, "changes permissions or owners", where);
}

void Invocation::run_program(std::span<const Field> inner, const Input& inner_input) {
  if (inner.empty()) return;
  output = walk.run_command(inner, span, inner_input);
}

namespace {

// The shell that reads the text which `program` is given.
std::optional<syntax::Dialect> script_dialect(std::string_view program) {
  const size_t slash = program.rfind('/');
  if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
  if (program == "bash" || program == "rbash") return syntax::Dialect::Bash;
  if (program == "zsh") return syntax::Dialect::Zsh;
  if (program == "fish") return syntax::Dialect::Fish;
  if (program == "eval" || program == "trap" || program == "builtin" || program == "command")
    return std::nullopt;
  return syntax::Dialect::Posix;  // sh, and whatever hands text to sh
}

}  // namespace

void Invocation::run_script(const Field& text, bool in_this_shell) {
  if (!text.constant()) {
    const bool fetched = runs_fetched(text);
    ask(fetched ? Risk::Critical : Risk::High, EffectKind::Execute,
        fetched ? "runs what comes from the network" : "runs shell text that is only known when it runs");
    // Even so the part that is known may be a catastrophe.
  }
  if (text.from_network) ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
  output = walk.run_script(text.text, span, in_this_shell, input, script_dialect(word(0)));
}

void Invocation::run_code(const Field& code, std::string_view language) {
  ask(!code.constant() && runs_fetched(code) ? Risk::Critical : Risk::High, EffectKind::Execute,
      "runs " + std::string(language) + " code given on the command line");
  check_foreign_code(*this, code.text);
}

}  // namespace ttyward::policy
