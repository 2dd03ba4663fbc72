// The command line as a whole: parse, pick the verb, run it.
#pragma once

namespace ttyward::cli {

int run(int argc, char** argv);

}  // namespace ttyward::cli
