#include "cli/recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <vector>

#include "cli/daemon_verb.h"
#include "cli/recorded_input.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "record/asciicast.h"
#include "wire/types/policy_calls.h"
#include "wire/types/recording_calls.h"

namespace ttyward::cli {
namespace {

using Failure = client::CallFailure;

constexpr int64_t kRowsAskedFor = 1000;  // of the history and of the decisions, newest first
constexpr size_t kLongestLabel = 200;
constexpr int64_t kNewestTried = 50;  // commands that --last looks at
constexpr size_t kReadBytes = 64 * 1024;

std::string label_of(const std::string& command) {
  return cut_to(one_line(command), kLongestLabel);
}

// What a person or a rule decided, where anybody was asked.
std::string decision_label(const wire::DecisionRow& row) {
  static const std::map<std::string, const char*> kWords = {{"ask_allow", "approved"},
                                                            {"deny", "denied"},
                                                            {"skip", "skipped"},
                                                            {"expired", "not approved in time"},
                                                            {"withdrawn", "question withdrawn"}};
  const auto word = kWords.find(row.decision);
  if (word == kWords.end()) return "";
  const std::string by = row.answered_by.empty() ? "" : " by " + row.answered_by;
  return label_of(word->second + by + ": " + row.command);
}

// The parts of a recording as the daemon has them, made into one.
class Fetch {
 public:
  Fetch(client::Session& daemon, const Target& target) : daemon_(daemon) {
    request_.terminal = target.terminal_id();
    request_.command = target.command_id();
  }

  tl::expected<record::Recording, Failure> run() {
    auto part = daemon_.call(request_);
    if (!part) return tl::unexpected(part.error());
    begin(*part);
    // What comes while we read is not part of it: a terminal that prints for ever would have no end.
    const uint64_t end = part->end;
    uint64_t at = part->begin;
    while (true) {
      if (auto added = add(*part, at, end); !added) return refuse(added.error());
      at = part->next_offset;
      if (!part->more || at >= end) break;
      request_.offset = static_cast<int64_t>(at);
      part = daemon_.call(request_);
      if (!part) return tl::unexpected(part.error());
    }
    while (next_note_ < notes_.size()) note(notes_[next_note_++]);
    if (!request_.command.empty() && exit_code_) maker_->exit(now_us_, std::to_string(*exit_code_));
    return maker_->finish();
  }

 private:
  struct Note {
    std::optional<uint64_t> offset;  // of a command: before this byte
    uint64_t at_us = 0;              // of a decision: at this time
    std::string label;
  };

  static record::Size size_of(const wire::RecordingMark& mark) {
    return {static_cast<int>(mark.cols.value_or(80)), static_cast<int>(mark.rows.value_or(24))};
  }
  static uint64_t since_creation(const wire::Time& time, const wire::RecordingPart& part) {
    const auto us = static_cast<uint64_t>(std::max<int64_t>(time.ms, 0)) * 1000;
    return us - std::min(us, part.created_at_us);
  }

  void begin(const wire::RecordingPart& part) {
    record::Header header;
    const auto size = std::find_if(part.marks.begin(), part.marks.end(), [](const wire::RecordingMark& mark) {
      return mark.kind == wire::RecordingMarkKind::Resize;
    });
    if (size != part.marks.end() && size->offset <= part.begin) header.size = size_of(*size);
    header.id = part.command_id.empty() ? part.terminal_id : part.command_id;
    header.title = part.name;
    if (!part.command_id.empty() && !part.commands.empty()) {
      const wire::RecordedCommand& command = part.commands.front();
      header.command = command.command;
      exit_code_ = command.exit_code;
      // The prompt may have stood there for long.
      zero_us_ = since_creation(command.started_at, part);
    }
    header.started_at_ms = static_cast<int64_t>((part.created_at_us + zero_us_) / 1000);
    add_commands(part);
    add_decisions(part);
    std::stable_sort(notes_.begin(), notes_.end(),
                     [](const Note& a, const Note& b) { return a.at_us < b.at_us; });
    maker_.emplace(std::move(header), part.provider == "pipe" ? record::LineFeeds::ReturnTheCarriage
                                                              : record::LineFeeds::AsTheyAre);
  }

