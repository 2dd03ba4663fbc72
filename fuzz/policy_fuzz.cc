// Any bytes as a command: never a crash, never over the time bound, never allowed when the tree is broken.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "policy/always_allow.h"
#include "policy/escaped_view.h"
#include "policy/evaluate.h"
#include "policy/text_screen.h"
#include "syntax/parse.h"

namespace {

// Far above the aim of 2 ms for 10 kB: the fuzzer runs under sanitizers on a busy machine.
constexpr std::chrono::milliseconds kBound{2000};

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ttyward::policy;
  if (size > 16'384) return 0;
  const std::string_view command(reinterpret_cast<const char*>(data), size);
  const FakeFiles files;
  const Place place{"/home/somebody/project", "/home/somebody/project", "/home/somebody", &files};
  const auto begin = std::chrono::steady_clock::now();
  const Verdict verdict = check(command, place, RuleSet{}, Settings{});
  require(std::chrono::steady_clock::now() - begin < kBound);
  if (verdict.decision == Decision::Allow) {
    require(ttyward::syntax::parse(command, {}).has_value());
    require(screen_text(command).empty());
  } else {
    require(!verdict.reasons.empty());
  }
  for (const Reason& reason : verdict.reasons)
    require(reason.span.begin <= reason.span.end && reason.span.end <= size);
  // No mode and no "always" lets a refusal or a critical thing pass.
  const Settings yolo{Mode::Yolo, true, true};
  if (verdict.decision == Decision::Deny)
    require(check(command, place, RuleSet{}, yolo).decision == Decision::Deny);
  RuleSet always;
  for (Rule& rule : rules_for_always(read_command(command, place), RuleLevel::Global))
    always.add(std::move(rule));
  if (verdict.decision == Decision::Deny || (verdict.decision == Decision::Ask && !verdict.reasons.empty() &&
                                             verdict.reasons.front().risk == Risk::Critical)) {
    require(check(command, place, always, Settings{}).decision == verdict.decision);
  }
  for (const char c : show_command(command))
    require(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  return 0;
}
