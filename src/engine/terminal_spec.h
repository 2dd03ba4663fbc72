// What a terminal is asked to be, and how that is written into its log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "engine/command.h"
#include "pty/spawn.h"
#include "sandbox/plan.h"
#include "shell/quality.h"
#include "terminal/result.h"

namespace ttyward::engine {

struct TerminalSpec {
  std::string id;
  std::string name;
  Owner owner = Owner::Agent;
  std::string session;  // of the agent that opened it; empty: of one without a session, or a person's
  std::string task;
  std::string place;         // empty: this machine
  std::string shell_folder;  // in another place: of the shell's files there
  std::string cwd;
  std::vector<std::string> argv;         // a shell; or, if `command_id` is set, the one command
  std::vector<std::string> environment;  // complete, NAME=value
  pty::WindowSize size;
  pty::Provider provider = pty::Provider::Pty;
  bool login = false;
  bool integrate = true;
  bool pooled = false;  // started ahead; nobody's yet
  std::string request;  // chosen by whoever asked for it: asking again by this gets the same one
  // A terminal for one command, which goes when that ends.
  std::string command_id;
  std::string command;  // as the caller wrote it
  std::string description;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  std::optional<std::string> stdin_text;  // its whole standard input; none: the terminal
  bool keep_background = true;            // what it leaves behind goes on
  std::string verdict_json;
  std::optional<sandbox::Plan> plan;  // not kept in the log: it is applied once
  terminal::SandboxReport sandbox;    // what confines it; without a profile, nothing

  bool temporary() const { return !command_id.empty(); }
};

// Chosen when the terminal was opened; constant from then on.
struct Birth {
  int64_t created_at_ms = 0;
  std::string secret;  // of the marks' nonces
  shell::Quality expected = shell::Quality::None;
  std::vector<std::string> remove_when_ready;  // files the shell reads while it starts
};

// In the folder of the logs: how the parts of a one command's pipeline ended, until its end is logged.
inline std::string statuses_file(const std::string& id) {
  return id + ".statuses";
}

shell::Quality quality_named(const std::string& name);

// The first record of a terminal's log. Secrets in the command are masked; the environment and the text for
// its standard input are left out.
boost::json::object spec_record(const TerminalSpec& spec, const Birth& birth);
TerminalSpec spec_from(const boost::json::object& record);
Birth birth_from(const boost::json::object& record);

}  // namespace ttyward::engine
