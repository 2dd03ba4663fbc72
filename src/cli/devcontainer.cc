#include "cli/devcontainer.h"

#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/folders.h"
#include "base/hex.h"
#include "base/private_folder.h"
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
constexpr std::string_view kContainerEnv = "containerEnv:";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

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

// ${containerEnv:…} is known only of a container that runs: until then it stays as it is.
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
    } else if (name.starts_with(kContainerEnv)) {
      const std::string rest(name.substr(kContainerEnv.size()));
      const size_t colon = rest.find(':');
      const auto known = inside_.find(rest.substr(0, colon));
      if (!running_) {
        out += "${" + std::string(name) + "}";
      } else if (known != inside_.end() && !known->second.empty()) {
        out += known->second;
      } else if (colon != std::string::npos) {
        out += rest.substr(colon + 1);
      }
    } else {
      out += "${" + std::string(name) + "}";  // of a shell
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

base::Result<void> DevContainer::plan_image() {
  if (image_ = text("image"); !image_.empty()) return {};
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
  steps_.push_back({"building the image of " + path_, std::move(words), {}, Done::Nothing});
  image_ = name_;
  return {};
}

// A text as --mount takes it, or an object with type, source and target.
base::Result<std::string> DevContainer::mount_of(const json::value& given) const {
  if (given.is_string()) return expand(string_of(given));
  const auto wrong = [&] {
    return fail(ErrorCode::InvalidArgument,
                path_ +
                    ": each of mounts is a text such as \"type=bind,source=/a,target=/b\", or an object "
                    "with type, source and target");
  };
  const json::object* const fields = given.if_object();
  if (fields == nullptr || !fields->contains("target")) return wrong();
  std::string made;
  for (const auto& [key, value] : *fields) {
    const std::string part = expand(string_of(value));
    const bool known = key == "type" || key == "source" || key == "target";
    if (!known || part.empty() || part.find(',') != std::string::npos) return wrong();
    made += (made.empty() ? "" : ",") + std::string(key) + "=" + part;
  }
  return made;
}

base::Result<void> DevContainer::plan_container() {
  if (auto planned = plan_image(); !planned) return planned;
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
      auto made = mount_of(each);
      if (!made) return tl::unexpected(made.error());
      words.insert(words.end(), {"--mount", std::move(*made)});
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
  words.insert(words.end(), {image_, "sh", "-c", "trap exit TERM; while :; do sleep 1000 & wait $!; done"});
  steps_.push_back({"making the container " + name_, std::move(words), {}, Done::Nothing});
  return {};
}

std::vector<std::string> DevContainer::inside(const std::vector<std::string>& argv) const {
  std::vector<std::string> words = {"exec", "-w", workspace_};
  if (!user_.empty()) words.insert(words.end(), {"--user", user_});
  for (const std::string& variable : environment_) words.insert(words.end(), {"-e", variable});
  words.push_back(name_);
  words.insert(words.end(), argv.begin(), argv.end());
  return words;
}

// A text is a line for sh, a list is a program with its arguments, an object has several of them.
void DevContainer::plan_hook(const char* hook, Done done) {
  const json::value* const given = file_.if_contains(hook);
  const auto argv_of = [&](const json::value& value) {
    std::vector<std::string> argv;
    if (value.is_string()) argv = {"sh", "-c", expand(string_of(value))};
    if (value.is_array()) {
      for (const json::value& word : value.get_array()) argv.push_back(expand(string_of(word)));
    }
    return argv;
  };
  std::vector<std::vector<std::string>> all;
  if (const json::object* const several = given != nullptr ? given->if_object() : nullptr) {
    for (const auto& [key, value] : *several) all.push_back(argv_of(value));
  } else if (given != nullptr) {
    all.push_back(argv_of(*given));
  }
  std::erase_if(all, [](const std::vector<std::string>& argv) { return argv.empty(); });
  for (std::vector<std::string>& argv : all)
    steps_.push_back({std::string(hook) + " in " + name_, {}, std::move(argv), Done::Nothing});
  // What has succeeded is not done again; what has not, is.
  steps_.push_back({"", {}, {}, done});
}

base::Result<void> DevContainer::plan() {
  environment_ = remote_environment();
  const auto now = state();
  const Noted noted = read_note();
  if (!now) {
    if (file_.contains("initializeCommand"))
      std::fprintf(stderr, "ttyward: initializeCommand of %s would run on this machine, and is left out\n",
                   path_.c_str());
    if (auto planned = plan_container(); !planned) return planned;
  } else if (!now->running) {
    steps_.push_back({"starting the container " + name_, {"start", name_}, {}, Done::Nothing});
  }
  if (!now || now->id != noted.id) plan_hook("postCreateCommand", Done::Created);
  if (!now || !now->running || now->id != noted.id || now->started != noted.started)
    plan_hook("postStartCommand", Done::Started);
  return {};
}

base::Result<std::vector<std::string>> DevContainer::lines() const {
  std::vector<std::string> lines;
  for (const Step& step : steps_) {
    if (step.words.empty() && step.argv.empty()) continue;  // only noted
    std::vector<std::string> words = step.argv.empty() ? step.words : inside(step.argv);
    words.insert(words.begin(), program_);
    auto line = shell::quote_command(words, shell::Dialect::Posix);
    if (!line) return tl::unexpected(line.error());
    lines.push_back(std::move(*line));
  }
  return lines;
}

// What was done in which container: its id, and since when it runs.
DevContainer::Noted DevContainer::read_note() const {
  Noted noted;
  std::ifstream file(base::user_folders().state + "/devcontainers/" + name_);
  std::getline(file, noted.id);
  std::getline(file, noted.started);
  return noted;
}

base::Result<void> DevContainer::write_note(const Noted& noted) const {
  const std::string folder = base::user_folders().state + "/devcontainers";
  if (auto made = base::open_private_folder(folder, base::IfMissing::Create); !made)
    return tl::unexpected(made.error());
  std::ofstream file(folder + "/" + name_, std::ios::trunc);
  file << noted.id << "\n" << noted.started << "\n";
  file.flush();
  if (!file) return fail(ErrorCode::Io, "cannot write " + folder + "/" + name_);
  return {};
}

std::optional<DevContainer::State> DevContainer::state() const {
  const auto told = tool({"inspect", "-f", "{{.State.Running}}\n{{.Id}}\n{{.State.StartedAt}}", name_},
                         "looking for the container");
  if (!told) return std::nullopt;
  std::istringstream lines(*told);
  std::string running;
  State state;
  std::getline(lines, running);
  std::getline(lines, state.id);
  std::getline(lines, state.started);
  state.running = running == "true";
  return state;
}

std::vector<std::string> DevContainer::remote_environment() const {
  std::vector<std::string> made;
  if (const json::object* const variables = object_in(file_, "remoteEnv")) {
    for (const auto& [key, value] : *variables) {
      if (value.is_string()) made.push_back(std::string(key) + "=" + expand(string_of(value)));
    }
  }
  return made;
}

// What a shell there prints for the names, as NAME=value.
std::map<std::string, std::string> DevContainer::variables(const std::set<std::string>& names,
                                                           const std::string& flags) const {
  std::map<std::string, std::string> found;
  std::string script = "echo";
  for (const std::string& name : names) script += "; echo \"TTYWARD " + name + "=$" + name + "\"";
  std::vector<std::string> words = {"exec"};
  if (!user_.empty()) words.insert(words.end(), {"--user", user_});
  words.insert(words.end(), {name_, "sh", flags, script});
  const auto printed = tool(words, "asking for the environment");
  if (!printed) return found;
  std::istringstream lines(*printed);
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (!line.starts_with("TTYWARD ") || equals == std::string::npos) continue;
    if (const std::string name = line.substr(8, equals - 8); names.contains(name))
      found[name] = line.substr(equals + 1);
  }
  return found;
}

