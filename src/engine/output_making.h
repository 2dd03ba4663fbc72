// Makes an output from the journal, a slice at a time.
//
// The lines of commands that are over are kept in memory for the newest few only, and
// colours are never kept. To get them, the bytes are emulated once more.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/feed.h"
#include "terminal/output.h"

namespace ttyward::engine {

class OutputMaking {
 public:
  struct Source {
    journal::Range range;
    std::optional<uint64_t> newlines_before;  // line feeds below it, if known
    bool ended = false;                       // no more will come
    uint64_t lines = 0;                       // if ended: how many there were, for a range whose end is gone
  };
  // The feed outlives it.
  OutputMaking(const terminal::OutputOptions& options, Feed& feed, const Source& source);

  // Works for about so long. True: it is whole.
  bool step(Feed::Clock::duration time);
  std::unique_ptr<terminal::Output> take() { return std::move(output_); }

 private:
  std::unique_ptr<terminal::Output> output_;
  Feed::Again again_;
  const bool ended_;
  const uint64_t lines_;
};

}  // namespace ttyward::engine
