// The names on the bus: subjects, streams, buckets, consumers. docs/fleet.md explains each.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::fleet {

inline constexpr const char* kJobStream = "TW_CMD";
inline constexpr const char* kQuestionStream = "TW_ASK";
inline constexpr const char* kHostBucket = "tw_host";
inline constexpr const char* kJobBucket = "tw_job";

// Where jobs wait that any host may take.
inline constexpr std::string_view kAnyPool = "any";

inline std::string pool_of_label(std::string_view label) {
  return "label-" + std::string(label);
}
inline std::string pool_subject(std::string_view pool) {
  return "tw1.cmd." + std::string(pool);
}
inline std::string host_subject(std::string_view host) {
  return "tw1.host." + std::string(host) + ".cmd";
}
inline std::string question_subject(std::string_view host, std::string_view approval) {
  return "tw1.ask." + std::string(host) + "." + std::string(approval);
}
inline std::string answer_subject(std::string_view host, std::string_view approval) {
  return "tw1.ans." + std::string(host) + "." + std::string(approval);
}
inline std::string request_subject(std::string_view host, std::string_view call) {
  return "tw1.req." + std::string(host) + "." + std::string(call);
}
// One open tunnel: to the host, and back.
inline std::string tunnel_in_subject(std::string_view host, std::string_view tunnel) {
  return "tw1.in." + std::string(host) + "." + std::string(tunnel);
}
inline std::string tunnel_out_subject(std::string_view host, std::string_view tunnel) {
  return "tw1.out." + std::string(host) + "." + std::string(tunnel);
}

// The name of this machine, as a name of a host.
std::string name_of_this_host();

}  // namespace ttyward::fleet
