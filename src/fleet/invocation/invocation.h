// What the verb `fleet` hands to the program ttyward-fleet: its options, parsed and checked.
//
// The program is separate because it links libnats (docs/decisions/0006-fleet-program.md). It gets one
// argument, an Invocation as JSON. Header only, so that the command line needs nothing else of this module.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/types/describe.h"

namespace ttyward::fleet {

// A host's name or a label: 1 to 40 of a-z, 0-9 and -.
inline bool is_name(std::string_view text) {
  constexpr size_t kLongest = 40;
  return !text.empty() && text.size() <= kLongest &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

// How to reach the bus, and as whom.
struct Access {
  std::vector<std::string> servers;
  std::string token_file;
  std::string nkey_file;
  std::string creds_file;
  std::string tls_ca;
  std::string tls_cert;
  std::string tls_key;
  bool plain_text = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("servers", self.servers, "nats:// or tls:// addresses");
    v.field("token_file", self.token_file, "a file with a token", wire::kLeftOut);
    v.field("nkey_file", self.nkey_file, "a file with the seed of an NKey", wire::kLeftOut);
    v.field("creds_file", self.creds_file, "a file with a JWT and a seed", wire::kLeftOut);
    v.field("tls_ca", self.tls_ca, "certificates of authorities to trust", wire::kLeftOut);
    v.field("tls_cert", self.tls_cert, "our certificate", wire::kLeftOut);
    v.field("tls_key", self.tls_key, "its key", wire::kLeftOut);
    v.field("plain_text", self.plain_text, "cross a network without TLS", wire::kLeftOut);
  }
};

struct Invocation {
  std::string action;
  bool json = false;
  std::string program;
  Access access;
  // worker
  std::string name;
  std::vector<std::string> labels;
  int64_t slots = 0;
  int64_t lease_ms = 15'000;
  int64_t replicas = 1;
  std::string people_file;
  // run, batch
  std::vector<std::string> commands;
  std::vector<std::string> argv;
  std::string host;
  std::vector<std::string> needs;
  std::string cwd;
  wire::Variables env;
  int64_t timeout_ms = 0;
  int64_t idle_timeout_ms = 0;
  int64_t deadline_ms = 0;
  bool idempotent = false;
  bool detach = false;
  std::string sandbox;
  std::string task;
  // A person's proof; read, show, attach, approvals
  std::string as;
  std::string person_key_file;
  std::string target;
  std::string decision;
  std::string reason;
  bool all = false;
  bool read_only = false;
  int64_t from_line = 0;
  int64_t to_line = 0;
  // demo, key
  int64_t workers = 3;
  std::string file;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("action", self.action, "which verb", wire::kRequired);
    v.field("json", self.json, "print JSON", wire::kLeftOut);
    v.field("program", self.program, "the ttyward that called");
    v.field("access", self.access, "how to reach the bus");
    v.field("name", self.name, "of this host", wire::kLeftOut);
    v.field("labels", self.labels, "what this host has", wire::kLeftOut);
    v.field("slots", self.slots, "commands at once; 0: as many as processors", wire::kLeftOut);
    v.field("lease_ms", self.lease_ms, "after which a silent host counts as gone");
    v.field("replicas", self.replicas, "copies of each stream");
    v.field("people_file", self.people_file, "names and keys of people", wire::kLeftOut);
    v.field("commands", self.commands, "lines for the shell", wire::kLeftOut);
    v.field("argv", self.argv, "a program and its arguments", wire::kLeftOut);
    v.field("host", self.host, "where it must run", wire::kLeftOut);
    v.field("needs", self.needs, "labels that the host must have", wire::kLeftOut);
    v.field("cwd", self.cwd, "where it runs", wire::kLeftOut);
    v.field("env", self.env, "variables", wire::kLeftOut);
    v.field("timeout_ms", self.timeout_ms, "its time limit", wire::kLeftOut);
    v.field("idle_timeout_ms", self.idle_timeout_ms, "its limit of silence", wire::kLeftOut);
    v.field("deadline_ms", self.deadline_ms, "how long it may wait in the queue", wire::kLeftOut);
    v.field("idempotent", self.idempotent, "it may run again elsewhere", wire::kLeftOut);
    v.field("detach", self.detach, "do not wait for it", wire::kLeftOut);
    v.field("sandbox", self.sandbox, "profile", wire::kLeftOut);
    v.field("task", self.task, "what it is for", wire::kLeftOut);
    v.field("as", self.as, "a person's name in the hosts' files of people", wire::kLeftOut);
    v.field("person_key_file", self.person_key_file, "that person's key", wire::kLeftOut);
    v.field("target", self.target, "a command, a terminal or a question", wire::kLeftOut);
    v.field("decision", self.decision, "allow or deny", wire::kLeftOut);
    v.field("reason", self.reason, "a person's reason", wire::kLeftOut);
    v.field("all", self.all, "closed questions, too", wire::kLeftOut);
    v.field("read_only", self.read_only, "only watch", wire::kLeftOut);
    v.field("from_line", self.from_line, "first line", wire::kLeftOut);
    v.field("to_line", self.to_line, "last line", wire::kLeftOut);
    v.field("workers", self.workers, "how many");
    v.field("file", self.file, "where it is written", wire::kLeftOut);
  }
};

}  // namespace ttyward::fleet
