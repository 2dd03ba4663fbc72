#include "engine/readers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/file_io.h"
#include "engine/json_fields.h"

namespace ttyward::engine {
namespace {

using terminal::LineNumber;

// Lines above the last so many are taken as they were: a screen is rarely higher.
constexpr uint64_t kMostMarks = 200;
// The file is written anew when it has so many records more than there are places.
constexpr size_t kSpareRecords = 4096;

// The same in every process, for ever: it is on disk.
uint64_t mark_of(std::string_view text) {
  uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

}  // namespace

const Readers::Place* Readers::find(const std::string& reader, const std::string& source) const {
  const auto places = by_source_.find(source);
  if (places == by_source_.end()) return nullptr;
  const auto found = places->second.find(reader);
  return found == places->second.end() ? nullptr : &*found->second;
}

Readers::Place& Readers::touch(const std::string& reader, const std::string& source) {
  const auto [found, fresh] = by_source_[source].try_emplace(reader);
  if (fresh) {
    places_.push_front({reader, source, 0, {}, 0, false});
    found->second = places_.begin();
    while (places_.size() > kMostPlaces) {
      const auto oldest = by_source_.find(places_.back().source);
      oldest->second.erase(places_.back().reader);
      if (oldest->second.empty()) by_source_.erase(oldest);
      places_.pop_back();
    }
  } else {
    places_.splice(places_.begin(), places_, found->second);
  }
  return places_.front();
}

LineNumber Readers::first_unread(const Place* place, const OutputSource::Lines& lines) {
  if (place == nullptr) return 1;
  LineNumber next = std::min(place->settled, lines.all.size()) + 1;
  size_t i = 0;
  if (next > lines.all.size()) return next;
  lines.all.forward(next, [&](const terminal::Transcript::Entry& entry) {
    while (next < entry.first + entry.repeat) {
      if (i == place->marks.size() || (!entry.dropped && place->marks[i] != mark_of(entry.text)))
        return false;
      i++;
      next++;
    }
    return true;
  });
  return next;
}

void Readers::advance(Place& place, const OutputSource::Lines& lines) {
  place.settled = std::min(lines.settled, lines.complete);
  if (lines.complete - place.settled > kMostMarks) place.settled = lines.complete - kMostMarks;
  place.marks.clear();
  if (place.settled == lines.complete) return;
  LineNumber next = place.settled + 1;
  lines.all.forward(next, [&](const terminal::Transcript::Entry& entry) {
    for (; next < entry.first + entry.repeat && next <= lines.complete; next++) {
      place.marks.push_back(mark_of(entry.text));
    }
    return next <= lines.complete;
  });
}

ReadResult Readers::read_new(const std::string& reader, const OutputSource& source,
                             const terminal::ViewLimits& view, terminal::DigestReader* digest) {
  ReadResult result;
  result.total_bytes = source.total_bytes();
  result.binary = source.binary();
  result.more = !source.ended();
  Place& place = touch(reader, source.id());
  if (place.all) {
    // Without making its lines again, which may not be in memory any more.
    if (source.command() != nullptr) result.total_lines = source.command()->facts.total_lines;
    return result;
  }
  place.all = source.ended();
  if (result.binary) {
    if (place.bytes == result.total_bytes) return result;
    result.text = fmt::format("[binary output: {} new bytes, not shown]\n", result.total_bytes - place.bytes);
    place.bytes = result.total_bytes;
    write(place);
    return result;
  }
  source.with_lines([&](const OutputSource::Lines& lines) {
    result.total_lines = lines.all.size();
    const LineNumber from = first_unread(&place, lines);
    if (from <= lines.complete) {
      terminal::View shown;
      if (digest != nullptr && digest->first() == from && digest->read(lines.all, lines.complete)) {
        shown = digest->finish(source.subject());
      } else {
        shown = make_view(lines.all, view, from, lines.complete, source.subject());
      }
      result.text = std::move(shown.text);
      result.omitted = shown.omitted;
      result.first_line = from;
      result.last_line = lines.complete;
      advance(place, lines);
    }
    if (from <= lines.complete || place.all) write(place);
  });
  return result;
}

uint64_t Readers::unread_lines(const std::string& reader, const OutputSource& source) const {
  const Place* place = find(reader, source.id());
  uint64_t unread = 0;
  if (place != nullptr && place->all) return unread;
  source.with_lines([&](const OutputSource::Lines& lines) {
    const LineNumber from = first_unread(place, lines);
    if (from <= lines.complete) unread = lines.complete - from + 1;
  });
  return unread;
}

void Readers::skip_all(const std::string& reader, const OutputSource& source) {
  Place& place = touch(reader, source.id());
  place.bytes = source.total_bytes();
  place.all = source.ended();
  if (!place.all) source.with_lines([&](const OutputSource::Lines& lines) { advance(place, lines); });
  write(place);
}

bool Readers::has_all(const std::string& reader, const std::string& source_id) const {
  const Place* place = find(reader, source_id);
  return place != nullptr && place->all;
}

void Readers::forget(const std::string& source_id) {
  // Its records stay in the file until that is written anew; nobody asks for them.
  const auto gone = by_source_.find(source_id);
  if (gone == by_source_.end()) return;
  for (const auto& [reader, place] : gone->second) places_.erase(place);
  by_source_.erase(gone);
}

base::Result<Readers> Readers::open(const std::string& path) {
  Readers readers;
  readers.path_ = path;
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno != ENOENT) return base::fail_errno(errno, "cannot read " + path);
  std::string text;
  if (file) {
    char buffer[64 * 1024];
    for (ssize_t n = 0; (n = ::read(file.get(), buffer, sizeof buffer)) != 0;) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return base::fail_errno(errno, "cannot read " + path);
      text.append(buffer, static_cast<size_t>(n));
    }
  }
  // A record counts once its line feed is there.
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    readers.take(std::string_view(text).substr(at, end - at));
  }
  readers.rewrite();
  if (!readers.file_) return base::fail_errno(errno, "cannot write " + path);
  return readers;
}

