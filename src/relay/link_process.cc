#include "relay/link_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/loop.h"
#include "relay/link.h"

namespace ttyward::relay {
namespace {

int serve(const LinkOptions& options, base::UniqueFd ready) {
  const auto tell = [&ready](std::string_view text) {
    (void)!::write(ready.get(), text.data(), text.size());
    ready.reset();
  };
  auto loop = io::Loop::create();
  if (!loop) {
    tell(loop.error().message);
    return 1;
  }
  auto link = Link::create(**loop, options);
  if (!link) {
    // Somebody was quicker: that one will do.
    tell(link.error().code == base::ErrorCode::AlreadyExists ? "ok" : link.error().message);
    return 1;
  }
  tell("ok");
  (*loop)->run();
  return 0;
}

}  // namespace

int link_process(int argc, char** argv) {
  LinkOptions options;
  std::string name;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--place") name = argv[i + 1];
    if (option == "--run") options.run = argv[i + 1];
    if (option == "--state") options.state = argv[i + 1];
    if (option == "--idle-ms") options.idle = std::chrono::milliseconds(std::atol(argv[i + 1]));
    if (option == "--silence-ms") options.silence = std::chrono::milliseconds(std::atol(argv[i + 1]));
    if (option == "--ping-ms") options.ping = std::chrono::milliseconds(std::atol(argv[i + 1]));
  }
  const auto place = PlaceName::parse(name);
  if (!place || options.run.empty() || options.state.empty()) {
    std::fputs("ttyward-hold link: started by ttyward, not by hand\n", stderr);
    return 2;
  }
  options.place = *place;
  options.state += "/" + place->key();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
  base::UniqueFd ready(ends[0]);
  base::UniqueFd tell(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child > 0) {
    tell.reset();
    char text[1024];
    ssize_t got = 0;
    do {
      got = ::read(ready.get(), text, sizeof text);
    } while (got < 0 && errno == EINTR);
    const std::string_view said(text, got > 0 ? static_cast<size_t>(got) : 0);
    if (said == "ok") return 0;
    std::fprintf(stderr, "ttyward-hold link: %.*s\n", static_cast<int>(said.size()), said.data());
    return 1;
  }
  ready.reset();
  ::setsid();
  for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ})
    ::signal(number, SIG_IGN);
  ::umask(077);
  if (::chdir("/") != 0) return 1;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2 && null >= 0; fd++) ::dup2(null, fd);
  return serve(options, std::move(tell));
}

}  // namespace ttyward::relay
