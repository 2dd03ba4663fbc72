#include "cli/far_run.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/folders.h"
#include "cli/current_folder.h"
#include "cli/devcontainer.h"
#include "cli/hold_program.h"
#include "cli/run_arguments.h"
#include "shell/quoting.h"

namespace ttyward::cli {
namespace {

constexpr std::chrono::seconds kReachPatience{60};

}  // namespace

void declare_place(CLI::App& app, std::string& place) {
  app.add_option(
         "--in", place,
         "Run it in another place: ssh:HOST, podman:NAME, docker:NAME, or devcontainer (docs/places.md)")
      ->type_name("PLACE");
}

base::Result<relay::LinkFolders> link_folders() {
  const auto program = find_hold_program();
  if (!program) return tl::unexpected(program.error());
  const base::Folders folders = base::user_folders();
  return relay::LinkFolders{*program, folders.sockets() + "/links", folders.state + "/links"};
}

base::Result<std::shared_ptr<DevContainer>> project_container(std::string& place, std::string& cwd) {
  if (place != "devcontainer") return nullptr;
  auto found = DevContainer::find(current_folder());
  if (!found) return tl::unexpected(found.error());
  place = found->place();
  if (cwd.empty()) cwd = found->workspace();
  return std::make_shared<DevContainer>(std::move(*found));
}

base::Result<std::vector<Judged>> judge_project(LocalPolicy& policy,
                                                const std::shared_ptr<DevContainer>& project,
                                                const std::string& cwd) {
  std::vector<Judged> judged;
  if (project == nullptr) return judged;
  if (auto planned = project->plan(); !planned) return tl::unexpected(planned.error());
  const auto lines = project->lines();
  if (!lines) return tl::unexpected(lines.error());
  for (const std::string& line : *lines) {
    gate::Action action;
    action.command = line;
    action.cwd = cwd;
    judged.push_back(policy.judge(std::move(action)));
  }
  return judged;
}

base::Result<void> start_project(const std::shared_ptr<DevContainer>& project,
                                 std::vector<std::string>& environment) {
  if (project == nullptr) return {};
  if (auto up = project->up(); !up) return up;
  environment.insert(environment.begin(), project->environment().begin(), project->environment().end());
  return {};
}

std::optional<PlainSsh> PlainSsh::instead_of(const std::string& place, const base::Error& error) {
  const auto name = relay::PlaceName::parse(place);
  if (!name || name->container() || error.code != base::ErrorCode::Unsupported) return std::nullopt;
  return PlainSsh(*name);
}

namespace {

// For any shell of a login: a folder that is not there must keep all of the line from running.
base::Result<std::string> cd_to(const std::string& folder) {
  if (folder.empty()) return std::string();
  if (folder == "~") return std::string("cd && ");
  if (folder.starts_with("~/")) return "cd ~/" + shell::quote_posix(folder.substr(2)) + " && ";
  if (folder.front() == '/') return "cd " + shell::quote_posix(folder) + " && ";
  return base::fail(base::ErrorCode::InvalidArgument,
                    "--cwd " + folder + ": give an absolute folder of the other machine");
}

}  // namespace

base::Result<void> PlainSsh::apply(command::RunOptions& options, const RunArguments& args,
                                   const std::string& line, const std::vector<std::string>& argv) const {
  auto there = cd_to(options.spawn.cwd);
  if (!there) return tl::unexpected(there.error());
  // A program of its own: the shell of the login may read neither this line nor assignments as sh does.
  std::vector<std::string> words = settings_in("").shell.environment_add;
  words.insert(words.end(), args.environment.begin(), args.environment.end());
  if (!words.empty()) words.insert(words.begin(), "env");
  if (argv.empty()) {
    words.insert(words.end(), {args.shell.empty() ? "sh" : args.shell, "-c", line});
  } else {
    words.insert(words.end(), argv.begin(), argv.end());
  }
  const auto quoted = shell::quote_command(words, shell::Dialect::Posix);
  if (!quoted) return tl::unexpected(quoted.error());
  options.spawn.argv = relay::plain_ssh_argv(place_, *there + "exec " + *quoted);
  options.spawn.cwd = current_folder();
  // ssh needs more of our environment than a command does; none of it goes to the other side.
  if (const char* agent = std::getenv("SSH_AUTH_SOCK"))
    options.spawn.environment.push_back(std::string("SSH_AUTH_SOCK=") + agent);
  return {};
}

void PlainSsh::correct(terminal::CommandResult& result) const {
  constexpr int kSshFailed = 255;
  result.place = place_.text();
  result.cwd.clear();
  result.integration = "none";
  result.cpu_ms.reset();
  result.max_rss_kib.reset();
  if (result.exit_code != kSshFailed) return;
  result.exit_code.reset();
  result.state = terminal::CommandState::Lost;
  result.reason =
      "ssh ended with 255, which is what it says when the link breaks and when the command was "
      "killed: how it ended is not known";
}

base::Result<FarRun> FarRun::reach(const std::string& place) {
  const auto name = relay::PlaceName::parse(place);
  if (!name) return tl::unexpected(name.error());
  const auto folders = link_folders();
  if (!folders) return tl::unexpected(folders.error());
  auto poller = io::Poller::create();
  if (!poller) return tl::unexpected(poller.error());
  FarRun run;
  run.poller_ = std::make_unique<io::Poller>(std::move(*poller));
  auto far = relay::FarPlace::open(*run.poller_, *folders, *name);
  if (!far) return tl::unexpected(far.error());
  run.far_ = std::move(*far);
  const auto reached = relay::reach_now(*run.poller_, *run.far_, kReachPatience);
  if (!reached) return tl::unexpected(reached.error());
  return run;
}

std::string FarRun::shell(const std::string& asked) const {
  if (!asked.empty()) return asked;
  const auto& there = far_->state().welcome;
  return there && !there->bash.empty() ? there->bash : "sh";
}

base::Result<void> FarRun::apply(command::RunOptions& options, const RunArguments& args,
                                 bool person_watches) const {
  const relay::WelcomeMessage& there = *far_->state().welcome;
  auto environment = environment_there(args, there.environment, person_watches);
  if (!environment) return tl::unexpected(environment.error());
  options.spawn.environment = std::move(*environment);
  if (options.spawn.cwd.empty()) options.spawn.cwd = there.home;
  if (options.spawn.cwd.front() != '/' && options.spawn.cwd.front() != '~') {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "--cwd " + options.spawn.cwd + ": give an absolute folder of " + far_->name());
  }
  command::HolderPlace holder;
  holder.sockets = base::user_folders().holders();
  holder.launch_on = [far = far_.get()] { return far->connect_launch(); };
  holder.place = far_.get();
  holder.answers = poller_.get();
  holder.revive = [far = far_.get()] { return far->ensure(); };
  options.holder = std::move(holder);
  return {};
}

}  // namespace ttyward::cli
