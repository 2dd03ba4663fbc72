// What the log keeps of commands that were typed: enough to recognise them in the journal again, and no
// secret.
#include <algorithm>
#include <string>

#include <boost/json/array.hpp>

#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/masked.h"
#include "engine/terminal.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

constexpr size_t kForgottenKept = 1000;  // ids of commands
constexpr size_t kRecognisedBy = 256;    // bytes of a line's beginning
constexpr size_t kShortText = 256;       // bytes of a forgotten command's text

// At most so many bytes, and no half of a character.
std::string cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (text[most] & 0xC0) == 0x80) --most;
  text.resize(most);
  return text;
}

// The beginning of what was sent, up to the first secret: the shell's marks are matched by it
// (CommandTracker::is_pending).
std::string beginning(const std::string& sent) {
  const std::string masked = base::mask_secrets(sent);
  const auto differs = std::mismatch(sent.begin(), sent.end(), masked.begin(), masked.end());
  return cut(std::string(sent.begin(), differs.first), kRecognisedBy);
}

}  // namespace

void Terminal::tidy_log(const Command& command) {
  if (replaying_ || !log_) return;
  const auto secret = [](const std::string& text) { return base::mask_secrets(text) != text; };
  const bool has_secret = secret(command.facts.command) || secret(command.delivered) || secret(command.line);
  const bool large = log_->size() >= std::max(tidy_beyond_, host_.settings.log_bytes);
  if (!has_secret && !large) return;
  const auto tidied = log_->rewrite(host_.logs, spec_.id, [&](TerminalLog::Records& records) {
    if (large) compact(records);
    for (json::object& record : records) {
      if (text_of(record, "k") != "submit") continue;
      const Command* known = find(text_of(record, "c"));
      if (known != nullptr && !known->over && !known->accepted) continue;  // it may have to be sent yet
      for (const char* name : {"delivered", "line"}) record[name] = beginning(text_of(record, name));
      record["text"] = base::mask_secrets(text_of(record, "text"));
      record["verdict"] = masked_json(text_of(record, "verdict"));
      if (known != nullptr) continue;
      record["verdict"] = "";
      record["text"] = cut(text_of(record, "text"), kShortText);
    }
  });
  if (!tidied) log_error_ = tidied.error();
  tidy_beyond_ = 2 * log_->size();
}

// What is known while the shell waits for a command. A log may begin here.
json::object Terminal::at_prompt() const {
  return {{"at", read_to_},
          {"marks", tracker_->nonces_used()},
          {"depth", tracker_->depth()},
          {"shell", shell::shell_kind_name(identity_.kind)},
          {"integration", shell::quality_name(quality())},
          {"cwd", cwd_}};
}

// Commands that nobody can ask for any more go, with all that was noted while they ran; the log begins with
// what was so at the prompt before the oldest that is remembered.
void Terminal::compact(TerminalLog::Records& records) const {
  if (commands_.empty()) return;
  const std::string& oldest = commands_.front()->facts.command_id;
  const json::object* from = nullptr;
  for (const json::object& record : records) {
    const json::value* prompt = text_of(record, "c") == oldest ? field(record, "prompt") : nullptr;
    if (prompt != nullptr && prompt->is_object()) from = &prompt->get_object();
  }
  // A shell inside a shell has a past that is needed when it ends.
  if (from == nullptr || number_or(*from, "depth", 1) != 0) return;
  if (text_of(*from, "integration") == "none" && !on_pipes()) return;
  json::object state = *from;
  state["k"] = "state";
  const int64_t begin = number_or(state, "at", 0);

  TerminalLog::Records kept;
  json::object meta{{"k", "meta"}, {"at", 0}};
  json::object loan;
  bool lent_for_acting = false;
  std::vector<std::string> forgotten;
  for (json::object& record : records) {
    const std::string kind = text_of(record, "k");
    if (kind == "state") {
      for (std::string& id : strings_of(record, "forgotten")) forgotten.push_back(std::move(id));
      lent_for_acting = lent_for_acting || truth_of(record, "lent_for_acting");
    } else if (kind == "spec" || kind == "closed" || kind == "no_integration" ||
               number_or(record, "at", 0) >= begin) {
      kept.push_back(std::move(record));
    } else if (kind == "meta") {
      for (const auto& member : record) {
        if (member.key() != "at") meta[member.key()] = member.value();
      }
    } else if (kind == "loan") {
      lent_for_acting = lent_for_acting || truth_of(record, "act");
      loan = std::move(record);
    } else if (kind == "submit" || kind == "typed_command") {
      forgotten.push_back(text_of(record, "c"));
    }
  }
  if (forgotten.size() > kForgottenKept) {
    forgotten.erase(forgotten.begin(), forgotten.end() - static_cast<ptrdiff_t>(kForgottenKept));
  }
  json::array ids;
  for (const std::string& id : forgotten) ids.emplace_back(id);
  state["forgotten"] = std::move(ids);
  state["lent_for_acting"] = lent_for_acting;
  auto place = kept.begin();
  if (place != kept.end()) ++place;  // after the spec
  place = kept.insert(place, std::move(state));
  if (!loan.empty()) place = kept.insert(place, std::move(loan));
  if (meta.size() > 2) kept.insert(place, std::move(meta));
  records = std::move(kept);
}

// The other end of compact().
void Terminal::resume_from(const json::object& state) {
  for (std::string& id : strings_of(state, "forgotten")) forgotten_.push_back(std::move(id));
  lent_for_acting_ = lent_for_acting_ || truth_of(state, "lent_for_acting");
  identity_.kind = shell::shell_kind_named(text_of(state, "shell"));
  cwd_ = text_of(state, "cwd");
  cwd_known_by_ = "shell";
  ready_ = true;
  inner_shells_.clear();
  marks_lost_ = false;
  fallback_reason_.clear();
  unmarked_reason_.clear();
  current_ = nullptr;
  const std::string named = text_of(state, "integration");
  auto quality = shell::Quality::None;
  for (const auto one : {shell::Quality::Basic, shell::Quality::Rich}) {
    if (named == shell::quality_name(one)) quality = one;
  }
  tracker_->resume({identity_.kind, quality, cwd_, static_cast<uint64_t>(number_or(state, "marks", 0))});
}

}  // namespace ttyward::engine
