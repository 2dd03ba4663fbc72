#include "cli/verdict_text.h"

#include <fmt/format.h>

#include "policy/escaped_view.h"

namespace ttyward::cli {

void print_verdict(const std::string& command, const policy::Verdict& verdict) {
  fmt::print("{}, risk {} ({})\n", name_of(verdict.decision), name_of(verdict.risk),
             policy::escape_text(verdict.rule));
  fmt::print("  {}\n", policy::show_command(command));
  if (verdict.commands.size() > 1) {
    fmt::print("would run:\n");
    for (const std::string& part : verdict.commands) fmt::print("  {}\n", policy::escape_text(part));
  }
  if (!verdict.effects.empty()) {
    fmt::print("effects:\n");
    for (const policy::Effect& effect : verdict.effects)
      fmt::print("  {} {}\n", name_of(effect.kind), policy::escape_text(effect.target));
  }
  if (!verdict.reasons.empty()) {
    fmt::print("because it:\n");
    for (const policy::Reason& reason : verdict.reasons) {
      fmt::print("  {:<8} {} (bytes {}-{})\n", name_of(reason.risk), policy::escape_text(reason.text),
                 reason.span.begin, reason.span.end);
    }
  }
  if (!verdict.waived.empty()) {
    fmt::print("allowed by rules although it:\n");
    for (const policy::Waived& waived : verdict.waived) {
      fmt::print("  {:<8} {} (rule '{}')\n", name_of(waived.risk), policy::escape_text(waived.objection),
                 policy::escape_text(waived.rule));
    }
  }
  for (const std::string& hint : verdict.hints) fmt::print("note: {}\n", policy::escape_text(hint));
}

}  // namespace ttyward::cli
