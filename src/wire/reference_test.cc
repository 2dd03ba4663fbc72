// The checked-in reference is what wire/types says.
#include "wire/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace ttyward::wire {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(std::string(TTYWARD_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Reference, TheTablesOfTheProtocolPageAreMadeFromTheTypes) {
  const std::string page = content_of("docs/protocol/socket.md");
  const std::string made = reference_markdown(page);
  ASSERT_FALSE(made.empty()) << "docs/protocol/socket.md has lost its marks";
  EXPECT_TRUE(page == made) << "it is not; write the page that `wire_reference markdown` makes of it";
}

TEST(Reference, TheSchemaIsMadeFromTheTypes) {
  EXPECT_TRUE(content_of("docs/protocol/socket.schema.json") == reference_schema())
      << "it is not; write `wire_reference schema` to docs/protocol/socket.schema.json";
}

}  // namespace
}  // namespace ttyward::wire
