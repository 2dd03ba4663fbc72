// For tests only.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

namespace ttyward::base::testing {

// Removes a folder in which processes that are just ending may still make files. Those that outlive the test
// by half a minute have their files left behind.
inline void remove_tree(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  std::error_code failed;
  while (std::filesystem::remove_all(path, failed), std::filesystem::exists(path, failed)) {
    if (std::chrono::steady_clock::now() > deadline) return;
    std::this_thread::yield();
  }
}

}  // namespace ttyward::base::testing
