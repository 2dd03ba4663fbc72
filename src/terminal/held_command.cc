// A command held by a ttyward-hold of its own, seen through its socket and its journal.
//
// The socket only tells that there is something to look at; what there is, how
// much and how it ended, is in the journal, which outlives them both.
#include <unistd.h>

#include <utility>

#include "hold/client.h"
#include "hold/launch.h"
#include "journal/reader.h"
#include "terminal/running_command.h"

namespace ttyward::terminal {
namespace {

// A holder answers in microseconds; one that is stopped or starved is given this long.
constexpr std::chrono::milliseconds kPatience{10'000};

class HeldCommand final : public RunningCommand, private io::Poller::Handler {
 public:
  // Without a client the command has already ended, or its holder has.
  HeldCommand(io::Poller& poller, hold::LaunchReply reply, std::optional<hold::Client> client,
              journal::Reader reader)
      : poller_(poller), reply_(std::move(reply)), client_(std::move(client)), reader_(std::move(reader)) {}
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;
  ~HeldCommand() override { hang_up(); }

  base::Result<void> listen() {
    look();
    if (!client_) {
      over_somehow();
      return {};
    }
    if (auto added = poller_.add(client_->fd(), EPOLLIN, *this); !added) return added;
    static_cast<void>(client_->watch(0));  // a failure shows as the end of the connection
    return {};
  }

  void turn(Clock::time_point /*now*/) override {
    if (!client_) return;
    bool told = false;
    bool gone = false;
    for (;;) {
      const auto event = client_->next_event(std::chrono::milliseconds(0));
      if (!event) {
        gone = event.error().code != base::ErrorCode::Unavailable;
        break;
      }
      told = told || event->type == hold::MessageType::Output;
    }
    look();
    if (gone || closed_) {
      hang_up();
    } else if (told) {
      static_cast<void>(client_->watch(status_.end));  // a failure shows as the end of the connection
    }
  }
  // What came while we asked for something else announces itself no more.
  std::optional<Clock::time_point> deadline() const override {
    return client_ && client_->has_event() ? std::optional(Clock::time_point{}) : std::nullopt;
  }

  base::Result<void> send_input(std::string_view bytes) override {
    return client_ ? client_->send_input(bytes, kPatience) : over();
  }
  base::Result<void> close_input() override { return client_ ? client_->close_input(kPatience) : over(); }
  base::Result<void> resize(const pty::WindowSize& size) override {
    return client_ ? client_->resize(size, kPatience) : over();
  }
  base::Result<void> interrupt() override { return client_ ? client_->interrupt(kPatience) : over(); }
  void terminate(std::vector<pty::KillRung> rungs, Clock::time_point /*now*/) override {
    if (client_) static_cast<void>(client_->terminate(rungs, kPatience));
  }

  pty::Provider provider() const override { return reply_.provider; }
  const std::string& fallback_reason() const override { return reply_.fallback_reason; }
  pid_t child_pid() const override { return reply_.child; }
  size_t input_waiting() const override { return 0; }  // beyond its bound the holder refuses input
  uint64_t end() const override { return status_.end; }
  uint64_t dropped() const override { return status_.dropped; }
  uint64_t allocated() const override { return status_.allocated; }
  const std::optional<journal::ExitRecord>& exit() const override { return exit_; }
  bool closed() const override { return closed_; }
  std::vector<pty::ProcessInfo> processes() override {
    if (!client_) return {};
    auto found = client_->processes(kPatience);
    return found ? std::move(*found) : std::vector<pty::ProcessInfo>{};
  }
  pty::RunState run_state(pty::AlternateScreen screen) override {
    auto state = client_ ? client_->run_state(screen, kPatience) : tl::unexpected(over().error());
    if (state) return std::move(*state);
    pty::RunState unknown;
    unknown.evidence = state.error().message;
    unknown.input_known = false;
    return unknown;
  }
  const hold::Holder* holder() const override { return nullptr; }

 private:
  void on_ready(int /*fd*/, uint32_t /*events*/) override {}  // turn() takes what there is

  static base::Result<void> over() {
    return base::fail(base::ErrorCode::Unavailable, "the command has ended");
  }

  void look() {
    const auto status = reader_.status();
    if (!status) return;
    status_ = *status;
    if (status->exit) exit_ = status->exit;
    closed_ = status->state == journal::State::Closed;
  }

  void hang_up() {
    if (!client_) return;
    poller_.remove(client_->fd());
    client_.reset();
    over_somehow();
  }

  // A holder that was killed took the truth with it: how the command ended is unknown.
  void over_somehow() {
    closed_ = true;
    if (!exit_) exit_ = journal::ExitRecord{};
  }

  io::Poller& poller_;
  hold::LaunchReply reply_;
  std::optional<hold::Client> client_;
  journal::Reader reader_;
  journal::Status status_;
  std::optional<journal::ExitRecord> exit_;
  bool closed_ = false;
};

pty::SpawnError setup(const base::Error& error) {
  return {pty::SpawnFailure::Setup, error};
}

// A holder that hangs up is closing its journal, the last thing it does; or it was killed.
void wait_for_the_end(const journal::Reader& reader) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    const auto now = reader.status();
    if (now && now->state == journal::State::Closed) return;
    const auto life = reader.writer();
    if (!life || *life == journal::WriterLife::Gone) return;
    ::usleep(1000);
  }
}

}  // namespace

RunningCommand::Started start_held_command(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                                           hold::HoldSpec spec, const HolderPlace& place) {
  hold::LaunchRequest request;
  request.journals = folder->path();
  request.total_quota = folder->total_quota();
  request.sockets = place.sockets;
  request.hold = std::move(spec);
  const std::string& id = request.hold.journal.id;
  auto reply = hold::launch(place.program, request);
  if (!reply) return tl::unexpected(reply.error());
  auto connected = hold::Client::connect(place.sockets, id, kPatience);
  auto reader = journal::Reader::open_at(folder->fd(), id, folder->path() + "/" + id);
  if (!reader) return tl::unexpected(setup(reader.error()));
  std::optional<hold::Client> client;
  if (connected) {
    client = std::move(*connected);
  } else {
    wait_for_the_end(*reader);
  }
  auto command =
      std::make_unique<HeldCommand>(poller, std::move(*reply), std::move(client), std::move(*reader));
  if (auto listening = command->listen(); !listening) return tl::unexpected(setup(listening.error()));
  return command;
}

}  // namespace ttyward::terminal
