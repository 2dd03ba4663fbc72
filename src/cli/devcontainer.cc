#include "cli/devcontainer.h"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/hex.h"
#include "base/sha256.h"
#include "command/run.h"
#include "pty/executable.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;
using base::ErrorCode;
using base::fail;

constexpr std::chrono::minutes kLongest{30};  // an image may have to be built

bool installed(const char* program) {
  const char* const path = std::getenv("PATH");
  return path != nullptr && pty::find_executable(AT_FDCWD, program, path).sys_errno == 0;
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += static_cast<char>(std::tolower(c));
  }
  return out.substr(0, 30);
}

const json::object* object_in(const json::object& from, const char* name) {
  const json::value* const found = from.if_contains(name);
  return found != nullptr ? found->if_object() : nullptr;
}

std::string string_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : "";
}

}  // namespace

base::Result<DevContainer> DevContainer::find(const std::string& folder) {
  DevContainer found;
  std::error_code ignored;
  for (std::filesystem::path at = folder; !at.empty(); at = at.parent_path()) {
    for (const char* name : {".devcontainer/devcontainer.json", ".devcontainer.json"}) {
      if (!std::filesystem::is_regular_file(at / name, ignored)) continue;
      found.path_ = (at / name).string();
      found.local_ = at.string();
      break;
    }
    if (!found.path_.empty() || at == at.root_path()) break;
  }
  if (found.path_.empty())
    return fail(ErrorCode::NotFound,
                "there is no .devcontainer/devcontainer.json in " + folder + " or above it");
  std::ifstream file(found.path_);
  std::stringstream text;
  text << file.rdbuf();
  json::parse_options options;
  options.allow_comments = true;
  options.allow_trailing_commas = true;
  boost::system::error_code wrong;
  const json::value parsed = json::parse(text.str(), wrong, {}, options);
  if (wrong || !parsed.is_object())
    return fail(ErrorCode::InvalidArgument, found.path_ + " is not JSON: " + wrong.message());
  found.file_ = parsed.get_object();
  for (const char* field : {"dockerComposeFile", "features"}) {
    if (found.file_.contains(field)) {
      return fail(ErrorCode::Unsupported, found.path_ + " uses " + field +
                                              ": start it with devcontainer up, and use --in docker:NAME");
    }
  }
  found.program_ = installed("podman") ? "podman" : installed("docker") ? "docker" : "";
  if (found.program_.empty())
    return fail(ErrorCode::NotFound, "neither podman nor docker is installed: install one of them");
  const std::string base = std::filesystem::path(found.local_).filename().string();
  found.name_ = "ttyward-dev-" + plain(base) + "-" + base::to_hex(base::sha256(found.local_)).substr(0, 8);
  found.workspace_ = "/workspaces/" + base;
  if (const std::string asked = found.text("workspaceFolder"); !asked.empty()) found.workspace_ = asked;
  found.user_ = found.text("remoteUser");
  if (found.user_.empty()) found.user_ = found.text("containerUser");
  return found;
}

std::string DevContainer::place() const {
  return program_ + ":" + (user_.empty() ? "" : user_ + "@") + name_;
}

std::string DevContainer::text(const char* name) const {
  const json::value* const value = file_.if_contains(name);
  return value != nullptr ? expand(string_of(*value)) : "";
}

std::string DevContainer::expand(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const size_t at = text.find("${");
    const size_t end = at == std::string_view::npos ? at : text.find('}', at);
    if (end == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, at));
    const std::string_view name = text.substr(at + 2, end - at - 2);
    text.remove_prefix(end + 1);
    if (name == "localWorkspaceFolder") {
      out += local_;
    } else if (name == "localWorkspaceFolderBasename" || name == "containerWorkspaceFolderBasename") {
      out += std::filesystem::path(local_).filename().string();
    } else if (name == "containerWorkspaceFolder") {
      out += workspace_;
    } else if (name.starts_with("localEnv:")) {
      const std::string rest(name.substr(9));
      const size_t colon = rest.find(':');
      const char* const value = std::getenv(rest.substr(0, colon).c_str());
      out += value != nullptr ? value : colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
  }
  return out;
}

// podman or docker with these words; what it printed.
base::Result<std::string> DevContainer::tool(const std::vector<std::string>& words,
                                             const std::string& what) const {
  std::vector<std::string> argv = {program_};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto line = shell::quote_command(argv, shell::Dialect::Posix);
  if (!line) return tl::unexpected(line.error());
  RunChoices choices;
  choices.timeout = kLongest;
  const terminal::CommandResult result = run(*line, choices);
  if (result.exit_code == 0) return result.output.text;
  return fail(ErrorCode::Unavailable,
              what + " failed: " + (result.output.text.empty() ? result.reason : result.output.text));
}

base::Result<std::string> DevContainer::image() const {
  if (const std::string named = text("image"); !named.empty()) return named;
  const json::object* const build = object_in(file_, "build");
  std::string dockerfile = build != nullptr && build->contains("dockerfile")
                               ? expand(string_of(build->at("dockerfile")))
                               : text("dockerFile");
  if (dockerfile.empty())
    return fail(ErrorCode::InvalidArgument, path_ + " names neither an image nor a build.dockerfile");
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const std::string context =
      build != nullptr && build->contains("context") ? expand(string_of(build->at("context"))) : ".";
  std::vector<std::string> words = {"build", "-t", name_, "-f", (folder / dockerfile).string()};
  if (const json::object* const args = build != nullptr ? object_in(*build, "args") : nullptr) {
    for (const auto& [key, value] : *args)
      words.insert(words.end(), {"--build-arg", std::string(key) + "=" + expand(string_of(value))});
  }
  if (build != nullptr && build->contains("target"))
    words.insert(words.end(), {"--target", string_of(build->at("target"))});
  words.push_back((folder / context).lexically_normal().string());
  std::fprintf(stderr, "ttyward: building the image of %s\n", path_.c_str());
  if (auto built = tool(words, "building the image"); !built) return tl::unexpected(built.error());
  return name_;
}