  // Those the terminal remembers, and older ones from the history.
  void add_commands(const wire::RecordingPart& part) {
    std::map<std::string, bool> known;
    for (const wire::RecordedCommand& each : part.commands) {
      known[each.command_id] = true;
      notes_.push_back({each.offset, since_creation(each.started_at, part), label_of(each.command)});
    }
    if (!part.command_id.empty()) return;
    wire::HistoryRequest request;
    request.terminal = part.terminal_id;
    request.limit = kRowsAskedFor;
    const auto history = daemon_.call(request);
    if (!history) return;
    for (const wire::HistoryRow& row : history->commands) {
      const bool here = row.output.journal == part.terminal_id && row.output.end >= row.output.begin;
      if (here && !known.contains(row.command_id) && row.output.end > 0)
        notes_.push_back({row.output.begin, since_creation(row.started_at, part), label_of(row.command)});
    }
  }

  void add_decisions(const wire::RecordingPart& part) {
    const auto add_from = [&](const wire::DecisionsRequest& request) {
      const auto found = daemon_.call(request);
      if (!found) return;
      for (const wire::DecisionRow& row : found->decisions) {
        const bool here =
            part.command_id.empty() ? row.terminal_id == part.terminal_id : row.command_id == part.command_id;
        const std::string label = here ? decision_label(row) : "";
        if (label.empty() || std::find(decisions_.begin(), decisions_.end(), row.id) != decisions_.end())
          continue;
        decisions_.push_back(row.id);
        notes_.push_back({std::nullopt, since_creation(row.answered_at.value_or(row.at), part), label});
      }
    };
    wire::DecisionsRequest request;
    request.limit = kRowsAskedFor;
    request.terminal = part.terminal_id;
    add_from(request);
    // A command with a terminal of its own was asked about before there was one.
    if (part.command_id.empty() || part.commands.empty()) return;
    request.terminal.clear();
    request.text = part.commands.front().command;
    add_from(request);
  }

  uint64_t shown_time(uint64_t at_us) const { return at_us - std::min(at_us, zero_us_); }

  void note(const Note& what) {
    now_us_ = std::max(now_us_, shown_time(what.at_us));
    maker_->marker(now_us_, what.label);
  }
  // Those that come before the byte `at`, which came at `time_us`. A command's place is exact; times are so
  // to some milliseconds, so what stands before a command goes with it.
  void add_notes(uint64_t at, uint64_t time_us) {
    size_t due = next_note_;
    for (size_t i = next_note_; i < notes_.size(); i++) {
      const Note& each = notes_[i];
      if (each.offset ? *each.offset <= at : shown_time(each.at_us) <= time_us) due = i + 1;
      if (each.offset && *each.offset > at) break;
    }
    while (next_note_ < due) note(notes_[next_note_++]);
  }
  // How many of the bytes from `at` on come before the next command.
  uint64_t until_command(uint64_t at, uint64_t most) const {
    for (size_t i = next_note_; i < notes_.size(); i++) {
      if (notes_[i].offset && *notes_[i].offset > at) return std::min(most, *notes_[i].offset - at);
    }
    return most;
  }

  base::Result<void> output(uint64_t at, std::string_view bytes) {
    while (!bytes.empty()) {
      add_notes(at, time_us_);
      now_us_ = std::max(now_us_, time_us_);
      const size_t n = until_command(at, bytes.size());
      if (auto added = maker_->output(now_us_, bytes.substr(0, n)); !added) return added;
      bytes.remove_prefix(n);
      at += n;
    }
    return {};
  }

