#include "changes/record.h"

#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/file_io.h"
#include "base/hex.h"
#include "base/unique_fd.h"

namespace ttyward::changes {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kInfoMark = "ttyward change set 1";
constexpr std::string_view kEntriesMark = "ttyward changes 1";
constexpr std::string_view kAppliedMark = "ttyward applied 1";

class Line {
 public:
  Line& text(std::string_view value) {
    if (!out_.empty()) out_ += '\t';
    for (const char c : value) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte < 0x20 || c == '\\' || byte == 0x7f) {
        out_ += "\\x" + base::to_hex({&byte, 1});
      } else {
        out_ += c;
      }
    }
    if (value.empty()) out_ += "\\e";
    return *this;
  }
  template <class T>
  Line& number(T value) {
    return text(std::to_string(value));
  }
  Line& count(const std::optional<int64_t>& value) { return value ? number(*value) : text(""); }
  std::string str() const { return out_ + "\n"; }

 private:
  std::string out_;
};

// Takes the fields of a line one after the other. After a field that is missing or wrong nothing is good.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  std::string text() {
    if (done_) good_ = false;
    if (!good_) return {};
    const size_t tab = rest_.find('\t');
    const std::string_view field = rest_.substr(0, tab);
    done_ = tab == std::string_view::npos;
    if (!done_) rest_.remove_prefix(tab + 1);
    if (field == "\\e") return {};
    std::string out;
    for (size_t i = 0; i < field.size(); i++) {
      if (field[i] != '\\') {
        out += field[i];
        continue;
      }
      const int byte = i + 1 < field.size() && field[i + 1] == 'x' ? base::hex_byte(field, i + 2) : -1;
      if (byte < 0) {
        good_ = false;
        return {};
      }
      out += static_cast<char>(byte);
      i += 3;
    }
    return out;
  }
  template <class T>
  T number() {
    const std::string field = text();
    T value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) good_ = false;
    return value;
  }
  // A number from 0 to `most`.
  template <class E>
  E choice(E most) {
    const auto value = number<unsigned>();
    if (value > static_cast<unsigned>(most)) good_ = false;
    return good_ ? static_cast<E>(value) : E{};
  }
  bool flag() { return number<unsigned>() != 0; }
  std::optional<int64_t> count() {
    const std::string_view before = rest_;
    const bool was_done = done_;
    if (text().empty()) return std::nullopt;
    rest_ = before;
    done_ = was_done;
    return number<int64_t>();
  }
  bool good() const { return good_; }
  bool finished() const { return good_ && done_; }

 private:
  std::string_view rest_;
  bool done_ = false;
  bool good_ = true;
};

void put(Line& line, const Node& node) {
  line.number(static_cast<unsigned>(node.type)).number(node.mode).number(node.inode).number(node.size);
  line.number(node.links).number(node.user).number(node.group);
  line.number(node.modified_ns).number(node.changed_ns);
}

Node take_node(Fields& fields) {
  Node node;
  node.type = fields.choice(NodeType::Special);
  node.mode = fields.number<uint32_t>();
  node.inode = fields.number<uint64_t>();
  node.size = fields.number<uint64_t>();
  node.links = fields.number<uint64_t>();
  node.user = fields.number<uint32_t>();
  node.group = fields.number<uint32_t>();
  node.modified_ns = fields.number<int64_t>();
  node.changed_ns = fields.number<int64_t>();
  return node;
}

void put(Line& line, const Entry& entry) {
  line.text(entry.path).number(static_cast<unsigned>(entry.kind));
  put(line, entry.before);
  put(line, entry.after);
  line.number(static_cast<unsigned>(entry.obstacle)).number(entry.stale ? 1 : 0);
  line.number(entry.binary ? 1 : 0).count(entry.lines_added).count(entry.lines_removed);
  line.number(entry.files_below).number(entry.bytes_below).text(entry.link).text(entry.before_hash);
}

// A path that leads anywhere but below the workspace is not one that we wrote.
bool is_below(const std::string& path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string::npos) return false;
  const std::string all = "/" + path + "/";
  return all.find("/../") == std::string::npos && all.find("/./") == std::string::npos &&
         all.find("//") == std::string::npos;
}

Entry take_entry(Fields& fields) {
  Entry entry;
  entry.path = fields.text();
  entry.kind = fields.choice(Kind::Deleted);
  entry.before = take_node(fields);
  entry.after = take_node(fields);
  entry.obstacle = fields.choice(Obstacle::Protected);
  entry.stale = fields.flag();
  entry.binary = fields.flag();
  entry.lines_added = fields.count();
  entry.lines_removed = fields.count();
  entry.files_below = fields.number<uint64_t>();
  entry.bytes_below = fields.number<uint64_t>();
  entry.link = fields.text();
  entry.before_hash = fields.text();
  return entry;
}

