#include "engine/recovery.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace ttyward::engine {

// Reading journals back is work for all processors; what it needs of the host is not changed meanwhile.
base::Result<std::vector<base::Result<std::unique_ptr<Terminal>>>> read_back_terminals(TerminalHost& host) {
  const auto ids = TerminalLog::list(host.logs);
  if (!ids) return tl::unexpected(ids.error());
  std::vector<base::Result<std::unique_ptr<Terminal>>> found(ids->size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < ids->size(); i = next++) found[i] = Terminal::recover(host, (*ids)[i]);
  };
  std::vector<std::thread> others;
  const size_t most = std::min<size_t>(std::thread::hardware_concurrency(), ids->size());
  for (size_t i = 1; i < most; i++) {
    auto other = base::start_thread(work);
    if (!other) break;  // those there are do it all
    others.push_back(std::move(*other));
  }
  work();
  for (std::thread& other : others) other.join();
  return found;
}

}  // namespace ttyward::engine
