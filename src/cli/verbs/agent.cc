// ttyward agent: runs an agent that speaks the Agent Client Protocol, in this terminal or for a script.
//
// It starts `ttyward acp -- AGENT…` and is its editor, so the agent's commands run in the daemon under the
// same policy as everywhere.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acp/agent_client.h"
#include "acp/approvals.h"
#include "acp/serve.h"
#include "cli/agent_view.h"
#include "cli/colour.h"
#include "cli/current_folder.h"
#include "cli/daemon_verb.h"
#include "cli/sandbox_option.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"
#include "io/loop.h"
#include "io/signals.h"
#include "rpc/json.h"
#include "rpc/request.h"

namespace ttyward::cli {
namespace agent_verb {
namespace {

namespace json = boost::json;

struct Arguments {
  std::vector<std::string> words;  // NAME PROMPT, or PROMPT with --command
  std::string command;
  std::string profile;
  std::string sandbox;
  std::string resume;
  std::string cwd;
  bool list = false;
  bool quiet = false;
};

struct Chosen {
  std::vector<std::string> argv;
  std::string profile = "auto";
  std::string participant;
  std::string shown;
  std::optional<std::string> prompt;
};

base::Result<Chosen> choose(const Arguments& args) {
  Chosen made;
  std::vector<std::string> rest = args.words;
  if (!args.command.empty()) {
    made.argv = {"/bin/sh", "-c", "exec " + args.command};
    made.shown = made.participant = args.command;
  } else {
    const auto agents = load_here().settings.agents;
    if (rest.empty()) {
      std::string names;
      for (const auto& [name, agent] : agents) names += (names.empty() ? "" : ", ") + name;
      return base::fail(base::ErrorCode::InvalidArgument,
                        "name an agent, or give one with --command; configured: " +
                            (names.empty() ? std::string("none (see [agents.NAME] in config.toml)") : names));
    }
    const auto found = agents.find(rest.front());
    if (found == agents.end()) {
      return base::fail(base::ErrorCode::InvalidArgument,
                        "there is no agent '" + rest.front() + "': add [agents." + rest.front() +
                            "] to config.toml, or give its command with --command");
    }
    made.argv = found->second.command;
    made.profile = found->second.profile;
    made.participant = found->second.participant.empty() ? found->first : found->second.participant;
    made.shown = found->second.display_name.empty() ? found->first : found->second.display_name;
    rest.erase(rest.begin());
  }
  if (!args.profile.empty()) made.profile = args.profile;
  for (const std::string& word : rest) made.prompt = made.prompt ? *made.prompt + " " + word : word;
  if (made.prompt == "-")
    made.prompt = std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  return made;
}

class Runner final : private io::Poller::Handler {
 public:
  Runner(io::Loop& loop, Chosen chosen, const Arguments& args, bool as_json)
      : loop_(loop),
        chosen_(std::move(chosen)),
        args_(args),
        json_(as_json),
        at_terminal_(!as_json && ::isatty(STDIN_FILENO) == 1),
        view_(Paint::for_stdout()) {}
  ~Runner() {
    finishing_ = true;
    listen(false);
  }

  int run() {
    std::vector<std::string> argv = {acp::own_program(), "acp", "--profile", chosen_.profile};
    if (!args_.sandbox.empty()) argv.insert(argv.end(), {"--sandbox", args_.sandbox});
    argv.emplace_back("--");
    argv.insert(argv.end(), chosen_.argv.begin(), chosen_.argv.end());
    std::vector<std::string> environment;
    for (char** each = environ; each != nullptr && *each != nullptr; each++) environment.emplace_back(*each);
    acp::AgentClient::Events events;
    events.update = [this](const json::object& update) { show(update); };
    events.permission = [this](uint64_t number, const json::object& params) { ask(number, params); };
    events.withdrawn = [this](uint64_t number) { withdrawn(number); };
    events.ended = [this](const std::string& why) { ended(why); };
    auto client = acp::AgentClient::start(loop_, argv, std::move(environment), std::move(events));
    if (!client) return complain("agent", client.error().message, kExitFailure);
    client_ = std::move(*client);
    client_->initialize([this](const rpc::Answer& answer) { initialized(answer); });
    loop_.run();
    return code_;
  }

  void signalled(int number) {
    // Ctrl-C cancels the turn first; everything else ends it.
    if (number != SIGINT) return finish(128 + number);
    if (!turn_ || std::exchange(cancelled_, true)) return finish(130);
    print(view_.end_text() + "Cancelling; Ctrl-C again ends the agent.\n");
    question_.reset();
    client_->cancel_turn();
  }

