// Builders and installers: steps that only say that work goes on, as data.
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

struct Step {
  const char* pattern;
  const char* noun;
};
constexpr const char* kCalls = "compiler calls";  // long, and the errors name their files
constexpr Step kSteps[] = {
    {R"(^\[\d+/\d+\] (Building|Compiling|Linking|Generating|Running|Creating|/\S+(c\+\+|cc|gcc|g\+\+|clang)|:|cd ).*)",
     "build steps"},
    {R"(^\[ *\d+%\] (Building|Linking|Built|Generating|Scanning).*)", "build steps"},
    {R"(^(/\S*/)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib|ld)(-\d+)? .*\.(o|a|so|c|cc|cpp)\b.*)",
     kCalls},
    {R"(^-- (Detecting|Check for|Check if|Looking for|Performing Test|The \w+ compiler|Found |Checking).*)",
     "checks"},
    {R"(^ *(Compiling|Downloading|Downloaded|Checking|Fresh|Running `|Updating|Locking|Adding|Installing) .*)",
     "steps"},
    {R"(^(Get|Hit|Ign):\d+ .*|^(Inst|Conf) \S+ .*|^(Selecting previously|Preparing to unpack|Unpacking|Setting up|Processing triggers) .*|^\(Reading database.*)",
     "package steps"},
    {R"(^(Collecting|Requirement already satisfied|Using cached|  Using cached|  Downloading|Building wheel|  Preparing|  Getting requirements) .*)",
     "package steps"},
    {R"(^(\[INFO\] )?Download(ing|ed) from .*|^go: (downloading|extracting|finding) .*)", "downloads"},
    {R"(^#\d+ (DONE|CACHED|transferring|resolve|sha256:|extracting|exporting|writing|naming|sending|preparing|importing|\[internal\]|\d+\.\d+ (Get|Hit|Ign|Selecting|Preparing|Unpacking|Setting up|Collecting|Downloading)).*|^ ---> ([0-9a-f]{12}|Using cache|Running in .*)$|^#\d+ \d+\.\d+$|^\d+\.\d{3}$|^Removing intermediate container .*|^[0-9a-f]{12}: (Pulling fs layer|Waiting|Verifying Checksum|Download complete|Pull complete|Already exists|Extracting|Downloading).*)",
     "image steps"},
    {R"(^> Task \S+( UP-TO-DATE| NO-SOURCE| FROM-CACHE| SKIPPED)?$)", "tasks"},
    {R"(^\[INFO\] (Building|Compiling|Deleting|Installing|Changes detected|Copying|skip|Tests are skipped|Running|Packaging).*)",
     "steps"},
    {R"(^(\[\d+/\d+\] )(Resolving|Fetching|Linking|Building|Validating).*|^➤ YN\d+: .*|^Progress: resolved .*|^npm (http|timing|sill|verb|silly|verbose) .*)",
     "package steps"},
    {R"(^checking .*\.\.\. .*|^config\.status: creating .*|^configure: creating .*)", "checks"},
    {R"(^\w[\w.\[\]"]*: (Refreshing state|Creating|Creation complete|Still creating|Destroying|Destruction complete|Reading|Read complete).*)",
     "steps"},
    {R"(^(remote: )?(Enumerating|Counting|Compressing|Receiving|Writing|Resolving|Updating) (objects|deltas|files): .*)",
     "transfer steps"},
};

const RE2::Set& step_set() {
  static const RE2::Set* const kSet = [] {
    auto* set = new RE2::Set(RE2::Options(), RE2::ANCHOR_BOTH);
    for (const Step& step : kSteps) set->Add(step.pattern, nullptr);
    set->Compile();
    return set;
  }();
  return *kSet;
}

}  // namespace

void know_steps(Page& page) {
  // Which step of an image it was.
  static const RE2 kHeading(R"(^(#\d+ \[[^\]]*\d+/\d+\] |Step \d+/\d+ : ).*)");
  for (Line& line : page.lines) {
    if (!line.blank && !line.shielded && !line.settled && line.fold < 0 && line.text.size() < 400 &&
        RE2::FullMatch(line.text, kHeading))
      line.rank = std::max(line.rank, Rank::Hint);
  }
  std::array<std::vector<size_t>, std::size(kSteps)> steps;
  std::vector<int> found;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.settled || line.fold >= 0 || line.alarm ||
        line.text.size() > 4000)
      continue;
    if (step_set().Match(line.text, &found))
      steps[static_cast<size_t>(*std::min_element(found.begin(), found.end()))].push_back(i);
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    const std::vector<size_t>& members = steps[s];
    if (members.size() >= 4) {
      fold_lines(page, members, 0, true, kSteps[s].noun);  // the last says how far it went
    } else if (!page.small() || kSteps[s].noun == kCalls) {
      hide_lines(page, members, kSteps[s].noun);
    }
  }
}

}  // namespace ttyward::digest
