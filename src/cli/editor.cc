#include "cli/editor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file_io.h"
#include "base/unique_fd.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;

constexpr size_t kMostBytes = 1 << 20;

std::string editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') return value;
  }
  return "vi";
}

// A file of our own that goes with it.
struct PrivateFile {
  std::string path;
  base::UniqueFd fd;
  PrivateFile() {
    std::error_code error;
    path = std::filesystem::temp_directory_path(error).string() + "/ttyward_rule_XXXXXX.toml";
    fd = base::UniqueFd(::mkstemps(path.data(), 5));
  }
  ~PrivateFile() { ::unlink(path.c_str()); }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;
};

// By the shell, as everybody runs it: $EDITOR may hold options.
Result<void> run_editor(const std::string& editor, const std::string& path) {
  std::string shell = "sh";
  std::string option = "-c";
  std::string script = editor + " \"$1\"";
  std::string name = "sh";
  std::string file = path;
  const std::array<char*, 6> argv = {shell.data(), option.data(), script.data(),
                                     name.data(),  file.data(),   nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", nullptr, nullptr, argv.data(), environ);
  if (error != 0) return fail_errno(error, "cannot start " + editor);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, editor);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::Unavailable,
              "'" + editor + "' failed, so nothing was changed; set EDITOR to one that works");
}

}  // namespace

Result<std::string> edit_text(const std::string& text) {
  const PrivateFile file;
  if (!file.fd) return fail_errno(errno, file.path);
  if (auto written = base::write_at(file.fd.get(), text.data(), text.size(), 0, file.path); !written)
    return tl::unexpected(written.error());
  if (auto ran = run_editor(editor_command(), file.path); !ran) return tl::unexpected(ran.error());
  // Many editors write another file of that name.
  const base::UniqueFd now(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!now) return fail_errno(errno, file.path);
  std::string edited(kMostBytes, '\0');
  auto size = base::read_at(now.get(), edited.data(), edited.size(), 0, file.path);
  if (!size) return tl::unexpected(size.error());
  edited.resize(*size);
  return edited;
}

}  // namespace ttyward::cli
