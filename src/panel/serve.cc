#include "panel/serve.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/folders.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "http/server.h"
#include "io/loop.h"
#include "io/signals.h"
#include "panel/assets.h"
#include "panel/outside.h"
#include "panel/sessions.h"
#include "panel/site.h"
#include "sandbox/serve_only.h"

namespace ttyward::panel {
namespace {

// For answers that are under way when the panel is told to end.
constexpr std::chrono::milliseconds kEndGrace{300};

http::Limits limits() {
  http::Limits out;
  out.body = size_t{64} << 10;
  out.connections = 64;
  out.request_time = std::chrono::seconds(10);
  return out;
}

// Whether this program was built to look for mistakes of its own: what does that reads files and traces
// processes at the end.
constexpr bool kChecksItself =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

// Whoever sits at the terminal gets another link with Enter.
class EnterKey final : private io::Poller::Handler {
 public:
  EnterKey(io::Loop& loop, std::function<void()> pressed) : loop_(loop), pressed_(std::move(pressed)) {
    watches_ = ::isatty(STDIN_FILENO) != 0 && loop_.poller().add(STDIN_FILENO, EPOLLIN, *this).has_value();
  }
  ~EnterKey() {
    if (watches_) loop_.poller().remove(STDIN_FILENO);
  }
  EnterKey(const EnterKey&) = delete;
  EnterKey& operator=(const EnterKey&) = delete;
  bool watches() const { return watches_; }

 private:
  void on_ready(int, uint32_t) override {
    char line[256];
    const ssize_t got = ::read(STDIN_FILENO, line, sizeof line);
    if (got > 0) return pressed_();
    loop_.poller().remove(STDIN_FILENO);
    watches_ = false;
  }
  io::Loop& loop_;
  std::function<void()> pressed_;
  bool watches_ = false;
};

// The token in the file; where there is none yet, a new one.
base::Result<std::string> metrics_token_in(const std::string& path) {
  const std::string made = base::random_secret();
  if (const auto written = base::write_secret_file(path, made); written)
    return made;
  else if (written.error().code != base::ErrorCode::AlreadyExists)
    return tl::unexpected(written.error());
  return base::read_secret_file(path);
}

}  // namespace

bool is_built() {
  return !page_template().empty();
}

int serve(const ServeOptions& options, const std::function<int(const std::string& message)>& complain) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string folder = options.daemon.folders.sockets();
  if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
    return complain(opened.error().message);
  client::Options daemon = options.daemon;
  if (const char* const file = std::getenv("TTYWARD_PERSON_TOKEN_FILE");
      daemon.token.empty() && file != nullptr && *file != '\0') {
    auto token = base::read_secret_file(file);
    if (!token) return complain(token.error().message);
    daemon.token = std::move(*token);
  }
  // On a port of its own choice the next panel is found by nobody; on one that was asked for, its pages come
  // back.
  const std::string sessions_file =
      options.port == 0 ? "" : folder + "/panel-sessions-" + std::to_string(options.port);
  // Before there are threads.
  auto helper = Outside::start({options.daemon, folder, sessions_file});
  if (!helper) return complain(helper.error().message);
  Outside& outside = **helper;
  daemon.reach = [&](const client::Options& how) { return outside.reach(how); };

  auto made = io::Loop::create();
  if (!made) return complain(made.error().message);
  io::Loop& loop = **made;
  // Before any thread is made: threads inherit which signals are blocked.
  std::function<void(int)> on_signal = [&](int) { loop.stop(); };
  const auto signals =
      io::Signals::watch(loop, {SIGTERM, SIGINT, SIGHUP}, [&](int number) { on_signal(number); });
  if (!signals) return complain(signals.error().message);
  auto listening = http::Server::listen(loop, {false, options.port}, limits());
  if (!listening) return complain(listening.error().message);
  http::Server& web = **listening;

  const Role role = options.view_only ? Role::Viewer : Role::Person;
  Sessions::Options kept{role, sessions_file};
  if (!sessions_file.empty()) kept.keep = [&](std::string_view text) { outside.keep_sessions(text); };
  Sessions sessions(std::move(kept));
  std::string metrics_token;
  if (!options.metrics_token_file.empty()) {
    auto token = metrics_token_in(options.metrics_token_file);
    if (!token) return complain(token.error().message);
    metrics_token = std::move(*token);
  }
  if (!kChecksItself) {
    if (const auto confined = sandbox::serve_only(); !confined)
      complain(confined.error().message + ": the panel runs without a sandbox");
  }
  Site site(loop, sessions, web.port(), daemon, metrics_token);
  web.serve([&](const std::shared_ptr<http::Exchange>& exchange) { site.handle(exchange); });

  int ended_by = 0;
  on_signal = [&](int number) {
    if (std::exchange(ended_by, number) != 0) return loop.stop();  // told twice: at once
    web.shut_down(kEndGrace, [&] { loop.stop(); });
  };
  const auto show_link = [&] {
    std::printf("%s\n", site.link_address(role).c_str());
    std::fflush(stdout);
  };
  const EnterKey enter(loop, show_link);
  if (options.open) {
    if (const auto shown = outside.open_link(site.link_address(role)); !shown) {
      complain(shown.error().message + "; open the address by hand");
      show_link();
    }
  } else {
    show_link();
  }
  std::fprintf(stderr, "ttyward panel: %s. The link works once, within a minute%s. Ctrl-C ends the panel.\n",
               options.view_only ? "for watching only" : "whoever opens this link acts as you",
               enter.watches() ? "; Enter makes another" : "");
  web.run();
  return ended_by == 0 || ended_by == SIGINT ? 0 : 128 + ended_by;
}

}  // namespace ttyward::panel
