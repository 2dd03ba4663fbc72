// What each verb of `ttyward fleet` does, except worker. They return exit codes.
#pragma once

#include "fleet/invocation/invocation.h"

namespace ttyward::fleet {

int run_job(const Invocation& invocation);
int run_batch(const Invocation& invocation);
int list_fleet(const Invocation& invocation);
int show_job(const Invocation& invocation);
int read_job(const Invocation& invocation);
int approvals(const Invocation& invocation);
int attach(const Invocation& invocation);
int demo(const Invocation& invocation);
int make_key(const Invocation& invocation);

}  // namespace ttyward::fleet
