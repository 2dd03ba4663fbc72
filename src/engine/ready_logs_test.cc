#include "engine/ready_logs.h"

#include <gtest/gtest.h>

#include "engine/terminal_log.h"
#include "journal/folder.h"
#include "journal/scratch_folder.h"

namespace ttyward::engine {
namespace {

TEST(ReadyLogs, a_log_made_ahead_is_like_any_other) {
  const journal::ScratchFolder scratch;
  const auto folder = base::open_private_folder(scratch.path() + "/logs", base::IfMissing::Create);
  ASSERT_TRUE(folder);
  ReadyLogs ready(folder->get());
  EXPECT_FALSE(ready.take());
  ready.fill();
  EXPECT_TRUE(TerminalLog::list(folder->get())->empty());
  auto log = TerminalLog::create(folder->get(), "t1", ready.take());
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE(log->append({{"k", "spec"}}));
  ASSERT_TRUE(log->append({{"k", "more"}}));
  const auto opened = TerminalLog::open(folder->get(), "t1");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->records.size(), 2U);
  // A name is given once.
  EXPECT_FALSE(TerminalLog::create(folder->get(), "t1", ready.take()));
  EXPECT_EQ(TerminalLog::open(folder->get(), "t1")->records.size(), 2U);
}

}  // namespace
}  // namespace ttyward::engine
