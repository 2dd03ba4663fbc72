#include "relay/far_place.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/private_folder.h"
#include "io/local_socket.h"
#include "pty/spawn.h"
#include "relay/questions.h"

extern char** environ;

namespace ttyward::relay {
namespace {

constexpr std::chrono::milliseconds kStartPatience{10'000};
constexpr size_t kMostError = 4096;

base::Result<base::UniqueFd> connect_to(const std::string& folder, const std::string& file,
                                        io::Blocking blocking) {
  auto dir = base::open_private_folder(folder, base::IfMissing::Create);
  if (!dir) return tl::unexpected(dir.error());
  return io::connect_in(dir->get(), file, "cannot connect to the link", blocking);
}

std::string read_rest(int fd) {
  std::string text(kMostError, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// The process ends when the link's sockets are there.
base::Result<pty::Spawned> spawn_link(const LinkFolders& folders, const PlaceName& name) {
  pty::SpawnSpec spec;
  spec.argv = {folders.program, "link",      "--place", name.text(),
               "--run",         folders.run, "--state", folders.state};
  // For tests of what takes time.
  for (const char* option : {"--silence-ms", "--ping-ms", "--idle-ms"}) {
    std::string variable = "TTYWARD_LINK";
    for (const char* c = option + 1; *c != '\0'; c++) {
      variable += *c == '-' ? '_' : static_cast<char>(*c - 'a' + 'A');
    }
    if (const char* value = std::getenv(variable.c_str())) spec.argv.insert(spec.argv.end(), {option, value});
  }
  spec.provider = pty::Provider::Pipe;
  for (char** each = environ; *each != nullptr; each++) {
    // The link outlives its starter, and serves others.
    if (!std::string_view(*each).starts_with("TTYWARD_PERSON_TOKEN_FILE="))
      spec.environment.emplace_back(*each);
  }
  auto spawned = pty::spawn(spec);
  if (!spawned) return tl::unexpected(spawned.error().error);
  return std::move(*spawned);
}

// How the start went: the process has ended, or waited too long.
base::Result<void> outcome_of(pty::Spawned& process, const PlaceName& name) {
  const auto exit = process.child.try_reap();
  if (exit && *exit && (*exit)->status.success()) return {};
  if (!exit || !*exit) static_cast<void>(process.child.signal(SIGKILL));
  const std::string why = read_rest(process.stderr_fd.get());
  return base::fail(base::ErrorCode::Unavailable,
                    "the link to " + name.text() + " could not be started" + (why.empty() ? "" : ": " + why));
}

base::Result<void> start_link(const LinkFolders& folders, const PlaceName& name) {
  auto process = spawn_link(folders, name);
  if (!process) return tl::unexpected(process.error());
  pollfd entry{process->child.pidfd(), POLLIN, 0};
  while (::poll(&entry, 1, static_cast<int>(kStartPatience.count())) < 0 && errno == EINTR) {
  }
  return outcome_of(*process, name);
}

base::Error unknown() {
  return {base::ErrorCode::Unavailable, 0, "the place cannot be asked now"};
}

}  // namespace

base::Result<std::unique_ptr<FarPlace>> FarPlace::open(io::Poller& poller, const LinkFolders& folders,
                                                       const PlaceName& name) {
  auto place = std::make_unique<FarPlace>(poller, folders, name);
  if (auto there = place->ensure(); !there) return tl::unexpected(there.error());
  return place;
}

base::Result<void> FarPlace::ensure(IfNone none) {
  if (fd_) return {};
  auto fd = connect_to(folders_.run, ask_socket(name_), io::Blocking::No);
  if (!fd && none == IfNone::Start) {
    if (auto started = start_link(folders_, name_); !started) return started;
    fd = connect_to(folders_.run, ask_socket(name_), io::Blocking::No);
  }
  if (!fd) return tl::unexpected(fd.error());
  return attach(std::move(*fd));
}

base::Result<void> FarPlace::attach(base::UniqueFd fd) {
  if (auto added = poller_.add(fd.get(), EPOLLIN, *this); !added) return added;
  fd_ = std::move(fd);
  start_problem_.clear();
  in_ = FrameReader();
  flush();  // what was asked while it was started
  return {};
}

base::Result<void> FarPlace::begin() {
  if (fd_ || start_) return {};
  if (auto fd = connect_to(folders_.run, ask_socket(name_), io::Blocking::No)) return attach(std::move(*fd));
  base::UniqueFd limit(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!limit) return base::fail_errno(errno, "cannot make a timer");
  itimerspec when{};
  when.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(kStartPatience).count();
  if (::timerfd_settime(limit.get(), 0, &when, nullptr) != 0)
    return base::fail_errno(errno, "cannot set a timer");
  auto process = spawn_link(folders_, name_);
  if (!process) return tl::unexpected(process.error());
  start_.emplace(Start{std::move(*process), std::move(limit)});
  for (const int fd : {start_->process.child.pidfd(), start_->limit.get()}) {
    if (auto added = poller_.add(fd, EPOLLIN, *this); !added) {
      forget_start();
      return added;
    }
  }
  return {};
}

void FarPlace::forget_start() {
  poller_.remove(start_->process.child.pidfd());
  poller_.remove(start_->limit.get());
  start_.reset();
}

void FarPlace::started(int fd) {
  if (fd == start_->limit.get()) {
    poller_.remove(fd);
    static_cast<void>(start_->process.child.signal(SIGKILL));  // its end is told next
    return;
  }
  auto outcome = outcome_of(start_->process, name_);
  forget_start();
  if (fd_) return;  // somebody who could wait has made one
  if (outcome) {
    auto there = connect_to(folders_.run, ask_socket(name_), io::Blocking::No);
    outcome = there ? attach(std::move(*there)) : tl::unexpected(there.error());
  }
  if (outcome) return;
  start_problem_ = outcome.error().message;
  answer_nobody(start_problem_);
}

FarPlace::~FarPlace() {
  *alive_ = false;
  if (fd_) poller_.remove(fd_.get());
  if (start_) forget_start();
}

void FarPlace::ask_state(uint8_t wait, Told then) const {
  ask(kGetState, Encoder().number(wait).take(),
      [name = name_.text(), then = std::move(then)](const std::optional<Frame>& frame) {
        auto state = frame ? LinkState::decode(frame->payload) : std::nullopt;
        if (!state) {
          state.emplace();
          state->kind = LinkState::Kind::Failed;
          state->why = "the link to " + name + " has ended; try again";
        }
        then(*state);
      });
}

void FarPlace::reach_again(Told then, int more) {
  ask(kGetState, Encoder().number(1).take(),
      [this, alive = alive_, then = std::move(then), more](const std::optional<Frame>& frame) {
        if (auto state = frame ? LinkState::decode(frame->payload) : std::nullopt) return then(*state);
        LinkState failed;
        failed.kind = LinkState::Kind::Failed;
        failed.why = "the link to this place has ended; try again";
        if (!*alive) return then(failed);
        failed.why =
            start_problem_.empty() ? "the link to " + name_.text() + " has ended; try again" : start_problem_;
        if (more <= 0 || !start_problem_.empty()) return then(failed);
        if (auto again = begin(); !again) {
          failed.why = again.error().message;
          return then(failed);
        }
        reach_again(then, more - 1);
      });
}

base::Result<base::UniqueFd> FarPlace::connect_launch() const {
  return connect_to(folders_.run, launch_socket(name_), io::Blocking::Yes);
}

std::string FarPlace::shell_folder(const std::string& id) const {
  return (state_.welcome ? state_.welcome->folder : "") + "/shells/" + id + ".shell";
}

void FarPlace::ask(Type type, std::string_view payload, Answers then) const {
  if (!fd_ && !start_) {
    if (then) then(std::nullopt);
    return;
  }
  if (++last_tag_ == 0) last_tag_ = 1;
  out_.push(encode(type, 0, last_tag_, payload));
  if (then) open_.emplace(last_tag_, std::move(then));
  if (fd_) flush();
}

void FarPlace::flush() const {
  // A broken connection is noticed when it is read.
  static_cast<void>(out_.flush(fd_.get(), poller_, const_cast<FarPlace&>(*this)));
}

void FarPlace::on_ready(int fd, uint32_t events) {
  const std::shared_ptr<bool> alive = alive_;
  if (start_ && fd != fd_.get()) return started(fd);
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & ~uint32_t{EPOLLOUT}) == 0) return;
  std::array<char, 64 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0) in_.push({buffer.data(), static_cast<size_t>(got)});
  while (auto frame = in_.next()) {
    if (frame->type == kState) {
      if (auto state = LinkState::decode(frame->payload)) state_ = std::move(*state);
      if (frame->tag == 0) {
        if (told_) told_(state_);
        if (!*alive) return;
        continue;
      }
    }
    auto open = open_.extract(frame->tag);
    if (open.empty()) continue;
    open.mapped()(std::move(*frame));
    if (!*alive) return;
  }
  if (got <= 0 || in_.broken()) lose();
}

void FarPlace::lose() {
  poller_.remove(fd_.get());
  fd_.reset();
  answer_nobody("the link to " + name_.text() + " has ended");
}

void FarPlace::answer_nobody(const std::string& why) {
  const std::shared_ptr<bool> alive = alive_;
  out_ = {};
  state_.kind = LinkState::Kind::Failed;
  state_.why = why;
  for (const auto& [tag, then] : std::exchange(open_, {})) {
    then(std::nullopt);
    if (!*alive) return;
  }
  if (told_ && !fd_) told_(state_);  // not if somebody who asked has made another one
}

namespace {

std::string_view answer_in(const std::optional<Frame>& frame) {
  return frame && frame->type == Type::Answer ? std::string_view(frame->payload) : std::string_view();
}

}  // namespace

void FarPlace::process(pid_t pid, uint32_t parts,
                       const Then<std::optional<place::ProcessFacts>>& then) const {
  ask(Type::Ask, ask_process(pid, parts),
      [then](const std::optional<Frame>& frame) { then(process_in(answer_in(frame))); });
}

void FarPlace::descendants(pid_t root, const Then<std::optional<Stats>>& then) const {
  ask(Type::Ask, ask_descendants(root),
      [then](const std::optional<Frame>& frame) { then(descendants_in(answer_in(frame))); });
}

void FarPlace::ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const {
  ask(Type::Ask, ask_ports(pids),
      [then](const std::optional<Frame>& frame) { then(ports_in(answer_in(frame))); });
}

void FarPlace::left_behind(const place::LeftBehindQuery& query, const Then<place::LeftBehind>& then) const {
  ask(Type::Ask, ask_left_behind(query),
      [then](const std::optional<Frame>& frame) { then(left_behind_in(answer_in(frame))); });
}

void FarPlace::file(const std::string& path, const Then<base::Result<place::FileKind>>& then) const {
  ask(Type::Ask, ask_file(path), [then](const std::optional<Frame>& frame) {
    if (!frame || frame->type != Type::Answer) return then(tl::unexpected(unknown()));
    then(file_in(frame->payload));
  });
}

void FarPlace::text(const std::string& path, size_t most, const Then<base::Result<std::string>>& then) const {
  ask(Type::Ask, ask_text(path, most), [then](const std::optional<Frame>& frame) {
    if (!frame || frame->type != Type::Answer) return then(tl::unexpected(unknown()));
    then(text_in(frame->payload));
  });
}

void FarPlace::program(const std::string& name, const std::string& search,
                       const Then<std::string>& then) const {
  if (state_.welcome) {
    for (const std::string& known : {state_.welcome->shell, state_.welcome->bash}) {
      if (!known.empty() && (name == known || known.ends_with("/" + name))) return then(known);
    }
  }
  ask(Type::Ask, ask_program(name, search),
      [then](const std::optional<Frame>& frame) { then(program_in(answer_in(frame))); });
}

base::Result<void> FarPlace::make_folder(const std::string& path) const {
  if (!fd_) return tl::unexpected(unknown());
  ask(Type::MakeFolder, Encoder().string(path).take(), {});
  return {};
}

base::Result<void> FarPlace::write_file(const std::string& path, std::string_view content,
                                        uint32_t mode) const {
  if (!fd_) return tl::unexpected(unknown());
  ask(Type::WriteFile, Encoder().string(path).number(mode).string(content).take(), {});
  return {};
}

void FarPlace::remove_tree(const std::string& path) const {
  ask(Type::RemoveTree, Encoder().string(path).take(), {});
}

void FarPlace::end_holder(pid_t holder) const {
  ask(Type::EndHolder, Encoder().number(static_cast<uint32_t>(holder)).take(), {});
}

namespace {

// Waits until `told` is.
base::Result<LinkState> wait_for(io::Poller& poller, const FarPlace& place,
                                 const std::optional<LinkState>& told, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!told) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      return base::fail(base::ErrorCode::Unavailable, place.name() + " did not answer within " +
                                                          std::to_string(patience.count() / 1000) + " s");
    }
    poller.wait(static_cast<int>(left));
  }
  return *told;
}

}  // namespace

base::Result<LinkState> reach_now(io::Poller& poller, FarPlace& place, std::chrono::milliseconds patience) {
  std::optional<LinkState> told;
  place.reach([&told](const LinkState& state) { told = state; });
  auto state = wait_for(poller, place, told, patience);
  if (!state || state->kind == LinkState::Kind::Linked) return state;
  const bool never = state->problem == ConnectProblem::Kind::Unsupported;
  return base::fail(never ? base::ErrorCode::Unsupported : base::ErrorCode::Unavailable, state->why);
}

base::Result<LinkState> ask_state(io::Poller& poller, const LinkFolders& folders, const PlaceName& name,
                                  std::chrono::milliseconds patience) {
  FarPlace place(poller, folders, name);
  if (auto there = place.ensure(FarPlace::IfNone::Fail); !there) return tl::unexpected(there.error());
  std::optional<LinkState> told;
  place.look([&told](const LinkState& state) { told = state; });
  return wait_for(poller, place, told, patience);
}

}  // namespace ttyward::relay
