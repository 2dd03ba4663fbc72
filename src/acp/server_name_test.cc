#include "acp/server_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ttyward::acp {
namespace {

class ServerName : public ::testing::Test {
 protected:
  ServerName() {
    std::string name = ::testing::TempDir() + "server_name_XXXXXX";
    folders.state = ::mkdtemp(name.data());
  }
  ~ServerName() override { std::filesystem::remove_all(folders.state); }
  base::Folders folders;
};

TEST_F(ServerName, IsMadeOnceAndCannotBeGuessed) {
  std::vector<std::string> names(8);
  std::vector<std::thread> threads;
  for (std::string& name : names)
    threads.emplace_back([&name, this] { name = server_name(folders).value_or("none"); });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1u);
  EXPECT_EQ(server_name(folders).value(), names.front());
  EXPECT_EQ(names.front().size(), 15u);
  EXPECT_TRUE(names.front().starts_with("ttyward"));
  EXPECT_EQ(names.front().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"), std::string::npos);
  base::Folders other;
  other.state = folders.state + "/other";
  EXPECT_NE(server_name(other).value(), names.front());
}

TEST_F(ServerName, AFileThatNobodyCanUseIsAnError) {
  const std::string path = folders.state + "/acp-server-name";
  std::ofstream(path) << std::string(64, '*') << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  const auto name = server_name(folders);
  ASSERT_FALSE(name);
  EXPECT_NE(name.error().message.find("remove it"), std::string::npos) << name.error().message;
}

}  // namespace
}  // namespace ttyward::acp
