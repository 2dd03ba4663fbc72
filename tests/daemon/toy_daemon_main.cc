// A daemon with toy calls, started as `ttyward daemon run` is:
//   toy_daemon daemon run [--detach] --state DIR --runtime DIR --config DIR
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "daemon/basic_calls.h"
#include "daemon/process.h"

namespace ttyward {
namespace {

// wait {command, not_on}: answers at once, unless this is the daemon `not_on`: then never.
// exec: never answers. crash: kills the daemon, every time. Else as any daemon.
class ToyApplication final : public daemon::Application {
 public:
  explicit ToyApplication(daemon::Process& process)
      : process_(process), basic_(process, [this] { return reload(); }) {}
  void call(const daemon::Caller& caller, const std::string& name, boost::json::object args,
            daemon::Responder responder) override {
    if (basic_.call(caller, name, args, responder)) return;
    if (name == "wait" && args.contains("not_on") && args.at("not_on").as_string() != server_->id()) {
      return responder.ok({{"condition", "exit"}});
    }
    if (name == "check") std::abort();  // repeatable by its name, and deadly
    if (name == "echo") return responder.ok(args);
    if (name == "wait" || name == "exec" || name == "input") return kept_.push_back(responder);
    responder.fail({wire::Code::InvalidArgument, "there is no call '" + name + "'"});
  }
  void connection_closed(uint64_t) override {}
  daemon::Admission admit(pid_t, daemon::Role asked, const wire::Hello& hello) override {
    return {asked, asked == daemon::Role::Person, hello.session, {}, {}};
  }
  base::Result<void> start(io::Loop&, daemon::Server& server) override {
    server_ = &server;
    basic_.serve(server);
    const std::string& state = process_.folders().state;
    if (::access((state + "/refuse").c_str(), F_OK) == 0) {
      return base::fail(base::ErrorCode::Corrupt, "the history cannot be read");
    }
    return {};
  }
  std::vector<std::string> reload() override { return {"config.toml: line 1 is wrong"}; }
  void stop(bool kill_terminals, std::function<void()> done) override {
    process_.log().info(kill_terminals ? "toy stops, terminals too" : "toy stops");
    done();
  }

 private:
  daemon::Process& process_;
  daemon::BasicCalls basic_;
  daemon::Server* server_ = nullptr;
  std::vector<daemon::Responder> kept_;
};

}  // namespace
}  // namespace ttyward

int main(int argc, char** argv) {
  using namespace ttyward;
  daemon::RunOptions options;
  options.folders = base::user_folders();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--detach") options.where = daemon::Where::Background;
    if (word == "--state") options.folders.state = argv[++i];
    if (word == "--runtime") options.folders.runtime = argv[++i];
    if (word == "--config") options.folders.config = argv[++i];
  }
  return daemon::run(
      options, [](daemon::Process& process) { return std::make_unique<ToyApplication>(process); }, "toy");
}
