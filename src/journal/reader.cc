#include "journal/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/count_newlines.h"
#include "base/file_io.h"
#include "journal/segment_list.h"

namespace ttyward::journal {

namespace {

tl::unexpected<base::Error> corrupt(const std::string& what) {
  return base::fail(base::ErrorCode::Corrupt, what);
}

base::Result<void> read_exactly(int fd, void* into, size_t bytes, uint64_t at, const std::string& shown) {
  const auto got = base::read_at(fd, into, bytes, at, shown);
  if (!got) return tl::unexpected(got.error());
  if (*got < bytes) return corrupt(shown + " is shorter than it says");
  return {};
}

// The layout a segment header may claim: nothing outside the largest segment,
// so that no sum below can overflow.
bool sane(const SegmentHeader& header, SegmentName name, uint32_t version) {
  constexpr uint64_t most = kLargestSegmentBytes;
  if (header.version != version) return false;
  return header.magic == kSegmentMagic && header.fixed_sum == fixed_sum(header) &&
         header.number == name.number && header.base == name.base &&
         header.data_offset >= index_offset(version) && header.data_offset <= most &&
         header.data_capacity <= most &&
         header.index_capacity <= (header.data_offset - index_offset(version)) / sizeof(Mark);
}

}  // namespace

base::Result<Reader> Reader::open(const std::string& journals, const std::string& id) {
  auto folder = open_private_folder(journals, IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  return open_at(folder->get(), id, journals + "/" + id);
}

base::Result<Reader> Reader::open_at(int journals_fd, const std::string& id, const std::string& shown) {
  if (!valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not a journal id: '" + id + "'");
  auto main =
      open_private_file_at(journals_fd, main_file(id).c_str(), O_RDONLY, shown.substr(0, shown.rfind('/')));
  if (!main) return tl::unexpected(main.error());
  base::UniqueFd root(::fcntl(journals_fd, F_DUPFD_CLOEXEC, 0));
  if (!root) return base::fail_errno(errno, "cannot keep the folder of " + shown + " open");
  struct stat st{};
  if (::fstat(main->get(), &st) != 0) return base::fail_errno(errno, "cannot stat " + shown + ".main");
  if (st.st_size > 0 && static_cast<uint64_t>(st.st_size) < kPage) {
    return base::fail(base::ErrorCode::NotFound, shown + " was never begun");
  }
  if (static_cast<uint64_t>(st.st_size) < kPage) {
    return base::fail(base::ErrorCode::Unavailable, shown + " is not a journal yet");
  }
  auto mapping = Mapping::map(main->get(), kPage, Access::Read, shown + ".main");
  if (!mapping) return tl::unexpected(mapping.error());

  const auto* shared = mapping->as<const JournalHeader>();
  const uint64_t magic = observe(*reinterpret_cast<const uint64_t*>(shared->magic.data()));
  if (magic == 0) return base::fail(base::ErrorCode::Unavailable, shown + " is not a journal yet");
  if (magic != std::bit_cast<uint64_t>(kJournalMagic)) return corrupt(shown + ".main is not a journal");
  JournalHeader copy;
  std::memcpy(&copy, shared, sizeof copy);
  const bool whole = copy.fixed_sum == fixed_sum(copy);
  if (whole && (copy.version < kOldestVersion || copy.version > kVersion)) {
    return base::fail(base::ErrorCode::Unsupported, shown + " is a journal of version " +
                                                        std::to_string(copy.version) + ", not " +
                                                        std::to_string(kVersion));
  }
  const bool provider_known =
      copy.provider == stored(Provider::Pty) || copy.provider == stored(Provider::Pipe);
  const uint64_t before_segments = copy.version == 1 ? kPage : kPage + kTailBytes;
  if (!whole || copy.header_bytes != before_segments || !provider_known ||
      id != std::string(copy.id.data(), ::strnlen(copy.id.data(), copy.id.size()))) {
    return corrupt(shown + ".main has a damaged header");
  }

  Reader reader;
  reader.id_ = id;
  reader.shown_ = shown;
  reader.root_ = std::move(root);
  reader.main_ = std::move(*main);
  reader.header_ = std::move(*mapping);
  reader.version_ = copy.version;
  reader.first_segment_ = copy.header_bytes;
  reader.provider_ = copy.provider == stored(Provider::Pty) ? Provider::Pty : Provider::Pipe;
  reader.flags_ = copy.flags;
  reader.created_unix_ns_ = copy.created_unix_ns;
  reader.writer_pid_ = copy.writer_pid;
  if (auto listed = reader.list(); !listed) return tl::unexpected(listed.error());
  return reader;
}

// The state, unless damage has changed it: a journal that was closed has a sum over all that changed before.
base::Result<State> Reader::state() const {
  const auto* shared = header_.as<const JournalHeader>();
  const uint32_t said = observe(shared->state);
  if (version_ > 1 && observe(shared->closed_sum) != 0) {
    JournalHeader copy;
    std::memcpy(&copy, shared, sizeof copy);
    copy.state = static_cast<uint32_t>(State::Closed);
    if (closed_sum(copy) == copy.closed_sum) return State::Closed;
    if (said != static_cast<uint32_t>(State::Running) && said != static_cast<uint32_t>(State::Exited))
      return corrupt(shown_ + ".main has a damaged header");
    // The writer is just closing it, or died at that.
  }
  if (said < static_cast<uint32_t>(State::Running) || said > static_cast<uint32_t>(State::Closed) ||
      (version_ > 1 && said == static_cast<uint32_t>(State::Closed))) {
    return corrupt(shown_ + ".main has a damaged header");
  }
  return static_cast<State>(said);
}

std::optional<ExitRecord> Reader::exit_record() const {
  const auto* shared = header_.as<const JournalHeader>();
  const ExitRecord record = shared->exit;
  if (shared->exit_sum == 0 || checksum(&record, sizeof record) != shared->exit_sum) return std::nullopt;
  return record;
}

base::Result<Status> Reader::status() const {
  const auto* shared = header_.as<const JournalHeader>();
  Status status;
  const auto state = this->state();
  if (!state) return tl::unexpected(state.error());
  status.state = *state;
  if (status.state != State::Running) {
    status.exit = exit_record();
    if (!status.exit) return corrupt(shown_ + ".main has a damaged exit record");
  }
  if (status.state == State::Closed) status.output_end = static_cast<OutputEnd>(observe(shared->output_end));
  // After the state: what a closed journal counts is final.
  status.end = observe(shared->end);
  status.dropped = observe(shared->dropped);
  status.allocated = observe(shared->allocated);
  status.quota = observe(shared->quota);
  status.input_bytes = observe(shared->input_bytes);
  status.last_output_us = observe(shared->last_output_us);
  status.conditions = observe(shared->conditions);
  status.child_pid = observe(shared->child_pid);
  status.child_started = shared->child_started;
  const uint32_t size = observe(shared->size);
  status.cols = static_cast<uint16_t>(size >> 16);
  status.rows = static_cast<uint16_t>(size & 0xffff);
  return status;
}

base::Result<void> Reader::list() {
  names_.assign(1, SegmentName{0, 0});  // in `main`
  if (!dir_.valid()) {
    auto dir = open_private_folder_at(root_.get(), id_.c_str(), shown_);
    if (!dir && dir.error().sys_errno == ENOENT) return {};  // the first segment was enough so far
    if (!dir) return tl::unexpected(dir.error());
    dir_ = std::move(*dir);
  }
  const auto found = list_segments(dir_.get(), shown_);
  if (!found) return tl::unexpected(found.error());
  names_.insert(names_.end(), found->begin(), found->end());
  std::stable_sort(names_.begin(), names_.end(),
                   [](SegmentName a, SegmentName b) { return a.base < b.base; });
  return {};
}

base::Result<Reader::Part> Reader::open_part(SegmentName name) const {
  Part part;
  part.name = name;
  const bool first = name.number == 0;
  const std::string file = first ? "main" : segment_file(name);
  if (first) {
    part.file.reset(::fcntl(main_.get(), F_DUPFD_CLOEXEC, 0));
    if (!part.file) return base::fail_errno(errno, "cannot keep " + shown_ + " open");
  } else {
    auto opened = open_private_file_at(dir_.get(), file.c_str(), O_RDONLY, shown_);
    if (!opened) return tl::unexpected(opened.error());
    part.file = std::move(*opened);
  }
  part.start = first ? first_segment_ : 0;
  const auto got =
      base::read_at(part.file.get(), &part.header, sizeof part.header, part.start, shown_ + "/" + file);
  if (!got) return tl::unexpected(got.error());
  const bool begun = *got == sizeof part.header && part.header.magic != std::array<char, 8>{};
  if (!begun && name.number != 0) {
    // Its writer is about to fill it in, or died before it could: no data yet.
    return base::fail(base::ErrorCode::Unavailable, shown_ + "/" + file + " is not a segment yet");
  }
  if (!sane(part.header, name, version_)) return corrupt(shown_ + "/" + file + " has a damaged header");
  return part;
}

base::Result<uint64_t> Reader::length_of(Part& part, uint64_t end) const {
  // It may have been closed since it was opened here, or this very moment: what
  // cannot be is read once more before it is called damage.
  const auto closed_well = [&] {
    const SegmentHeader& header = part.header;
    if (header.length > header.data_capacity) return false;
    return version_ == 1 || header.closed_sum == closed_sum(header);
  };
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (closed_well()) return part.header.length;
    const size_t bytes = version_ == 1 ? offsetof(SegmentHeader, newlines_before) : sizeof part.header;
    auto got = read_exactly(part.file.get(), &part.header, bytes, part.start, shown_);
    if (!got) return tl::unexpected(got.error());
  }
  if (closed_well()) return part.header.length;
  if (part.header.length != kOpenSegment) return corrupt(shown_ + ": impossible segment length");
  const uint64_t length = end > part.header.base ? end - part.header.base : 0;
  if (length > part.header.data_capacity) return corrupt(shown_ + ": the header counts more than was kept");
  return length;
}

base::Result<Reader::Part*> Reader::part_at(uint64_t at, uint64_t end) {
  // Twice: once with the names known, once with the folder listed afresh,
  // because a writer begins segments and drops them meanwhile.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt == 1) {
      if (auto listed = list(); !listed) return tl::unexpected(listed.error());
    }
    auto after = std::upper_bound(names_.begin(), names_.end(), at,
                                  [](uint64_t offset, SegmentName name) { return offset < name.base; });
    while (after != names_.begin()) {
      const SegmentName name = *--after;
      if (!open_ || open_->name.base != name.base || open_->name.number != name.number) {
        auto opened = open_part(name);
        if (!opened) {
          const base::Error& error = opened.error();
          if (error.sys_errno == ENOENT) break;                      // dropped since it was listed
          if (error.code == base::ErrorCode::Unavailable) continue;  // nothing in it yet
          return tl::unexpected(error);
        }
        open_ = std::move(*opened);
      }
      auto length = length_of(*open_, end);
      if (!length) return tl::unexpected(length.error());
      if (at < name.base + *length) return &*open_;
      if (*length > 0) break;  // an earlier segment ends before this one begins
    }
  }
  return nullptr;
}

