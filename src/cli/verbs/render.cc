// ttyward render: terminal output in, what a person would see out. No daemon, no process.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/recorded_input.h"
#include "cli/verbs/verbs.h"
#include "vt/screen.h"
#include "vt/serialize/serialize.h"

namespace ttyward::cli {
namespace render_verb {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

struct Arguments {
  int cols = 80;
  int rows = 24;
  long long scrollback = 300'000;
  bool history = false;
  bool lf_is_crlf = false;
  std::string format = "text";
  std::string file;
};

std::string bad_size(const char* option, long long value, long long least, long long most) {
  return fmt::format("--{} must be from {} to {}, not {}", option, least, most, value);
}

// Feeds the whole of `fd`; answers and events are of no use to a file.
bool feed_from(int fd, vt::Screen& screen) {
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    screen.feed({buffer.data(), static_cast<size_t>(n)});
    screen.take_replies();
    screen.take_events();
  }
}

int render(const Arguments& args) {
  if (args.cols < 1 || args.cols > vt::Screen::kMaxCols) {
    return complain("render", bad_size("cols", args.cols, 1, vt::Screen::kMaxCols), kExitUsage);
  }
  if (args.rows < 1 || args.rows > vt::Screen::kMaxRows) {
    return complain("render", bad_size("rows", args.rows, 1, vt::Screen::kMaxRows), kExitUsage);
  }
  if (static_cast<long long>(args.cols) * args.rows > vt::Screen::kMaxCells) {
    return complain("render",
                    fmt::format("a screen of {}x{} is too large: at most {} cells", args.cols, args.rows,
                                vt::Screen::kMaxCells),
                    kExitUsage);
  }
  if (args.scrollback < 0 || args.scrollback > 100'000'000) {
    return complain("render", bad_size("scrollback", args.scrollback, 0, 100'000'000), kExitUsage);
  }
  const std::optional<vt::Format> format = vt::format_named(args.format);
  if (!format) {
    return complain("render",
                    fmt::format("unknown format '{}': use text, ansi, json, html or svg", args.format),
                    kExitUsage);
  }

  const auto input = RecordedInput::open(args.file);
  if (!input) return complain("render", input.error().message, kExitUsage);

  vt::ScreenOptions options;
  options.cols = args.cols;
  options.rows = args.rows;
  options.scrollback.lines = static_cast<size_t>(args.scrollback);
  options.lf_is_crlf = args.lf_is_crlf;
  vt::Screen screen(options);
  if (!feed_from(input->fd(), screen)) {
    return complain("render", fmt::format("cannot read {}: {}", input->name(), std::strerror(errno)),
                    kExitUsage);
  }
  const auto history = args.history ? vt::WithHistory::Yes : vt::WithHistory::No;
  vt::write_screen(screen, *format, history,
                   [](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); });
  if (std::fflush(stdout) != 0) {
    return complain("render", fmt::format("cannot write the result: {}", std::strerror(errno)), kExitFailure);
  }
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("--cols", args->cols, "Columns of the screen")->capture_default_str();
  app.add_option("--rows", args->rows, "Rows of the screen")->capture_default_str();
  app.add_option("--scrollback", args->scrollback, "Lines of history to keep")->capture_default_str();
  app.add_flag("--history", args->history, "Include the history above the screen");
  app.add_option("--format", args->format, "Form of the result")
      ->type_name("text|ansi|json|html|svg")
      ->capture_default_str();
  app.add_flag(
      "--lf-is-crlf", args->lf_is_crlf,
      "Treat a line feed as carriage return and line feed, for files that did not pass through a tty");
  app.add_option("FILE", args->file, "Terminal output to read (default: standard input)")->type_name("FILE");
  const Globals* shared = &globals;
  const CLI::Option* format = app.get_option("--format");
  return [args, shared, format] {
    if (shared->json && format->count() == 0) args->format = "json";
    return render(*args);
  };
}

}  // namespace
}  // namespace render_verb

const Verb kRender = {"render", "Render terminal output as a person would see it", &render_verb::declare};

}  // namespace ttyward::cli