 private:
  void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  void print_line(const json::object& line) { print(json::serialize(line) + "\n"); }

  void fail(const std::string& what, const rpc::Answer& answer) {
    if (finishing_) return;  // it is what ends that fails
    complain("agent", what + ": " + answer.error, kExitFailure);
    finish(kExitFailure);
  }

  void initialized(const rpc::Answer& answer) {
    if (answer.object() == nullptr) return fail("the agent could not be initialized", answer);
    const std::string cwd = args_.cwd.empty() ? current_folder() : args_.cwd;
    if (args_.list) return client_->list_sessions(cwd, [this](const rpc::Answer& list) { listed(list); });
    const auto opened = [this](const rpc::Answer& session) {
      if (!session.result) return fail("there is no session", session);
      if (json_)
        print_line({{"session", client_->session()},
                    {"participant", chosen_.participant},
                    {"display_name", chosen_.shown}});
      next_turn();
    };
    args_.resume.empty() ? client_->new_session(cwd, opened)
                         : client_->resume_session(args_.resume, cwd, opened);
  }

  void listed(const rpc::Answer& answer) {
    const json::object* const result = answer.object();
    if (result == nullptr) return fail("the sessions cannot be listed", answer);
    const json::array* const sessions = rpc::array_at(*result, "sessions");
    if (json_) {
      print_line(*result);
    } else if (sessions != nullptr) {
      for (const json::value& each : *sessions) {
        const json::object* session = each.if_object();
        if (session == nullptr) continue;
        print(fmt::format("{}  {}  {}\n", one_line(rpc::text_or(*session, "sessionId")),
                          one_line(rpc::text_or(*session, "updatedAt")),
                          one_line(rpc::text_or(*session, "title"))));
      }
    }
    finish(0);
  }

  void next_turn() {
    if (chosen_.prompt) return prompt(*std::exchange(chosen_.prompt, std::nullopt));
    // Without a prompt, a person types one after the other.
    if (!at_terminal_ || (turns_ > 0 && !interactive_)) return finish(code_);
    interactive_ = true;
    print("> ");
    listen(true);
  }

  void prompt(const std::string& text) {
    turn_ = true;
    cancelled_ = false;
    turns_++;
    client_->prompt(text, [this](const rpc::Answer& answer) { turn_ended(answer); });
  }

  void turn_ended(const rpc::Answer& answer) {
    turn_ = false;
    question_.reset();
    const json::object* const result = answer.object();
    if (result == nullptr) return fail("the agent could not answer", answer);
    const std::string reason = rpc::text_or(*result, "stopReason");
    code_ = reason == "end_turn" ? 0 : reason == "cancelled" ? 130 : 1;
    if (json_) {
      print_line({{"result", *result}});
    } else {
      print(view_.end_text());
      if (reason != "end_turn") print(one_line(chosen_.shown) + " stopped: " + one_line(reason) + "\n");
    }
    next_turn();
  }

  void show(const json::object& update) {
    if (json_) return print_line({{"update", update}});
    if (!args_.quiet || rpc::text_or(update, "sessionUpdate") == "agent_message_chunk")
      print(view_.update(update, AgentView::Clock::now()));
  }

  // In a terminal the person is asked here. Otherwise a question that ttyward has, too, is left to its
  // approvals; one that nobody else could answer is rejected.
  void ask(uint64_t number, const json::object& params) {
    if (json_) print_line({{"permission", params}});
    if (at_terminal_) {
      waiting_.emplace_back(number, params);
      return ask_next();
    }
    const json::object* const meta = rpc::object_at(params, "_meta");
    const json::object* const ours = meta != nullptr ? rpc::object_at(*meta, "ttyward") : nullptr;
    const auto approval = ours != nullptr ? rpc::text_at(*ours, "approval") : std::nullopt;
    if (approval) {
      std::fprintf(stderr, "ttyward agent: waits for an answer: ttyward approvals (question %s)\n",
                   one_line(*approval).c_str());
      return;
    }
    client_->answer(number, acp::some_reject(acp::options_of(params)));
  }

  void ask_next() {
    if (question_ || waiting_.empty()) return;
    question_ = waiting_.front().first;
    options_ = acp::options_of(waiting_.front().second);
    print(view_.question(waiting_.front().second) + "Which? ");
    waiting_.erase(waiting_.begin());
    listen(true);
  }

