// One HTTP POST to a collector, on the caller's thread, within a time limit.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/http_endpoint.h"
#include "base/result.h"

namespace ttyward::telemetry {

struct PostRequest {
  base::HttpEndpoint endpoint;
  std::string_view path;  // behind the endpoint's own
  std::string_view body;  // JSON
  std::string_view agent;
};

using Clock = std::chrono::steady_clock;

// The status of the answer. `hurry` is a descriptor (an eventfd): once it is readable, the time limit is
// `until_then` from that moment, if that is sooner.
base::Result<int> post(const PostRequest& request, Clock::time_point until, int hurry,
                       std::chrono::milliseconds until_then);

}  // namespace ttyward::telemetry
