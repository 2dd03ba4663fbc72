#include "pty/stdio.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace ttyward::pty {
namespace {

base::Result<std::pair<base::UniqueFd, base::UniqueFd>> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "making a pipe");
  base::UniqueFd read_end(ends[0]);
  base::UniqueFd write_end(ends[1]);
  auto reader = above_stdio(std::move(read_end));
  if (!reader) return tl::unexpected(reader.error());
  auto writer = above_stdio(std::move(write_end));
  if (!writer) return tl::unexpected(writer.error());
  return std::pair(std::move(*reader), std::move(*writer));
}

void set_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

base::Result<base::UniqueFd> open_null() {
  base::UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return base::fail_errno(errno, "opening /dev/null");
  return above_stdio(std::move(null));
}

base::Result<Stdio> connect_stdin(const SpawnSpec& spec, Spawned& into) {
  Stdio stdio;
  if (spec.stdin_kind == StdinKind::Descriptor) {
    stdio.child[0] = spec.stdin_fd;
    return stdio;
  }
  if (spec.stdin_kind == StdinKind::Null) {
    auto null = open_null();
    if (!null) return tl::unexpected(null.error());
    stdio.owned.push_back(std::move(*null));
  } else {
    auto in = make_pipe();
    if (!in) return tl::unexpected(in.error());
    stdio.owned.push_back(std::move(in->first));
    into.stdin_fd = std::move(in->second);
    set_nonblocking(into.stdin_fd.get());
  }
  stdio.child[0] = stdio.owned.back().get();
  return stdio;
}

}  // namespace

base::Result<Stdio> connect_pipes(const SpawnSpec& spec, Spawned& into) {
  auto stdio = connect_stdin(spec, into);
  if (!stdio) return stdio;
  for (const int target : {1, 2}) {
    auto out = make_pipe();
    if (!out) return tl::unexpected(out.error());
    base::UniqueFd& ours = target == 1 ? into.stdout_fd : into.stderr_fd;
    ours = std::move(out->first);
    set_nonblocking(ours.get());
    stdio->child[target] = out->second.get();
    stdio->owned.push_back(std::move(out->second));
  }
  return stdio;
}

Stdio connect_terminal(const SpawnSpec& spec, PseudoTerminal terminal, Spawned& into) {
  into.master = std::move(terminal.master);
  into.slave_path = std::move(terminal.slave_path);
  into.slave_device = terminal.slave_device;
  Stdio stdio;
  std::fill(std::begin(stdio.child), std::end(stdio.child), terminal.slave.get());
  if (spec.stdin_kind == StdinKind::Descriptor) stdio.child[0] = spec.stdin_fd;
  stdio.owned.push_back(std::move(terminal.slave));
  return stdio;
}

}  // namespace ttyward::pty
