// A secret, from where nobody else sees it: the person's terminal with echo off, standard
// input, a file or a variable. Never an argument: those are in every list of processes.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::cli {

// Overwrites it when it goes.
struct Secret {
  std::string text;

  explicit Secret(std::string value) : text(std::move(value)) {}
  Secret(Secret&&) = default;
  Secret& operator=(Secret&&) = default;
  ~Secret();
};

inline constexpr size_t kLongestSecret = 64 * 1024;

// From the terminal, where `prompt` is shown, if standard input is one; else all of standard
// input. One line end at the end is not part of it.
base::Result<Secret> read_secret(const std::string& prompt);
// "-" as above, "env:NAME", or a file.
base::Result<Secret> secret_from(const std::string& place, const std::string& prompt);

}  // namespace ttyward::cli
