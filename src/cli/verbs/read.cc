// ttyward read: any part of what was printed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/colour.h"
#include "cli/daemon_verb.h"
#include "cli/digest_paint.h"
#include "cli/exec_options.h"
#include "cli/option_values.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace read_verb {
namespace {

constexpr int64_t kRawPiece = int64_t{1} << 20;  // bytes asked for at once
constexpr int64_t kLinesPiece = 10'000;          // lines asked for at once
constexpr int64_t kCharsPiece = int64_t{2} << 20;
constexpr int kExitNoMatch = 1;  // as grep has it

struct Arguments {
  std::string target;
  std::string lines;
  std::optional<int64_t> tail;
  std::string grep;
  int64_t context = 0;
  std::optional<int64_t> most;
  bool fresh = false;
  bool raw = false;
  int64_t offset = 0;
  std::string reader;
  bool ansi = false;
  std::string view;
};

base::Result<wire::ReadRequest> selection(const Arguments& args) {
  const int given = static_cast<int>(!args.lines.empty()) + static_cast<int>(args.tail.has_value()) +
                    static_cast<int>(!args.grep.empty()) + static_cast<int>(args.fresh) +
                    static_cast<int>(args.raw);
  const auto wrong = [](std::string message) {
    return base::fail(base::ErrorCode::InvalidArgument, std::move(message));
  };
  if (given > 1) return wrong("give one of --lines, --tail, --grep, --new and --raw");
  if (args.grep.empty() && (args.context != 0 || args.most)) return wrong("--context and --most need --grep");
  if (args.tail && *args.tail < 1) return wrong("--tail: give a number of lines");
  if (args.context < 0 || args.most.value_or(1) < 1)
    return wrong("--context and --most: give a number of lines");
  if (args.offset < 0 || (args.offset > 0 && !args.raw))
    return wrong("--offset: give bytes from 0, with --raw");
  wire::ReadRequest request;
  if (!args.lines.empty()) {
    auto range = parse_range("lines", args.lines);
    if (!range) return tl::unexpected(range.error());
    request.range = {range->first, range->second};
  }
  request.tail = args.tail;
  if (!args.grep.empty()) request.grep = args.grep;
  request.context = args.context;
  if (args.most) request.most = *args.most;
  request.only_new = args.fresh;
  if (!args.reader.empty()) request.reader = args.reader;
  request.ansi = args.ansi;
  request.view.view = view_named(args.view);
  return request;
}

Outcome print_raw(client::Session& daemon, wire::ReadRequest request, int64_t offset) {
  while (true) {
    request.raw = {offset, kRawPiece};
    auto answer = daemon.call(request);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->base64) {
      if (const int written = print_text("read", answer->base64->bytes); written != 0) return written;
    }
    const auto next = static_cast<int64_t>(answer->next_offset.value_or(0));
    if (!answer->more || next <= offset) return 0;
    offset = next;
  }
}

// With a line end, if there is anything.
std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

// The text has the numbers of its lines.
int print_matches(const wire::ReadAnswer& answer) {
  if (answer.more) complain("read", "there are more matches: ask for more with --most", 0);
  const int written = print_text("read", ended(answer.text));
  return written != 0 ? written : answer.matches.empty() ? kExitNoMatch : 0;
}

// News are complete: that more may come is nothing to tell.
enum class Of : uint8_t { Range, News };

int print_lines(const wire::ReadAnswer& answer, Of what, bool digest) {
  if (digest) return print_text("read", painted_digest(ended(answer.text), Paint::for_stdout()));
  if (answer.omitted) {
    complain("read",
             fmt::format("lines {0} to {1} are left out: read them with --lines {0}:{1}",
                         answer.omitted->first_line, answer.omitted->last_line),
             0);
  } else if (answer.more && what == Of::Range) {
    complain("read",
             fmt::format("there is more: lines {} to {} of {} are shown; {}", answer.first_line,
                         answer.last_line, answer.total_lines,
                         answer.last_line < answer.total_lines
                             ? fmt::format("continue with --lines {}:", answer.last_line + 1)
                             : fmt::format("those before them: --lines :{}", answer.first_line - 1)),
             0);
  }
  return print_text("read", ended(answer.text));
}

// All lines of the range, asked for in pieces that fit an answer.
client::AnswerOf<wire::ReadRequest> read_lines(client::Session& daemon, wire::ReadRequest request) {
  auto [from, to] = *request.range;
  int64_t piece = kLinesPiece;
  request.view.view = "full";
  request.view.chars = kCharsPiece;
  std::optional<wire::ReadAnswer> whole;
  std::string text;
  while (true) {
    request.range = {from, from + std::min(piece, to - from + 1) - 1};
    auto answer = daemon.call(request);
    if (!answer) return answer;
    if (answer->omitted && piece > 1) {
      piece = std::max<int64_t>(piece / 4, 1);  // these lines are long
      continue;
    }
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += answer->text;
    const auto total = static_cast<int64_t>(answer->total_lines);
    const auto last = static_cast<int64_t>(answer->last_line);
    if (!whole) {
      to = std::min(to, total);  // what comes while we read was not there when it was asked for
    } else {
      answer->first_line = whole->first_line;
      answer->omitted = whole->omitted;
    }
    whole = std::move(*answer);
    if (last < from || last >= to) break;
    from = last + 1;
  }
  whole->text = std::move(text);
  return std::move(*whole);
}

int read(const Arguments& args, const Globals& globals) {
  auto request = selection(args);
  if (!request) return complain("read", request.error().message, kExitUsage);
  return with_daemon("read", [&](client::Session& daemon) -> Outcome {
    auto target = find_target(daemon, args.target);
    if (!target) return tl::unexpected(target.error());
    request->terminal = target->terminal_id();
    request->command = target->command_id();
    if (args.raw && !globals.json) return print_raw(daemon, std::move(*request), args.offset);
    if (args.raw) request->raw = {args.offset, kRawPiece};
    // A range means those lines; only a view asked for makes them less.
    const bool whole = !args.lines.empty() && args.view.empty();
    auto answer = whole ? read_lines(daemon, std::move(*request)) : daemon.call(*request);
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("read", *answer);
    return args.grep.empty() ? print_lines(*answer, args.fresh ? Of::News : Of::Range, args.view == "digest")
                             : print_matches(*answer);
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TARGET", args->target, "A terminal by name or id, or a command by id")->required();
  app.add_option("--lines", args->lines, "These lines, counted from 1: 10:20, 10:, :20");
  app.add_option("--tail", args->tail, "This many lines from the end");
  app.add_option("--grep", args->grep, "Lines that match this regular expression, with their numbers");
  app.add_option("--context", args->context, "Lines around each match");
  app.add_option("--most", args->most, "At most this many matches");
  app.add_flag("--new", args->fresh, "Output you have not read yet");
  app.add_option("--reader", args->reader, "The reader that --new is about (default: cli)");
  app.add_flag("--raw", args->raw, "The bytes as the program wrote them");
  app.add_option("--offset", args->offset, "With --raw: the first byte");
  app.add_flag("--ansi", args->ansi, "With colours");
  declare_view(app, args->view);
  return [args, &globals] { return read(*args, globals); };
}

}  // namespace
}  // namespace read_verb

const Verb kRead = {"read", "Read any part of the output of a terminal or a command", &read_verb::declare};

}  // namespace ttyward::cli
