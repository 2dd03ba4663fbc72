// A command that is held by this process, and ends with it.
#pragma once

#include <memory>

#include "command/source.h"
#include "hold/holder.h"
#include "io/poller.h"
#include "journal/folder.h"

namespace ttyward::command {

class OwnHolder final : public Source, private hold::HolderObserver {
 public:
  using Started = tl::expected<std::unique_ptr<OwnHolder>, pty::SpawnError>;

  static Started start(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                       hold::HoldSpec spec, hold::Scope scope, Observer& observer);
  OwnHolder(const OwnHolder&) = delete;
  OwnHolder& operator=(const OwnHolder&) = delete;

  pty::Provider provider() const { return holder_->provider(); }
  const std::string& fallback_reason() const { return holder_->fallback_reason(); }
  pid_t child_pid() const { return holder_->child_pid(); }

  void turn(TimePoint now) override { holder_->turn(now); }
  std::optional<TimePoint> deadline() const override { return holder_->deadline(); }
  void input(std::string_view bytes, Done done = {}) override;
  void close_input(Done done = {}) override;
  void resize(const pty::WindowSize& size, Done done = {}) override;
  void signal(int number, Target target, Done done = {}) override;
  void interrupt(Done done = {}) override;
  void terminate(const std::vector<pty::KillRung>& rungs, Done done = {}) override;
  void grant(uint64_t bytes, Done done = {}) override;
  void watch(uint64_t offset) override;
  size_t input_waiting() const override { return holder_->input_waiting(); }
  void run_state(pty::AlternateScreen screen, RunStates done) override;
  void processes(Processes done) override;

 private:
  OwnHolder(std::unique_ptr<hold::Holder> holder, Observer& observer);
  void on_output(uint64_t end) override { observer_.on_output(end); }
  void on_paused() override { observer_.on_paused(); }
  void on_exit(const journal::ExitRecord& record) override { observer_.on_exited(record); }
  void on_closed(journal::OutputEnd /*end*/) override { observer_.on_closed(); }

  std::unique_ptr<hold::Holder> holder_;
  Observer& observer_;
};

}  // namespace ttyward::command
