// ttyward acp: stands between an editor and an agent that speak the Agent Client Protocol.
#include <memory>

#include "acp/serve.h"
#include "cli/sandbox_option.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace acp_verb {
namespace {

std::function<int()> declare(CLI::App& app, const Globals&) {
  auto options = std::make_shared<acp::ServeOptions>();
  app.add_option("AGENT", options->agent, "The agent's command and its arguments, after --")->required();
  app.add_option(
      "--profile", options->profile,
      "What is known about the agent: auto, none, the name of a profile, or a file (default: auto)");
  app.add_flag("!--no-mcp", options->inject_mcp,
               "Do not add ttyward's MCP server to the agent's sessions: it keeps its own shell, which "
               "nobody governs");
  app.add_option("--protocol", options->protocol,
                 "The newest version of the protocol to speak: 1, or 2, which is a draft (default: 1)")
      ->check(CLI::Range(1, 2));
  add_sandbox_option(
      app, options->sandbox,
      "Confine every command that the agent runs in ttyward at least so: read-only, workspace, "
      "workspace+net (default: as configured; docs/sandbox.md)");
  return [options] { return acp::serve(*options); };
}

}  // namespace
}  // namespace acp_verb

const Verb kAcp = {"acp", "Give an agent that an editor starts real terminals and one place of permission",
                   acp_verb::declare};

}  // namespace ttyward::cli
