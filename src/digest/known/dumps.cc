// Dumps of bytes: the beginning and the end say what it is.
#include <re2/re2.h>

#include "digest/known/known.h"

namespace ttyward::digest {

void know_dumps(Page& page) {
  static const RE2 kDump(
      R"(^[0-9a-fA-F]{6,16}:? +([0-9a-fA-F]{2,8} ?){2,}.*$|^[0-7]{7} +([0-7]{3,6} ?){2,}.*$)");
  std::vector<size_t> members;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.fold >= 0 || line.text.size() > 200) continue;
    if (RE2::FullMatch(line.text, kDump)) members.push_back(i);
  }
  if (members.size() >= 24) fold_lines(page, members, 8, true, "of bytes");
  // A key, a signature: "00:ab:a4:5c:…", line by line.
  static const RE2 kKey(R"(^\s*([0-9a-fA-F]{2}:){9,}([0-9a-fA-F]{2})?$)");
  for (size_t i = 0; i < page.lines.size();) {
    std::vector<size_t> block;
    const auto is_key = [&](const Line& line) {
      return !line.blank && !line.shielded && line.fold < 0 && line.text.size() < 200 &&
             RE2::FullMatch(line.text, kKey);
    };
    while (i < page.lines.size() && is_key(page.lines[i])) block.push_back(i++);
    if (block.size() >= 3) {
      fold_lines(page, block, 1, false, "of bytes");
      page.lines[block[0]].rank = Rank::Quote;
      page.lines[block[0]].settled = true;
    }
    ++i;
  }
}

}  // namespace ttyward::digest
