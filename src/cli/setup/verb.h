// The verb of this folder, for verb_table.cc.
#pragma once

#include "cli/verb.h"

namespace ttyward::cli {

extern const Verb kSetup;

}  // namespace ttyward::cli
