#include "engine/log_writer.h"

#include <algorithm>

#include <boost/json/array.hpp>

#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/masked.h"

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

// Commands that nobody can ask for any more go, with all that was noted while they ran; the log begins with
// what was so at the prompt before the oldest that is remembered.
void compact(TerminalLog::Records& records, const TerminalModel& model) {
  if (model.book().commands().empty()) return;
  const std::string& oldest = model.book().commands().front()->facts.command_id;
  const json::object* from = nullptr;
  for (const json::object& record : records) {
    const json::value* prompt = text_of(record, "c") == oldest ? field(record, "prompt") : nullptr;
    if (prompt != nullptr && prompt->is_object()) from = &prompt->get_object();
  }
  // A shell inside a shell has a past that is needed when it ends.
  if (from == nullptr || number_or(*from, "depth", 1) != 0) return;
  if (text_of(*from, "integration") == "none" && !model.on_pipes()) return;
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

}  // namespace

void LogWriter::note(const json::object& record) {
  if (auto logged = log_.append(record); !logged) error_ = logged.error();
}

void LogWriter::tidy(const Command& typed, const TerminalModel& model, uint64_t large_bytes) {
  const auto secret = [](const std::string& text) { return base::mask_secrets(text) != text; };
  const bool has_secret = secret(typed.facts.command) || secret(typed.delivered) || secret(typed.line);
  const bool large = log_.size() >= std::max(tidy_beyond_, large_bytes);
  if (!has_secret && !large) return;
  const auto tidied = log_.rewrite(folder_, id_, [&](TerminalLog::Records& records) {
    if (large) compact(records, model);
    for (json::object& record : records) {
      if (text_of(record, "k") != "submit") continue;
      const Command* known = model.book().find(text_of(record, "c"));
      if (known != nullptr && !known->over() && !known->accepted) continue;  // it may have to be sent yet
      for (const char* name : {"delivered", "line"}) record[name] = beginning(text_of(record, name));
      record["text"] = base::mask_secrets(text_of(record, "text"));
      record["verdict"] = masked_json(text_of(record, "verdict"));
      if (known != nullptr) continue;
      record["verdict"] = "";
      record["text"] = cut(text_of(record, "text"), kShortText);
    }
  });
  if (!tidied) error_ = tidied.error();
  tidy_beyond_ = log_.size() + log_.size() / 2;
}

}  // namespace ttyward::engine
