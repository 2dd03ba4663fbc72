#include "journal/reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_io.h"

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
bool sane(const SegmentHeader& header, SegmentName name) {
  constexpr uint64_t most = kLargestSegmentBytes;
  return header.magic == kSegmentMagic && header.version == kVersion &&
         header.fixed_sum == fixed_sum(header) && header.number == name.number && header.base == name.base &&
         header.data_offset >= sizeof(SegmentHeader) && header.data_offset <= most &&
         header.data_capacity <= most &&
         header.index_capacity <= (header.data_offset - sizeof(SegmentHeader)) / sizeof(Mark);
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
  if (copy.version != kVersion) {
    return base::fail(base::ErrorCode::Unsupported, shown + " is a journal of version " +
                                                        std::to_string(copy.version) + ", not " +
                                                        std::to_string(kVersion));
  }
  const bool provider_known = copy.provider == Provider::Pty || copy.provider == Provider::Pipe;
  if (copy.header_bytes != kPage || copy.fixed_sum != fixed_sum(copy) || !provider_known ||
      id != std::string(copy.id.data(), ::strnlen(copy.id.data(), copy.id.size()))) {
    return corrupt(shown + ".main has a damaged header");
  }

  Reader reader;
  reader.id_ = id;
  reader.shown_ = shown;
  reader.root_ = std::move(root);
  reader.main_ = std::move(*main);
  reader.header_ = std::move(*mapping);
  reader.provider_ = copy.provider;
  reader.flags_ = copy.flags;
  reader.created_unix_ns_ = copy.created_unix_ns;
  reader.writer_pid_ = copy.writer_pid;
  if (auto listed = reader.list(); !listed) return tl::unexpected(listed.error());
  return reader;
}

base::Result<Status> Reader::status() const {
  const auto* shared = header_.as<const JournalHeader>();
  Status status;
  const uint32_t state = observe(shared->state);
  if (state < static_cast<uint32_t>(State::Running) || state > static_cast<uint32_t>(State::Closed)) {
    return corrupt(shown_ + ".main has an unknown state");
  }
  status.state = static_cast<State>(state);
  if (status.state != State::Running) {
    const ExitRecord record = shared->exit;
    if (checksum(&record, sizeof record) != shared->exit_sum) {
      return corrupt(shown_ + ".main has a damaged exit record");
    }
    status.exit = record;
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
  const int copy = ::openat(dir_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A journal that was removed while it was open has no listing any more.
  if (copy < 0)
    return errno == ENOENT ? base::Result<void>{} : base::fail_errno(errno, "cannot list " + shown_);
  DIR* listing = ::fdopendir(copy);
  if (listing == nullptr) {
    const int error = errno;
    ::close(copy);
    return base::fail_errno(error, "cannot list " + shown_);
  }
  while (const dirent* entry = ::readdir(listing)) {
    if (const auto name = parse_segment_file(entry->d_name); name && name->number != 0)
      names_.push_back(*name);
  }
  ::closedir(listing);
  std::sort(names_.begin(), names_.end(), [](SegmentName a, SegmentName b) {
    return a.base != b.base ? a.base < b.base : a.number < b.number;
  });
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
  part.start = name.number == 0 ? kPage : 0;
  const auto got =
      base::read_at(part.file.get(), &part.header, sizeof part.header, part.start, shown_ + "/" + file);
  if (!got) return tl::unexpected(got.error());
  const bool begun = *got == sizeof part.header && part.header.magic != std::array<char, 8>{};
  if (!begun && name.number != 0) {
    // Its writer is about to fill it in, or died before it could: no data yet.
    return base::fail(base::ErrorCode::Unavailable, shown_ + "/" + file + " is not a segment yet");
  }
  if (!sane(part.header, name)) return corrupt(shown_ + "/" + file + " has a damaged header");
  return part;
}

base::Result<uint64_t> Reader::length_of(Part& part, uint64_t end) const {
  // It may have been closed since it was opened here, or this very moment: an
  // impossible value is read once more before it is called damage.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (part.header.length <= part.header.data_capacity) return part.header.length;
    auto got = read_exactly(part.file.get(), &part.header.length, sizeof part.header.length,
                            part.start + offsetof(SegmentHeader, length), shown_);
    if (!got) return tl::unexpected(got.error());
  }
  if (part.header.length <= part.header.data_capacity) return part.header.length;
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

base::Result<Reader::Chunk> Reader::read(uint64_t at, std::span<std::byte> into) {
  const uint64_t end = this->end();
  if (at >= end || into.empty()) return Chunk{};
  auto part = part_at(at, end);
  if (!part) return tl::unexpected(part.error());
  if (*part == nullptr) {
    // part_at listed the folder: the next segment's base ends the gap.
    const auto next = std::upper_bound(names_.begin(), names_.end(), at,
                                       [](uint64_t offset, SegmentName name) { return offset < name.base; });
    const uint64_t gap_end = next == names_.end() ? end : std::min(end, next->base);
    return Chunk{0, gap_end - at};
  }
  auto length = length_of(**part, end);
  if (!length) return tl::unexpected(length.error());
  const uint64_t from = at - (*part)->header.base;
  const uint64_t bytes = std::min<uint64_t>({into.size(), *length - from, end - at});
  const uint64_t offset = (*part)->start + (*part)->header.data_offset + from;
  auto got = read_exactly((*part)->file.get(), into.data(), bytes, offset, shown_);
  if (!got) return tl::unexpected(got.error());
  return Chunk{bytes, 0};
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
  const std::vector<SegmentName> names = names_;
  for (const SegmentName name : names) {
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
  if (covered < stop) found.push_back({covered, stop});
  return found;
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
                            part->start + sizeof(SegmentHeader), shown_);
    if (!got) return tl::unexpected(got.error());
    for (const Mark& mark : all) {
      if (mark.offset >= range.begin && mark.offset <= range.end) found.push_back(mark);
    }
  }
  return found;
}

}  // namespace ttyward::journal
