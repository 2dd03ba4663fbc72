#include "fleet/job_words.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "fleet/say.h"

namespace ttyward::fleet {
namespace {

int signal_number(const std::string& name) {
  for (int number = 1; number < NSIG; number++) {
    const char* abbreviated = ::sigabbrev_np(number);
    if (abbreviated != nullptr && name == std::string("SIG") + abbreviated) return number;
  }
  return 0;
}

}  // namespace

int exit_code_of(const JobRecord& record) {
  if (!is_final(record.state)) return kExitNotYet;
  if (record.state == "timed_out") return 124;
  if (record.state == "denied" || record.state == "skipped") return 126;
  if (!record.result) return kExitFailure;
  if (record.state == "exited" && record.result->exit_code)
    return static_cast<int>(*record.result->exit_code);
  if (record.state == "interrupted") return 128 + SIGINT;
  if (record.state == "signaled") return 128 + signal_number(record.result->signal);
  return kExitFailure;
}

std::string how_it_ended(const JobRecord& record) {
  if (record.state == "exited" && record.result && record.result->exit_code)
    return "exit " + std::to_string(*record.result->exit_code);
  if (record.state == "signaled" && record.result) return record.result->signal;
  return record.state;
}

std::string shown(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace ttyward::fleet
