#include "relay/place_name.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"

namespace ttyward::relay {
namespace {

constexpr size_t kLongestName = 255;

bool plain(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                  c == '_' || c == '-';
         });
}

bool digits(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

const char* prefix_of(PlaceName::Kind kind) {
  switch (kind) {
    case PlaceName::Kind::Ssh:
      return "ssh";
    case PlaceName::Kind::Podman:
      return "podman";
    case PlaceName::Kind::Docker:
      return "docker";
  }
  return "";
}

bool safe_path(std::string_view path) {
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), [](char c) {
           return c == '/' || c == '.' || c == '_' || c == '-' || (c >= '0' && c <= '9') ||
                  (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

// The last line that says something.
std::string last_line(const std::string& text) {
  size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "";
  const size_t begin = text.find_last_of('\n', end);
  const size_t from = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(from, end + 1 - from);
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

base::Result<PlaceName> PlaceName::parse(std::string_view text) {
  const auto wrong = [&] {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "'" + std::string(text) +
                          "' names no place: use ssh:HOST, ssh:USER@HOST:PORT, podman:NAME or docker:NAME");
  };
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong();
  PlaceName place;
  const std::string_view kind = text.substr(0, colon);
  if (kind == "podman") {
    place.kind = Kind::Podman;
  } else if (kind == "docker") {
    place.kind = Kind::Docker;
  } else if (kind != "ssh") {
    return wrong();
  }
  std::string_view rest = text.substr(colon + 1);
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    place.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (!plain(place.user)) return wrong();
  }
  if (const size_t port = rest.find(':'); port != std::string_view::npos) {
    place.port = rest.substr(port + 1);
    rest = rest.substr(0, port);
    if (place.kind != Kind::Ssh || !digits(place.port)) return wrong();
  }
  if (!plain(rest)) return wrong();
  place.target = rest;
  return place;
}

std::string PlaceName::text() const {
  return std::string(prefix_of(kind)) + ":" + (user.empty() ? "" : user + "@") + target +
         (port.empty() ? "" : ":" + port);
}

std::string PlaceName::key() const {
  return base::to_hex(base::sha256(text())).substr(0, 16);
}

std::vector<std::string> stream_argv(const PlaceName& place, const std::string& script) {
  if (place.container()) {
    std::vector<std::string> argv = {prefix_of(place.kind), "exec", "-i"};
    if (!place.user.empty()) argv.insert(argv.end(), {"--user", place.user});
    argv.insert(argv.end(), {place.target, "sh", "-c", script});
    return argv;
  }
  std::vector<std::string> argv = {"ssh", "-T"};
  for (const char* option :
       {"BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=2",
        "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "RequestTTY=no", "RemoteCommand=none",
        "PermitLocalCommand=no", "StdinNull=no", "ForkAfterAuthentication=no", "LogLevel=ERROR"}) {
    argv.insert(argv.end(), {"-o", option});
  }
  if (!place.port.empty()) argv.insert(argv.end(), {"-p", place.port});
  if (!place.user.empty()) argv.insert(argv.end(), {"-l", place.user});
  argv.insert(argv.end(), {"--", place.target, "exec sh -c '" + script + "'"});
  return argv;
}

std::vector<std::string> plain_ssh_argv(const PlaceName& place, const std::string& command) {
  std::vector<std::string> argv = {"ssh", "-tt"};
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=5", "LogLevel=ERROR"})
    argv.insert(argv.end(), {"-o", option});
  if (!place.port.empty()) argv.insert(argv.end(), {"-p", place.port});
  if (!place.user.empty()) argv.insert(argv.end(), {"-l", place.user});
  argv.insert(argv.end(), {"--", place.target, command});
  return argv;
}

std::vector<std::string> equivalent_argv(const PlaceName& place, const std::string& command) {
  std::vector<std::string> argv;
  if (place.container()) {
    argv = {prefix_of(place.kind), "exec"};
    if (!place.user.empty()) argv.insert(argv.end(), {"--user", place.user});
    argv.insert(argv.end(), {place.target, "sh"});
    if (!command.empty()) argv.insert(argv.end(), {"-c", command});
    return argv;
  }
  argv = {"ssh"};
  if (!place.port.empty()) argv.insert(argv.end(), {"-p", place.port});
  if (!place.user.empty()) argv.insert(argv.end(), {"-l", place.user});
  argv.push_back(place.target);
  if (!command.empty()) argv.push_back(command);
  return argv;
}

std::string bootstrap_script(const BootstrapFacts& facts) {
  const std::string before = safe_path(facts.folder) ? "\"" + facts.folder + "\" " : "";
  const std::string name = "hold-" + facts.hash.substr(0, 16);
  std::string s;
  s += "mask=`umask`; umask 077; echo; echo TTYWARD-STAGE " + facts.nonce + "; ";
  s += "sys=`uname -s 2>/dev/null` mach=`uname -m 2>/dev/null`; ";
  s +=
      "if [ \"$sys $mach\" != \"" + facts.system + "\" ]; then echo \"fail system $sys $mach\"; exit 0; fi; ";
  s += "me=`id -u 2>/dev/null`; at= have= noexec=; ";
  // A home that is / is nobody's.
  s += "home=$HOME; [ \"$home\" != / ] || home=; ";
  s += "for d in " + before +
       "\"$home/.local/state/ttyward/far\" \"/var/tmp/ttyward-far-$me\" \"/tmp/ttyward-far-$me\" "
       "\"/dev/shm/ttyward-far-$me\" \"/run/ttyward-far-$me\"; do ";
  s += "[ \"$d\" != /.local/state/ttyward/far ] || continue; ";
  s += "mkdir -p \"$d/bin\" 2>/dev/null || continue; [ -O \"$d\" ] || continue; [ -w \"$d/bin\" ] || "
       "continue; ";
  s += "chmod 700 \"$d\" 2>/dev/null; h=\"$d/bin/" + name + "\"; ";
  s += "if [ -x \"$h\" ] && \"$h\" --version >/dev/null 2>&1; then at=$d have=1; break; fi; ";
  s += "p=\"$d/bin/probe-$$\"; { echo \"#!/bin/sh\" > \"$p\"; } 2>/dev/null || continue; chmod 700 \"$p\"; ";
  s += "if \"$p\" 2>/dev/null; then rm -f \"$p\"; at=$d; break; fi; rm -f \"$p\"; noexec=\"$noexec $d\"; "
       "done; ";
  s += "if [ -z \"$at\" ]; then echo \"fail folder$noexec\"; exit 0; fi; ";
  s += "if [ -z \"$have\" ]; then n=\"$at/bin/new-$$\"; echo need; ";
  s += "head -c " + std::to_string(facts.bytes) +
       " > \"$n\" 2>/dev/null || { rm -f \"$n\"; echo \"fail write $at\"; exit 0; }; ";
  s += "if command -v sha256sum >/dev/null 2>&1; then set -- `sha256sum \"$n\"`; ";
  s += "[ \"$1\" = " + facts.hash + " ] || { rm -f \"$n\"; echo \"fail hash $at\"; exit 0; }; fi; ";
  s += "chmod 700 \"$n\" && mv -f \"$n\" \"$h\" || { rm -f \"$n\"; echo \"fail write $at\"; exit 0; }; fi; ";
  s +=
      "echo \"folder $at\"; exec \"$h\" relay --nonce " + facts.nonce + " --folder \"$at\" --umask \"$mask\"";
  return s;
}

ConnectProblem problem_of(const PlaceName& place, int code, const std::string& error,
                          const std::string& noise) {
  using Kind = ConnectProblem::Kind;
  const std::string line = last_line(error);
  const std::string name = place.text();
  if (place.container()) {
    if (says(error, "not running") || says(error, "o such container") ||
        says(error, "on running containers") || says(error, "no container with name")) {
      return {Kind::ContainerEnded,
              "the container " + place.target + " does not run: start it, then try again (" + line + ")"};
    }
    if (code == 126 || code == 127 || says(error, "executable file not found")) {
      return {Kind::Unsupported, "there is no sh in the container " + place.target +
                                     ", so nothing can be brought there: use an image that has a shell (" +
                                     line + ")"};
    }
    return {Kind::Unreachable, "cannot run anything in " + name + ": " +
                                   (line.empty() ? "the program ended with " + std::to_string(code) : line)};
  }
  if (says(error, "ermission denied") || says(error, "Host key verification failed") ||
      says(error, "Too many authentication failures")) {
    return {Kind::Refused, "cannot log in to " + name + ": " + line + "; set up a key, so that `ssh " +
                               place.target + "` asks nothing"};
  }
  if (code == 127 || says(error, "sh: not found")) {
    return {Kind::Unsupported,
            "there is no sh on " + name + ", so nothing can be brought there (" + line + ")"};
  }
  if (line.empty() && !noise.empty()) {
    return {Kind::Unreachable, "the login on " + name +
                                   " ended before anything could be started: it printed '" +
                                   last_line(noise) + "'; look at the start files of the shell there"};
  }
  return {Kind::Unreachable,
          "cannot reach " + name + ": " + (line.empty() ? "ssh ended with " + std::to_string(code) : line)};
}

ConnectProblem problem_of_script(const PlaceName& place, const std::string& reason) {
  using Kind = ConnectProblem::Kind;
  const size_t blank = reason.find(' ');
  const std::string word = reason.substr(0, blank);
  const std::string rest = blank == std::string::npos ? "" : reason.substr(blank + 1);
  const std::string name = place.text();
  if (word == "system") {
    return {Kind::Unsupported, name + " is '" + rest + "', and the program here runs on Linux x86_64 only"};
  }
  if (word == "folder" && !rest.empty()) {
    return {Kind::Unsupported, "nothing can be run from the folders on " + name +
                                   " that can be written (noexec: " + rest +
                                   "): make one of them executable"};
  }
  if (word == "folder") {
    return {Kind::Unsupported,
            "no folder can be written on " + name +
                ": its root is read-only; mount a tmpfs on /tmp there, or make the home folder writable"};
  }
  if (word == "write") {
    return {Kind::Unsupported, "the program could not be written to " + rest + " on " + name +
                                   ": free 2 MB there (it takes head -c, chmod and mv)"};
  }
  if (word == "hash") {
    // Not Unsupported: then plain ssh would run the command on a machine that changes what it is sent.
    return {Kind::Refused, "what arrived in " + rest + " on " + name + " is not what was sent; try again"};
  }
  return {Kind::Unsupported, "the start on " + name + " failed: " + reason};
}

}  // namespace ttyward::relay
