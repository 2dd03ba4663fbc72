// The name of a place, as `--in` takes it, and how a program is started there. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::relay {

struct PlaceName {
  enum class Kind : uint8_t { Ssh, Podman, Docker };
  Kind kind = Kind::Ssh;
  std::string target;  // host, or container
  std::string user;    // empty: the usual one
  std::string port;    // of ssh; empty: the usual one

  // "ssh:HOST", "ssh:USER@HOST:PORT", "podman:NAME", "docker:USER@NAME".
  static base::Result<PlaceName> parse(std::string_view text);
  std::string text() const;
  bool container() const { return kind != Kind::Ssh; }
  // A short name for files that belong to it.
  std::string key() const;
};

// argv of the program here whose stdin and stdout are those of `script`, a line for sh, over there. The
// script has no single quote and no backslash in it: shells disagree about them.
std::vector<std::string> stream_argv(const PlaceName& place, const std::string& script);

// The command that a person would type here to run `command` there: what policy judges. Without a command, a
// shell there.
std::vector<std::string> equivalent_argv(const PlaceName& place, const std::string& command);

// argv of plain ssh, for a machine on which our program does not run; the command has a terminal there.
std::vector<std::string> plain_ssh_argv(const PlaceName& place, const std::string& command);

// The line that finds or takes our program over there and becomes the relay.
struct BootstrapFacts {
  std::string nonce;
  std::string hash;    // of the program, SHA-256 in hexadecimal
  size_t bytes = 0;    // its size
  std::string system;  // what it runs on: "Linux x86_64"
  std::string folder;  // where it was the last time; empty: not known
};
std::string bootstrap_script(const BootstrapFacts& facts);

// What went wrong while connecting, in words for a person.
struct ConnectProblem {
  enum class Kind : uint8_t {
    Unreachable,     // may work later
    ContainerEnded,  // there is no such running container
    Refused,         // it answers, and does not let us in
    NoProgram,       // ssh, podman or docker is not installed here
    Unsupported,     // our program cannot run there
  };
  Kind kind = Kind::Unreachable;
  std::string message;
};
// `error` is what the program here printed on stderr, `code` its exit status.
ConnectProblem problem_of(const PlaceName& place, int code, const std::string& error,
                          const std::string& noise);
// `reason` is the rest of a line "fail …" of the script.
ConnectProblem problem_of_script(const PlaceName& place, const std::string& reason);

}  // namespace ttyward::relay
