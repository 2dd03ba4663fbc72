// ttyward fleet: commands on many hosts. The program ttyward-fleet does it; this parses what people write.
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/daemon_call.h"
#include "cli/option_values.h"
#include "cli/verbs/verbs.h"
#include "fleet/invocation/invocation.h"
#include "wire/encoder.h"

namespace ttyward::cli {
namespace fleet_verb {
namespace {

using fleet::Invocation;

struct Arguments {
  Invocation made;
  std::string labels;
  std::string needs;
  std::string file;
  std::string range;
  std::vector<std::string> words;
  double timeout = 0;
  double idle_timeout = 0;
  double deadline = 0;
  double lease = 15;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text + ",") {
    if (c != ',') {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::exchange(part, {}));
    }
  }
  return parts;
}

// The path of this program and of ttyward-fleet, which is beside it in a build folder.
struct Programs {
  std::string self;
  std::string fleet;
};

Programs find_programs() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  Programs found;
  found.self.assign(path, length > 0 ? static_cast<size_t>(length) : 0);
  const std::string folder = found.self.substr(0, found.self.rfind('/') + 1);
  for (const std::string& each : {folder + "ttyward-fleet", folder + "../libexec/ttyward/ttyward-fleet"}) {
    if (found.fleet.empty() && ::access(each.c_str(), X_OK) == 0) found.fleet = each;
  }
  return found;
}

int refuse(const std::string& message) {
  return complain("fleet", message, kExitUsage);
}

int start(Invocation made) {
  const Programs programs = find_programs();
  if (programs.fleet.empty()) {
    return complain(
        "fleet",
        "the program ttyward-fleet is not installed. On Debian install the package ttyward-fleet; to "
        "build it, install libnats-dev and libssl-dev (./setup --fleet) and build again",
        kExitFailure);
  }
  made.program = programs.self;
  const std::string text = wire::json_text(made, wire::Nulls::LeaveOut);
  constexpr size_t kLongestArgument = 128 << 10;
  std::string program = "ttyward-fleet";
  std::string argument = text;
  if (text.size() >= kLongestArgument) {
    // Too long for an argument of the kernel's: it comes from a file without a name.
    FILE* file = std::tmpfile();
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
        std::fflush(file) != 0)
      return complain("fleet", "cannot write a temporary file", kExitFailure);
    const int fd = ::dup(::fileno(file));
    ::lseek(fd, 0, SEEK_SET);
    argument = "@" + std::to_string(fd);
  }
  char* argv[] = {program.data(), argument.data(), nullptr};
  ::execv(programs.fleet.c_str(), argv);
  return complain("fleet", programs.fleet + " cannot be started: " + std::strerror(errno), kExitFailure);
}

void complete(fleet::Access& access);

// What is the same for all: labels, seconds.
int finish(Arguments& args, const char* action, const Globals& globals) {
  Invocation& made = args.made;
  made.action = action;
  made.json = globals.json;
  made.labels = split(args.labels);
  made.needs = split(args.needs);
  for (const auto* list : {&made.labels, &made.needs}) {
    for (const std::string& label : *list) {
      if (!fleet::is_name(label))
        return refuse("the label '" + label + "' must be 1 to 40 of a-z, 0-9 and -");
    }
  }
  for (const std::string* name : {&made.name, &made.host}) {
    if (!name->empty() && !fleet::is_name(*name))
      return refuse("the name '" + *name + "' must be 1 to 40 of a-z, 0-9 and -");
  }
  const std::pair<const char*, std::pair<double, int64_t*>> times[] = {
      {"timeout", {args.timeout, &made.timeout_ms}},
      {"idle-timeout", {args.idle_timeout, &made.idle_timeout_ms}},
      {"deadline", {args.deadline, &made.deadline_ms}},
      {"lease", {args.lease, &made.lease_ms}}};
  for (const auto& [name, value] : times) {
    auto parsed = parse_seconds(name, value.first);
    if (!parsed) return refuse(parsed.error().message);
    *value.second = parsed->count();
  }
  if (made.lease_ms < 1000) return refuse("--lease must be at least 1 second");
  for (const std::string& variable : made.env.entries) {
    if (auto parsed = parse_variable(variable); !parsed) return refuse(parsed.error().message);
  }
  if (!made.cwd.empty() && made.cwd.front() != '/')
    return refuse("--cwd must be an absolute path: it is a folder of the host, not of this machine");
  // A person who is one here brings the same token to the hosts.
  if (const char* token = std::getenv("TTYWARD_PERSON_TOKEN_FILE");
      token != nullptr && made.person_key_file.empty() && !is_agent())
    made.person_key_file = token;
  complete(made.access);
  return start(made);
}

