// ttyward digest: terminal output in, what an agent would get of it out. No daemon, no process.
#include "digest/digest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/digest_paint.h"
#include "cli/recorded_input.h"
#include "cli/verbs/verbs.h"
#include "terminal/output.h"
#include "vt/screen.h"

namespace ttyward::cli {
namespace digest_verb {
namespace {

constexpr size_t kReadBytes = 64 * 1024;

struct Arguments {
  std::string command;
  std::optional<int> exit_status;
  int cols = 80;
  int rows = 24;
  uint64_t max_chars = digest::Options{}.max_chars;
  std::string file;
  bool json = false;
};

// Feeds all of `fd`. A file without carriage returns did not pass through a terminal: its lines end with a
// line feed alone.
bool feed_from(int fd, const Arguments& args, std::optional<terminal::Output>& output) {
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(n));
    if (!output) {
      terminal::OutputOptions options;
      options.cols = args.cols;
      options.rows = args.rows;
      options.bare_lines = bytes.find('\r') == std::string_view::npos;
      if (options.bare_lines) options.source = terminal::BinarySniffer::Source::Pipe;
      output.emplace(options);
    }
    if (n == 0) return true;
    output->feed(bytes);
    output->take_replies();
    output->take_events();
  }
}

int show_digest(const Arguments& args) {
  if (args.cols < 1 || args.cols > vt::Screen::kMaxCols || args.rows < 1 ||
      args.rows > vt::Screen::kMaxRows ||
      static_cast<long long>(args.cols) * args.rows > vt::Screen::kMaxCells) {
    return complain(
        "digest",
        fmt::format("a screen of {}x{} is not possible: at most {} columns, {} rows and {} cells", args.cols,
                    args.rows, vt::Screen::kMaxCols, vt::Screen::kMaxRows, vt::Screen::kMaxCells),
        kExitUsage);
  }
  const auto input = RecordedInput::open(args.file);
  if (!input) return complain("digest", input.error().message, kExitUsage);
  std::optional<terminal::Output> output;
  if (!feed_from(input->fd(), args, output)) {
    return complain("digest", fmt::format("cannot read {}: {}", input->name(), std::strerror(errno)),
                    kExitUsage);
  }
  output->finish();
  digest::Options options;
  options.command = args.command;
  options.exit_status = args.exit_status;
  options.max_chars = args.max_chars;
  digest::Builder builder(options);
  output->transcript().forward(1, [&](const terminal::Transcript::Entry& entry) {
    if (entry.dropped) {
      builder.add_lost(entry.repeat);
    } else {
      builder.add(entry.text, entry.repeat);
    }
    return true;
  });
  const digest::Digest made = builder.finish();
  const std::string text =
      args.json ? digest::to_json(made) + "\n" : painted_digest(made.text(), Paint::for_stdout());
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) {
    return complain("digest", fmt::format("cannot write the result: {}", std::strerror(errno)), kExitFailure);
  }
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("--command", args->command, "The command that printed it")->type_name("CMD");
  app.add_option("--exit", args->exit_status, "The exit status of the command")->type_name("N");
  app.add_option("--cols", args->cols, "Columns of the screen")->capture_default_str();
  app.add_option("--rows", args->rows, "Rows of the screen")->capture_default_str();
  app.add_option("--max-chars", args->max_chars, "About how long the digest may be")
      ->check(CLI::Range(uint64_t{200}, uint64_t{10'000'000}))
      ->capture_default_str();
  app.add_option("FILE", args->file, "Terminal output to read (default: standard input)")->type_name("FILE");
  const Globals* shared = &globals;
  return [args, shared] {
    args->json = shared->json;
    return show_digest(*args);
  };
}

}  // namespace
}  // namespace digest_verb

const Verb kDigest = {"digest", "Show what an agent would get of terminal output", &digest_verb::declare};

}  // namespace ttyward::cli
