// `--in devcontainer`: the container that a project's devcontainer.json describes, through podman or docker.
//
// What is used of the file: image, build (dockerfile, context, args, target), workspaceFolder,
// workspaceMount, mounts, containerEnv, remoteEnv, remoteUser, containerUser, runArgs, userEnvProbe,
// postCreateCommand, postStartCommand. Nothing of it runs on this machine: initializeCommand is left out, and
// said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"

namespace ttyward::cli {

class DevContainer {
 public:
  // That of `folder` or the nearest folder above it. Starts nothing.
  static base::Result<DevContainer> find(const std::string& folder);

  // As `--in` takes it.
  std::string place() const;
  // Where the project is, inside.
  const std::string& workspace() const { return workspace_; }
  // NAME=value, for commands in it; after up().
  const std::vector<std::string>& environment() const { return environment_; }
  // Looks what is there, and decides what has to be done. Starts nothing.
  base::Result<void> plan();
  // What up() will run on this machine, as lines for sh: this is what policy judges, because the file is the
  // project's and may ask for any access to this machine. Empty: everything is done. After plan().
  base::Result<std::vector<std::string>> lines() const;
  // Makes it and starts it, as planned. What takes long is told on stderr. A command of the file that fails
  // is run again the next time.
  base::Result<void> up();

 private:
  enum class Done : uint8_t { Nothing, Created, Started };  // what is noted after a step
  struct Step {
    std::string what;                // for people; empty: nothing is run
    std::vector<std::string> words;  // of podman or docker
    std::vector<std::string> argv;   // or a program inside, with the environment that commands have
    Done done = Done::Nothing;
  };
  struct State {
    bool running = false;
    std::string id;
    std::string started;
  };
  struct Noted {
    std::string id;       // of the container whose postCreateCommand has succeeded
    std::string started;  // of its last start whose postStartCommand has succeeded
  };

  DevContainer() = default;
  base::Result<void> plan_image();
  base::Result<void> plan_container();
  void plan_hook(const char* hook, Done done);
  base::Result<std::string> mount_of(const boost::json::value& given) const;
  std::vector<std::string> inside(const std::vector<std::string>& argv) const;
  std::optional<State> state() const;
  Noted read_note() const;
  base::Result<void> write_note(const Noted& noted) const;
  base::Result<void> note(Done done) const;
  std::vector<std::string> remote_environment() const;
  std::map<std::string, std::string> variables(const std::set<std::string>& names,
                                               const std::string& flags) const;
  void learn_environment();
  base::Result<std::string> tool(const std::vector<std::string>& words, const std::string& what) const;
  std::string expand(std::string_view text) const;
  std::string text(const char* name) const;

  boost::json::object file_;
  std::string path_;     // of devcontainer.json
  std::string local_;    // the project's folder here
  std::string program_;  // podman or docker
  std::string name_;
  std::string user_;
  std::string workspace_;
  std::string image_;
  std::vector<Step> steps_;
  bool running_ = false;                       // what its shells have is known
  std::map<std::string, std::string> inside_;  // variables there that remoteEnv refers to
  std::vector<std::string> environment_;
};

}  // namespace ttyward::cli
