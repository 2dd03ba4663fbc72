// Recognisers of tools, one file each. Each looks at the page, and decides only about lines it is sure of:
// it folds steps that went well, ranks lines, and adds facts. Everything else is left to the general folds.
#pragma once

#include "digest/page.h"

namespace ttyward::digest {

void know_diagnostics(Page& page);  // gcc, clang, ld, tsc, rustc, go, javac, eslint, shellcheck
void hide_source(Page& page);       // what they and test runners quote of it
void know_tests(Page& page);     // ctest, gtest, pytest, unittest, jest, vitest, mocha, node:test, go, cargo
void know_steps(Page& page);     // make, ninja, cmake, apt, pip, npm, cargo, maven, docker, terraform
void know_traces(Page& page);    // python, node, java, go, rust, gdb, sanitizers, valgrind
void know_git(Page& page);       // status, log, blame
void read_listing(Page& page);   // ls, dir: their entries as data
void know_listings(Page& page);  // ls, find, tree, du
void know_searches(Page& page);  // grep, rg
void know_json(Page& page);
void know_boilerplate(Page& page);      // banners and advice of many tools
void know_memory_checkers(Page& page);  // valgrind, sanitizers
void know_go_traces(Page& page);
void know_dumps(Page& page);      // xxd, hexdump, od
void know_transfers(Page& page);  // curl, wget

}  // namespace ttyward::digest