tl::unexpected<base::Error> corrupt() {
  return fail(ErrorCode::Corrupt, "the change set's files are damaged; ttyward discard removes it");
}

// Calls `take` with each line after the first, which has to be `mark`.
template <class Take>
bool each_line(std::string_view text, std::string_view mark, const Take& take) {
  size_t number = 0;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return false;
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline + 1);
    if (number++ == 0 ? line != mark : !take(line)) return false;
  }
  return number > 0;
}

// The 22nd field of /proc/PID/stat: when it started, so that a number that is used again is not it.
uint64_t start_time(pid_t pid) {
  const base::UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  std::array<char, 1024> buffer{};
  auto read = base::read_at(file.get(), buffer.data(), buffer.size(), 0, "stat");
  if (!read) return 0;
  const std::string_view text(buffer.data(), *read);
  size_t at = text.rfind(')');  // the name may hold anything
  constexpr int kFieldsAfterName = 20;
  for (int i = 0; i < kFieldsAfterName && at != std::string_view::npos; i++) at = text.find(' ', at + 1);
  if (at == std::string_view::npos) return 0;
  uint64_t value = 0;
  std::from_chars(text.data() + at + 1, text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string_view state_name(State state) {
  switch (state) {
    case State::Running:
      return "running";
    case State::Finished:
      return "finished";
    case State::Applying:
      return "applying";
    case State::Applied:
      return "applied";
    case State::Undone:
      return "undone";
  }
  return "";
}

bool Keeper::alive() const {
  return pid > 0 && started != 0 && start_time(pid) == started;
}

Keeper Keeper::of(pid_t pid) {
  return {pid, start_time(pid)};
}

std::string encode(const Info& info) {
  Line line;
  line.text(info.id).text(info.workspace).number(info.device).number(info.inode);
  line.text(info.command).text(info.session).number(static_cast<unsigned>(info.purpose));
  line.number(static_cast<unsigned>(info.state)).number(info.began_ns).number(info.created_ms);
  line.number(info.applied_ms).number(info.keeper.pid).number(info.keeper.started).number(info.bytes);
  std::string paths;
  for (const std::string& path : info.protected_paths) paths += path + '\0';
  line.text(paths);
  return std::string(kInfoMark) + "\n" + line.str();
}

Result<Info> decode_info(std::string_view text) {
  Info info;
  int lines = 0;
  const bool good = each_line(text, kInfoMark, [&](std::string_view line) {
    Fields fields(line);
    info.id = fields.text();
    info.workspace = fields.text();
    info.device = fields.number<uint64_t>();
    info.inode = fields.number<uint64_t>();
    info.command = fields.text();
    info.session = fields.text();
    info.purpose = fields.choice(Purpose::Keep);
    info.state = fields.choice(State::Undone);
    info.began_ns = fields.number<int64_t>();
    info.created_ms = fields.number<int64_t>();
    info.applied_ms = fields.number<int64_t>();
    info.keeper.pid = fields.number<pid_t>();
    info.keeper.started = fields.number<uint64_t>();
    info.bytes = fields.number<uint64_t>();
    const std::string paths = fields.text();
    for (size_t at = 0; at < paths.size();) {
      const size_t end = std::min(paths.find('\0', at), paths.size());
      info.protected_paths.push_back(paths.substr(at, end - at));
      at = end + 1;
    }
    lines++;
    return fields.finished();
  });
  if (!good || lines != 1) return corrupt();
  return info;
}

std::string encode(const std::vector<Entry>& entries) {
  std::string out = std::string(kEntriesMark) + "\n";
  for (const Entry& entry : entries) {
    Line line;
    put(line, entry);
    out += line.str();
  }
  return out;
}

Result<std::vector<Entry>> decode_entries(std::string_view text) {
  std::vector<Entry> entries;
  const bool good = each_line(text, kEntriesMark, [&](std::string_view line) {
    Fields fields(line);
    entries.push_back(take_entry(fields));
    return fields.finished() && is_below(entries.back().path);
  });
  if (!good) return corrupt();
  return entries;
}

std::string encode(const std::vector<AppliedEntry>& entries) {
  std::string out = std::string(kAppliedMark) + "\n";
  for (const AppliedEntry& each : entries) {
    Line line;
    put(line, each.entry);
    out += line.number(each.saved).number(each.done ? 1 : 0).str();
  }
  return out;
}

Result<std::vector<AppliedEntry>> decode_applied(std::string_view text) {
  std::vector<AppliedEntry> entries;
  const bool good = each_line(text, kAppliedMark, [&](std::string_view line) {
    Fields fields(line);
    AppliedEntry each;
    each.entry = take_entry(fields);
    each.saved = fields.number<int64_t>();
    each.done = fields.flag();
    entries.push_back(std::move(each));
    return fields.finished() && is_below(entries.back().entry.path);
  });
  if (!good) return corrupt();
  return entries;
}

}  // namespace ttyward::changes
