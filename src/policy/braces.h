// Brace expansion, the first thing bash does to a word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ttyward::policy {

// One character of a word that is still to be expanded: `c` is 0 for an expansion (index in `expansion`).
struct WordItem {
  char c = 0;
  bool quoted = false;
  int expansion = -1;
};
using WordItems = std::vector<WordItem>;

// More words than this are taken for unknown text.
inline constexpr size_t kMaxBraceWords = 256;

// Words with more opening braces are not expanded.
inline constexpr long kMaxBraces = 64;

// Returns false when there are more than kMaxBraceWords results.
bool expand_braces(const WordItems& word, std::vector<WordItems>& out);

}  // namespace ttyward::policy
