#include "io/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include "base/file_io.h"
#include "base/private_folder.h"

namespace ttyward::io {
namespace {

constexpr size_t kLongestLine = 4096;  // the rest of a longer text is left out

const char* weight_name(Log::Weight weight) {
  switch (weight) {
    case Log::Weight::Info:
      return "info";
    case Log::Weight::Warning:
      return "warning";
    case Log::Weight::Error:
      return "error";
  }
  return "error";
}

std::string time_text() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 64> text{};
  const size_t used = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + used, text.size() - used, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text.data();
}

void append_plain(std::string& line, std::string_view text) {
  for (const char c : text.substr(0, kLongestLine)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      line += c;
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      line += escape.data();
    }
  }
  if (text.size() > kLongestLine) line += "…";
}

std::string text_line(Log::Weight weight, std::string_view text) {
  std::string line = time_text() + " " + weight_name(weight) + " ";
  append_plain(line, text);
  return line;
}

std::string json_line(Log::Weight weight, std::string_view text, std::string_view part, Log::Fields fields) {
  base::JsonObject about;
  for (const Log::Field& field : fields) about.raw(field.name, field.json);
  std::string message(text.substr(0, kLongestLine));
  if (text.size() > kLongestLine) message += "…";
  return base::JsonObject()
      .text("time", time_text())
      .text("level", weight_name(weight))
      .text("part", part)
      .text("message", message)
      .raw("fields", about.str())
      .str();
}

}  // namespace

base::Result<std::unique_ptr<Log>> Log::open(const std::string& folder, const std::string& name, int copy_to,
                                             uint64_t largest) {
  auto opened = base::open_private_folder(folder, base::IfMissing::Create);
  if (!opened) return tl::unexpected(opened.error());
  auto file = base::open_private_file_at(opened->get(), name.c_str(), O_WRONLY | O_CREAT | O_APPEND, folder);
  if (!file) return tl::unexpected(file.error());
  struct stat st{};
  if (::fstat(file->get(), &st) != 0) return base::fail_errno(errno, "cannot stat " + folder + "/" + name);
  auto log = std::make_unique<Log>();
  log->folder_ = std::move(*opened);
  log->file_ = std::move(*file);
  log->folder_path_ = folder;
  log->name_ = name;
  log->largest_ = largest;
  log->size_ = static_cast<uint64_t>(st.st_size);
  log->copy_to_ = copy_to;
  return log;
}

void Log::rotate() {
  const std::string older = name_ + ".1";
  if (::renameat(folder_.get(), name_.c_str(), folder_.get(), older.c_str()) != 0) return;
  auto file =
      base::open_private_file_at(folder_.get(), name_.c_str(), O_WRONLY | O_CREAT | O_APPEND, folder_path_);
  if (!file) return;  // goes on in the old one
  file_ = std::move(*file);
  size_ = 0;
}

void Log::write(Weight weight, std::string_view text, std::string_view part, Fields fields) {
  std::string line =
      format_ == Format::Json ? json_line(weight, text, part, fields) : text_line(weight, text);
  line += '\n';
  const std::lock_guard lock(mutex_);
  // A full disk is no reason to stop, and there is nobody left to tell.
  if (copy_to_ >= 0) static_cast<void>(base::write_all(copy_to_, line, ""));
  if (!file_) return;
  if (size_ > 0 && size_ + line.size() > largest_) rotate();
  static_cast<void>(base::write_all(file_.get(), line, ""));
  size_ += line.size();
}

}  // namespace ttyward::io
