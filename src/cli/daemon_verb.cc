#include "cli/daemon_verb.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <boost/json/serialize.hpp>

#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/verb.h"

namespace ttyward::cli {

using client::CallFailure;
using wire::Code;

config::Loaded load_here() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return config::load(base::user_folders(), current_folder(), environment);
}

client::Options client_options(const char* verb) {
  client::Options options = daemon_options(verb);
  options.reader = "cli";
  options.start_daemon = load_here().settings.daemon.autostart;
  return options;
}

int exit_code_of(const CallFailure& failure) {
  if (failure.connection_lost()) return kExitFailure;
  switch (failure.code) {
    case Code::InvalidArgument:
    case Code::NotFound:
    case Code::AlreadyExists:
      return kExitUsage;
    case Code::Denied:
      return 126;
    default:
      return kExitFailure;
  }
}

int with_daemon(const char* verb, const std::function<Outcome(client::Session&)>& then) {
  return with_daemon(verb, client_options(verb), then);
}

int with_daemon(const char* verb, const client::Options& options,
                const std::function<Outcome(client::Session&)>& then) {
  auto session = client::Session::open(options);
  if (!session) return complain(verb, session.error().message, kExitFailure);
  show_notices(session->welcome());
  const Outcome outcome = then(*session);
  return outcome ? *outcome : complain(verb, outcome.error().message, exit_code_of(outcome.error()));
}

tl::unexpected<CallFailure> refuse(const base::Error& error) {
  CallFailure failure;
  failure.code = wire::call_error(error).code;
  failure.message = error.message;
  return tl::unexpected(std::move(failure));
}

tl::unexpected<CallFailure> refuse(std::string message) {
  CallFailure failure;
  failure.code = Code::InvalidArgument;
  failure.message = std::move(message);
  return tl::unexpected(std::move(failure));
}

int print_text(const char* verb, std::string_view text) {
  ::signal(SIGPIPE, SIG_IGN);  // a reader that has had enough is no failure of ours
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return 0;
  if (errno == EPIPE) return 128 + SIGPIPE;
  return complain(verb, std::string("cannot write the result: ") + std::strerror(errno), kExitFailure);
}

int print_json(const char* verb, const boost::json::object& object) {
  return print_text(verb, boost::json::serialize(object) + "\n");
}

}  // namespace ttyward::cli
