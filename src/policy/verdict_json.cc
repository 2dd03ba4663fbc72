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
  return JsonObject()
      .text("decision", name_of(verdict.decision))
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
      .raw("commands",
           array_of(verdict.commands,
                    [](const std::string& command) { return base::json_quoted(escape_text(command)); }))
      .str();
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
