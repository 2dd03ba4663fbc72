#include "command/own_holder.h"

#include <utility>

namespace ttyward::command {
namespace {

void answer(const Source::Done& done, base::Result<void> result) {
  if (done) done(std::move(result));
}

}  // namespace

OwnHolder::OwnHolder(std::unique_ptr<hold::Holder> holder, Observer& observer)
    : holder_(std::move(holder)), observer_(observer) {
  holder_->set_observer(this);
}

OwnHolder::Started OwnHolder::start(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                                    hold::HoldSpec spec, hold::Scope scope, Observer& observer) {
  auto holder = hold::Holder::start(poller, folder, std::move(spec), scope);
  if (!holder) return tl::unexpected(holder.error());
  return std::unique_ptr<OwnHolder>(new OwnHolder(std::move(*holder), observer));
}

void OwnHolder::input(std::string_view bytes, Done done) {
  answer(done, holder_->send_input(std::as_bytes(std::span(bytes.data(), bytes.size()))));
}

void OwnHolder::close_input(Done done) {
  answer(done, holder_->close_input());
}

void OwnHolder::resize(const pty::WindowSize& size, Done done) {
  answer(done, holder_->resize(size));
}

void OwnHolder::signal(int number, Target target, Done done) {
  answer(done, holder_->signal(number, target));
}

void OwnHolder::interrupt(Done done) {
  answer(done, holder_->interrupt());
}

void OwnHolder::terminate(const std::vector<pty::KillRung>& rungs, Done done) {
  holder_->terminate(rungs, journal::EndReason::Requested, std::chrono::steady_clock::now());
  answer(done, {});
}

void OwnHolder::grant(uint64_t bytes, Done done) {
  holder_->grant(bytes);
  answer(done, {});
}

// Every turn tells of new output. Nothing waits for the owner to have read it: a journal that is full drops
// its middle whether or not somebody is slow.
void OwnHolder::watch(uint64_t /*offset*/) {}

void OwnHolder::run_state(pty::AlternateScreen screen, RunStates done) {
  done(holder_->run_state(screen));
}

void OwnHolder::processes(Processes done) {
  std::vector<Process> list;
  for (const pty::ProcessInfo& process : holder_->processes()) {
    if (!process.zombie) list.push_back({process.id.pid, process.parent, process.command});
  }
  done(std::move(list));
}

}  // namespace ttyward::command
