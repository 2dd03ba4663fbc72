// Every call of the protocol has exactly one method that answers it.
#include "daemon/call_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "base/testing.h"
#include "daemon/admissions.h"
#include "daemon/basic_calls.h"
#include "wire/types/all_calls.h"

namespace ttyward::daemon {
namespace {

class NoEvents final : public app::EventSink {
 public:
  void event(uint64_t, uint64_t, const wire::AnyEvent&) override {}
  bool must_pause(uint64_t) const override { return false; }
  void on_drained(uint64_t, std::function<void()>) override {}
};

TEST(CallTable, AnswersEveryCallOnce) {
  std::string home = ::testing::TempDir() + "/ttyward-table-XXXXXX";
  ASSERT_NE(::mkdtemp(home.data()), nullptr);
  const base::Folders folders{home + "/state", home + "/run", home + "/config"};
  for (const std::string& each : {folders.state, folders.runtime, folders.config}) {
    std::filesystem::create_directories(each);
    std::filesystem::permissions(each, std::filesystem::perms::owner_all);
  }
  auto loop = io::Loop::create();
  ASSERT_TRUE(loop);
  io::Log log;
  NoEvents sink;
  {
    auto services = app::Services::start(**loop, log, {folders, "/bin/false", "test", 022}, sink);
    ASSERT_TRUE(services) << services.error().message;
    std::map<std::string, int> answered;
    for (const CallRow& row : call_table(**services)) answered[std::string(row.name)]++;
    // These the daemon answers itself.
    for (const std::string_view own : {wire::PersonTokenRequest::kCall, wire::StatusRequest::kCall,
                                       wire::StopRequest::kCall, wire::ReloadRequest::kCall})
      answered[std::string(own)]++;
    wire::AllCalls::for_each(
        [&]<class Request>() { EXPECT_EQ(answered[std::string(Request::kCall)], 1) << Request::kCall; });
    EXPECT_EQ(answered.size(), wire::AllCalls::kCount);
  }
  base::testing::remove_tree(home);
}

}  // namespace
}  // namespace ttyward::daemon
