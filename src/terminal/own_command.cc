// A command held by this very process.
#include "terminal/running_command.h"

namespace ttyward::terminal {
namespace {

class OwnCommand final : public RunningCommand {
 public:
  explicit OwnCommand(std::unique_ptr<hold::Holder> holder) : holder_(std::move(holder)) {}

  void turn(Clock::time_point now) override { holder_->turn(now); }
  std::optional<Clock::time_point> deadline() const override { return holder_->deadline(); }

  base::Result<void> send_input(std::string_view bytes) override {
    return holder_->send_input(std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
  base::Result<void> close_input() override { return holder_->close_input(); }
  base::Result<void> resize(const pty::WindowSize& size) override { return holder_->resize(size); }
  base::Result<void> interrupt() override { return holder_->interrupt(); }
  void terminate(std::vector<pty::KillRung> rungs, Clock::time_point now) override {
    holder_->terminate(std::move(rungs), journal::EndReason::Requested, now);
  }

  pty::Provider provider() const override { return holder_->provider(); }
  const std::string& fallback_reason() const override { return holder_->fallback_reason(); }
  pid_t child_pid() const override { return holder_->child_pid(); }
  size_t input_waiting() const override { return holder_->input_waiting(); }
  uint64_t end() const override { return holder_->journal().end(); }
  uint64_t dropped() const override { return holder_->journal().dropped(); }
  uint64_t allocated() const override { return holder_->journal().allocated(); }
  const std::optional<journal::ExitRecord>& exit() const override { return holder_->exit(); }
  bool closed() const override { return holder_->closed(); }
  std::vector<pty::ProcessInfo> processes() override { return holder_->processes(); }
  pty::RunState run_state(pty::AlternateScreen screen) override { return holder_->run_state(screen); }
  const hold::Holder* holder() const override { return holder_.get(); }

 private:
  std::unique_ptr<hold::Holder> holder_;
};

}  // namespace

RunningCommand::Started start_own_command(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                                          hold::HoldSpec spec, hold::Scope scope) {
  auto holder = hold::Holder::start(poller, folder, std::move(spec), scope);
  if (!holder) return tl::unexpected(holder.error());
  return std::make_unique<OwnCommand>(std::move(*holder));
}

}  // namespace ttyward::terminal
