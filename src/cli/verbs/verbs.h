// Every verb's definition; verb_table.cc puts them in the order people see.
#pragma once

#include "cli/verb.h"

namespace ttyward::cli {

extern const Verb kBatch;
extern const Verb kMcp;
extern const Verb kDaemon;
extern const Verb kRender;
extern const Verb kRun;
extern const Verb kCheckVerb;
extern const Verb kPrompt;
extern const Verb kApprovals;
extern const Verb kRules;
extern const Verb kHistory;
extern const Verb kConfig;
extern const Verb kDoctor;
extern const Verb kCompletion;
extern const Verb kManual;

}  // namespace ttyward::cli