  void withdrawn(uint64_t number) {
    std::erase_if(waiting_, [number](const auto& each) { return each.first == number; });
    if (question_ != number) return;
    question_.reset();
    print("\nIt was answered elsewhere.\n");
    listen(interactive_ && !turn_);
    ask_next();
  }

  void listen(bool wanted) {
    if (wanted == listening_) return;
    listening_ = wanted;
    if (wanted) {
      listening_ = loop_.poller().add(STDIN_FILENO, EPOLLIN, *this).has_value();
    } else {
      loop_.poller().remove(STDIN_FILENO);
    }
  }

  void on_ready(int, uint32_t) override {
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) {
      listen(false);
      if (question_) return decide("");
      return finish(code_);
    }
    typed_.append(bytes, static_cast<size_t>(got));
    const size_t end = typed_.find('\n');
    if (end == std::string::npos) return;
    const std::string line = typed_.substr(0, end);
    typed_.erase(0, end + 1);
    if (question_) return decide(line);
    if (turn_) return;
    listen(false);
    if (line.empty()) return next_turn();
    prompt(line);
  }

  void decide(const std::string& line) {
    const uint64_t number = *question_;
    std::string option;
    if (line == "y" || line == "Y") option = acp::plain_allow(options_, {});
    if (line == "n" || line == "N" || line.empty()) option = acp::some_reject(options_);
    size_t which = 0;
    if (option.empty() && !line.empty() && line.find_first_not_of("0123456789") == std::string::npos &&
        line.size() < 4) {
      which = static_cast<size_t>(std::stoul(line));
      if (which >= 1 && which <= options_.size()) option = options_[which - 1].id;
    }
    if (option.empty() && !line.empty()) {
      print(fmt::format("\"{}\" is not one of the options; type its number, y or n: ", one_line(line)));
      return;
    }
    question_.reset();
    client_->answer(number, option);
    ask_next();
  }

  void ended(const std::string& why) {
    if (!finishing_) {
      complain("agent", why + "; the log is acp.log in the state folder", kExitFailure);
      code_ = kExitFailure;
    }
    loop_.stop();
  }

  void finish(int code) {
    code_ = code;
    if (std::exchange(finishing_, true)) return loop_.stop();
    listen(false);
    loop_.post([this] { client_->close(); });
  }

  io::Loop& loop_;
  Chosen chosen_;
  const Arguments& args_;
  const bool json_;
  const bool at_terminal_;
  AgentView view_;
  std::unique_ptr<acp::AgentClient> client_;
  int code_ = 0;
  int turns_ = 0;
  bool turn_ = false;
  bool cancelled_ = false;
  bool interactive_ = false;
  bool finishing_ = false;
  bool listening_ = false;
  std::string typed_;
  std::optional<uint64_t> question_;
  std::vector<acp::Option> options_;
  std::vector<std::pair<uint64_t, json::object>> waiting_;
};

int run(const Arguments& args, const Globals& globals) {
  auto chosen = choose(args);
  if (!chosen) return complain("agent", chosen.error().message, kExitUsage);
  ::signal(SIGPIPE, SIG_IGN);
  auto loop = io::Loop::create();
  if (!loop) return complain("agent", loop.error().message, kExitFailure);
  std::function<void(int)> told = [](int) {};
  auto signals = io::Signals::watch(**loop, {SIGINT, SIGTERM, SIGHUP}, [&](int number) { told(number); });
  if (!signals) return complain("agent", signals.error().message, kExitFailure);
  Runner runner(**loop, std::move(*chosen), args, globals.json);
  told = [&](int number) { runner.signalled(number); };
  return runner.run();
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("WORDS", args->words,
                 "The agent's name in the configuration, and the prompt (-: read it from standard input)");
  app.add_option("--command", args->command, "The agent's command line, instead of a configured name");
  app.add_option("--profile", args->profile, "As in ttyward acp");
  add_sandbox_option(app, args->sandbox, "As in ttyward acp");
  app.add_option("--cwd", args->cwd, "The folder it works in (default: this one)");
  app.add_option("--resume", args->resume, "Go on with the session of this id");
  app.add_flag("--list", args->list, "List the agent's sessions, and end");
  app.add_flag("--quiet", args->quiet, "Print only the agent's text");
  return [args, &globals] { return run(*args, globals); };
}

}  // namespace
}  // namespace agent_verb

const Verb kAgent = {"agent", "Run an agent that speaks the Agent Client Protocol", agent_verb::declare};

}  // namespace ttyward::cli
