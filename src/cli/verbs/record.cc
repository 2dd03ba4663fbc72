// ttyward record export: what a terminal showed, as a file that others can play.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "base/unique_fd.h"
#include "cli/choice.h"
#include "cli/recording.h"
#include "cli/verbs/verbs.h"
#include "record/writers.h"

namespace ttyward::cli {
namespace record_verb {
namespace {

constexpr mode_t kPrivate = 0600;

struct Arguments {
  std::string target;
  bool last = false;
  std::string format;
  std::string output;
  bool force = false;
  std::optional<double> idle_limit;
};

void write_as(const record::Recording& recording, const std::string& format, const record::Sink& sink) {
  if (format == "html") return record::write_html(recording, sink);
  if (format == "svg") return record::write_svg(recording, sink);
  if (format == "txt") return record::write_text(recording, sink);
  if (format == "json") return record::write_json(recording, sink);
  record::write_asciicast(recording,
                          format == "asciicast2" ? record::CastVersion::V2 : record::CastVersion::V3, sink);
}

// From the name of the file, where that tells.
std::string usual_format(const std::string& file) {
  for (const char* each : {"html", "svg", "txt", "json"})
    if (file.ends_with(std::string(".") + each)) return each;
  return "asciicast";
}

int export_to(std::FILE* file, const record::Recording& recording, const std::string& format,
              const std::string& name) {
  write_as(recording, format,
           [&](std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), file); });
  if (std::fflush(file) == 0 && std::ferror(file) == 0) return 0;
  return complain("record", fmt::format("cannot write {}: {}", name, std::strerror(errno)), kExitFailure);
}

int export_recording(const Arguments& args, record::Recording recording) {
  if (args.idle_limit) {
    recording.limit_idle(*args.idle_limit);
    recording.set_idle_limit(args.idle_limit);
  }
  const std::string format = args.format.empty() ? usual_format(args.output) : args.format;
  if (args.output.empty() || args.output == "-") return export_to(stdout, recording, format, "the recording");
  // Private: what a terminal showed is for its owner to give away.
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (args.force ? O_TRUNC : O_EXCL);
  base::UniqueFd opened(::open(args.output.c_str(), flags, kPrivate));
  if (!opened && errno == EEXIST)
    return complain("record", fmt::format("{} exists: --force writes over it", args.output), kExitUsage);
  if (!opened)
    return complain("record", fmt::format("cannot create {}: {}", args.output, std::strerror(errno)),
                    kExitUsage);
  std::FILE* const file = ::fdopen(opened.get(), "w");
  if (file == nullptr)
    return complain("record", fmt::format("cannot write {}: {}", args.output, std::strerror(errno)),
                    kExitFailure);
  static_cast<void>(opened.release());
  const int written = export_to(file, recording, format, args.output);
  const bool closed = std::fclose(file) == 0;
  if (written != 0 || closed) return written;
  return complain("record", fmt::format("cannot write {}: {}", args.output, std::strerror(errno)),
                  kExitFailure);
}

int run(const Arguments& args) {
  if (args.last == !args.target.empty())
    return complain("record", "name a terminal or a command (ttyward ls --all lists them), or give --last",
                    kExitUsage);
  if (args.idle_limit && !(*args.idle_limit >= 0))
    return complain("record", "--idle-limit: give a number of seconds", kExitUsage);
  return with_recording("record", args.target, [&](record::Recording recording) {
    return export_recording(args, std::move(recording));
  });
}

std::function<int()> declare(CLI::App& app, const Globals&) {
  auto args = std::make_shared<Arguments>();
  CLI::App* exporting = app.add_subcommand("export", "Write a recording of a terminal or a command");
  exporting->add_option(
      "TARGET", args->target,
      "A terminal by name or id, a command by id, or an asciicast file (with a slash or .cast)");
  exporting->add_flag("--last", args->last, "The newest command");
  choose(exporting->add_option("--format", args->format,
                               "The format (default: as the output's name says, else asciicast)"),
         {"asciicast", "asciicast2", "html", "svg", "txt", "json"});
  exporting->add_option("--output", args->output, "The file to write (default: standard output)")
      ->type_name("FILE");
  exporting->add_flag("--force", args->force, "Write over the file if there is one");
  exporting->add_option("--idle-limit", args->idle_limit, "Pauses are at most this many seconds long");
  app.require_subcommand(1);
  return [args] { return run(*args); };
}

}  // namespace
}  // namespace record_verb

const Verb kRecord = {"record", "Export recordings: asciicast, HTML, SVG, text, JSON", &record_verb::declare};

}  // namespace ttyward::cli
