// `--in PLACE`: a command on another machine or in a container, as if it ran here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/result.h"
#include "cli/local_policy.h"
#include "command/running_command.h"
#include "io/poller.h"
#include "relay/far_place.h"

namespace ttyward::cli {

class DevContainer;
struct RunArguments;

void declare_place(CLI::App& app, std::string& place);

// Where links to other places are.
base::Result<relay::LinkFolders> link_folders();

// With `--in devcontainer`: the container of the project around the current folder, by its own name, which
// takes the place of `place`; `cwd` becomes the project's folder there, if it is empty. Nothing is started.
// Null: it is another place.
base::Result<std::shared_ptr<DevContainer>> project_container(std::string& place, std::string& cwd);
// What bringing it up would run on this machine, each judged. Nothing, if it is none.
base::Result<std::vector<Judged>> judge_project(LocalPolicy& policy,
                                                const std::shared_ptr<DevContainer>& project,
                                                const std::string& cwd);
// Brings it up, if it is one, and adds its environment.
base::Result<void> start_project(const std::shared_ptr<DevContainer>& project,
                                 std::vector<std::string>& environment);

// The last resort, where our program cannot run: plain ssh. Of its command only what ssh says is known.
class PlainSsh {
 public:
  // Nothing: this is no such case.
  static std::optional<PlainSsh> instead_of(const std::string& place, const base::Error& error);
  // `argv` is a program with its arguments; empty: `line` is for the shell. The folder is that of `options`.
  base::Result<void> apply(command::RunOptions& options, const RunArguments& args, const std::string& line,
                           const std::vector<std::string>& argv) const;
  // Its code may be ssh's own: then nothing is known.
  void correct(terminal::CommandResult& result) const;

 private:
  explicit PlainSsh(relay::PlaceName place) : place_(std::move(place)) {}

  relay::PlaceName place_;
};

class FarRun {
 public:
  // Brings the link up, or says why that cannot be done.
  static base::Result<FarRun> reach(const std::string& place);

  // Its shell for a command line: the one asked for, else bash, else the user's.
  std::string shell(const std::string& asked) const;
  // Changes what was made for this machine.
  base::Result<void> apply(command::RunOptions& options, const RunArguments& args, bool person_watches) const;
  const relay::LinkState& state() const { return far_->state(); }

 private:
  FarRun() = default;

  std::unique_ptr<io::Poller> poller_;
  std::unique_ptr<relay::FarPlace> far_;
};

}  // namespace ttyward::cli
