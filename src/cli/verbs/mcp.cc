// ttyward mcp: terminals for agents that speak the Model Context Protocol.
#include <memory>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/sandbox_option.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"
#include "mcp/serve.h"

namespace ttyward::cli {
namespace mcp_verb {
namespace {

std::function<int()> declare(CLI::App& app, const Globals&) {
  auto options = std::make_shared<mcp::ServeOptions>();
  app.add_option("--http", options->http,
                 "Serve Streamable HTTP on 127.0.0.1:PORT (0: a free port) instead of stdio");
  app.add_option("--token-file", options->token_file,
                 "HTTP: the file with the token that clients must send (default: a new token each time)");
  app.add_flag("--http-dialogue", options->http_dialogue,
               "HTTP: let clients that have the token answer questions in their dialogue");
  app.add_option("--root", options->roots,
                 "A folder in which commands may start; may be repeated (default: any)");
  app.add_option("--session", options->session,
                 "The name of this agent's session, for rules and reuse of terminals");
  choose(app.add_option("--mode", options->mode, "How much runs without asking (default: as configured)"),
         {"plan", "default", "auto-edit", "auto", "yolo"});
  add_sandbox_option(app, options->sandbox,
                     "Confine every command at least so: read-only, workspace, workspace+net (default: as "
                     "configured; docs/sandbox.md)");
  app.add_flag("--conformance", options->conformance,
               "Serve the fixtures of the official conformance suite, and no terminals");
  return [options] {
    const config::Loaded loaded = load_here();
    options->aliases = loaded.settings.mcp.aliases;
    if (loaded.is_set("times", "yield_after")) options->wait = loaded.settings.times.yield_after;
    return mcp::serve(*options);
  };
}

}  // namespace
}  // namespace mcp_verb

const Verb kMcp = {"mcp", "Serve terminals to agents over the Model Context Protocol", mcp_verb::declare};

}  // namespace ttyward::cli
