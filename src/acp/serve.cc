#include "acp/serve.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "acp/agent_process.h"
#include "acp/channel.h"
#include "acp/profile.h"
#include "acp/proxy.h"
#include "acp/server_name.h"
#include "base/folders.h"
#include "base/ids.h"
#include "base/private_folder.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/signals.h"

namespace ttyward::acp {
namespace {

constexpr int kExitFailure = 125;
constexpr int kExitNotFound = 127;
constexpr std::chrono::milliseconds kFlush{2000};
constexpr std::chrono::milliseconds kLongestEnd{10'000};  // INT, TERM and KILL have their graces

int complain(const std::string& message, int code = kExitFailure) {
  std::fprintf(stderr, "ttyward acp: %s\n", message.c_str());
  return code;
}

// What a profile sets before the agent begins. Files are removed with it.
class Preparation {
 public:
  explicit Preparation(const base::Folders& folders) : folders_(folders) {
    for (char** each = environ; each != nullptr && *each != nullptr; each++) environment_.emplace_back(*each);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  ~Preparation() {
    for (const std::string& file : files_) ::unlink(file.c_str());
  }

  // Why the profile's switches cannot be used, in which case nothing was changed; empty: they are set.
  base::Result<std::string> apply(const Profile& profile, const std::vector<std::string>& argv) {
    if (std::string reason = obstacle(profile, argv); !reason.empty()) return reason;
    for (const auto& [name, value] : profile.environment) environment_.push_back(name + "=" + value);
    for (const auto& [name, value] : profile.defaults) {
      if (std::getenv(name.c_str()) == nullptr) environment_.push_back(name + "=" + value);
    }
    for (const auto& [name, value] : profile.files) {
      if (auto written = write_file(".json", value); !written) return tl::unexpected(written.error());
      environment_.push_back(name + "=" + files_.back());
    }
    for (const Profile::ArgumentFile& file : profile.argument_files) {
      if (auto written = write_file(file.ending, file.text); !written) return tl::unexpected(written.error());
      arguments_.push_back(file.option);
      arguments_.push_back(files_.back());
    }
    return std::string();
  }
  const std::vector<std::string>& environment() const { return environment_; }
  const std::vector<std::string>& arguments() const { return arguments_; }  // to add at the end

 private:
  std::string obstacle(const Profile& profile, const std::vector<std::string>& argv) const {
    for (const auto* list : {&profile.environment, &profile.files}) {
      for (const auto& [name, value] : *list) {
        const char* const set = std::getenv(name.c_str());
        if (set != nullptr && value != set) return "your environment already sets " + name;
      }
    }
    for (const Profile::ArgumentFile& file : profile.argument_files) {
      for (const std::string& word : argv) {
        if (word == file.option || word.starts_with(file.option + "="))
          return "its command line already has " + file.option;
      }
    }
    // Options that can name several files are split there.
    if (!profile.argument_files.empty() && folders_.sockets().find(',') != std::string::npos)
      return "the path of " + folders_.sockets() + ", where the file for it would be, has a comma";
    for (const std::string& pattern : profile.ignored_where) {
      glob_t found{};
      std::string path;
      if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) path = found.gl_pathv[0];
      ::globfree(&found);
      if (!path.empty()) return "it takes its rules from " + path + " only";
    }
    return {};
  }

  // The file is the last of files_.
  base::Result<void> write_file(const std::string& ending, const std::string& text) {
    const std::string folder = folders_.sockets();
    auto opened = base::open_private_folder(folder, base::IfMissing::Create);
    if (!opened) return tl::unexpected(opened.error());
    const std::string file = "acp-" + base::random_id('f') + ending;
    const base::UniqueFd made(
        ::openat(opened->get(), file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made) return base::fail_errno(errno, "cannot write " + folder + "/" + file);
    files_.push_back(folder + "/" + file);
    if (::write(made.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return base::fail_errno(errno, "cannot write " + files_.back());
    return {};
  }

  const base::Folders folders_;
  std::vector<std::string> environment_;
  std::vector<std::string> arguments_;
  std::vector<std::string> files_;
};

base::Result<std::vector<Profile>> profiles_for(const std::string& choice) {
  if (choice == "auto") return built_in_profiles();
  if (choice == "none") return std::vector<Profile>{};
  if (const Profile* known = profile_with_id(built_in_profiles(), choice))
    return std::vector<Profile>{*known};
  std::ifstream file(choice);
  if (!file) {
    std::string ids;
    for (const Profile& each : built_in_profiles()) ids += ", " + each.id;
    return base::fail(
        base::ErrorCode::InvalidArgument,
        "--profile " + choice + " is not a file that can be read; it is auto, none" + ids + " or a file");
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto profile = parse_profile(text, choice);
  if (!profile) return tl::unexpected(profile.error());
  return std::vector<Profile>{std::move(*profile)};
}

class Conversation {
 public:
  Conversation(io::Loop& loop, ProxyOptions options, io::Log& log)
      : loop_(loop),
        proxy_(loop, std::move(options),
               {[this](std::string_view line) { editor_->send(line); },
                [this](std::string_view line) { agent_->send(line); },
                [&log](const std::string& text) { log.info(text); },
                [this] { return agent_->under_pressure(); }}) {}

  base::Result<void> start(const std::vector<std::string>& argv,
                           const std::vector<std::string>& environment) {
    auto process = AgentProcess::start(loop_, argv, environment, [this] { agent_process_ended(); });
    if (!process) return tl::unexpected(process.error());
    process_ = std::move(*process);
    // Whoever is not read from stops being listened to, until it is.
    auto agent = Channel::start(loop_, process_->out(), process_->in(),
                                {[this](const rpc::LineReader::Line& line) { take(line, true); },
                                 [this] { agent_closed(); },
                                 {},
                                 [this](bool under) { editor_->pause(under); }});
    if (!agent) return tl::unexpected(agent.error());
    agent_ = std::move(*agent);
    auto editor = Channel::start(
        loop_, STDIN_FILENO, STDOUT_FILENO,
        {[this](const rpc::LineReader::Line& line) { take(line, false); }, [this] { editor_closed(); },
         [this] { editor_closed(); }, [this](bool under) { agent_->pause(under); }});
    if (!editor) return tl::unexpected(editor.error());
    editor_ = std::move(*editor);
    return {};
  }

  // The editor wants no more, or somebody ends us.
  void editor_closed() {
    if (std::exchange(editor_gone_, true)) return;
    if (agent_gone_) return finish();
    proxy_.editor_ended([this] {
      commands_ended_ = true;
      if (agent_gone_) finish();
    });
    editor_->close_input();
    close_agent_input();
    loop_.after(AgentProcess::kGrace, [this] { process_->end(); });
  }

  int exit_code() const { return process_->exit_code(); }

 private:
  void take(const rpc::LineReader::Line& line, bool by_agent) {
    if (line.too_long) return proxy_.unreadable(by_agent, "a message may have at most 32 MiB: send less");
    by_agent ? proxy_.from_agent(line.text) : proxy_.from_editor(line.text);
  }

  // After the end of its input an agent ends by itself. What it has not read yet comes first.
  void close_agent_input() {
    if (!agent_->drained() && !agent_gone_) {
      loop_.after(std::chrono::milliseconds(20), [this] { close_agent_input(); });
      return;
    }
    agent_->close_output();
    process_->close_stdin();
  }

  void agent_closed() {
    if (process_->has_ended()) return;
    // It may be about to end; if it is not, it is of no use any more.
    loop_.after(std::chrono::milliseconds(500), [this] {
      if (!process_->has_ended()) process_->end();
    });
  }

  void agent_process_ended() {
    agent_gone_ = true;
    agent_->read_rest();
    agent_->close_input();
    agent_->close_output();
    proxy_.agent_ended(process_->how_it_ended());
    // The daemon ends a command for whoever waits for it.
    if (editor_gone_ && commands_ended_) return finish();
    loop_.after(editor_gone_ ? kLongestEnd : kFlush, [this] { finish(); });
    if (editor_gone_) return;
    editor_->close_input();
    wait_for_editor();
  }

  void wait_for_editor() {
    if (editor_->drained()) return finish();
    loop_.after(std::chrono::milliseconds(10), [this] { wait_for_editor(); });
  }

  void finish() { loop_.stop(); }

  io::Loop& loop_;
  Proxy proxy_;
  std::unique_ptr<AgentProcess> process_;
  std::unique_ptr<Channel> agent_;
  std::unique_ptr<Channel> editor_;
  bool editor_gone_ = false;
  bool agent_gone_ = false;
  bool commands_ended_ = false;
};

}  // namespace

std::string own_program() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "ttyward";
}

int serve(const ServeOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  auto profiles = profiles_for(options.profile);
  if (!profiles) return complain(profiles.error().message, 2);
  auto loop = io::Loop::create();
  if (!loop) return complain(loop.error().message);
  // Before any thread is made: threads inherit which signals are blocked.
  std::function<void()> on_signal = [] {};
  auto signals = io::Signals::watch(**loop, {SIGTERM, SIGINT, SIGHUP}, [&](int) { on_signal(); });
  if (!signals) return complain(signals.error().message);

  ProxyOptions proxy;
  proxy.folders = base::user_folders();
  if (auto opened = base::open_private_folder(proxy.folders.state, base::IfMissing::Create); !opened)
    return complain(opened.error().message);
  auto log = io::Log::open(proxy.folders.state, "acp.log", STDERR_FILENO);
  if (!log) return complain(log.error().message);
  proxy.program = own_program();
  auto name = server_name(proxy.folders);
  if (!name) return complain(name.error().message);
  proxy.server = std::move(*name);
  for (const Profile& each : *profiles) proxy.profiles.push_back(with_server(each, proxy.server));
  proxy.inject_mcp = options.inject_mcp;
  proxy.sandbox = options.sandbox;
  proxy.protocol = options.protocol;
  Preparation preparation(proxy.folders);
  const bool chosen = options.profile != "auto" && !proxy.profiles.empty();
  const Profile* const begin_with =
      chosen ? &proxy.profiles.front() : profile_for_command(proxy.profiles, options.agent);
  if (begin_with != nullptr) {
    auto applied = preparation.apply(*begin_with, options.agent);
    if (!applied) return complain(applied.error().message);
    if (!applied->empty()) {
      (*log)->warning("the own shell of " + begin_with->id + " is not switched off: " + *applied);
    } else {
      proxy.started_with = begin_with;
    }
  }
  std::vector<std::string> argv = options.agent;
  argv.insert(argv.end(), preparation.arguments().begin(), preparation.arguments().end());
  int code = 0;
  {
    Conversation conversation(**loop, std::move(proxy), **log);
    on_signal = [&] { conversation.editor_closed(); };
    if (auto started = conversation.start(argv, preparation.environment()); !started)
      return complain(started.error().message, kExitNotFound);
    (*loop)->run();
    code = conversation.exit_code();
  }
  return code;
}

}  // namespace ttyward::acp
