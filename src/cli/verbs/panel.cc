// ttyward panel: terminals and questions in a browser.
#include <memory>

#include "cli/daemon_verb.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"
#include "client/session.h"
#include "panel/serve.h"

namespace ttyward::cli {
namespace panel_verb {
namespace {

constexpr const char* kAddress = "127.0.0.1";

int serve(panel::ServeOptions options, const std::string& address, const Globals& globals) {
  if (globals.json)
    return complain("panel", "panel has no JSON output; its link is its only line", kExitUsage);
  if (!panel::is_built()) {
    return complain("panel",
                    "this ttyward was built without the panel. In its source tree run ./ttyward panel, which "
                    "builds it (Node 18 or newer), or install the package",
                    kExitFailure);
  }
  if (address != kAddress && address != "localhost") {
    const std::string port = options.port == 0 ? "PORT" : std::to_string(options.port);
    return complain(
        "panel",
        "the panel listens on 127.0.0.1 only, since it has no TLS of its own. To use it from another "
        "machine, run there: ssh -L " +
            port + ":127.0.0.1:" + port + " THIS-MACHINE",
        kExitUsage);
  }
  options.daemon = client_options("panel");
  options.daemon.reader.clear();
  if (options.daemon.role != "person")
    return complain("panel", "the panel is for people; an agent has ttyward mcp", kExitUsage);
  if (options.view_only) options.daemon.role = "viewer";
  // Every page connects by itself; whether this program counts as a person is better said now.
  {
    const auto session = client::Session::open(options.daemon);
    if (!session) return complain("panel", session.error().message, kExitFailure);
    const wire::Welcome& welcome = session->welcome();
    if (welcome.role != options.daemon.role) {
      return complain(
          "panel",
          "the daemon does not count you as a person: " + welcome.why +
              ". Start the panel in a terminal of your own, name the file of `ttyward person token` in "
              "TTYWARD_PERSON_TOKEN_FILE, or use --view-only",
          kExitFailure);
    }
  }
  return panel::serve(options,
                      [](const std::string& message) { return complain("panel", message, kExitFailure); });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<panel::ServeOptions>();
  auto address = std::make_shared<std::string>(kAddress);
  app.add_option(
         "--port", options->port,
         "The port on 127.0.0.1 (default: any that is free). With a port of its own choice a panel that is "
         "started again is found by its open pages")
      ->check(CLI::Range(0, 65535));
  app.add_option("--address", *address,
                 "127.0.0.1, and nothing else: from another machine use ssh -L PORT:127.0.0.1:PORT")
      ->type_name("ADDRESS");
  app.add_flag("--open", options->open, "Open it in the browser instead of printing a link");
  app.add_option(
         "--metrics-token", options->metrics_token_file,
         "Serve counts for Prometheus at /metrics to whoever sends the token in this file; a new token "
         "is written to it if it is not there")
      ->type_name("FILE");
  app.add_flag("--view-only", options->view_only, "Whoever opens a link can watch and change nothing");
  return [options, address, &globals] { return serve(*options, *address, globals); };
}

}  // namespace
}  // namespace panel_verb

const Verb kPanel = {"panel", "See, approve and take over in a browser", panel_verb::declare};

}  // namespace ttyward::cli
