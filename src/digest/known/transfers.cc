// curl and wget: what was asked and answered stays, how the connection came about goes.
#include <re2/re2.h>

#include "digest/known/known.h"

namespace ttyward::digest {

void know_transfers(Page& page) {
  if (!page.runs("curl") && !page.runs("wget")) return;
  static const RE2 kChatter(
      R"(^\* .*|^[{}] \[\d+ bytes data\]$|^> [A-Za-z-]+: .*|^>\s*$|^<\s*$|^< (Date|Connection|Keep-Alive|Vary|Accept-Ranges|ETag|X-\S+|Strict-Transport-Security|Cache-Control|Expires|Last-Modified|Via|Alt-Svc): .*)");
  std::vector<size_t> members;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.settled || line.fold >= 0 || line.alarm || line.text.size() > 400)
      continue;
    if (RE2::FullMatch(line.text, kChatter)) members.push_back(i);
  }
  if (members.size() >= 4 && !page.tiny()) hide_lines(page, members, "of the connection");
}

}  // namespace ttyward::digest
