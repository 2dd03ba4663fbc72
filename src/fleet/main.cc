// ttyward-fleet: started by `ttyward fleet`, with an Invocation as its only argument; a long one is in an
// open file, and the argument is "@" and its descriptor.
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "fleet/messages.h"
#include "fleet/say.h"
#include "fleet/verbs.h"
#include "fleet/worker.h"

int main(int argc, char** argv) {
  using namespace ttyward::fleet;
  if (argc != 2) return complain("this program is a part of ttyward: run ttyward fleet", kExitUsage);
  std::string text = argv[1];
  if (text.starts_with("@")) {
    std::ifstream in("/proc/self/fd/" + text.substr(1));
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
  }
  const auto invocation = read_as<Invocation>(text);
  if (!invocation)
    return complain("ttyward and ttyward-fleet do not fit together (" + invocation.error().message +
                        "): install both from the same version",
                    kExitFailure);
  if (invocation->json) say_as_json();
  static const std::map<std::string, int (*)(const Invocation&)> kActions = {
      {"worker", &work},   {"run", &run_job},   {"batch", &run_batch},     {"ls", &list_fleet},
      {"show", &show_job}, {"read", &read_job}, {"approvals", &approvals}, {"attach", &attach},
      {"demo", &demo},     {"key", &make_key},
  };
  const auto found = kActions.find(invocation->action);
  if (found == kActions.end()) return complain("there is no verb " + invocation->action, kExitUsage);
  return found->second(*invocation);
}
