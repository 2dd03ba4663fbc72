// From the command into the journal.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "hold/holder.h"

namespace ttyward::hold {

namespace {

// A pty gives 4 KiB a read, whatever is asked for; a pipe what it holds.
constexpr size_t kLargestRead = 1 << 20;
// What one descriptor may bring in one turn before others are looked at: about
// ten milliseconds of a flooding pty, less than one of a pipe.
constexpr size_t kTurnBudget = 1 << 20;
// A pipe that was found full is one that floods. Only those are enlarged: all of
// a user's pipes share an allowance, and beyond it new ones become tiny.
constexpr size_t kFullPipe = 64 * 1024;
constexpr int kWidePipe = 1 << 20;
// What may still be in the kernel when a paused command ended, and is let in
// beyond the quota so that nothing is lost.
constexpr uint64_t kLastBytes = 2 << 20;

}  // namespace

ssize_t Holder::read_some(Source& source) {
  if (provider_ == pty::Provider::Pipe) {
    const ssize_t got = writer_.splice_from(source.fd.get(), kLargestRead, source.stream);
    if (got >= static_cast<ssize_t>(kFullPipe) && !source.widened) {
      source.widened = true;
      ::fcntl(source.fd.get(), F_SETPIPE_SZ, kWidePipe);  // refused: it stays as it is
    }
    return got;
  }
  const auto space = writer_.writable_span();
  if (space.empty()) {
    errno = EXFULL;
    return -1;
  }
  const ssize_t got = ::read(source.fd.get(), space.data(), std::min(space.size(), kLargestRead));
  if (got > 0) writer_.commit(static_cast<size_t>(got), source.stream);
  return got;
}

void Holder::drain(Source& source) {
  if (source.state == Source::State::Ended || paused_) return;
  size_t taken = 0;
  while (taken < kTurnBudget) {
    const ssize_t got = read_some(source);
    if (got > 0) {
      taken += static_cast<size_t>(got);
      continue;
    }
    if (got == 0) return end_source(source, journal::OutputEnd::Eof);
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
        if (source.state == Source::State::HungUp) {
          source.state = Source::State::Open;  // somebody opened the terminal again
          arm(source);
        }
        return;
      case EXFULL:
        return handle_full();
      case EIO:
        if (provider_ == pty::Provider::Pty) {
          // Nobody has the terminal open. While the command lives it may open
          // /dev/tty again, so this is the end only once it is gone.
          if (child_over()) return end_source(source, journal::OutputEnd::Eof);
          if (source.state == Source::State::Open) {
            source.state = Source::State::HungUp;
            arm(source);
          }
          return;
        }
        [[fallthrough]];
      default:
        return end_source(source, journal::OutputEnd::ReadError);
    }
  }
}

void Holder::end_source(Source& source, journal::OutputEnd how) {
  source.state = Source::State::Ended;
  poller_.remove(source.fd.get());
  if (how == journal::OutputEnd::ReadError) output_end_ = how;
  // The master stays open until the journal closes: closing it would hang up
  // whatever still uses the terminal.
  if (provider_ == pty::Provider::Pipe) source.fd.reset();
}

void Holder::arm(Source& source) {
  // A hung-up terminal is ready all the time; edge-triggered it speaks only when
  // something changes.
  uint32_t events = source.state == Source::State::HungUp ? EPOLLIN | EPOLLET : EPOLLIN;
  if (provider_ == pty::Provider::Pty && !input_.empty()) events |= EPOLLOUT;
  poller_.change(source.fd.get(), events, *this);
}

void Holder::stop_reading() {
  // Not just without EPOLLIN: a hang-up is reported whatever was asked for.
  for (Source& source : sources_) {
    if (source.state != Source::State::Ended) poller_.remove(source.fd.get());
  }
}

void Holder::resume_reading() {
  for (Source& source : sources_) {
    if (source.state == Source::State::Ended) continue;
    source.state = Source::State::Open;
    if (!poller_.add(source.fd.get(), EPOLLIN, *this)) end_source(source, journal::OutputEnd::ReadError);
  }
}

void Holder::handle_full() {
  if (exited_at_ || ladder_) {
    // Nobody is to be slowed down any more: take the last bytes beyond the
    // quota, once, and count what comes after them.
    if (!overdrawn_) writer_.grant(kLastBytes);
    overdrawn_ = true;
    if (writer_.writable_span().empty()) writer_.discard_rest();
    return;  // the descriptor is still ready: the next turn reads on
  }
  if (writer_.overflow() == journal::Overflow::Kill) {
    writer_.discard_rest();
    terminate({}, journal::EndReason::Overflow, Clock::now());
    return;
  }
  paused_ = true;
  stop_reading();
}

void Holder::grant(uint64_t bytes) {
  writer_.grant(bytes);
  if (!paused_) return;
  paused_ = false;
  told_paused_ = false;
  resume_reading();
}

bool Holder::all_ended() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.state == Source::State::Ended; });
}

}  // namespace ttyward::hold
