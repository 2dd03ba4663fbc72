#include "policy/verdict_json.h"

#include "base/json_text.h"
#include "policy/escaped_view.h"

namespace ttyward::policy {
namespace {

using base::JsonObject;

constexpr size_t kSummaryReasons = 3;

template <typename T, typename F>
std::string array_of(const std::vector<T>& items, F to_text) {
  std::string out = "[";
  for (const T& item : items) out += (out.size() > 1 ? "," : "") + to_text(item);
  return out + "]";
}

}  // namespace

std::string to_json(const Verdict& verdict) {
  const auto quoted = [](const std::string& text) { return base::json_quoted(escape_text(text)); };
  JsonObject object;
  const bool confined = verdict.decision == Decision::Allow && !verdict.sandbox.empty();
  object.text("decision", confined ? "allow_confined" : name_of(verdict.decision))
      .text("risk", name_of(verdict.risk))
      .raw("effects", array_of(verdict.effects,
                               [](const Effect& effect) {
                                 return JsonObject()
                                     .text("kind", name_of(effect.kind))
                                     .text("target", escape_text(effect.target))
                                     .str();
                               }))
      .raw("reasons", array_of(verdict.reasons,
                               [](const Reason& reason) {
                                 return JsonObject()
                                     .text("text", escape_text(reason.text))
                                     .number("begin", reason.span.begin)
                                     .number("end", reason.span.end)
                                     .text("risk", name_of(reason.risk))
                                     .text("decision", name_of(reason.decision))
                                     .str();
                               }))
      .text("rule", escape_text(verdict.rule))
      .raw("commands", array_of(verdict.commands, quoted));
  // Only where there are any: most verdicts are about no rule at all.
  if (!verdict.waived.empty()) {
    object.raw("waived", array_of(verdict.waived, [](const Waived& waived) {
                 return JsonObject()
                     .text("text", escape_text(waived.objection))
                     .text("risk", name_of(waived.risk))
                     .text("rule", escape_text(waived.rule))
                     .str();
               }));
  }
  if (!verdict.sandbox.empty()) object.text("sandbox", verdict.sandbox);
  if (!verdict.hints.empty()) object.raw("hints", array_of(verdict.hints, quoted));
  return object.str();
}

std::string summary_of(const Verdict& verdict) {
  std::string out;
  size_t told = 0;
  for (const Reason& reason : verdict.reasons) {
    if (told == kSummaryReasons) {
      out += "; and " + std::to_string(verdict.reasons.size() - told) + " more";
      break;
    }
    out += (out.empty() ? "" : "; ") + escape_text(reason.text);
    ++told;
  }
  return out;
}

}  // namespace ttyward::policy