Reader::Tail Reader::tail() const {
  Tail tail;
  if (version_ == 1) return tail;
  const auto* shared = header_.as<const JournalHeader>();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const uint64_t changes = observe(shared->tail_changes);
    tail.begin = observe(shared->tail_begin);
    const uint64_t newlines = observe(shared->tail_newlines);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (changes % 2 != 0 || observe(shared->tail_changes) != changes) continue;
    tail.newlines = newlines;
    break;
  }
  return tail;
}

// How many bytes were there; none if they are not in the tail any more.
base::Result<size_t> Reader::read_tail(uint64_t at, uint64_t end, std::span<std::byte> into) const {
  const auto* shared = header_.as<const JournalHeader>();
  if (version_ == 1 || observe(shared->tail_begin) > at) return 0;
  const uint64_t size = first_segment_ - kPage;
  const uint64_t bytes = std::min<uint64_t>({into.size(), end - at, size - at % size});
  auto got = read_exactly(main_.get(), into.data(), bytes, kPage + at % size, shown_);
  if (!got) return tl::unexpected(got.error());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return observe(shared->tail_begin) > at ? 0 : bytes;
}

base::Result<Reader::Chunk> Reader::read(uint64_t at, std::span<std::byte> into) {
  const uint64_t end = this->end();
  if (at >= end || into.empty()) return Chunk{};
  const auto found = [&](size_t bytes) {
    if (counted_ && counted_->at == at) {
      counted_ = Counted{at + bytes, counted_->newlines + base::count_newlines(into.data(), bytes)};
    }
    return Chunk{bytes, 0, {}};
  };
  Part* covering = nullptr;
  // Bytes move from the tail to a segment, and new ones to the tail: what was in neither is looked for again.
  for (;;) {
    const auto in_tail = read_tail(at, end, into);
    if (!in_tail) return tl::unexpected(in_tail.error());
    if (*in_tail > 0) return found(*in_tail);
    auto part = part_at(at, end);
    if (!part) return tl::unexpected(part.error());
    covering = *part;
    if (covering != nullptr) break;
    if (const Chunk gap = gap_at(at, end); gap.gap > 0) return gap;
  }
  auto length = length_of(*covering, end);
  if (!length) return tl::unexpected(length.error());
  const uint64_t from = at - covering->header.base;
  const uint64_t bytes = std::min<uint64_t>({into.size(), *length - from, end - at});
  const uint64_t offset = covering->start + covering->header.data_offset + from;
  auto got = read_exactly(covering->file.get(), into.data(), bytes, offset, shown_);
  if (!got) return tl::unexpected(got.error());
  if (from == 0 && version_ > 1) counted_ = Counted{at, covering->header.newlines_before};
  return found(bytes);
}

