#include "mcp/serve.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/folders.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "client/client.h"
#include "client/own_session.h"
#include "client/session.h"
#include "http/guard.h"
#include "http/server.h"
#include "io/loop.h"
#include "io/signals.h"
#include "mcp/conformance/fixtures.h"
#include "mcp/http/endpoint.h"
#include "mcp/notices.h"
#include "mcp/server.h"
#include "mcp/tools/terminals.h"
#include "rpc/stdio.h"

namespace ttyward::mcp {
namespace {

constexpr int kExitFailure = 125;

int complain(const std::string& message, int code = kExitFailure) {
  std::fprintf(stderr, "ttyward mcp: %s\n", message.c_str());
  return code;
}

int serve_stdio(Server& server) {
  auto stdio = rpc::Stdio::start(
      server.loop(), STDIN_FILENO, STDOUT_FILENO,
      [&server](std::shared_ptr<Outlet> out) {
        return std::make_shared<Peer>(server, "stdio", std::move(out));
      },
      [&server] { server.loop().stop(); });
  if (!stdio) return complain(stdio.error().message);
  server.loop().run();
  return 0;
}

// The token of a server, and the file it is in. A file that was made for this server goes with it.
class Token {
 public:
  // Each server has its own, named after its port: two at once do not take each other's away.
  static base::Result<Token> choose(const ServeOptions& options, int port) {
    Token made;
    if (options.conformance) return made;
    const bool given = !options.token_file.empty();
    if (given) {
      made.path_ = options.token_file;
    } else {
      const std::string folder = base::user_folders().sockets();
      if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
        return tl::unexpected(opened.error());
      made.path_ = folder + "/mcp-token-" + std::to_string(port);
    }
    auto text = given ? base::read_secret_file(made.path_) : http::make_token_file(made.path_);
    if (!text) return tl::unexpected(text.error());
    made.text_ = std::move(*text);
    made.ours_ = !given;
    return made;
  }
  Token(Token&& other) noexcept
      : text_(std::move(other.text_)),
        path_(std::move(other.path_)),
        ours_(std::exchange(other.ours_, false)) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;
  Token& operator=(Token&&) = delete;
  ~Token() {
    if (ours_) http::remove_token_file(path_, text_);
  }

  const std::string& text() const { return text_; }
  const std::string& path() const { return path_; }  // empty: none is asked for

 private:
  Token() = default;
  std::string text_;
  std::string path_;
  bool ours_ = false;
};

// For answers that are under way when the server is told to end.
constexpr std::chrono::milliseconds kEndGrace{500};

// `on_signal` is told which signal asks the server to end.
int serve_http(Server& server, const ServeOptions& options, std::function<void(int)>& on_signal) {
  const auto address = http::parse_address(options.http);
  if (!address) return complain(address.error().message, 2);
  io::Loop& loop = server.loop();
  auto listening = http::Server::listen(loop, *address);
  if (!listening) return complain(listening.error().message);
  http::Server& web = **listening;
  const auto token = Token::choose(options, web.port());
  if (!token) return complain(token.error().message);
  http::Admission admission;
  admission.port = web.port();
  admission.token = token->text();
  admission.how_to_authenticate =
      "send the header \"Authorization: Bearer TOKEN\"; ttyward mcp printed the name of the token's file "
      "when it started\n";
  Endpoint endpoint(server, std::move(admission));
  web.serve([&](const std::shared_ptr<http::Exchange>& exchange) { endpoint.handle(exchange); });
  int ended_by = 0;
  on_signal = [&](int number) {
    if (std::exchange(ended_by, number) != 0) return loop.stop();  // told twice: at once
    endpoint.end_streams();
    web.shut_down(kEndGrace, [&] { loop.stop(); });
  };
  const std::string host = address->v6 ? "[::1]" : "127.0.0.1";
  std::fprintf(stderr, "ttyward mcp: http://%s:%d/mcp\n", host.c_str(), web.port());
  if (!token->path().empty())
    std::fprintf(stderr, "ttyward mcp: clients send \"Authorization: Bearer TOKEN\"; the token is in %s\n",
                 token->path().c_str());
  web.run();
  return ended_by == 0 ? 0 : 128 + ended_by;
}

client::Options connection(const client::OwnSession& session, const char* role) {
  client::Options out;
  out.role = role;
  out.client = std::string("ttyward mcp") + (std::string(role) == "dialogue" ? " (dialogue)" : "");
  out.reader = "mcp-" + session.name;
  out.session = session.name;
  out.secret = session.secret;
  return out;
}

// Whoever starts us says how much runs without a question, as a person does: for a program that an agent has
// started the daemon refuses.
base::Result<void> choose_mode(const client::OwnSession& session, const std::string& mode) {
  client::Options options;
  options.client = "ttyward mcp";
  auto person = client::Session::open(std::move(options));
  if (!person) return tl::unexpected(person.error());
  const auto set = person->call("mode", {{"session", session.name}, {"set", mode}});
  if (!set)
    return base::fail(base::ErrorCode::PermissionDenied, "--mode " + mode + ": " + set.error().message);
  return {};
}

}  // namespace

int serve(const ServeOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  auto loop = io::Loop::create();
  if (!loop) return complain(loop.error().message);
  // Before any thread is made: threads inherit which signals are blocked.
  std::function<void(int)> on_signal = [&](int) { (*loop)->stop(); };
  std::unique_ptr<io::Signals> signals;
  if (!options.http.empty()) {
    auto watched =
        io::Signals::watch(**loop, {SIGTERM, SIGINT, SIGHUP}, [&](int number) { on_signal(number); });
    if (!watched) return complain(watched.error().message);
    signals = std::move(*watched);
  }
  Notices notices;
  const auto run = [&](Catalog& catalog) {
    Server server(**loop, catalog, notices);
    return options.http.empty() ? serve_stdio(server) : serve_http(server, options, on_signal);
  };
  if (options.conformance) {
    conformance::Fixtures fixtures(notices);
    return run(fixtures);
  }
  auto session = options.session.empty() ? base::Result<client::OwnSession>(client::new_session('m'))
                                         : client::named_session(base::user_folders(), options.session);
  if (!session) return complain(session.error().message);
  if (!options.mode.empty()) {
    if (auto chosen = choose_mode(*session, options.mode); !chosen) return complain(chosen.error().message);
  }
  auto roots = tools::Roots::open(options.roots);
  if (!roots) return complain(roots.error().message, 2);
  client::Client agent(**loop, connection(*session, "agent"), client::Client::Presence::AtNeed);
  // Over HTTP whoever has the token could answer, the agent's own programs among them.
  const bool dialogue = options.http.empty() || options.http_dialogue;
  client::Client person(**loop, connection(*session, dialogue ? "dialogue" : "agent"),
                        client::Client::Presence::AtNeed);
  tools::Terminals terminals(**loop, {agent, person}, notices, std::move(*roots), session->name);
  terminals.set_aliases(options.aliases);
  terminals.set_sandbox(options.sandbox);
  if (options.wait.count() > 0) terminals.set_wait(options.wait);
  agent.connect();
  return run(terminals);
}

}  // namespace ttyward::mcp
