#include "engine/terminal_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/unnamed_file.h"
#include "journal/folder.h"
#include "journal/format.h"

namespace ttyward::engine {
namespace {

constexpr std::string_view kEnding = ".log";

// A command is some hundred bytes of log: a dozen of them or more fit what is always there.
constexpr uint64_t kRoomKept = 8 * 1024;
constexpr uint64_t kRoomStep = 16 * 1024;

std::string file_of(const std::string& id) {
  return id + std::string(kEnding);
}

}  // namespace

base::Result<base::UniqueFd> TerminalLog::make_ahead(int folder) {
  return base::make_unnamed_file(folder, O_APPEND);
}

base::Result<TerminalLog> TerminalLog::create(int folder, const std::string& id, base::UniqueFd made_ahead) {
  if (!journal::valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + id + "'");
  if (made_ahead && base::give_name(made_ahead.get(), folder, file_of(id)))
    return TerminalLog(std::move(made_ahead));
  base::UniqueFd file(::openat(folder, file_of(id).c_str(),
                               O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot create the log of " + id);
  return TerminalLog(std::move(file));
}

base::Result<TerminalLog::Opened> TerminalLog::open(int folder, const std::string& id) {
  if (!journal::valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + id + "'");
  auto file = journal::open_private_file_at(folder, file_of(id).c_str(), O_RDWR | O_APPEND, file_of(id));
  if (!file) return tl::unexpected(file.error());
  struct stat info{};
  if (::fstat(file->get(), &info) != 0) return base::fail_errno(errno, "cannot read the log of " + id);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  for (size_t got = 0; got < text.size();) {
    const ssize_t n = ::pread(file->get(), text.data() + got, text.size() - got, static_cast<off_t>(got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot read the log of " + id);
    if (n == 0) text.resize(got);
    got += static_cast<size_t>(n);
  }
  const size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (whole < text.size() && ::ftruncate(file->get(), static_cast<off_t>(whole)) != 0) {
    return base::fail_errno(errno, "cannot repair the log of " + id);
  }
  Opened opened{TerminalLog(std::move(*file), whole), {}};
  std::string_view rest(text.data(), whole);
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    boost::system::error_code wrong;
    const std::string_view line = rest.substr(0, end);
    boost::json::value value = boost::json::parse(boost::json::string_view(line.data(), line.size()), wrong);
    if (!wrong && value.is_object()) opened.records.push_back(std::move(value.as_object()));
    rest.remove_prefix(end + 1);
  }
  return opened;
}

base::Result<void> TerminalLog::append(const boost::json::object& record) {
  std::string line = boost::json::serialize(record);
  line += '\n';
  return append_lines(line);
}

base::Result<void> TerminalLog::append_lines(std::string_view lines) {
  for (size_t at = 0; at < lines.size();) {
    const ssize_t n = ::write(file_.get(), lines.data() + at, lines.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      // Half a line would swallow the next one.
      const auto error = base::fail_errno(errno, "cannot write a terminal's log");
      struct stat info{};
      if (at > 0 && ::fstat(file_.get(), &info) == 0) {
        (void)!::ftruncate(file_.get(), info.st_size - static_cast<off_t>(at));
      }
      return error;
    }
    at += static_cast<size_t>(n);
  }
  size_ += lines.size();
  if (keeps_room_) set_room_aside();
  return {};
}

base::Result<void> TerminalLog::rewrite(int folder, const std::string& id,
                                        const std::function<void(Records& records)>& change) {
  auto old = open(folder, id);
  if (!old) return tl::unexpected(old.error());
  const std::string made = file_of(id) + ".new";
  base::UniqueFd file(
      ::openat(folder, made.c_str(), O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot rewrite the log of " + id);
  TerminalLog fresh(std::move(file));
  change(old->records);
  std::string lines;
  for (const boost::json::object& record : old->records) {
    lines += boost::json::serialize(record);
    lines += '\n';
  }
  if (auto written = fresh.append_lines(lines); !written) {
    (void)::unlinkat(folder, made.c_str(), 0);
    return written;
  }
  // A machine that stops right after the change of names must not be left with an empty file.
  if (::fdatasync(fresh.file_.get()) != 0) return base::fail_errno(errno, "cannot rewrite the log of " + id);
  if (::renameat(folder, made.c_str(), folder, file_of(id).c_str()) != 0)
    return base::fail_errno(errno, "cannot replace the log of " + id);
  const bool keeps_room = keeps_room_;
  *this = std::move(fresh);
  if (keeps_room) keep_room();
  return {};
}

void TerminalLog::keep_room() {
  keeps_room_ = true;
  struct stat info{};
  if (::fstat(file_.get(), &info) == 0) size_ = static_cast<uint64_t>(info.st_size);
  set_room_aside();
}

void TerminalLog::set_room_aside() {
  if (set_aside_ >= size_ + kRoomKept) return;
  // Refused by a full disk or a file system that cannot: then the next record finds out for itself.
  if (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_),
                  static_cast<off_t>(kRoomStep)) == 0) {
    set_aside_ = size_ + kRoomStep;
  }
}

void TerminalLog::give_back_room() {
  if (!std::exchange(keeps_room_, false)) return;
  struct stat info{};
  if (::fstat(file_.get(), &info) == 0) (void)!::ftruncate(file_.get(), info.st_size);
}

base::Result<void> TerminalLog::remove(int folder, const std::string& id) {
  (void)::unlinkat(folder, (file_of(id) + ".new").c_str(), 0);  // of one that died while it rewrote
  if (::unlinkat(folder, file_of(id).c_str(), 0) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot remove the log of " + id);
  }
  return {};
}

base::Result<std::vector<std::string>> TerminalLog::list(int folder) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return base::fail_errno(errno, "cannot list the terminals");
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(copy), ::closedir);
  if (dir == nullptr) {
    ::close(copy);
    return base::fail_errno(errno, "cannot list the terminals");
  }
  std::vector<std::string> ids;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(kEnding)) continue;
    std::string id(name.substr(0, name.size() - kEnding.size()));
    if (journal::valid_id(id)) ids.push_back(std::move(id));
  }
  return ids;
}

}  // namespace ttyward::engine