  base::Result<void> add(const wire::RecordingPart& part, uint64_t at, uint64_t end) {
    std::string_view bytes = part.base64.bytes;
    const auto up_to = [&](uint64_t offset) -> base::Result<void> {
      const auto n =
          static_cast<size_t>(std::min<uint64_t>(std::min(offset, end) - std::min(at, end), bytes.size()));
      auto added = output(at, bytes.substr(0, n));
      bytes.remove_prefix(n);
      at += n;
      return added;
    };
    for (const wire::RecordingMark& mark : part.marks) {
      if (mark.offset > end) break;
      if (auto added = up_to(mark.offset); !added) return added;
      if (mark.kind != wire::RecordingMarkKind::Gap) time_us_ = std::max(time_us_, shown_time(mark.at_us));
      if (mark.kind == wire::RecordingMarkKind::Resize) {
        now_us_ = std::max(now_us_, time_us_);
        maker_->resize(now_us_, size_of(mark));
      } else if (mark.kind == wire::RecordingMarkKind::Gap) {
        maker_->gap(now_us_, mark.bytes.value_or(0), mark.newlines.value_or(0));
        at += mark.bytes.value_or(0);
      }
    }
    return up_to(part.next_offset);
  }

  client::Session& daemon_;
  wire::RecordingRequest request_;
  std::optional<record::Maker> maker_;
  uint64_t zero_us_ = 0;  // of the recording, since the terminal was made
  uint64_t time_us_ = 0;  // of the bytes that come, since zero
  uint64_t now_us_ = 0;   // of the last event
  std::optional<int64_t> exit_code_;
  std::vector<Note> notes_;
  size_t next_note_ = 0;
  std::vector<std::string> decisions_;
};

}  // namespace

tl::expected<record::Recording, Failure> fetch_recording(client::Session& daemon, const std::string& word) {
  const auto target = find_target(daemon, word);
  if (!target) return tl::unexpected(target.error());
  return Fetch(daemon, *target).run();
}

tl::expected<record::Recording, Failure> fetch_last_recording(client::Session& daemon) {
  wire::HistoryRequest newest;
  newest.limit = kNewestTried;
  const auto history = daemon.call(newest);
  if (!history) return tl::unexpected(history.error());
  for (const wire::HistoryRow& row : history->commands) {
    auto made = Fetch(daemon, Target{Target::Kind::Command, row.command_id, row.terminal_id}).run();
    if (made) return made;
  }
  return refuse(base::Error{base::ErrorCode::NotFound, 0,
                            "there is no command whose output is still kept: see ttyward ls --all"});
}

bool names_cast(std::string_view word) {
  return word.ends_with(".cast") || word.find('/') != std::string_view::npos;
}

base::Result<record::Recording> read_cast(const std::string& file) {
  const auto input = RecordedInput::open(file);
  if (!input) return tl::unexpected(input.error());
  record::CastReader reader;
  std::optional<record::Maker> maker;
  const auto take = [&](const record::Event& event) -> base::Result<void> {
    if (!maker) maker.emplace(*reader.header(), record::LineFeeds::AsTheyAre);
    switch (event.kind) {
      case record::Event::Kind::Output:
        return maker->output(event.at_us, event.text);
      case record::Event::Kind::Resize:
        maker->resize(event.at_us, event.size);
        break;
      case record::Event::Kind::Marker:
        maker->marker(event.at_us, event.text);
        break;
      case record::Event::Kind::Exit:
        maker->exit(event.at_us, event.text);
        break;
    }
    return {};
  };
  const auto wrong = [&](const base::Error& error) {
    return base::fail(
        error.code, fmt::format("{} is not an asciicast that can be read: {}", input->name(), error.message));
  };
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t n = ::read(input->fd(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot read " + input->name());
    auto read = n == 0 ? reader.finish(take) : reader.feed({buffer.data(), static_cast<size_t>(n)}, take);
    if (!read) return wrong(read.error());
    if (n == 0) break;
  }
  if (!maker) maker.emplace(*reader.header(), record::LineFeeds::AsTheyAre);
  return maker->finish();
}

int with_recording(const char* verb, const std::string& word,
                   const std::function<int(record::Recording)>& use) {
  if (names_cast(word)) {
    auto made = read_cast(word);
    if (!made) return complain(verb, made.error().message, kExitUsage);
    return use(std::move(*made));
  }
  return with_daemon(verb, [&](client::Session& daemon) -> Outcome {
    auto made = word.empty() ? fetch_last_recording(daemon) : fetch_recording(daemon, word);
    if (!made) return tl::unexpected(made.error());
    return use(std::move(*made));
  });
}

}  // namespace ttyward::cli
