// find and fd: expressions that list, run, write or delete.
#include <array>

#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

constexpr auto kTests0 = std::to_array<std::string_view>({"-print",
                                                          "-print0",
                                                          "-ls",
                                                          "-prune",
                                                          "-quit",
                                                          "-depth",
                                                          "-d",
                                                          "-mount",
                                                          "-xdev",
                                                          "-follow",
                                                          "-empty",
                                                          "-executable",
                                                          "-readable",
                                                          "-writable",
                                                          "-nouser",
                                                          "-nogroup",
                                                          "-true",
                                                          "-false",
                                                          "-not",
                                                          "-a",
                                                          "-and",
                                                          "-o",
                                                          "-or",
                                                          "!",
                                                          "(",
                                                          ")",
                                                          ",",
                                                          "-daystart",
                                                          "-ignore_readdir_race",
                                                          "-noignore_readdir_race",
                                                          "-noleaf",
                                                          "-warn",
                                                          "-nowarn",
                                                          "-help",
                                                          "--help",
                                                          "-version",
                                                          "--version",
                                                          "-H",
                                                          "-L",
                                                          "-P"});
constexpr auto kTests1 = std::to_array<std::string_view>(
    {"-name",      "-iname",  "-path",  "-ipath",   "-wholename", "-iwholename", "-regex",    "-iregex",
     "-regextype", "-type",   "-xtype", "-size",    "-mtime",     "-mmin",       "-atime",    "-amin",
     "-ctime",     "-cmin",   "-newer", "-anewer",  "-cnewer",    "-perm",       "-user",     "-group",
     "-uid",       "-gid",    "-links", "-inum",    "-samefile",  "-maxdepth",   "-mindepth", "-fstype",
     "-lname",     "-ilname", "-used",  "-context", "-printf",    "-D",          "-O"});

template <size_t N>
bool in(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct Starts {
  std::vector<Field> fields;
  bool vital = false;
  bool secrets = false;  // what is found may be a credential
};

void run_exec(Invocation& call, std::string_view action, std::span<const Field> inner, const Starts& starts) {
  if (action == "-ok" || action == "-okdir")
    call.ask(Risk::High, EffectKind::Execute, "waits for answers, then runs a command");
  if (starts.secrets)
    call.ask(Risk::Medium, EffectKind::Secret, "runs a command on files that may be credentials");
  std::vector<Field> argv(inner.begin(), inner.end());
  const bool in_folder = action == "-execdir" || action == "-okdir";
  const std::string name = in_folder ? std::string("./") + kListed : std::string(1, kListed);
  const std::string folder = starts.fields.empty() ? "." : starts.fields.front().text;
  for (Field& field : argv) {
    for (size_t at = field.text.find("{}"); at != std::string::npos; at = field.text.find("{}", at + 1)) {
      // Names begin with the start folder, so they cannot be options if that is not one.
      field.text.replace(at, 2, in_folder || folder.starts_with("-") ? name : folder + "/" + kListed);
    }
  }
  if (starts.vital) {
    std::vector<Field> worst(inner.begin(), inner.end());
    for (Field& field : worst) {
      if (field.text == "{}") field.text = folder;
    }
    bool removes = false;
    for (const std::string_view changer :
         {"rm", "unlink", "shred", "chmod", "chown", "chgrp", "mv", "truncate", "chattr"}) {
      removes |= !worst.empty() && worst.front().text == changer;
    }
    if (removes) {
      call.deny(EffectKind::Delete, "deletes or changes what it finds in a whole system or home directory",
                folder);
    } else {
      deny_only(call, [&] { call.walk.run_command(worst, call.span, Input{}); });
    }
  }
  const size_t commands = call.walk.facts().commands.size();
  call.run_program(argv, Input{});
  raise_since(call.walk.facts(), commands, Risk::High);
}

// A search for credentials by name makes what it prints one.
bool searches_for_secrets(const Invocation& call, size_t from) {
  bool found = false;
  for (size_t i = from; i + 1 < call.argv.size(); ++i) {
    if (call.word(i).starts_with("-") && call.word(i).find("name") != std::string_view::npos) {
      Field pattern = call.argv[i + 1];
      for (char& c : pattern.text) {
        if (c == '*') c = kStar;
        if (c == '?' || c == '[' || c == ']') c = kOne;
      }
      found |= call.look(pattern).secret;
    }
    if (call.word(i).find("path") != std::string_view::npos ||
        call.word(i).find("regex") != std::string_view::npos) {
      for (const std::string_view part :
           {".ssh", ".env", ".aws", "id_rsa", "id_ed", ".pem", "credential", ".gnupg", "secret"}) {
        found |= call.word(i + 1).find(part) != std::string_view::npos;
      }
    }
  }
  return found;
}

}  // namespace

