// Every verb's definition; verb_table.cc puts them in the order people see.
#pragma once

#include "cli/verb.h"

namespace ttyward::cli {

extern const Verb kBatch;
extern const Verb kMcp;
extern const Verb kAcp;
extern const Verb kAgent;
extern const Verb kFleet;
extern const Verb kDaemon;
extern const Verb kRecord;
extern const Verb kReplay;
extern const Verb kRender;
extern const Verb kDigest;
extern const Verb kRun;
extern const Verb kCheckVerb;
extern const Verb kPrompt;
extern const Verb kApprovals;
extern const Verb kRules;
extern const Verb kHistory;
extern const Verb kConfig;
extern const Verb kEnv;
extern const Verb kDemo;
extern const Verb kDoctor;
extern const Verb kCompletion;
extern const Verb kManual;
extern const Verb kVersion;
extern const Verb kOpen;
extern const Verb kExec;
extern const Verb kSend;
extern const Verb kExpect;
extern const Verb kWait;
extern const Verb kRead;
extern const Verb kScreen;
extern const Verb kLs;
extern const Verb kShow;
extern const Verb kKill;
extern const Verb kInterrupt;
extern const Verb kResize;
extern const Verb kResume;
extern const Verb kAttach;
extern const Verb kSelect;
extern const Verb kTop;
extern const Verb kPanel;
extern const Verb kRename;
extern const Verb kAssign;
extern const Verb kRelease;
extern const Verb kLend;
extern const Verb kPerson;
extern const Verb kPlaces;
extern const Verb kTry;
extern const Verb kChanges;
extern const Verb kApply;
extern const Verb kUndo;
extern const Verb kDiscard;

}  // namespace ttyward::cli
