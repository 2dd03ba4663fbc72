#include "engine/output_making.h"

namespace ttyward::engine {

OutputMaking::OutputMaking(const terminal::OutputOptions& options, Feed& feed, const Source& source)
    : output_(std::make_unique<terminal::Output>(options)),
      again_(feed, source.range, source.newlines_before),
      ended_(source.ended),
      lines_(source.lines) {}

bool OutputMaking::step(Feed::Clock::duration time) {
  if (!again_.step(*output_, {UINT64_MAX, time})) return false;
  if (!ended_) return true;
  output_->finish();
  if (again_.end_missing()) output_->count_lost_end(lines_);
  return true;
}

}  // namespace ttyward::engine
