// ttyward send: input for whatever reads a terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "cli/daemon_verb.h"
#include "cli/secret_input.h"
#include "cli/verbs/verbs.h"
#include "vt/input_encoder.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace send_verb {
namespace {

constexpr size_t kMostInput = size_t{4} << 20;  // of --stdin; base64 makes it larger, a message has 16 MiB

struct Arguments {
  std::string terminal;
  std::optional<std::string> text;
  std::optional<std::string> keys;
  std::optional<std::string> paste;
  bool secret = false;
  bool bytes = false;
  bool enter = false;
};

base::Result<std::string> all_of_stdin() {
  std::string all;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot read standard input");
    if (n == 0) return all;
    all.append(buffer, static_cast<size_t>(n));
    if (all.size() > kMostInput)
      return base::fail(base::ErrorCode::InvalidArgument, "more than 4 MiB of input: send it in pieces");
  }
}

base::Result<wire::InputRequest> input_of(const Arguments& args) {
  const int given = static_cast<int>(args.text.has_value()) + static_cast<int>(args.keys.has_value()) +
                    static_cast<int>(args.paste.has_value()) + static_cast<int>(args.secret) +
                    static_cast<int>(args.bytes);
  if (given > 1 || (given == 0 && !args.enter)) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "give one of --text, --keys, --paste, --secret and --stdin");
  }
  wire::InputRequest input;
  input.terminal = args.terminal;
  input.text = args.text;
  input.paste = args.paste;
  if (args.keys) {
    auto encoded = vt::encode_keys(*args.keys, {});
    if (!encoded) return tl::unexpected(encoded.error());
    input.keys = args.keys;
  }
  if (args.secret) {
    auto secret = read_secret(fmt::format("secret for {}: ", args.terminal));
    if (!secret) return tl::unexpected(secret.error());
    input.secret = secret->text;
  }
  if (args.bytes) {
    auto bytes = all_of_stdin();
    if (!bytes) return tl::unexpected(bytes.error());
    input.base64 = wire::Bytes{std::move(*bytes)};
  }
  return input;
}

int send(const Arguments& args, const Globals& globals) {
  auto input = input_of(args);
  if (!input) return complain("send", input.error().message, kExitUsage);
  return with_daemon("send", [&](client::Session& daemon) -> Outcome {
    wire::Typed all{0, {}, {}, {}, {}};
    const bool anything = input->text || input->keys || input->paste || input->secret || input->base64;
    if (anything) {
      auto sent = daemon.call(*input);
      if (!sent) return tl::unexpected(sent.error());
      *all.bytes += sent->bytes.value_or(0);
    }
    if (args.enter && !args.secret) {  // after a secret the daemon presses it
      wire::InputRequest enter;
      enter.terminal = args.terminal;
      enter.keys = "Enter";
      auto sent = daemon.call(enter);
      if (!sent) return tl::unexpected(sent.error());
      *all.bytes += sent->bytes.value_or(0);
    }
    return globals.json ? print_answer("send", all) : 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_option("--text", args->text, "Type this text unchanged");
  app.add_option("--keys", args->keys,
                 "Press these keys, encoded as the program expects: \"C-c\", \"Down Enter\"");
  app.add_option("--paste", args->paste, "Paste this text");
  app.add_flag("--secret", args->secret,
               "Type a secret and Enter. It is asked for without echo, or read from standard input, sent "
               "only while the terminal does not echo, and never recorded");
  app.add_flag("--stdin", args->bytes, "Type the bytes of standard input");
  app.add_flag("--enter", args->enter, "Press Enter afterwards");
  return [args, &globals] { return send(*args, globals); };
}

}  // namespace
}  // namespace send_verb

const Verb kSend = {"send", "Type into a terminal: text, keys or a secret", &send_verb::declare};

}  // namespace ttyward::cli
