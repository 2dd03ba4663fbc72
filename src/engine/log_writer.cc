#include "engine/log_writer.h"

#include <algorithm>

#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/masked.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

constexpr uint64_t kLargeLog = 1 << 20;  // bytes; beyond it what nobody asks for any more is shortened
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

void LogWriter::note(const json::object& record) {
  if (auto logged = log_.append(record); !logged) error_ = logged.error();
}

void LogWriter::tidy(const Command& ended, const Known& known) {
  const auto secret = [](const std::string& text) { return base::mask_secrets(text) != text; };
  const bool has_secret = secret(ended.facts.command) || secret(ended.delivered) || secret(ended.line);
  if (!has_secret && log_.size() < tidy_beyond_) return;
  const auto tidied = log_.rewrite(folder_, id_, [&](json::object& record) {
    if (text_of(record, "k") != "submit") return;
    const Command* command = known(text_of(record, "c"));
    if (command != nullptr && !command->over) return;
    for (const char* name : {"delivered", "line"}) record[name] = beginning(text_of(record, name));
    record["text"] = base::mask_secrets(text_of(record, "text"));
    record["verdict"] = masked_json(text_of(record, "verdict"));
    if (command != nullptr) return;
    record["verdict"] = "";
    record["text"] = cut(text_of(record, "text"), kShortText);
  });
  if (!tidied) error_ = tidied.error();
  tidy_beyond_ = std::max(kLargeLog, 2 * log_.size());
}

}  // namespace ttyward::engine
