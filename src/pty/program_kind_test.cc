#include "pty/program_kind.h"

#include <gtest/gtest.h>

namespace ttyward::pty {
namespace {

TEST(ProgramKinds, names_with_versions_paths_and_roles) {
  EXPECT_EQ(program_kind({"python3.11"}), ProgramKind::LineEditor);
  EXPECT_EQ(program_kind({"tmux: client"}), ProgramKind::Relay);
  EXPECT_EQ(program_kind({"vim.basic"}), ProgramKind::Editor);
  EXPECT_EQ(program_kind({"something", "less"}), ProgramKind::Pager);
  EXPECT_EQ(program_kind({"lessc"}), ProgramKind::Other);
}

}  // namespace
}  // namespace ttyward::pty
