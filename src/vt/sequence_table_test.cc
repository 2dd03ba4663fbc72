#include "vt/sequence_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace ttyward::vt {
namespace {

TEST(SequenceTable, names_each_sequence_once) {
  std::set<std::pair<int, uint32_t>> seen;
  for (const SequenceTable::Entry& entry : SequenceTable::entries()) {
    const uint32_t key = Sequence::key(entry.prefix, entry.first, entry.second, entry.final);
    EXPECT_TRUE(seen.insert({static_cast<int>(entry.kind), key}).second) << entry.meaning;
  }
}

// docs/vt/sequences.md is this table. When it differs, write what this test prints to it.
TEST(SequenceTable, the_document_says_the_same) {
  std::ifstream in(TTYWARD_SOURCE_DIR "/docs/vt/sequences.md");
  const std::string document((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_NE(document.find(SequenceTable::to_markdown()), std::string::npos) << SequenceTable::to_markdown();
}

}  // namespace
}  // namespace ttyward::vt
