// Calls that are answered later: each owns its wait, stream and dialogue, and goes when it is answered or
// taken back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "app/reply.h"
#include "engine/wait.h"
#include "io/loop.h"

namespace ttyward::app {

struct OpenCall {
  std::unique_ptr<engine::Wait> wait;
  std::vector<std::shared_ptr<void>> parts;  // whatever else it is made of; goes with it
  io::Loop::TimerId timer = 0;
};

class OpenCalls {
 public:
  explicit OpenCalls(io::Loop& loop) : loop_(loop) {}
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;
  ~OpenCalls() { *alive_ = false; }

  // `cancelled` is called if the client cancels the call.
  uint64_t add(const ReplyBase& reply, std::function<void()> cancelled = {});
  OpenCall* find(uint64_t key);
  // Its parts go a little later: it is often one of them that says that it is over.
  void end(uint64_t key);
  // Calls `then` unless the call ended before.
  void after(uint64_t key, std::chrono::milliseconds time, std::function<void()> then);
  void clear() { calls_.clear(); }
  bool empty() const { return calls_.empty(); }

 private:
  io::Loop& loop_;
  uint64_t last_key_ = 0;
  std::map<uint64_t, std::unique_ptr<OpenCall>> calls_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::app
