// What travels on the bus: JSON objects, described like those of the daemon's socket.
//
// None of it is the truth about a command: that is in the history and the journal of the host that ran it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/decoder.h"
#include "wire/encoder.h"
#include "wire/types/objects.h"

namespace ttyward::fleet {

// Shows that a person made a message (fleet/proof.h).
struct Proof {
  std::string by;
  std::string code;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("by", self.by, "the person's name on the host; empty: who has the host's own token");
    v.field("code", self.code, "made with the person's key");
  }
};

// A command to run. Its id is the command's id on the host that takes it.
struct Job {
  std::string id;
  std::string command;
  std::vector<std::string> argv;
  std::string cwd;
  wire::Variables env;
  std::vector<std::string> needs;
  int64_t timeout_ms = 0;
  int64_t idle_timeout_ms = 0;
  int64_t deadline_ms = 0;
  bool idempotent = false;
  std::string sandbox;
  std::string task;
  std::string requester;
  std::string reply;
  std::optional<wire::Time> submitted_at;
  std::optional<Proof> proof;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "a command id that the submitter chose", wire::kRequired);
    v.field("command", self.command, "a line for the shell; this or `argv`", wire::kLeftOut);
    v.field("argv", self.argv, "a program and its arguments", wire::kLeftOut);
    v.field("cwd", self.cwd, "where it runs", wire::kLeftOut);
    v.field("env", self.env, "variables to set", wire::kLeftOut);
    v.field("needs", self.needs, "labels that the host must have", wire::kLeftOut);
    v.field("timeout_ms", self.timeout_ms, "time limit; 0: none", wire::kLeftOut);
    v.field("idle_timeout_ms", self.idle_timeout_ms, "limit of silence; 0: none", wire::kLeftOut);
    v.field("deadline_ms", self.deadline_ms,
            "how long it may wait in the queue, by the server's clock; 0: as long as the queue keeps it",
            wire::kLeftOut);
    v.field("idempotent", self.idempotent, "it may run again elsewhere when its host is gone",
            wire::kLeftOut);
    v.field("sandbox", self.sandbox, "the profile that confines it", wire::kLeftOut);
    v.field("task", self.task, "the task it is for", wire::kLeftOut);
    v.field("requester", self.requester, "who submitted it, as they call themselves", wire::kLeftOut);
    v.field("reply", self.reply, "a subject that is told of changes", wire::kLeftOut);
    v.field("submitted_at", self.submitted_at, "when, by the submitter's clock; a proof ages with it",
            wire::kLeftOut);
    v.field("proof", self.proof, "that a person submitted it; without it an agent did", wire::kLeftOut);
  }
};

// Who has a job, and what became of it: a value of the bucket tw_job. The host that creates it has the job.
struct JobRecord {
  std::string id;
  std::string state;
  std::string host;
  std::string host_id;
  std::string boot;
  std::string command;
  std::string requester;
  std::string reason;
  int64_t attempt = 1;
  std::optional<wire::CommandResult> result;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "the command's id");
    v.field(
        "state", self.state,
        "as in a Result; `taken`: a host has it and has not reported yet; `expired`: its deadline passed");
    v.field("host", self.host, "the host that has it");
    v.field("host_id", self.host_id, "which installation that is");
    v.field("boot", self.boot, "which boot of that host");
    v.field("command", self.command, "its beginning, for display");
    v.field("requester", self.requester, "who submitted it", wire::kLeftOut);
    v.field("reason", self.reason, "an explanation, where the state needs one", wire::kLeftOut);
    v.field("attempt", self.attempt, "1, or more if it was taken over from a host that is gone");
    v.field("result", self.result, "as the host's daemon knows it, with the end of the output",
            wire::kLeftOut);
  }
};

// A host's sign of life: a value of the bucket tw_host, which the server drops when it is not renewed.
struct HostBeat {
  std::string host;
  std::string host_id;
  std::string boot;
  std::string version;
  std::vector<std::string> labels;
  int64_t slots = 0;
  int64_t busy = 0;
  int64_t load_percent = 0;
  std::vector<std::string> jobs;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("host", self.host, "its name");
    v.field("host_id", self.host_id, "which installation");
    v.field("boot", self.boot, "which boot");
    v.field("version", self.version, "of ttyward");
    v.field("labels", self.labels, "what it has");
    v.field("slots", self.slots, "commands at once");
    v.field("busy", self.busy, "of these, in use");
    v.field("load_percent", self.load_percent, "the load of the last minute, in percent of its processors");
    v.field("jobs", self.jobs, "what it has in hand, at most 50");
  }
};

// A person's answer to a question.
struct AnswerMessage {
  std::string decision;
  std::string reason;
  std::string shown;
  Proof proof;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("decision", self.decision, "`allow` or `deny`", wire::kRequired);
    v.field("reason", self.reason, "for the agent", wire::kLeftOut);
    v.field("shown", self.shown, "SHA-256 of the command and the folder that the person saw",
            wire::kRequired);
    v.field("proof", self.proof, "that a person answers");
  }
};

// A question as the inbox has it.
struct Question {
  std::string host;
  wire::Approval approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("host", self.host, "that asks");
    v.field("approval", self.approval, "the question");
  }
};

// Opens a tunnel to the host's daemon.
struct TunnelRequest {
  std::string id;
  std::string role;
  std::string nonce;
  std::optional<Proof> proof;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "chosen by the caller", wire::kRequired);
    v.field("role", self.role, "asked for; `person` needs a proof");
    v.field("nonce", self.nonce, "what the host gave for this proof", wire::kLeftOut);
    v.field("proof", self.proof, "that a person asks", wire::kLeftOut);
  }
};

template <class T>
std::string text_of(const T& value) {
  return wire::json_text(value, wire::Nulls::LeaveOut);
}

template <class T>
base::Result<T> read_as(std::string_view text) {
  const auto object = wire::parse_object(text);
  if (!object) return base::fail(base::ErrorCode::Corrupt, object.error());
  auto made = wire::decode<T>(*object, wire::Unknown::Ignore);
  if (!made) return base::fail(base::ErrorCode::Corrupt, made.error());
  return std::move(*made);
}

// Whether nothing more will happen to it. A `lost` one may still turn up.
inline bool is_final(const std::string& state) {
  return state != "taken" && state != "running" && state != "awaiting_input" && state != "queued" &&
         state != "pending_approval";
}

}  // namespace ttyward::fleet
