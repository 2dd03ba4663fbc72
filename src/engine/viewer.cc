#include "engine/viewer.h"

namespace ttyward::engine {
namespace {

// Sixty frames a second are as many as a person can see.
constexpr std::chrono::milliseconds kFrame{16};

}  // namespace

Viewer::Viewer(io::Loop& loop, Terminal& terminal, int cols, int rows, std::function<void()> on_ready)
    : loop_(loop), terminal_(&terminal), on_ready_(std::move(on_ready)), painter_(cols, rows) {
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
  timer_ = loop_.at(last_frame_ + kFrame, [this] {
    timer_ = 0;
    ready_ = true;
    if (on_ready_) on_ready_();
  });
}

std::string Viewer::take_frame() {
  if (!ready_ || terminal_ == nullptr) return "";
  ready_ = false;
  last_frame_ = Clock::now();
  return painter_.paint(terminal_->output().screen());
}

void Viewer::start_over() {
  painter_.start_over();
  if (terminal_ != nullptr) schedule();
}

void Viewer::resize(int cols, int rows) {
  painter_.resize(cols, rows);
  if (terminal_ != nullptr) schedule();
}

}  // namespace ttyward::engine
