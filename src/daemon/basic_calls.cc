#include "daemon/basic_calls.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace ttyward::daemon {

namespace {

namespace json = boost::json;
using wire::Code;

int64_t memory_kib() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long long pages = 0;
  long long resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return read == 2 ? resident * (::sysconf(_SC_PAGESIZE) / 1024) : 0;
}

// The first argument that is not `allowed`; empty: none.
std::string unknown_argument(const json::object& args, std::string_view allowed) {
  for (const auto& member : args) {
    if (std::string_view(member.key().data(), member.key().size()) != allowed) return member.key();
  }
  return {};
}

}  // namespace

json::object BasicCalls::status() const {
  json::object status{
      {"pid", ::getpid()},
      {"version", TTYWARD_VERSION},
      {"started_at", process_.started_at()},
      {"connections", server_ != nullptr ? server_->connections() : 0},
      {"memory_kib", memory_kib()},
      {"warnings", json::array()},
  };
  if (more_) more_(status);
  return status;
}

void BasicCalls::stop(const Caller& caller, const json::object& args, const Responder& responder) {
  if (caller.role != Role::Person) {
    return responder.fail({Code::PermissionDenied, "only a person may stop the daemon"});
  }
  const json::value* kill = args.if_contains("kill_terminals");
  if (kill != nullptr && !kill->is_bool() && !kill->is_null()) {
    return responder.fail({Code::InvalidArgument, "'kill_terminals' must be true or false"});
  }
  responder.ok({});
  const bool all = kill != nullptr && kill->is_bool() && kill->get_bool();
  process_.log().info("told to stop by pid " + std::to_string(caller.pid));
  process_.request_stop(all ? Terminals::Kill : Terminals::LiveOn);
}

bool BasicCalls::call(const Caller& caller, const std::string& name, const json::object& args,
                      const Responder& responder) {
  if (name != "status" && name != "stop" && name != "reload") return false;
  const std::string unknown = unknown_argument(args, name == "stop" ? "kill_terminals" : "");
  if (!unknown.empty()) {
    responder.fail({Code::InvalidArgument, "'" + name + "' has no argument '" + unknown + "'"});
  } else if (name == "status") {
    responder.ok(status());
  } else if (name == "stop") {
    stop(caller, args, responder);
  } else if (caller.role != Role::Person) {
    responder.fail({Code::PermissionDenied, "only a person may reload the configuration"});
  } else {
    json::array errors;
    for (const std::string& error : reload_()) errors.emplace_back(error);
    responder.ok({{"errors", std::move(errors)}});
  }
  return true;
}

void BasicApplication::call(const Caller& caller, const std::string& name, json::object args,
                            Responder responder) {
  if (basic_.call(caller, name, args, responder)) return;
  responder.fail({Code::InvalidArgument, "there is no call '" + name + "'"});
}

base::Result<void> BasicApplication::start(io::Loop& /*loop*/, Server& server) {
  basic_.serve(server);
  return {};
}

}  // namespace ttyward::daemon
