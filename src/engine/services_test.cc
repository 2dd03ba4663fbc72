#include "engine/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ttyward {
namespace {

using terminal::CommandState;
using ::testing::HasSubstr;

TEST(Services, what_is_permitted_runs) {
  LocalTerminals terminals;
  PolicyPermissions permissions;
  const auto result = run_if_permitted("echo hello", terminals, permissions, {.cwd = "/tmp"});
  EXPECT_EQ(result.state, CommandState::Exited);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.text, "hello\n");
  EXPECT_THAT(result.verdict_json, HasSubstr("allow"));
}

TEST(Services, what_is_not_permitted_does_not_run) {
  LocalTerminals terminals;
  PolicyPermissions permissions;
  const auto result = run_if_permitted("rm -rf /", terminals, permissions, {.cwd = "/tmp"});
  EXPECT_EQ(result.state, CommandState::Denied);
  EXPECT_FALSE(result.exit_code);
  EXPECT_FALSE(result.reason.empty());
  EXPECT_THAT(result.verdict_json, HasSubstr("deny"));
}

TEST(Services, null_permissions_permit_nothing) {
  LocalTerminals terminals;
  NullPermissions permissions;
  EXPECT_FALSE(permissions.available());
  const auto result = run_if_permitted("echo hello", terminals, permissions);
  EXPECT_EQ(result.state, CommandState::Denied);
  EXPECT_THAT(result.reason, HasSubstr("nobody here who could permit it"));
}

TEST(Services, null_terminals_run_nothing) {
  NullTerminals terminals;
  PolicyPermissions permissions;
  EXPECT_FALSE(terminals.available());
  const auto result = run_if_permitted("echo hello", terminals, permissions, {.cwd = "/tmp"});
  EXPECT_EQ(result.state, CommandState::FailedToStart);
  EXPECT_THAT(result.reason, HasSubstr("runs no commands"));
  EXPECT_TRUE(result.output.text.empty());
}

}  // namespace
}  // namespace ttyward
