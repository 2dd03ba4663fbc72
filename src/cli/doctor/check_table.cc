#include "cli/doctor/check.h"

namespace ttyward::cli::doctor {
namespace {

constexpr Check kChecks[] = {
    {"pty", "pseudo terminals", &check_terminals},
    {"pidfd", "the kernel's handles for processes", &check_pidfd},
    {"subreaper", "collecting what commands leave behind", &check_subreaper},
    {"proc", "seeing processes", &check_proc},
    {"waiting", "knowing that a command waits for input", &check_waiting},
    {"descriptors", "open files and processes", &check_descriptors},
    {"journals", "keeping output", &check_journals},
    {"runtime", "a place for sockets", &check_runtime},
    {"config", "configuration", &check_config},
    {"policy", "rules and settings that loosen policy", &check_policy},
    {"sandbox", "confining commands", &check_sandbox},
    {"shells", "shells and their integration", &check_shells},
    {"notify", "notifications of questions", &check_notify},
    {"terminal", "your terminal", &check_person},
};

}  // namespace

const char* level_name(Level level) {
  switch (level) {
    case Level::Ok:
      return "ok";
    case Level::Warn:
      return "warn";
    case Level::Fail:
      return "fail";
  }
  return "";
}

std::span<const Check> check_table() {
  return kChecks;
}

}  // namespace ttyward::cli::doctor
