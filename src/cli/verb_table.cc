#include <vector>

#include "cli/setup/verb.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {

std::span<const Verb> verb_table() {
  // clang-format off: one line each, so that verbs are added and found line by line
  static const std::vector<Verb> kVerbs = {
      kRun,
      kBatch,
      kTry,
      kChanges,
      kApply,
      kUndo,
      kDiscard,
      kOpen,
      kExec,
      kPlaces,
      kSend,
      kExpect,
      kWait,
      kRead,
      kScreen,
      kLs,
      kShow,
      kKill,
      kInterrupt,
      kResize,
      kResume,
      kAttach,
      kSelect,
      kTop,
      kPanel,
      kRename,
      kAssign,
      kRelease,
      kLend,
      kRecord,
      kReplay,
      kRender,
      kDigest,
      kCheckVerb,
      kPrompt,
      kApprovals,
      kRules,
      kPerson,
      kHistory,
      kConfig,
      kEnv,
      kSetup,
      kMcp,
      kAcp,
      kAgent,
      kFleet,
      kDaemon,
      kDemo,
      kDoctor,
      kCompletion,
      kVersion,
      kManual,
  };
  // clang-format on
  return kVerbs;
}

}  // namespace ttyward::cli
