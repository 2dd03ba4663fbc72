// Builders and installers: steps that only say that work goes on, as data.
#include <re2/re2.h>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

struct Step {
  const char* pattern;
  const char* noun;
};
constexpr Step kSteps[] = {
    {R"(^\[\d+/\d+\] (Building|Compiling|Linking|Generating|Running|Creating|/\S+(c\+\+|cc|gcc|g\+\+|clang)|:|cd ).*)",
     "build steps"},
    {R"(^\[ *\d+%\] (Building|Linking|Built|Generating|Scanning).*)", "build steps"},
    {R"(^(/\S*/)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib|ld)(-\d+)? .*\.(o|a|so|c|cc|cpp)\b.*)",
     "compiler calls"},
    {R"(^-- (Detecting|Check for|Check if|Looking for|Performing Test|The \w+ compiler|Found |Checking).*)",
     "checks"},
    {R"(^ *(Compiling|Downloading|Downloaded|Checking|Fresh|Running `|Updating|Locking|Adding|Installing) .*)",
     "steps"},
    {R"(^(Get|Hit|Ign):\d+ .*|^(Inst|Conf) \S+ .*|^(Selecting previously|Preparing to unpack|Unpacking|Setting up|Processing triggers) .*|^\(Reading database.*)",
     "package steps"},
    {R"(^(Collecting|Requirement already satisfied|Using cached|  Using cached|  Downloading|Building wheel|  Preparing|  Getting requirements) .*)",
     "package steps"},
    {R"(^Download(ing|ed) from .*)", "downloads"},
    {R"(^\w[\w.\[\]"]*: (Refreshing state|Creating|Creation complete|Still creating|Destroying|Destruction complete|Reading|Read complete).*)",
     "steps"},
    {R"(^(remote: )?(Enumerating|Counting|Compressing|Receiving|Writing|Resolving|Updating) (objects|deltas|files): .*)",
     "transfer steps"},
};

}  // namespace

void know_steps(Page& page) {
  for (const Step& step : kSteps) {
    const RE2 pattern(step.pattern);
    std::vector<size_t> members;
    for (size_t i = 0; i < page.lines.size(); ++i) {
      const Line& line = page.lines[i];
      if (line.blank || line.shielded || line.settled || line.fold >= 0 || line.alarm ||
          line.text.size() > 4000)
        continue;
      if (RE2::FullMatch(line.text, pattern)) members.push_back(i);
    }
    if (members.size() >= 4) fold_lines(page, members, 1, true, step.noun);
  }
}

}  // namespace ttyward::digest
