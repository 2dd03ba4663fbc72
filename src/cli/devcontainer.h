// `--in devcontainer`: the container that a project's devcontainer.json describes, through podman or docker.
//
// What is used of the file: image, build (dockerfile, context, args, target), workspaceFolder,
// workspaceMount, mounts, containerEnv, remoteEnv, remoteUser, containerUser, runArgs, userEnvProbe,
// postCreateCommand, postStartCommand. Nothing of it runs on this machine: initializeCommand is left out, and
// said.
#pragma once

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
  // Makes it and starts it, as far as that is not done. What takes long is told on stderr.
  base::Result<void> up();

 private:
  DevContainer() = default;
  base::Result<void> create();
  base::Result<void> run_inside(const char* hook) const;
  base::Result<void> inside(const std::vector<std::string>& argv, const std::string& what) const;
  base::Result<std::string> image() const;
  base::Result<std::string> tool(const std::vector<std::string>& words, const std::string& what) const;
  std::string expand(std::string_view text) const;
  std::string text(const char* name) const;
  void probe_path();

  boost::json::object file_;
  std::string path_;     // of devcontainer.json
  std::string local_;    // the project's folder here
  std::string program_;  // podman or docker
  std::string name_;
  std::string user_;
  std::string workspace_;
  std::vector<std::string> environment_;
};

}  // namespace ttyward::cli
