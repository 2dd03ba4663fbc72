// What `ttyward doctor` looks at: a list of checks as data.
//
// A check does the thing itself where it can (opens a terminal, starts a program,
// maps a file) instead of reading version numbers, undoes what it did, and takes
// two seconds at the very most. To add one, write a function and list it in
// check_table.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/folders.h"
#include "config/load.h"

namespace ttyward::cli::doctor {

enum class Level : uint8_t {
  Ok,
  Warn,  // something will be missing or worse
  Fail,  // commands cannot be run as they should
};
const char* level_name(Level level);

struct Finding {
  Level level = Level::Ok;
  std::string text;    // what was found
  std::string advice;  // what to do; empty when there is nothing to do
};

struct Context {
  base::Folders folders;
  config::Loaded config;
  std::vector<std::string> environment;  // NAME=value
};

struct Check {
  const char* name;
  const char* about;
  std::vector<Finding> (*run)(const Context&);
};

std::span<const Check> check_table();

std::vector<Finding> check_terminals(const Context& context);
std::vector<Finding> check_pidfd(const Context& context);
std::vector<Finding> check_subreaper(const Context& context);
std::vector<Finding> check_proc(const Context& context);
std::vector<Finding> check_waiting(const Context& context);
std::vector<Finding> check_descriptors(const Context& context);
std::vector<Finding> check_journals(const Context& context);
std::vector<Finding> check_runtime(const Context& context);
std::vector<Finding> check_config(const Context& context);
std::vector<Finding> check_policy(const Context& context);
std::vector<Finding> check_sandbox(const Context& context);
std::vector<Finding> check_shells(const Context& context);
std::vector<Finding> check_notify(const Context& context);
std::vector<Finding> check_person(const Context& context);

}  // namespace ttyward::cli::doctor
