#include "policy/command_facts.h"

#include "policy/shell_walk.h"
#include "policy/text_screen.h"
#include "policy/tricks.h"

namespace ttyward::policy {
namespace {

// A longer one is as good as unknown.
constexpr size_t kMostInput = 256UL * 1024;

Input input_of(const Place& place) {
  if (place.input == nullptr) return {};
  return Input::of(place.input->size() <= kMostInput ? *place.input : std::string(1, kAny));
}

}  // namespace

Facts read_command(std::string_view text, const Place& place) {
  Facts facts;
  bool parsable = true;
  for (TextProblem& problem : screen_text(text)) {
    parsable &= !problem.unparsable;
    Finding finding;
    finding.risk = problem.risk;
    finding.effect = EffectKind::Unknown;
    finding.reason = std::move(problem.what);
    finding.span = problem.span;
    facts.findings.push_back(std::move(finding));
  }
  if (!parsable) {
    facts.understood = false;
    return facts;
  }
  find_tricks(text, facts);
  const RememberedFiles files(place.files);
  Place here = place;
  here.files = place.files != nullptr ? &files : nullptr;
  ShellState state;
  state.cwds = {place.cwd};
  const syntax::Reading reading = place.shell != nullptr ? place.shell->syntax : syntax::Reading{};
  if (place.shell != nullptr && !place.shell->doubt.empty()) {
    facts.understood = false;
    Finding finding;
    finding.risk = Risk::High;
    finding.effect = EffectKind::Unknown;
    finding.reason = "is not understood: " + place.shell->doubt;
    finding.span = {0, static_cast<uint32_t>(text.size())};
    facts.findings.push_back(std::move(finding));
  }
  ShellWalk walk(text, reading, std::move(state), here, facts, 0, {0, static_cast<uint32_t>(text.size())});
  walk.run(input_of(place));
  return facts;
}

}  // namespace ttyward::policy