void Readers::take(std::string_view record) {
  boost::system::error_code bad;
  const boost::json::value parsed =
      boost::json::parse(boost::json::string_view(record.data(), record.size()), bad);
  // A record nobody can read is a place that is not known: its reader is told again.
  if (bad || !parsed.is_object()) return;
  const boost::json::object& fields = parsed.get_object();
  const std::string source = text_of(fields, "source");
  if (source.empty()) return;
  Place& place = touch(text_of(fields, "reader"), source);
  place.settled = static_cast<LineNumber>(std::max<int64_t>(0, number_or(fields, "settled", 0)));
  place.bytes = static_cast<uint64_t>(std::max<int64_t>(0, number_or(fields, "bytes", 0)));
  place.all = truth_of(fields, "all");
  place.marks.clear();
  const boost::json::value* marks = field(fields, "marks");
  if (marks == nullptr || !marks->is_array()) return;
  for (const boost::json::value& mark : marks->get_array()) {
    if (place.marks.size() == kMostMarks || !(mark.is_uint64() || mark.is_int64())) break;
    place.marks.push_back(mark.is_uint64() ? mark.get_uint64() : static_cast<uint64_t>(mark.get_int64()));
  }
}

std::string Readers::record_of(const Place& place) {
  return boost::json::serialize(
             boost::json::object{{"reader", place.reader},
                                 {"source", place.source},
                                 {"settled", place.settled},
                                 {"bytes", place.bytes},
                                 {"all", place.all},
                                 {"marks", boost::json::array(place.marks.begin(), place.marks.end())}}) +
         "\n";
}

// A place that cannot be written is told again after a restart, no worse.
void Readers::write(const Place& place) {
  if (!file_) return;
  const std::string record = record_of(place);
  (void)!::write(file_.get(), record.data(), record.size());
  if (++records_ > places_.size() + kSpareRecords) rewrite();
}

// The oldest first, so that reading it back gives the same order.
void Readers::rewrite() {
  if (path_.empty()) return;
  const std::string fresh = path_ + ".new";
  base::UniqueFd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return;
  std::string all;
  for (auto place = places_.rbegin(); place != places_.rend(); ++place) all += record_of(*place);
  if (!base::write_at(file.get(), all.data(), all.size(), 0, fresh)) return;
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return;
  file_ = std::move(file);
  records_ = places_.size();
}

}  // namespace ttyward::engine
