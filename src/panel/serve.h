// `ttyward panel`: puts the parts together and runs until it is told to end. A composition root.
#pragma once

#include <functional>
#include <string>

#include "client/connection.h"

namespace ttyward::panel {

struct ServeOptions {
  int port = 0;                    // 0: any that is free
  bool open = false;               // open it in the person's browser
  bool view_only = false;          // nobody who comes this way can change anything
  std::string metrics_token_file;  // for programs that read /metrics; empty: nobody does
  client::Options daemon;          // how to reach it
};

// Whether this program has the page.
bool is_built();
// Returns the exit code; `complain` gets what is wrong.
int serve(const ServeOptions& options, const std::function<int(const std::string& message)>& complain);

}  // namespace ttyward::panel