int run(Arguments& args, const Globals& globals) {
  if (args.words.empty() || args.words.front().empty())
    return refuse("give a command: ttyward fleet run 'make test'");
  if (globals.after_dashes) {
    args.made.argv = args.words;
  } else if (args.words.size() > 1) {
    return refuse("quote the command as one word, or put -- before a program and its arguments");
  } else {
    args.made.commands = args.words;
  }
  return finish(args, "run", globals);
}

int batch(Arguments& args, const Globals& globals) {
  args.made.commands = args.words;
  if (!args.file.empty()) {
    std::ifstream file;
    if (args.file != "-") file.open(args.file);
    if (args.file != "-" && !file) return refuse("cannot read " + args.file);
    std::istream& in = args.file == "-" ? std::cin : file;
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) args.made.commands.push_back(line);
    }
  }
  std::erase(args.made.commands, "");
  if (args.made.commands.empty())
    return refuse("give commands, each as one word, or --file FILE with one a line");
  return finish(args, "batch", globals);
}

int read(Arguments& args, const Globals& globals) {
  if (!args.range.empty()) {
    auto parsed = parse_range("lines", args.range);
    if (!parsed) return refuse(parsed.error().message);
    args.made.from_line = parsed->first;
    args.made.to_line = parsed->second;
  }
  return finish(args, "read", globals);
}

void declare_access(CLI::App& app, Invocation& made) {
  fleet::Access& access = made.access;
  app.add_option("--server", access.servers,
                 "The bus: nats://HOST:PORT or tls://HOST:PORT, several with commas (default: "
                 "TTYWARD_FLEET_SERVER, and likewise for the files below)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--token-file", access.token_file, "A file with the token that the server asks for");
  app.add_option("--nkey-file", access.nkey_file,
                 "A file with the seed of our NKey (ttyward fleet key makes one)");
  app.add_option("--creds-file", access.creds_file, "A file with a JWT and its seed");
  app.add_option("--tls-ca", access.tls_ca, "Certificates of the authorities that the server may have");
  app.add_option("--tls-cert", access.tls_cert, "Our certificate, if the server asks for one");
  app.add_option("--tls-key", access.tls_key, "The key of our certificate");
  app.add_flag("--plain-text", access.plain_text,
               "Use a server that is not on this machine without TLS: where a VPN encrypts the way");
}

// What was not given as an option may be in the environment.
void complete(fleet::Access& access) {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (access.servers.empty()) access.servers = split(variable("TTYWARD_FLEET_SERVER"));
  const std::pair<std::string*, const char*> files[] = {
      {&access.token_file, "TTYWARD_FLEET_TOKEN_FILE"}, {&access.nkey_file, "TTYWARD_FLEET_NKEY_FILE"},
      {&access.creds_file, "TTYWARD_FLEET_CREDS_FILE"}, {&access.tls_ca, "TTYWARD_FLEET_TLS_CA"},
      {&access.tls_cert, "TTYWARD_FLEET_TLS_CERT"},     {&access.tls_key, "TTYWARD_FLEET_TLS_KEY"}};
  for (const auto& [file, name] : files) {
    if (file->empty()) *file = variable(name);
  }
}

void declare_person(CLI::App& app, Invocation& made) {
  app.add_option("--person-key", made.person_key_file,
                 "Act as a person: a file with your key (default: TTYWARD_PERSON_TOKEN_FILE)");
  app.add_option("--as", made.as, "Your name in the hosts' files of people (default: the host's own token)");
}