void find(Invocation& call, const ProgramRow&) {
  Starts starts;
  size_t at = 1;
  while (at < call.argv.size() && (call.word(at) == "-H" || call.word(at) == "-L" || call.word(at) == "-P"))
    ++at;
  while (at < call.argv.size() && !call.word(at).starts_with("-") && call.word(at) != "(" &&
         call.word(at) != "!" && call.word(at) != ",") {
    const Field& start = call.argv[at++];
    if (start.may_be_option() || start.may_split()) {
      call.ask(Risk::Medium, EffectKind::Unknown,
               "an argument that is only known when it runs could be an action", shown(start));
    }
    const PathFacts facts = call.look(start);
    starts.vital |= facts.vital || facts.may_be_root;
    starts.secrets |= holds_secrets(facts, call.walk.place());
    call.list_path(start);
    starts.fields.push_back(start);
  }
  if (starts.fields.empty()) {
    Field here;
    here.text = ".";
    starts.vital = call.look(here).vital;
    starts.secrets = holds_secrets(call.look(here), call.walk.place());
  }
  starts.secrets |= searches_for_secrets(call, at);
  call.output =
      starts.fields.empty() ? std::string("./") + kListed : starts.fields.front().text + "/" + kListed;
  if (starts.secrets) call.output = std::string(1, kAny);
  for (; at < call.argv.size(); ++at) {
    const Field& field = call.argv[at];
    const std::string_view word = field.text;
    if (field.may_be_option() || field.may_split()) {
      call.ask(Risk::Medium, EffectKind::Unknown,
               "an argument that is only known when it runs could be an action", shown(field));
    } else if (in(kTests0, word)) {
      continue;
    } else if (in(kTests1, word) || word.starts_with("-newer")) {
      ++at;
      if (at < call.argv.size() && call.argv[at].may_split()) {
        call.ask(Risk::Medium, EffectKind::Unknown,
                 "an argument that is only known when it runs could be an action", shown(call.argv[at]));
      }
    } else if (word.starts_with("-O") && word.size() == 3) {
      continue;
    } else if (word == "-delete") {
      if (starts.vital) {
        call.deny(EffectKind::Delete, "deletes what it finds in a whole system or home directory");
      } else {
        call.ask(Risk::High, EffectKind::Delete, "deletes what it finds");
      }
    } else if (word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir") {
      const size_t begin = at + 1;
      while (at < call.argv.size() && call.word(at) != ";" &&
             !(call.word(at) == "+" && at > begin && call.word(at - 1) == "{}"))
        ++at;
      run_exec(call, word, call.rest(begin).first(std::min(at, call.argv.size()) - begin), starts);
      call.output = std::string(1, kAny);
    } else if (word == "-fprint" || word == "-fprint0" || word == "-fls" || word == "-fprintf") {
      if (at + 1 < call.argv.size()) call.write_path(call.argv[at + 1]);
      call.raise(Risk::High);
      at += word == "-fprintf" ? 2 : 1;
    } else if (word == "-files0-from") {
      call.ask(Risk::Medium, EffectKind::Read, "searches places named in a file");
      ++at;
    } else {
      call.ask(Risk::Medium, EffectKind::Unknown,
               "'" + shown(field) + "' is not a test known to be harmless");
    }
  }
}

// fd -x COMMAND, fd -X COMMAND: everything after it is the command.
void fd(Invocation& call, const ProgramRow& row) {
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    const bool cluster = word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                         word.find_first_of("xX") != std::string_view::npos;
    if (!cluster && word != "--exec" && word != "--exec-batch" && !word.starts_with("--exec")) continue;
    call.ask(Risk::High, EffectKind::Execute, "runs a command on what it finds");
    call.run_program(call.rest(i + 1), Input{});
    call.argv.resize(i);
    break;
  }
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  call.output = std::string(1, kListed);
}

}  // namespace ttyward::policy::special
