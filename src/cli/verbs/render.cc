// ttyward render: terminal output or an asciicast in, what a person would see out. No daemon, no process.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/choice.h"
#include "cli/recorded_input.h"
#include "cli/verbs/verbs.h"
#include "record/asciicast.h"
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
  std::string from = "auto";
  std::string file;
  bool sized = false;  // by options: a recording's own size does not count then
};

std::string bad_size(const char* option, long long value, long long least, long long most) {
  return fmt::format("--{} must be from {} to {}, not {}", option, least, most, value);
}

// What an input is made of. Answers and events are of no use to a file.
class Feeder {
 public:
  Feeder(const Arguments& args, vt::Screen& screen) : args_(args), screen_(screen) {}

  base::Result<void> feed_from(const RecordedInput& input) {
    std::vector<char> buffer(kReadBytes);
    while (true) {
      const ssize_t n = ::read(input.fd(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return base::fail_errno(errno, "cannot read " + input.name());
      auto read = take({buffer.data(), static_cast<size_t>(n)});
      if (!read)
        return base::fail(read.error().code, fmt::format("{} is not an asciicast that can be read: {}",
                                                         input.name(), read.error().message));
      if (n == 0) return {};
    }
  }

 private:
  // Nothing: the end.
  base::Result<void> take(std::string_view bytes) {
    if (!kind_) {
      beginning_ += bytes;
      // The first line tells, if it is short enough to be a header's.
      const bool enough = bytes.empty() || beginning_.size() > kReadBytes ||
                          beginning_.find('\n') != std::string::npos || !beginning_.starts_with('{');
      if (args_.from == "auto" && !enough) return {};
      const bool named = args_.file.ends_with(".cast");
      const bool cast =
          args_.from == "cast" || (args_.from == "auto" && (named || record::looks_like_cast(beginning_)));
      kind_ = cast ? Kind::Cast : Kind::Bytes;
      const std::string held = std::exchange(beginning_, {});
      if (auto fed = pass(held); !fed || !bytes.empty()) return fed;
    }
    return pass(bytes);
  }
  base::Result<void> pass(std::string_view bytes) {
    if (*kind_ == Kind::Bytes) {
      show(bytes);
      return {};
    }
    const auto event = [this](const record::Event& each) -> base::Result<void> {
      size_once();
      if (each.kind == record::Event::Kind::Output) show(each.text);
      if (each.kind == record::Event::Kind::Resize && !args_.sized)
        screen_.resize(each.size.cols, each.size.rows);
      return {};
    };
    auto read = bytes.empty() ? cast_.finish(event) : cast_.feed(bytes, event);
    if (read && cast_.header()) size_once();
    return read;
  }
  void size_once() {
    const record::Size size = cast_.header()->size;
    if (!sized_ && !args_.sized) screen_.resize(size.cols, size.rows);
    sized_ = true;
  }
  void show(std::string_view bytes) {
    screen_.feed(bytes);
    screen_.take_replies();
    screen_.take_events();
  }

  enum class Kind : uint8_t { Bytes, Cast };
  const Arguments& args_;
  vt::Screen& screen_;
  std::optional<Kind> kind_;
  std::string beginning_;  // until it is known
  record::CastReader cast_;
  bool sized_ = false;
};

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
  if (auto fed = Feeder(args, screen).feed_from(*input); !fed)
    return complain("render", fed.error().message, kExitUsage);
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
  choose(app.add_option("--from", args->from,
                        "What the input is: bytes of a terminal, or an asciicast (auto: as it begins)"),
         {"auto", "bytes", "cast"})
      ->capture_default_str();
  app.add_option("FILE", args->file, "Terminal output or an asciicast (default: standard input)")
      ->type_name("FILE");
  const Globals* shared = &globals;
  const CLI::Option* format = app.get_option("--format");
  const CLI::Option* cols = app.get_option("--cols");
  const CLI::Option* rows = app.get_option("--rows");
  return [args, shared, format, cols, rows] {
    args->sized = cols->count() > 0 || rows->count() > 0;
    if (shared->json && format->count() == 0) args->format = "json";
    return render(*args);
  };
}

}  // namespace
}  // namespace render_verb

const Verb kRender = {"render", "Render terminal output as a person would see it", &render_verb::declare};

}  // namespace ttyward::cli