void declare_job(CLI::App& app, Arguments& args) {
  declare_access(app, args.made);
  declare_person(app, args.made);
  app.add_option("--host", args.made.host, "Run it on this host (default: on the first that is free)");
  app.add_option("--needs", args.needs, "Labels that the host must have, separated by commas");
  app.add_option("--cwd", args.made.cwd, "The host's folder to run in (default: the home folder there)");
  app.add_option("--env", args.made.env.entries, "NAME=value for its environment; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--timeout", args.timeout, "Time limit in seconds (default: none)");
  app.add_option("--idle-timeout", args.idle_timeout, "Seconds without output after which it is stopped");
  app.add_option("--deadline", args.deadline, "Seconds that it may wait in the queue (default: 24 hours)");
  app.add_flag("--idempotent", args.made.idempotent,
               "It does no harm if it runs twice: when its host is gone, another one runs it");
  app.add_option("--sandbox", args.made.sandbox, "Confine it: read-only, workspace, workspace+net or none")
      ->type_name("PROFILE");
  app.add_option("--task", args.made.task, "The task it is for");
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  Invocation& made = args->made;
  auto action = std::make_shared<std::function<int()>>();
  const auto does = [action](CLI::App* sub, std::function<int()> what) {
    sub->callback([action, what = std::move(what)] { *action = what; });
  };

  CLI::App* worker = app.add_subcommand("worker", "Take commands from the bus for the daemon of this host");
  declare_access(*worker, made);
  worker->add_option("--name", made.name, "The name of this host in the fleet (default: the machine's)");
  worker->add_option("--labels", args->labels, "What this host has, separated by commas: gpu,arm64");
  worker->add_option("--slots", made.slots, "Commands at once (default: as many as there are processors)")
      ->check(CLI::Range(1, 1024));
  worker->add_option(
      "--people", made.people_file,
      "A file with names and keys of people who may answer questions and act as a person here");
  worker->add_option("--lease", args->lease,
                     "Seconds without a sign of life after which a host counts as gone (default 15)");
  worker
      ->add_option("--replicas", made.replicas, "Copies of each stream, on a cluster of servers (default 1)")
      ->check(CLI::Range(1, 5));
  does(worker, [args, &globals] { return finish(*args, "worker", globals); });

  CLI::App* one = app.add_subcommand("run", "Run a command on a host of the fleet, and show its output");
  declare_job(*one, *args);
  one->add_flag("--detach", made.detach, "Print its id and do not wait for it");
  one->add_option("COMMAND", args->words, "The command as one word, or a program and its arguments after --");
  does(one, [args, &globals] { return run(*args, globals); });

  CLI::App* many = app.add_subcommand("batch", "Run several commands, spread over the fleet");
  declare_job(*many, *args);
  many->add_option("--file", args->file, "A file with one command a line; - is standard input");
  many->add_option("COMMAND", args->words, "Commands, each as one word");
  does(many, [args, &globals] { return batch(*args, globals); });

  CLI::App* ls = app.add_subcommand("ls", "List the hosts of the fleet and the length of the queue");
  declare_access(*ls, made);
  ls->add_flag("--jobs", made.all, "And the last commands that they took");
  does(ls, [args, &globals] { return finish(*args, "ls", globals); });

  CLI::App* show = app.add_subcommand("show", "Show what became of a command");
  declare_access(*show, made);
  show->add_option("ID", made.target, "Its id")->required();
  does(show, [args, &globals] { return finish(*args, "show", globals); });

  CLI::App* reading = app.add_subcommand("read", "Read a command's output, from the host that ran it");
  declare_access(*reading, made);
  reading->add_option("ID", made.target, "Its id")->required();
  reading->add_option("--lines", args->range, "Only these lines, such as 10:20");
  does(reading, [args, &globals] { return read(*args, globals); });

  CLI::App* attaching =
      app.add_subcommand("attach", "Use or watch the terminal of a command, or any on a host");
  declare_access(*attaching, made);
  declare_person(*attaching, made);
  attaching->add_option("TARGET", made.target, "A command's id, or HOST:TERMINAL")->required();
  attaching->add_flag("--read-only", made.read_only, "Only watch it");
  does(attaching, [args, &globals] { return finish(*args, "attach", globals); });

  CLI::App* asking = app.add_subcommand("approvals", "Questions of all hosts: list them, or answer one");
  declare_access(*asking, made);
  declare_person(*asking, made);
  asking->add_flag("--all", made.all, "List closed questions, too");
  asking->add_option("ANSWER", made.decision, "allow or deny (default: list them)")
      ->check(CLI::IsMember({"allow", "deny", "list"}));
  asking->add_option("QUESTION", made.target, "The question's id");
  asking->add_option("--reason", made.reason, "Why, for the agent");
  does(asking, [args, &globals] {
    if (args->made.decision == "list") args->made.decision.clear();
    if (!args->made.decision.empty() && args->made.target.empty())
      return refuse("which question? Give its id");
    return finish(*args, "approvals", globals);
  });

  CLI::App* trying = app.add_subcommand("demo", "Start a fleet on this machine, for trying it out");
  trying->add_option("--workers", made.workers, "How many workers (default 3)")->check(CLI::Range(1, 16));
  trying->add_option("COMMAND", args->words, "Run this in it, and end it then; after --");
  does(trying, [args, &globals] {
    args->made.argv = args->words;
    return finish(*args, "demo", globals);
  });

  CLI::App* key =
      app.add_subcommand("key", "Make an NKey: the seed goes to a file, the public key to stdout");
  key->add_option("FILE", made.file, "A new file")->required();
  does(key, [args, &globals] { return finish(*args, "key", globals); });
  app.require_subcommand(1);
  return [action] { return (*action)(); };
}

}  // namespace
}  // namespace fleet_verb

const Verb kFleet = {"fleet", "Run commands on many hosts: a queue, their results, one inbox for questions",
                     fleet_verb::declare};

}  // namespace ttyward::cli
