#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

#include "cli/app.h"

namespace {

// Started with a closed descriptor among 0, 1 and 2, the next file would get its number and be taken for
// input or output.
void open_missing_stdio() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is this one: those below are open.
    static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_stdio();
  return ttyward::cli::run(argc, argv);
}
