// ttyward read: any part of what was printed.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/base64.h"
#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/fields.h"
#include "cli/option_values.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

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

base::Result<json::object> selection(const Arguments& args) {
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
  json::object call;
  if (!args.lines.empty()) {
    auto range = parse_range("lines", args.lines);
    if (!range) return tl::unexpected(range.error());
    call["range"] = json::array{range->first, range->second};
  }
  if (args.tail) call["tail"] = *args.tail;
  if (!args.grep.empty()) {
    call["grep"] = args.grep;
    call["context"] = args.context;
    if (args.most) call["most"] = *args.most;
  }
  if (args.fresh) call["new"] = true;
  set_text(call, "reader", args.reader);
  if (args.ansi) call["ansi"] = true;
  set_text(call, "view", args.view);
  return call;
}

Outcome print_raw(client::Session& daemon, const json::object& target, int64_t offset) {
  while (true) {
    json::object call = target;
    call["raw"] = json::object{{"offset", offset}, {"bytes", kRawPiece}};
    auto answer = daemon.call("read", std::move(call));
    if (!answer) return tl::unexpected(answer.error());
    const auto bytes = base::from_base64(text_in(*answer, "base64"));
    if (!bytes) return refuse(base::Error{base::ErrorCode::Corrupt, 0, "the daemon's answer is not base64"});
    if (const int written = print_text("read", *bytes); written != 0) return written;
    const int64_t next = number_in(*answer, "next_offset").value_or(offset);
    if (!flag_in(*answer, "more") || next <= offset) return 0;
    offset = next;
  }
}

// With a line end, if there is anything.
std::string ended(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

// The text has the numbers of its lines.
int print_matches(const json::object& answer) {
  if (flag_in(answer, "more")) complain("read", "there are more matches: ask for more with --most", 0);
  const int written = print_text("read", ended(text_in(answer, "text")));
  return written != 0 ? written : objects_in(answer, "matches").empty() ? kExitNoMatch : 0;
}

int print_lines(const json::object& answer) {
  if (const json::object* omitted = object_in(answer, "omitted")) {
    complain("read",
             fmt::format(
                 "lines {} to {} are left out: read them with --lines {}:{}",
                 number_in(*omitted, "first_line").value_or(0), number_in(*omitted, "last_line").value_or(0),
                 number_in(*omitted, "first_line").value_or(0), number_in(*omitted, "last_line").value_or(0)),
             0);
  } else if (flag_in(answer, "more")) {
    const int64_t first = number_in(answer, "first_line").value_or(0);
    const int64_t last = number_in(answer, "last_line").value_or(0);
    const int64_t total = number_in(answer, "total_lines").value_or(0);
    complain("read",
             fmt::format("there is more: lines {} to {} of {} are shown; {}", first, last, total,
                         last < total ? fmt::format("continue with --lines {}:", last + 1)
                                      : fmt::format("those before them: --lines :{}", first - 1)),
             0);
  }
  return print_text("read", ended(text_in(answer, "text")));
}

// All lines of a range, asked for in pieces that fit an answer. `call` names the target and the range.
tl::expected<json::object, client::CallFailure> read_lines(client::Session& daemon, json::object call) {
  const json::array range = call["range"].get_array();
  int64_t from = range[0].get_int64();
  int64_t to = range[1].get_int64();
  int64_t piece = kLinesPiece;
  call["view"] = "full";
  call["chars"] = kCharsPiece;
  std::optional<json::object> whole;
  std::string text;
  while (true) {
    call["range"] = json::array{from, from + std::min(piece, to - from + 1) - 1};
    auto answer = daemon.call("read", call);
    if (!answer) return tl::unexpected(answer.error());
    if (object_in(*answer, "omitted") != nullptr && piece > 1) {
      piece = std::max<int64_t>(piece / 4, 1);  // these lines are long
      continue;
    }
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += text_in(*answer, "text");
    const int64_t total = number_in(*answer, "total_lines").value_or(0);
    const int64_t last = number_in(*answer, "last_line").value_or(0);
    if (!whole) {
      whole = std::move(*answer);
      to = std::min(to, total);  // what comes while we read was not there when it was asked for
    } else {
      for (const char* member : {"last_line", "total_lines", "total_bytes", "more", "state"}) {
        if (const json::value* value = answer->if_contains(member)) (*whole)[member] = *value;
      }
    }
    if (last < from || last >= to) break;
    from = last + 1;
  }
  (*whole)["text"] = text;
  return std::move(*whole);
}

int read(const Arguments& args, const Globals& globals) {
  auto call = selection(args);
  if (!call) return complain("read", call.error().message, kExitUsage);
  return with_daemon("read", [&](client::Session& daemon) -> Outcome {
    auto target = find_target(daemon, args.target);
    if (!target) return tl::unexpected(target.error());
    if (args.raw && !globals.json) return print_raw(daemon, target->arguments(), args.offset);
    if (args.raw) (*call)["raw"] = json::object{{"offset", args.offset}, {"bytes", kRawPiece}};
    for (const auto& member : target->arguments()) call->insert(member);
    // A range means those lines; only a view asked for makes them less.
    const bool whole = !args.lines.empty() && args.view.empty();
    auto answer = whole ? read_lines(daemon, std::move(*call)) : daemon.call("read", std::move(*call));
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_json("read", *answer);
    return args.grep.empty() ? print_lines(*answer) : print_matches(*answer);
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

const Verb kRead = {"read", "Read any part of the output of a terminal or a command", &declare};

}  // namespace ttyward::cli
