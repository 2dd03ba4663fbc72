// How bad a program's everyday uses are, where its row in programs.toml cannot say it: a row stands for many
// programs and subcommands. The scale is in docs/policy.md; risk_test.cc holds what it comes to.
#pragma once

#include "policy/invocation.h"

namespace ttyward::policy {

// Puts the objections to `call` on the scale, once its row was applied. Commands that it starts are those
// from `inner_from` on in the walk's facts.
void scale_risks(Invocation& call, size_t inner_from);

}  // namespace ttyward::policy
