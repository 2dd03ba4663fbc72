#include "mcp/serve.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/folders.h"
#include "base/hex.h"
#include "base/ids.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "base/sha256.h"
#include "io/loop.h"
#include "mcp/conformance/fixtures.h"
#include "mcp/http/endpoint.h"
#include "mcp/http/guard.h"
#include "mcp/http/listener.h"
#include "mcp/notices.h"
#include "mcp/server.h"
#include "mcp/socket_backend.h"
#include "mcp/stdio.h"
#include "mcp/tools/terminals.h"

namespace ttyward::mcp {
namespace {

constexpr int kExitFailure = 125;

int complain(const std::string& message, int code = kExitFailure) {
  std::fprintf(stderr, "ttyward mcp: %s\n", message.c_str());
  return code;
}

int serve_stdio(Server& server) {
  auto stdio = Stdio::start(server, STDIN_FILENO, STDOUT_FILENO, [&server] { server.loop().stop(); });
  if (!stdio) return complain(stdio.error().message);
  server.loop().run();
  return 0;
}

base::Result<std::string> choose_token(const ServeOptions& options, std::string& path) {
  if (options.conformance) return std::string();
  if (!options.token_file.empty()) {
    path = options.token_file;
    return base::read_secret_file(path);
  }
  const std::string folder = base::user_folders().sockets();
  if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  path = folder + "/mcp-token";
  return http::make_token_file(path);
}

int serve_http(Server& server, const ServeOptions& options) {
  const auto address = http::parse_address(options.http);
  if (!address) return complain(address.error().message, 2);
  std::string token_path;
  const auto token = choose_token(options, token_path);
  if (!token) return complain(token.error().message);
  auto listener = http::Listener::start(server.loop(), *address);
  if (!listener) return complain(listener.error().message);
  http::Endpoint endpoint(server, (*listener)->port(), *token);
  (*listener)->serve(endpoint);
  const std::string host = address->v6 ? "[::1]" : "127.0.0.1";
  std::fprintf(stderr, "ttyward mcp: http://%s:%d/mcp\n", host.c_str(), (*listener)->port());
  if (!token_path.empty())
    std::fprintf(stderr, "ttyward mcp: clients send \"Authorization: Bearer TOKEN\"; the token is in %s\n",
                 token_path.c_str());
  server.loop().run();
  return 0;
}

struct OwnSession {
  std::string name;
  std::string secret;  // proves to the daemon that it is ours
};

// One that has a name is found again by the next process of that name: its secret is in a file.
base::Result<OwnSession> own_session(const std::string& name) {
  if (name.empty()) return OwnSession{base::random_id('m'), base::random_secret()};
  const std::string folder = base::user_folders().state + "/session-secrets";
  if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  const std::string path = folder + "/" + base::to_hex(base::sha256(name));
  std::string secret = base::random_secret();
  auto written = base::write_secret_file(path, secret);
  if (written) return OwnSession{name, std::move(secret)};
  auto kept = base::read_secret_file(path);
  if (!kept) return tl::unexpected(kept.error());
  return OwnSession{name, std::move(*kept)};
}

client::Options connection(const OwnSession& session, const char* role) {
  client::Options out;
  out.role = role;
  out.client = std::string("ttyward mcp") + (std::string(role) == "dialogue" ? " (dialogue)" : "");
  out.reader = "mcp-" + session.name;
  out.session = session.name;
  out.secret = session.secret;
  return out;
}

}  // namespace

int serve(const ServeOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  auto loop = io::Loop::create();
  if (!loop) return complain(loop.error().message);
  Notices notices;
  const auto run = [&](Catalog& catalog) {
    Server server(**loop, catalog, notices);
    return options.http.empty() ? serve_stdio(server) : serve_http(server, options);
  };
  if (options.conformance) {
    conformance::Fixtures fixtures(notices);
    return run(fixtures);
  }
  auto session = own_session(options.session);
  if (!session) return complain(session.error().message);
  auto roots = tools::Roots::open(options.roots);
  if (!roots) return complain(roots.error().message, 2);
  SocketBackend agent(**loop, connection(*session, "agent"));
  // Over HTTP whoever has the token could answer, the agent's own programs among them.
  const bool dialogue = options.http.empty() || options.http_dialogue;
  SocketBackend person(**loop, connection(*session, dialogue ? "dialogue" : "agent"));
  tools::Terminals terminals(**loop, {agent, person}, notices, std::move(*roots), session->name);
  agent.connect();
  return run(terminals);
}

}  // namespace ttyward::mcp