// The PATH that the user's shell has there, as userEnvProbe says; then what remoteEnv says, which counts
// more.
void DevContainer::learn_environment() {
  std::set<std::string> asked;
  const auto look_into = [&asked](const std::string& text) {
    const std::string opening = "${" + std::string(kContainerEnv);
    for (size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
      const size_t from = at + opening.size();
      const size_t end = text.find_first_not_of(kNameCharacters, from);
      if (end != std::string::npos && end > from) asked.insert(text.substr(from, end - from));
    }
  };
  running_ = false;
  for (const std::string& variable : remote_environment()) look_into(variable);
  for (const Step& step : steps_) {
    for (const std::string& word : step.argv) look_into(word);
  }
  if (!asked.empty()) inside_ = variables(asked, "-c");
  running_ = true;
  environment_.clear();
  const std::string probe = text("userEnvProbe").empty() ? "loginInteractiveShell" : text("userEnvProbe");
  if (probe != "none") {
    const std::string flags = probe == "loginShell" ? "-lc" : probe == "interactiveShell" ? "-ic" : "-lic";
    if (const std::string path = variables({"PATH"}, flags)["PATH"]; path.starts_with('/'))
      environment_.push_back("PATH=" + path);
  }
  for (std::string& variable : remote_environment()) environment_.push_back(std::move(variable));
}

base::Result<void> DevContainer::note(Done done) const {
  if (done == Done::Nothing) return {};
  const auto now = state();
  if (!now) return fail(ErrorCode::Unavailable, "the container " + name_ + " has ended");
  return write_note({now->id, done == Done::Started ? now->started : ""});
}

base::Result<void> DevContainer::up() {
  for (Step& step : steps_) {
    if (!step.argv.empty()) {
      if (!running_) learn_environment();
      for (std::string& word : step.argv) word = expand(word);
      step.words = inside(step.argv);
    }
    if (!step.words.empty()) {
      std::fprintf(stderr, "ttyward: %s\n", step.what.c_str());
      if (auto ran = tool(step.words, step.what); !ran) return tl::unexpected(ran.error());
    }
    if (auto noted = note(step.done); !noted) return noted;
  }
  if (!steps_.empty() || !running_) learn_environment();  // a hook may have changed the PATH
  steps_.clear();
  return {};
}

}  // namespace ttyward::cli
