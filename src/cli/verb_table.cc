#include <vector>

#include "cli/verb.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {

std::span<const Verb> verb_table() {
  static const std::vector<Verb> kVerbs = {
      kRun,
      kBatch,
      kRender,
      kCheckVerb,
      kMcp,
      kDaemon,
  };
  return kVerbs;
}

}  // namespace ttyward::cli
