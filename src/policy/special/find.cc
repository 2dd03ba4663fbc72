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
  std::string ending;    // what the names end in, if that is known

  // What it prints: paths that begin with the places it starts at.
  std::string names() const {
    if (fields.empty()) return std::string("./") + kListed + ending;
    std::string out;
    for (const Field& field : fields) {
      out += out.empty() ? "" : "\n";
      out += field.text + (field.text.ends_with("/") ? "" : "/") + kListed + ending;
    }
    return out;
  }
};

// Where the command behind -exec ends: at `;`, or at `+` behind `{}`.
size_t end_of_exec(const Invocation& call, size_t from) {
  size_t at = from;
  while (at < call.argv.size() && call.word(at) != ";" &&
         !(call.word(at) == "+" && at > from && call.word(at - 1) == "{}"))
    ++at;
  return at;
}

// `-name '*.c'` alone decides about names. With any other operator a name may pass without it.
std::string ending_of(const Invocation& call, size_t from) {
  std::string ending;
  for (size_t i = from; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "-o" || word == "-or" || word == "!" || word == "-not" || word == "," || word == "(")
      return {};
    if (word == "-exec" || word == "-execdir" || word == "-ok" || word == "-okdir") {
      i = end_of_exec(call, i + 1);
      continue;
    }
    if (word != "-name" || i + 1 == call.argv.size() || !call.argv[i + 1].constant()) continue;
    const std::string_view pattern = call.word(i + 1);
    if (pattern.starts_with("*") && pattern.find_first_of("*?[\\/", 1) == std::string_view::npos)
      ending = std::string(pattern.substr(1));
  }
  return ending;
}

void run_exec(Invocation& call, std::string_view action, std::span<const Field> inner, const Starts& starts) {
  if (action == "-ok" || action == "-okdir")
    call.ask(Risk::High, EffectKind::Execute, "waits for answers, then runs a command");
  if (starts.secrets)
    call.ask(Risk::Medium, EffectKind::Secret, "runs a command on files that may be credentials");
  std::vector<Field> argv(inner.begin(), inner.end());
  const std::string folder = starts.fields.empty() ? "." : starts.fields.front().text;
  // Names begin with a place it starts at, so they cannot be options. -execdir begins them with ./, below any
  // of the folders.
  std::vector<Field> with_names;
  for (Field& field : argv) {
    if (field.text.find("{}") == std::string::npos) {
      with_names.push_back(field);
      continue;
    }
    std::string names = starts.names();
    while (true) {
      const size_t end = std::min(names.find('\n'), names.size());
      Field one = field;
      const std::string name = names.substr(0, end);
      for (size_t at = one.text.find("{}"); at != std::string::npos;
           at = one.text.find("{}", at + name.size()))
        one.text.replace(at, 2, name);
      with_names.push_back(std::move(one));
      if (end == names.size()) break;
      names.erase(0, end + 1);
    }
  }
  argv = std::move(with_names);
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
  // -execdir runs it in the folder of the file, which may be any.
  const std::vector<std::string> before = call.walk.state().cwds;
  if (action == "-execdir" || action == "-okdir") call.walk.state().cwds.clear();
  call.run_program(argv, Input{});
  call.walk.state().cwds = before;
  raise_since(call.walk.facts(), commands, starts.vital ? Risk::Critical : Risk::High);
}

Field option_field(std::string text) {
  Field field;
  field.text = std::move(text);
  return field;
}

// A search for credentials by name makes what it prints one.
bool searches_for_secrets(const Invocation& call, size_t from) {
  bool found = false;
  for (size_t i = from; i + 1 < call.argv.size(); ++i) {
    if (call.word(i).starts_with("-") && call.word(i).find("name") != std::string_view::npos) {
      Field pattern = call.argv[i + 1];
      pattern.text = live_pattern(pattern.text);
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
  bool follows = false;
  for (const Field& field : call.rest(1)) follows |= field.text == "-L" || field.text == "-follow";
  while (at < call.argv.size() && (call.word(at) == "-H" || call.word(at) == "-L" || call.word(at) == "-P" ||
                                   (call.word(at).size() == 3 && call.word(at).starts_with("-O"))))
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
  if (call.walk.state().cwds.empty()) {
    const auto below_here = [](const Field& start) { return !start.text.starts_with("/"); };
    starts.secrets |=
        starts.fields.empty() || std::any_of(starts.fields.begin(), starts.fields.end(), below_here);
  }
  starts.secrets |= searches_for_secrets(call, at);
  starts.ending = ending_of(call, at);
  call.output = starts.names() + "\n";
  // Behind links there may be anything.
  if (starts.secrets || follows) call.output = std::string(1, kAny);
  starts.secrets |= follows;
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
      // What it prints is what the format says; only these are names.
      const std::string_view format = call.word(at);
      if (word == "-printf" && format != "%p\\n" && format != "%P\\n" && format != "%p\\0" && format != "%p ")
        call.output = std::string(1, kAny);
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
      at = end_of_exec(call, begin);
      run_exec(call, word, call.rest(begin).first(std::min(at, call.argv.size()) - begin), starts);
      call.output = std::string(1, kAny);
    } else if (word == "-fprint" || word == "-fprint0" || word == "-fls" || word == "-fprintf") {
      if (at + 1 < call.argv.size()) call.write_path(call.argv[at + 1]);
      call.raise(Risk::High);
      at += word == "-fprintf" ? 2 : 1;
    } else if (word == "-files0-from") {
      call.ask(Risk::Medium, EffectKind::Read, "searches places named in a file");
      if (at + 1 < call.argv.size()) call.read_path(call.argv[at + 1]);
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
    if (!cluster && !(word.starts_with("--ex") && std::string_view("--exec-batch").starts_with(word)))
      continue;
    call.ask(Risk::High, EffectKind::Execute, "runs a command on what it finds");
    for (size_t start = 1; start < i; ++start) {
      if (!call.word(start).starts_with("/") || !call.look(call.argv[start]).vital) continue;
      deny_only(call, [&] {
        std::vector<Field> worst(call.argv.begin() + static_cast<std::ptrdiff_t>(i) + 1, call.argv.end());
        if (worst.size() == 1) worst.push_back(option_field("-r"));
        worst.push_back(call.argv[start]);
        call.walk.run_command(worst, call.span, Input{});
      });
    }
    call.run_program(call.rest(i + 1), Input{});
    call.argv.resize(i);
    break;
  }
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  // Hidden names are left out at the top; further down any name may turn up.
  call.output = std::string(1, kListed) + "\n" + kStar + "/" + kListed + "\n";
}

}  // namespace ttyward::policy::special
