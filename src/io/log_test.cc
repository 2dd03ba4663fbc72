#include "io/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ttyward::io {
namespace {

class LogFile : public ::testing::Test {
 protected:
  LogFile() {
    std::string pattern = ::testing::TempDir() + "/ttyward-log-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LogFile() override { std::filesystem::remove_all(folder_); }
  std::string text(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }

  std::string folder_;
};

TEST_F(LogFile, LinesHaveTimeAndWeightAndNoControlCharacters) {
  auto log = Log::open(folder_, "x.log").value();
  log->info("one");
  log->error("two\n\x1b[31m");
  EXPECT_THAT(text("x.log"), ::testing::MatchesRegex("[-0-9]+T[:.0-9]+Z info one\n[-0-9]+T[:.0-9]+Z error "
                                                     "two.x0a.x1b.31m\n"));
  struct stat st{};
  ASSERT_EQ(::stat((folder_ + "/x.log").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600U);
}

TEST_F(LogFile, AFullFileIsKeptOnceAndANewOneBegun) {
  auto log = Log::open(folder_, "x.log", -1, 200).value();
  for (int i = 0; i < 20; ++i) log->info("line " + std::to_string(i));
  EXPECT_THAT(text("x.log"), ::testing::EndsWith("line 19\n"));
  EXPECT_LE(text("x.log").size(), 200U);
  EXPECT_LE(text("x.log.1").size(), 200U);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/x.log.2"));
}

TEST_F(LogFile, JsonHasAnObjectPerLine) {
  auto log = Log::open(folder_, "x.log").value();
  log->set_format(Log::Format::Json);
  log->info("it \"began\"\n");
  log->warning("\xff", "engine", {{"terminals", 3}, {"ms", int64_t{-1}}, {"path", "/a\tb"}});
  log->error(std::string(10'000, 'x'));
  const std::string all = text("x.log");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3);
  EXPECT_THAT(all, ::testing::HasSubstr(
                       R"(Z","level":"info","part":"daemon","message":"it \"began\"\n","fields":{}})"));
  EXPECT_THAT(all,
              ::testing::HasSubstr("\"level\":\"warning\",\"part\":\"engine\",\"message\":\"\xef\xbf\xbd\","
                                   R"("fields":{"terminals":3,"ms":-1,"path":"/a\tb"}})"));
  EXPECT_LT(all.size(), 6000U);
  log->set_format(Log::Format::Text);
  log->info("plain", "engine", {{"terminals", 3}});
  EXPECT_THAT(text("x.log"), ::testing::EndsWith("Z info plain\n"));
}

TEST_F(LogFile, ASymbolicLinkIsNotFollowed) {
  std::filesystem::create_symlink(folder_ + "/elsewhere", folder_ + "/x.log");
  EXPECT_FALSE(Log::open(folder_, "x.log"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/elsewhere"));
}

}  // namespace
}  // namespace ttyward::io
