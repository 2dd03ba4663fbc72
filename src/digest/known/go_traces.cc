// Go's goroutine dumps: pairs of a call and its place. The own calls nearest to the fault stay.
#include <re2/re2.h>

#include "digest/known/known.h"

namespace ttyward::digest {
namespace {

bool is_library(std::string_view place) {
  return place.find("/go/src/") != std::string_view::npos ||
         place.find("/go/pkg/mod/") != std::string_view::npos ||
         place.find("/lib/go") != std::string_view::npos || place.find("/local/go") != std::string_view::npos;
}

}  // namespace

void know_go_traces(Page& page) {
  static const RE2 kBegin(R"(^goroutine \d+ (gp=.*)?\[.*\]:$)");
  static const RE2 kPlace(R"(^\s+\S+\.(go|s):\d+( \+0x[0-9a-f]+)?$)");
  size_t own = 0;
  size_t traces = 0;
  std::vector<size_t> hidden;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    if (page.lines[i].shielded || page.lines[i].fold >= 0 || !RE2::FullMatch(page.lines[i].text, kBegin))
      continue;
    if (traces++ > 0) hidden.push_back(i);
    size_t j = i + 1;
    for (; j + 1 < page.lines.size() && RE2::FullMatch(page.lines[j + 1].text, kPlace); j += 2) {
      const bool keep = traces == 1 && own < 3 && !is_library(page.lines[j + 1].text);
      for (const size_t at : {j, j + 1}) {
        Line& line = page.lines[at];
        if (line.fold >= 0 || line.shielded) continue;
        if (!keep) {
          hidden.push_back(at);
        } else {
          line.rank = Rank::Detail;
          line.settled = true;
        }
      }
      own += keep;
    }
    i = j - 1;
  }
  hide_lines(page, hidden, "of the trace");
}

}  // namespace ttyward::digest
