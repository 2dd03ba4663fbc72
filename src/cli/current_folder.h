// The folder we were called in; / if it is gone.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ttyward::cli {

inline std::string current_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  return error ? "/" : folder.string();
}

}  // namespace ttyward::cli
