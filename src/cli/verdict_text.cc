#include "cli/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/colour.h"
#include "policy/escaped_view.h"

namespace ttyward::cli {
namespace {

// What people see once: effects that name something, reasons that say something new.
std::vector<std::string> shown_effects(const policy::Verdict& verdict) {
  std::vector<std::string> lines;
  for (const policy::Effect& effect : verdict.effects) {
    if (effect.target.empty()) continue;
    std::string line = std::string(name_of(effect.kind)) + " " + policy::escape_text(effect.target);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

struct ShownReason {
  policy::Risk risk;
  std::string text;
  std::string places;  // "bytes 0-3, 10-14"
};

std::vector<ShownReason> shown_reasons(const policy::Verdict& verdict) {
  std::vector<ShownReason> reasons;
  for (const policy::Reason& reason : verdict.reasons) {
    const std::string place = fmt::format("{}-{}", reason.span.begin, reason.span.end);
    const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const ShownReason& each) {
      return each.risk == reason.risk && each.text == reason.text;
    });
    if (same == reasons.end()) {
      reasons.push_back({reason.risk, reason.text, "bytes " + place});
    } else if (!same->places.ends_with(" " + place)) {
      same->places += ", " + place;
    }
  }
  return reasons;
}

}  // namespace

void print_verdict(const std::string& command, const policy::Verdict& verdict) {
  const Paint paint = Paint::for_stdout();
  const std::string decision(name_of(verdict.decision));
  const std::string risk(name_of(verdict.risk));
  fmt::print("{}, risk {} ({})\n", paint(colour_of_decision(decision), decision),
             paint(colour_of_risk(risk), risk), policy::escape_text(verdict.rule));
  fmt::print("  {}\n", paint(Colour::Bold, policy::show_command(command)));
  if (verdict.commands.size() > 1) {
    fmt::print("would run:\n");
    for (const std::string& part : verdict.commands) fmt::print("  {}\n", policy::escape_text(part));
  }
  if (const auto effects = shown_effects(verdict); !effects.empty()) {
    fmt::print("effects:\n");
    for (const std::string& effect : effects) fmt::print("  {}\n", effect);
  }
  const auto name_of_risk = [&](policy::Risk grade) {
    const std::string name(name_of(grade));
    return paint(colour_of_risk(name), fmt::format("{:<8}", name));
  };
  if (!verdict.reasons.empty()) fmt::print("because it:\n");
  for (const ShownReason& reason : shown_reasons(verdict)) {
    fmt::print("  {} {} ({})\n", name_of_risk(reason.risk), policy::escape_text(reason.text), reason.places);
  }
  if (!verdict.waived.empty()) fmt::print("allowed although it:\n");
  for (const policy::Waived& waived : verdict.waived) {
    fmt::print("  {} {} ({})\n", name_of_risk(waived.risk), policy::escape_text(waived.objection),
               policy::escape_text(waived.rule));
  }
  for (const std::string& hint : verdict.hints) fmt::print("note: {}\n", policy::escape_text(hint));
}

}  // namespace ttyward::cli
