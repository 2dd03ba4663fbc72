#include "engine/approval.h"

#include <array>

#include "base/json_text.h"
#include "policy/escaped_view.h"
#include "policy/verdict_json.h"

namespace ttyward::engine {
namespace {

using base::JsonObject;

constexpr std::array<std::string_view, 6> kStates = {"open",    "allowed", "denied",
                                                     "skipped", "expired", "withdrawn"};

void text_or_null(JsonObject& object, const char* name, const std::string& value) {
  value.empty() ? object.null(name) : object.text(name, policy::escape_text(value));
}

std::string texts(const std::vector<std::string>& values, bool multiline) {
  std::string out = "[";
  for (const std::string& value : values) {
    out += (out.size() > 1 ? "," : "") + base::json_quoted(policy::escape_text(value, multiline));
  }
  return out + "]";
}

}  // namespace

std::string_view name_of(ApprovalState state) {
  return kStates[static_cast<size_t>(state)];
}

std::string Approval::to_json() const {
  JsonObject object;
  object.text("id", id).text("command", command).text("shown", shown).text("cwd", cwd);
  object.raw("environment", texts(environment_changes, false));
  text_or_null(object, "command_id", command_id);
  text_or_null(object, "terminal_id", terminal_id);
  text_or_null(object, "task", task);
  text_or_null(object, "session", session);
  text_or_null(object, "asked_by", asked_by);
  object.raw("verdict", policy::to_json(verdict));
  object.number("created_at", created_at_ms).number("expires_at", expires_at_ms).text("default", "deny");
  object.text("state", name_of(state));
  text_or_null(object, "answered_by", answered_by);
  answered_at_ms != 0 ? object.number("answered_at", answered_at_ms) : object.null("answered_at");
  text_or_null(object, "reason", reason);
  object.raw("always", texts(always.texts, true)).raw("always_words", texts(always.words, false));
  object.raw("wider", texts(wider.texts, true)).raw("wider_words", texts(wider.words, false));
  always.texts.empty() ? object.null("always_scope")
                       : object.text("always_scope", session_only ? "session" : "global");
  return object.str();
}

}  // namespace ttyward::engine
