// From the command into the journal.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hold/holder.h"

namespace ttyward::hold {

namespace {

constexpr size_t kLargestRead = 1 << 20;  // from a pipe
// A pty gives 4 KiB a read, whatever is asked for. So much is gathered before the journal gets it: it fits
// the processor's cache, and a flood is one write for sixteen reads.
constexpr size_t kGathered = 64 * 1024;
// What one descriptor may bring in one turn before others are looked at: about
// ten milliseconds of a flooding pty, less than one of a pipe.
constexpr size_t kTurnBudget = 1 << 20;
// A pipe that was found full is one that floods. Only those are enlarged: all of
// a user's pipes share an allowance, and beyond it new ones become tiny.
constexpr size_t kFullPipe = 64 * 1024;
constexpr int kWidePipe = 1 << 20;
// What may still be in the kernel when a paused command ended, and is accepted
// beyond the quota so that nothing is lost.
constexpr uint64_t kLastBytes = 2 << 20;
// How often a full disk is tried again.
constexpr std::chrono::milliseconds kAskAgain{200};

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
  return gather(source);
}

// As read(2), of all that is there. An error after some bytes is found again by the next read.
ssize_t Holder::gather(Source& source) {
  if (writer_.writable_span().empty()) {
    errno = EXFULL;
    return -1;
  }
  if (!gathered_) gathered_ = std::make_unique_for_overwrite<std::byte[]>(kGathered);
  size_t have = std::exchange(left_over_, 0);
  ssize_t got = 0;
  while (have < kGathered) {
    got = ::read(source.fd.get(), gathered_.get() + have, kGathered - have);
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  if (have == 0) return got;
  source.dry = got < 0 && errno == EAGAIN;
  const size_t kept = writer_.append({gathered_.get(), have}, source.stream);
  if (kept < have) {
    // No room for the rest: it stays in this buffer, as it would have stayed in the kernel's.
    left_over_ = have - kept;
    source.dry = false;  // the next try says that there is no room
    std::memmove(gathered_.get(), gathered_.get() + kept, left_over_);
  }
  if (kept > 0) return static_cast<ssize_t>(kept);
  errno = EXFULL;
  return -1;
}

void Holder::drain(Source& source) {
  if (source.state == Source::State::Ended || paused_ || behind_) return;
  size_t taken = 0;
  while (taken < kTurnBudget) {
    const ssize_t got = read_some(source);
    if (got > 0) {
      taken += static_cast<size_t>(got);
      if (std::exchange(source.dry, false) && source.state == Source::State::Open) return;
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
  // A hung-up terminal is always ready; edge-triggered it reports only when
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
  const bool ending = exited_at_ || ladder_;
  if (writer_.waits_for_reader()) {
    if (ending) return writer_.set_unread_from(journal::Writer::kNobodyReads);
    behind_ = true;
    stop_reading();
    return;
  }
  if (ending) {
    // The command has ended and need not be slowed down: take the last bytes beyond the
    // quota, once, and keep the newest of what comes after them.
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
  if (writer_.may_find_room()) look_for_room_ = Clock::now() + kAskAgain;
  stop_reading();
}

void Holder::look_for_room(Clock::time_point now) {
  if (!look_for_room_ || now < *look_for_room_) return;
  look_for_room_.reset();
  if (!paused_) return;
  if (writer_.find_room()) return grant(0);
  if (writer_.may_find_room()) look_for_room_ = now + kAskAgain;
}

void Holder::grant(uint64_t bytes) {
  writer_.grant(bytes);
  if (!paused_) return;
  paused_ = false;
  told_paused_ = false;
  look_for_room_.reset();
  read_on();
}

void Holder::follow(std::optional<uint64_t> read_to) {
  // At the end the holder does not wait for followers.
  const bool ending = exited_at_ || ladder_;
  writer_.set_unread_from(ending ? journal::Writer::kNobodyReads
                                 : read_to.value_or(journal::Writer::kNobodyReads));
  if (!std::exchange(behind_, false)) return;
  read_on();
}

// Bytes that were read before the journal was full come first, whether or not there are more.
void Holder::read_on() {
  resume_reading();
  for (Source& source : sources_) drain(source);
}

bool Holder::all_ended() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const Source& source) { return source.state == Source::State::Ended; });
}

}  // namespace ttyward::hold
