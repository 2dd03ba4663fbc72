#include "engine/viewer.h"

namespace ttyward::engine {
namespace {

// Sixty frames a second are as many as a person can see.
constexpr std::chrono::milliseconds kFrame{16};

}  // namespace

Viewer::Viewer(io::Loop& loop, Terminal& terminal, std::function<void()> on_ready)
    : loop_(loop), terminal_(&terminal), on_ready_(std::move(on_ready)) {
  terminal.watch(*this);
  schedule();
}

Viewer::~Viewer() {
  *alive_ = false;
  loop_.cancel(timer_);
  if (terminal_ != nullptr) terminal_->unwatch(*this);
}

void Viewer::on_change(Terminal&, uint32_t changes) {
  if ((changes & (kOutput | kMeta | kClosed)) != 0) schedule();
}

void Viewer::on_destroyed() {
  terminal_ = nullptr;
  loop_.cancel(timer_);
  loop_.post([this, alive = alive_] {
    if (*alive && on_ready_) on_ready_();
  });
}

void Viewer::schedule() {
  if (ready_ || timer_ != 0) return;
  timer_ = loop_.at(last_ + kFrame, [this] {
    timer_ = 0;
    ready_ = true;
    if (on_ready_) on_ready_();
  });
}

vt::Delta Viewer::changes(vt::Seq seen) {
  ready_ = false;
  last_ = Clock::now();
  vt::Delta delta = vt::changes_since(terminal_->output().screen(), seen);
  seen_ = delta.seq;
  return delta;
}

std::optional<vt::Delta> Viewer::take() {
  if (!ready_ || terminal_ == nullptr) return std::nullopt;
  vt::Delta delta = changes(seen_);
  if (!delta.reset && delta.rows.empty() && delta.look == look_) return std::nullopt;
  look_ = delta.look;
  return delta;
}

vt::Delta Viewer::take_all() {
  if (terminal_ == nullptr) return {};
  vt::Delta delta = changes(0);
  look_ = delta.look;
  return delta;
}

}  // namespace ttyward::engine
