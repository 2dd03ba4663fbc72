// ttyward-hold: keeps commands alive here, and brings them from other places.
//
//   ttyward-hold         one command and its journal (hold/process.h)
//   ttyward-hold relay   in another place: speaks for its holders on stdin and stdout (relay/relay.h)
//   ttyward-hold link    here: keeps the stream to another place, and copies of its journals (relay/link.h)
#include <cstdio>
#include <string_view>

#include "hold/process.h"
#include "relay/link_process.h"
#include "relay/relay.h"

int main(int argc, char** argv) {
  if (argc == 1) return ttyward::hold::hold_process();
  const std::string_view verb = argv[1];
  if (verb == "relay") return ttyward::relay::relay_main(argc, argv);
  if (verb == "link") return ttyward::relay::link_process(argc, argv);
  if (verb == "--version") {
    std::printf("ttyward-hold %s\n", TTYWARD_VERSION);
    return 0;
  }
  std::fprintf(stderr, "%s %s: keeps one command alive; started by ttyward, not by hand\n", argv[0],
               TTYWARD_VERSION);
  return 2;
}