base::Result<void> DevContainer::create() {
  if (file_.contains("initializeCommand"))
    std::fprintf(stderr, "ttyward: initializeCommand of %s would run on this machine, and is left out\n",
                 path_.c_str());
  const auto made = image();
  if (!made) return tl::unexpected(made.error());
  std::vector<std::string> words = {"run", "-d", "--name", name_, "-w", workspace_};
  const std::string mount = text("workspaceMount");
  if (mount.empty()) {
    words.insert(words.end(), {"-v", local_ + ":" + workspace_});
  } else {
    words.insert(words.end(), {"--mount", mount});
  }
  if (const json::value* const mounts = file_.if_contains("mounts");
      mounts != nullptr && mounts->is_array()) {
    for (const json::value& each : mounts->get_array()) {
      if (each.is_string()) words.insert(words.end(), {"--mount", expand(string_of(each))});
    }
  }
  if (const json::object* const variables = object_in(file_, "containerEnv")) {
    for (const auto& [key, value] : *variables)
      words.insert(words.end(), {"-e", std::string(key) + "=" + expand(string_of(value))});
  }
  if (const std::string user = text("containerUser"); !user.empty()) words.insert(words.end(), {"-u", user});
  if (const json::value* const more = file_.if_contains("runArgs"); more != nullptr && more->is_array()) {
    for (const json::value& each : more->get_array()) words.push_back(expand(string_of(each)));
  }
  words.insert(words.end(), {*made, "sh", "-c", "trap exit TERM; while :; do sleep 1000 & wait $!; done"});
  std::fprintf(stderr, "ttyward: making the container %s\n", name_.c_str());
  if (auto ran = tool(words, "making the container"); !ran) return tl::unexpected(ran.error());
  return run_inside("postCreateCommand");
}

base::Result<void> DevContainer::inside(const std::vector<std::string>& argv, const std::string& what) const {
  std::vector<std::string> words = {"exec", "-w", workspace_};
  if (!user_.empty()) words.insert(words.end(), {"--user", user_});
  for (const std::string& variable : environment_) words.insert(words.end(), {"-e", variable});
  words.push_back(name_);
  words.insert(words.end(), argv.begin(), argv.end());
  std::fprintf(stderr, "ttyward: %s in %s\n", what.c_str(), name_.c_str());
  return tool(words, what).map([](const std::string&) {});
}

// A text is a line for sh, a list is a program with its arguments, an object has several of them.
base::Result<void> DevContainer::run_inside(const char* hook) const {
  const json::value* const given = file_.if_contains(hook);
  if (given == nullptr) return {};
  const auto argv_of = [&](const json::value& value) {
    std::vector<std::string> argv;
    if (value.is_string()) argv = {"sh", "-c", expand(string_of(value))};
    if (value.is_array()) {
      for (const json::value& word : value.get_array()) argv.push_back(expand(string_of(word)));
    }
    return argv;
  };
  std::vector<std::vector<std::string>> all;
  if (const json::object* const several = given->if_object()) {
    for (const auto& [key, value] : *several) all.push_back(argv_of(value));
  } else {
    all.push_back(argv_of(*given));
  }
  for (const std::vector<std::string>& argv : all) {
    if (argv.empty()) continue;
    if (auto ran = inside(argv, hook); !ran) return ran;
  }
  return {};
}

// The PATH that the user's shell has there, as userEnvProbe says.
void DevContainer::probe_path() {
  const std::string probe = text("userEnvProbe").empty() ? "loginInteractiveShell" : text("userEnvProbe");
  if (probe == "none") return;
  const std::string flags = probe == "loginShell" ? "-lc" : probe == "interactiveShell" ? "-ic" : "-lic";
  std::vector<std::string> words = {"exec"};
  if (!user_.empty()) words.insert(words.end(), {"--user", user_});
  words.insert(words.end(), {name_, "sh", flags, "echo; echo PATH=$PATH"});
  const auto printed = tool(words, "asking for the environment");
  if (!printed) return;
  std::istringstream lines(*printed);
  std::string path;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("PATH=/")) path = line;
  }
  if (!path.empty()) environment_.push_back(path);
}

base::Result<void> DevContainer::up() {
  if (const json::object* const variables = object_in(file_, "remoteEnv")) {
    for (const auto& [key, value] : *variables) {
      if (value.is_string()) environment_.push_back(std::string(key) + "=" + expand(string_of(value)));
    }
  }
  const auto state = tool({"inspect", "-f", "{{.State.Running}}", name_}, "looking for the container");
  const bool runs = state && state->starts_with("true");
  if (!state) {
    if (auto created = create(); !created) return created;
  } else if (!runs) {
    if (auto started = tool({"start", name_}, "starting the container"); !started)
      return tl::unexpected(started.error());
  }
  if (!runs) {
    if (auto ran = run_inside("postStartCommand"); !ran) return ran;
  }
  probe_path();
  return {};
}

}  // namespace ttyward::cli
