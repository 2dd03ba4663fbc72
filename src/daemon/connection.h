// One client, as the server keeps it. A plain record: the server does everything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/caller.h"
#include "base/unique_fd.h"
#include "daemon/responder.h"
#include "io/loop.h"
#include "wire/line_reader.h"

namespace ttyward::daemon {

struct Connection {
  base::UniqueFd fd;
  base::UniqueFd process;  // pidfd of who connected; none: it cannot be named
  app::Caller who;
  bool greeted = false;
  bool is_marked = false;  // for removal, once nothing of it is on the stack
  bool is_ending = false;  // nothing more is read; it is removed when `out` is empty

  wire::LineReader in;
  size_t counted = 0;  // of the server's unparsed bytes
  double tokens = 0;   // calls it may make before it has to wait
  io::Loop::Clock::time_point tokens_at;
  bool throttled = false;
  io::Loop::TimerId timer = 0;  // for the hello, then for tokens

  std::string out;
  size_t sent = 0;  // of `out`
  uint32_t watched = 0;
  std::vector<std::function<void()>> drained;

  struct OpenCall {
    std::shared_ptr<Responder::State> state;
    size_t bytes = 0;  // of its line
  };
  std::map<uint64_t, OpenCall> calls;
  size_t call_bytes = 0;  // of all of them

  size_t backlog() const { return out.size() - sent; }
};

}  // namespace ttyward::daemon
