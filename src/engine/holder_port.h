// A terminal's side of its holder: there, or gone for good.
//
// Counts what was typed, because the holder does too: whoever was killed between
// logging a command and typing it compares the two.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "command/source.h"

namespace ttyward::engine {

class HolderPort {
 public:
  using Looked = std::function<void(const base::Result<pty::RunState>&)>;

  HolderPort() = default;
  HolderPort(const HolderPort&) = delete;
  HolderPort& operator=(const HolderPort&) = delete;
  ~HolderPort() { *alive_ = false; }

  bool connected() const { return link_ != nullptr; }
  command::Source* operator->() const { return link_.get(); }
  void connect(std::unique_ptr<command::Source> link) { link_ = std::move(link); }
  std::unique_ptr<command::Source> disconnect() { return std::move(link_); }

  // Bytes handed to the holder, ever.
  uint64_t typed_bytes() const { return typed_bytes_; }
  void set_typed_bytes(uint64_t bytes) { typed_bytes_ = bytes; }
  void type(std::string_view bytes, command::Source::Done done = {}) {
    typed_bytes_ += bytes.size();
    link_->input(bytes, std::move(done));
  }
  // What the kernel says that the command is doing. Not answered once this object is gone.
  void run_state(pty::AlternateScreen screen, Looked done) {
    link_->run_state(screen,
                     [alive = alive_, done = std::move(done)](const base::Result<pty::RunState>& state) {
                       if (*alive) done(state);
                     });
  }

 private:
  std::unique_ptr<command::Source> link_;
  uint64_t typed_bytes_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::engine
