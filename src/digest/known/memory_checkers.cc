// valgrind and the sanitizers: the prefix once, and no shadow bytes.
#include <re2/re2.h>

#include "digest/known/known.h"

namespace ttyward::digest {
namespace {

// "==4711== Invalid write" is said by valgrind on every line.
void drop_prefix(Page& page) {
  static const RE2 kPrefix(R"(^(==\d+== ?))");
  size_t prefixed = 0;
  size_t lines = 0;
  for (const Line& line : page.lines) {
    if (line.blank) continue;
    ++lines;
    prefixed += RE2::PartialMatch(line.text, kPrefix);
  }
  if (prefixed < 8 || prefixed * 10 < lines * 5) return;
  page.altered = true;
  bool first = true;
  for (Line& line : page.lines) {
    std::string prefix;
    if (line.blank || line.fold >= 0 || line.rank == Rank::Noise ||
        !RE2::PartialMatch(line.text, kPrefix, &prefix))
      continue;
    if (!first) line.text.erase(0, prefix.size());
    first = false;
  }
}

void hide_shadow(Page& page) {
  static const RE2 kShadow(
      R"(^Shadow bytes? (around|legend)|^(=>|  )0x[0-9a-f]+: ?([0-9a-f]{2}[ \[\]]?)+|^  (Addressable|Partially addressable|Heap left redzone|Freed heap region|Stack (left|mid|right) redzone|Stack after return|Stack use after scope|Global redzone|Global init order|Poisoned by user|Container overflow|Array cookie|Intra object redzone|ASan internal|Left alloca redzone|Right alloca redzone|Shadow gap):)");
  std::vector<size_t> members;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.shielded || line.fold >= 0 || line.text.size() > 300) continue;
    if (RE2::PartialMatch(line.text, kShadow)) members.push_back(i);
  }
  if (members.size() >= 6) hide_lines(page, members, "of shadow bytes");
}

}  // namespace

void know_memory_checkers(Page& page) {
  drop_prefix(page);
  hide_shadow(page);
}

}  // namespace ttyward::digest
