#include "cli/recorded_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ttyward::cli {

RecordedInput::RecordedInput(base::UniqueFd opened, std::string name)
    : opened_(std::move(opened)), name_(std::move(name)) {}

base::Result<RecordedInput> RecordedInput::open(const std::string& file) {
  if (file.empty() || file == "-") return RecordedInput({}, "standard input");
  base::UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return base::fail_errno(errno, "cannot open " + file);
  return RecordedInput(std::move(opened), file);
}

int RecordedInput::fd() const {
  return opened_ ? opened_.get() : STDIN_FILENO;
}

}  // namespace ttyward::cli
