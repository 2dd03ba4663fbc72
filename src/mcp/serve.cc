#include "mcp/serve.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/folders.h"
#include "base/ids.h"
#include "base/private_folder.h"
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
    return http::read_token_file(path);
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

client::Options connection(const ServeOptions& options, const std::string& session, const char* role) {
  client::Options out;
  out.role = role;
  out.client = std::string("ttyward mcp") + (std::string(role) == "person" ? " (dialogue)" : "");
  out.reader = "mcp-" + session;
  out.session = options.session.empty() ? session : options.session;
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
  const std::string session = options.session.empty() ? base::random_id('m') : options.session;
  auto roots = tools::Roots::open(options.roots);
  if (!roots) return complain(roots.error().message, 2);
  SocketBackend agent(**loop, connection(options, session, "agent"));
  SocketBackend person(**loop, connection(options, session, "person"));
  tools::Terminals terminals(**loop, {agent, person}, notices, std::move(*roots), session);
  terminals.set_aliases(options.aliases);
  agent.connect();
  return run(terminals);
}

}  // namespace ttyward::mcp