// No segment covers `at`, and part_at has listed the folder: what comes next ends the gap.
Reader::Chunk Reader::gap_at(uint64_t at, uint64_t end) {
  const auto next = std::upper_bound(names_.begin(), names_.end(), at,
                                     [](uint64_t offset, SegmentName name) { return offset < name.base; });
  const Tail tail = this->tail();
  if (tail.begin <= at) return Chunk{};  // it came to the tail this moment
  constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t gap_end = std::min(end, tail.begin);
  uint64_t above = gap_end == tail.begin ? tail.newlines.value_or(kUnknown) : kUnknown;
  if (next != names_.end() && next->base < gap_end) {
    gap_end = next->base;
    const auto part = open_part(*next);
    above = part && version_ > 1 ? part->header.newlines_before : kUnknown;
  }
  // Below the gap: as far as it was read, or what the segment before it has.
  uint64_t below = counted_ && counted_->at == at ? counted_->newlines : kUnknown;
  if (below == kUnknown && next != names_.begin() && version_ > 1) {
    auto before = open_part(*std::prev(next));
    const auto length = before ? length_of(*before, end) : tl::unexpected(before.error());
    if (length && before->header.length == *length && before->header.base + *length == at)
      below = before->header.newlines_before + before->header.newlines;
  }
  Chunk chunk{0, gap_end - at, {}};
  if (above == kUnknown) return chunk;
  if (below <= above) chunk.newlines = above - below;
  counted_ = Counted{gap_end, above};
  return chunk;
}

base::Result<std::string> Reader::read_all(Range range, size_t limit) {
  std::string text;
  const uint64_t stop = std::min(range.end, end());
  std::vector<std::byte> buffer(64 * 1024);
  for (uint64_t at = range.begin; at < stop;) {
    auto chunk = read(at, std::span(buffer).first(std::min<uint64_t>(buffer.size(), stop - at)));
    if (!chunk) return tl::unexpected(chunk.error());
    if (text.size() + chunk->bytes > limit) {
      return base::fail(base::ErrorCode::Exhausted,
                        "more than " + std::to_string(limit) + " bytes asked for");
    }
    text.append(reinterpret_cast<const char*>(buffer.data()), chunk->bytes);
    at += chunk->bytes + chunk->gap;
  }
  return text;
}

base::Result<std::vector<Range>> Reader::gaps() {
  if (auto listed = list(); !listed) return tl::unexpected(listed.error());
  const uint64_t stop = end();
  std::vector<Range> found;
  uint64_t covered = 0;
  const Tail tail = this->tail();
  const std::vector<SegmentName> names = names_;
  for (const SegmentName name : names) {
    if (name.base >= tail.begin) break;
    auto part = open_part(name);
    if (!part) {
      const bool no_data =
          part.error().sys_errno == ENOENT || part.error().code == base::ErrorCode::Unavailable;
      if (no_data) continue;
      return tl::unexpected(part.error());
    }
    auto length = length_of(*part, stop);
    if (!length) return tl::unexpected(length.error());
    if (*length == 0 || name.base >= stop) continue;
    if (name.base > covered) found.push_back({covered, name.base});
    covered = std::max(covered, name.base + *length);
  }
  if (tail.begin < stop) {
    if (tail.begin > covered) found.push_back({covered, tail.begin});
    covered = stop;
  }
  if (covered < stop) found.push_back({covered, stop});
  return found;
}

base::Result<uint64_t> Reader::missing(Range range) {
  if (observe(header_.as<const JournalHeader>()->dropped) == 0 && range.end <= end()) return 0;
  auto all = gaps();
  if (!all) return tl::unexpected(all.error());
  uint64_t bytes = 0;
  for (const Range& gap : *all) {
    const uint64_t from = std::max(gap.begin, range.begin);
    const uint64_t to = std::min(gap.end, range.end);
    if (to > from) bytes += to - from;
  }
  return bytes;
}

base::Result<bool> Reader::complete() {
  auto now = status();
  if (!now) return tl::unexpected(now.error());
  if (now->dropped != 0 || now->output_end != OutputEnd::Eof) return false;
  auto missing = gaps();
  if (!missing) return tl::unexpected(missing.error());
  return missing->empty();
}

base::Result<std::vector<Mark>> Reader::marks(Range range) {
  if (auto listed = list(); !listed) return tl::unexpected(listed.error());
  std::vector<Mark> found;
  for (size_t i = 0; i < names_.size(); ++i) {
    const bool ends_before = i + 1 < names_.size() && names_[i + 1].base < range.begin;
    if (ends_before || names_[i].base > range.end) continue;
    auto part = open_part(names_[i]);
    if (!part) {
      if (part.error().sys_errno == ENOENT || part.error().code == base::ErrorCode::Unavailable) continue;
      return tl::unexpected(part.error());
    }
    const uint64_t count = part->header.index_count;
    if (count > part->header.index_capacity) return corrupt(shown_ + ": impossible number of marks");
    std::vector<Mark> all(count);
    auto got = read_exactly(part->file.get(), all.data(), count * sizeof(Mark),
                            part->start + index_offset(version_), shown_);
    if (!got) return tl::unexpected(got.error());
    for (const Mark& mark : all) {
      if (mark.offset >= range.begin && mark.offset <= range.end) found.push_back(mark);
    }
  }
  return found;
}

}  // namespace ttyward::journal
