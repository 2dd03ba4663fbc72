#include "acp/terminals.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/ids.h"
#include "pty/executable.h"
#include "rpc/message.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::acp {
namespace {

constexpr size_t kUsualLimit = 1 << 20;  // of output, where the agent names none
constexpr size_t kLargestLimit = 16 << 20;
constexpr std::chrono::milliseconds kStartPoll{20};
constexpr int kStartAttempts = 250;
constexpr std::chrono::milliseconds kBehind{20};

std::string new_terminal_id(const std::string& command_id) {
  return "term_" + command_id + base::random_id('x').substr(1);
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Whether `command` by itself names a program, as seen from `cwd`.
bool names_program(const std::string& command, const std::string& cwd,
                   const std::vector<std::string>& environment) {
  const base::UniqueFd folder(::open(cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::optional<std::string_view> path = pty::find_variable(environment, "PATH");
  if (const char* ours = std::getenv("PATH"); !path && ours != nullptr) path = ours;
  const pty::Executable found = pty::find_executable(folder ? folder.get() : AT_FDCWD, command, path);
  return found.sys_errno == 0;
}

// A name and nothing else: no word, quote or sign of a shell, and nothing that only a shell knows. If there
// is no such program, that is an error, as any client has it, and not a shell that ends with 127.
bool is_only_a_name(std::string_view command) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@%,";
  static constexpr std::array<std::string_view, 37> kShellOnly = {
      ".",     "alias", "bg",     "bind",   "builtin", "caller", "cd",    "command", "compgen", "declare",
      "dirs",  "eval",  "exec",   "exit",   "export",  "fc",     "fg",    "getopts", "hash",    "help",
      "jobs",  "let",   "local",  "logout", "mapfile", "popd",   "pushd", "read",    "return",  "set",
      "shopt", "times", "ulimit", "umask",  "unalias", "unset",  "wait"};
  return command.find_first_not_of(kPlain) == std::string_view::npos &&
         std::find(kShellOnly.begin(), kShellOnly.end(), command) == kShellOnly.end();
}

}  // namespace

bool Terminals::handle(const std::string& method, const AgentId& id, const json::object& params) {
  if (method == "terminal/create") {
    create(id, params);
    return true;
  }
  const bool known = method == "terminal/output" || method == "terminal/wait_for_exit" ||
                     method == "terminal/kill" || method == "terminal/release";
  if (!known) return false;
  const std::string terminal_id = rpc::text_or(params, "terminalId");
  const auto found = open_.find(terminal_id);
  if (found == open_.end()) {
    sides_.refuse_agent(id, kNotFound,
                        "there is no terminal " + terminal_id +
                            " in this session: it was released, or never existed; create one with "
                            "terminal/create");
    return true;
  }
  const std::shared_ptr<Terminal> terminal = found->second;
  if (method == "terminal/output") {
    output(id, terminal);
  } else if (method == "terminal/wait_for_exit") {
    wait_for_exit(id, terminal);
  } else if (method == "terminal/kill") {
    terminal->kill([this, alive = alive_, id] {
      if (*alive) sides_.answer_agent(id, json::object());
    });
  } else {
    release(id, terminal_id);
  }
  return true;
}

bool Terminals::run_request(const AgentId& id, const json::object& params, wire::RunRequest& run) const {
  const auto refuse = [&](std::string_view why) {
    sides_.refuse_agent(id, rpc::kInvalidParams, why);
    return false;
  };
  const auto command = rpc::text_at(params, "command");
  if (!command || command->empty()) return refuse("\"command\" is missing: name the program to run");
  std::vector<std::string> words = {*command};
  if (const json::array* args = rpc::array_at(params, "args")) {
    for (const json::value& each : *args) {
      if (!each.is_string()) return refuse("\"args\" must be a list of strings");
      words.emplace_back(rpc::view(each.get_string()));
    }
  } else if (!rpc::is_null(params, "args")) {
    return refuse("\"args\" must be a list of strings");
  }
  run.cwd = rpc::text_or(params, "cwd", cwd_);
  if (!run.cwd.starts_with('/')) return refuse("\"cwd\" must be an absolute path");
  if (!is_folder(run.cwd)) return refuse("\"cwd\" is not a folder: " + run.cwd);
  if (const json::array* variables = rpc::array_at(params, "env")) {
    for (const json::value& each : *variables) {
      const json::object* variable = each.if_object();
      const auto name = variable != nullptr ? rpc::text_at(*variable, "name") : std::nullopt;
      const auto value = variable != nullptr ? rpc::text_at(*variable, "value") : std::nullopt;
      if (!name || !value || name->empty() || name->find('=') != std::string::npos || has_nul(*name + *value))
        return refuse("\"env\" must be a list of {\"name\", \"value\"}");
      // What is so anyway is no change, and nobody has to be asked about it.
      if (const char* const same = std::getenv(name->c_str()); same != nullptr && *value == same) continue;
      run.env.entries.push_back(*name + "=" + *value);
    }
  }
  if (std::any_of(words.begin(), words.end(), has_nul))
    return refuse("a command cannot contain the character NUL");
  // The protocol means a program and its arguments; many agents send a line for a shell instead. Whichever it
  // is, policy judges what will run.
  const bool there = names_program(*command, run.cwd, run.env.entries);
  if (!there && words.size() == 1 && !is_only_a_name(*command)) {
    run.command = *command;
    return true;
  }
  // Nobody is asked whether something may run that is not there.
  if (!there) {
    sides_.refuse_agent(id, rpc::kInternalError,
                        "ttyward did not run this command: there is no program " + *command +
                            (command->find('/') != std::string::npos ? " as seen from " + run.cwd
                                                                     : " in the folders of PATH") +
                            "; name one that exists",
                        json::object{{"decision", "failed_to_start"}, {"command", *command}});
    return false;
  }
  run.argv = std::move(words);
  return true;
}

void Terminals::create(const AgentId& id, const json::object& params) {
  if (creating_.contains(id))
    return sides_.refuse_agent(id, rpc::kInvalidRequest,
                               "this id belongs to a request that is not answered yet");
  if (open_.size() + creating_.size() >= kMostOpen) {
    return sides_.refuse_agent(id, rpc::kInternalError,
                               "this session has 512 terminals that were not released: release some with "
                               "terminal/release");
  }
  wire::RunRequest run;
  if (!run_request(id, params, run)) return;
  size_t limit = kUsualLimit;
  if (const auto wanted = rpc::integer_at(params, "outputByteLimit"))
    limit = static_cast<size_t>(std::clamp<int64_t>(*wanted, 0, kLargestLimit));
  run.command_id = base::random_id('c');
  run.task = session_;
  run.sandbox = sandbox_;
  run.wait_for_input = true;
  // The agent has time limits of its own.
  run.timeout = std::chrono::milliseconds(0);
  run.idle_timeout = std::chrono::milliseconds(0);
  // Just long enough to know what became of it.
  run.yield_after = std::chrono::milliseconds(1);
  Creating& made = creating_[id];
  made.terminal = std::make_shared<Terminal>(sides_.loop(), daemon_, alive_, run.command_id, limit);
  made.terminal->cwd = run.cwd;
  daemon_.call<wire::RunRequest>(
      run, {}, [this, alive = alive_, id, terminal = made.terminal](client::AnswerOf<wire::RunRequest> came) {
        if (!*alive) return;
        // Given up meanwhile: what runs now runs for nobody.
        if (Creating* open = creating(id); open == nullptr || open->terminal != terminal)
          return terminal->kill([] {});
        ran(id, came);
      });
}

Terminals::Creating* Terminals::creating(const AgentId& id) {
  const auto found = creating_.find(id);
  return found != creating_.end() ? &found->second : nullptr;
}

void Terminals::refused(const AgentId& id, const std::string& why, const std::string& decision) {
  const Creating* const open = creating(id);
  if (open == nullptr) return;
  json::object data = {{"decision", decision}};
  if (!open->terminal->command.empty()) data["command"] = open->terminal->command;
  creating_.erase(id);
  sides_.refuse_agent(id, rpc::kInternalError, "ttyward did not run this command: " + why, std::move(data));
}

void Terminals::ran(const AgentId& id, const client::AnswerOf<wire::RunRequest>& came) {
  if (!came) return refused(id, came.error().message, "failed");
  creating(id)->terminal->command = came->command;
  if (came->state == "pending_approval") return ask(id, *came);
  if (came->state == "denied" || came->state == "skipped" || came->state == "failed_to_start")
    return refused(id, came->reason, came->state);
  started(id, *came);
}

void Terminals::ask(const AgentId& id, const wire::CommandResult& pending) {
  Creating& open = *creating(id);
  open.approval = pending.approval;
  std::string call = calls_.only_waiting();
  if (call.empty()) call = "ttyward-" + pending.command_id;
  json::object input = {{"command", pending.command}, {"cwd", pending.cwd}};
  json::array content;
  if (!pending.reason.empty()) {
    content.push_back(json::object{{"type", "content"},
                                   {"content", json::object{{"type", "text"}, {"text", pending.reason}}}});
  }
  json::object tool = {
      {"toolCallId", call},  {"title", pending.command},     {"kind", "execute"},
      {"status", "pending"}, {"rawInput", std::move(input)}, {"content", std::move(content)}};
  json::object params;
  params["sessionId"] = session_;
  params["toolCall"] = std::move(tool);
  params["options"] = own_options();
  params["_meta"] = json::object{{"ttyward", json::object{{"approval", pending.approval}}}};
  approvals_.show(pending.approval, std::move(params));
  wire::WaitRequest wait;
  wait.approval = pending.approval;
  wait.timeout = std::chrono::milliseconds(0);
  daemon_.call<wire::WaitRequest>(
      wait, {},
      [this, alive = alive_, id, approval = pending.approval](client::AnswerOf<wire::WaitRequest> answer) {
        if (!*alive) return;
        approvals_.close(approval);
        const Creating* still = creating(id);
        if (still != nullptr && still->approval == approval) decided(id, answer);
      });
}

void Terminals::decided(const AgentId& id, const client::AnswerOf<wire::WaitRequest>& came) {
  const wire::Approval* approval = came && came->approval && *came->approval ? &**came->approval : nullptr;
  if (approval == nullptr) {
    return refused(id,
                   "the question about it was lost" + (came ? std::string() : ": " + came.error().message) +
                       "; send it again",
                   "lost");
  }
  if (approval->state != "allowed") {
    return refused(
        id, approval->reason.empty() ? "a person was asked, and it was " + approval->state : approval->reason,
        approval->state);
  }
  creating(id)->approval.clear();
  await_start(id, 0);
}

// A command that a person allowed is started by the daemon, a moment later.
void Terminals::await_start(const AgentId& id, int attempt) {
  const Creating* const open = creating(id);
  if (open == nullptr) return;
  wire::ResultRequest request;
  request.command = open->terminal->command_id();
  daemon_.call<wire::ResultRequest>(
      request, {},
      [this, alive = alive_, id, attempt,
       terminal = open->terminal](client::AnswerOf<wire::ResultRequest> came) {
        if (!*alive) return;
        if (Creating* still = creating(id); still == nullptr || still->terminal != terminal)
          return terminal->kill([] {});
        if (came && came->state == "failed_to_start") return refused(id, came->reason, came->state);
        if (came && came->state != "pending_approval" && came->state != "queued") return started(id, *came);
        if (attempt >= kStartAttempts)
          return refused(id, came ? "it did not begin in time" : came.error().message, "failed");
        sides_.loop().after(kStartPoll, [this, alive, id, attempt, terminal] {
          if (!*alive) return;
          if (Creating* still = creating(id); still == nullptr || still->terminal != terminal)
            return terminal->kill([] {});
          await_start(id, attempt + 1);
        });
      });
}

void Terminals::started(const AgentId& id, const wire::CommandResult& result) {
  const std::shared_ptr<Terminal> terminal = creating(id)->terminal;
  terminal->terminal_id = result.terminal_id;
  // Of many that end at once the daemon keeps the newest: what is known of it already counts.
  const bool runs = result.state == "running" || result.state == "awaiting_input" || result.state == "queued";
  runs ? terminal->follow() : terminal->end(result);
  const std::string terminal_id = new_terminal_id(result.command_id);
  display_.add(terminal_id, terminal, [this, alive = alive_, id, terminal, terminal_id] {
    if (!*alive) return;
    if (creating_.erase(id) == 0) {
      display_.release(terminal_id);
      return terminal->kill([] {});
    }
    open_[terminal_id] = terminal;
    sides_.answer_agent(id, json::object{{"terminalId", terminal_id}});
  });
}

void Terminals::output(const AgentId& id, const std::shared_ptr<Terminal>& terminal) {
  if (reading_ >= kMostAsked)
    return sides_.refuse_agent(id, rpc::kInternalError,
                               "too many requests for output at once: wait for answers");
  reading_++;
  terminal->refresh([this, alive = alive_, id, terminal] {
    if (*alive) answer_output(id, terminal);
  });
}

// An agent that asks and does not read its answers waits for them: each may have megabytes.
void Terminals::answer_output(const AgentId& id, const std::shared_ptr<Terminal>& terminal) {
  if (sides_.agent_is_behind()) {
    sides_.loop().after(kBehind, [this, alive = alive_, id, terminal] {
      if (*alive) answer_output(id, terminal);
    });
    return;
  }
  reading_--;
  json::object answer;
  answer["output"] = terminal->text().text();
  answer["truncated"] = terminal->text().truncated();
  if (terminal->ended()) answer["exitStatus"] = terminal->exit_status();
  sides_.answer_agent(id, std::move(answer));
}

void Terminals::wait_for_exit(const AgentId& id, const std::shared_ptr<Terminal>& terminal) {
  if (waiting_.size() >= kMostAsked)
    return sides_.refuse_agent(id, rpc::kInternalError,
                               "too many requests wait for an end: wait for answers");
  waiting_.insert(id);
  terminal->when_ended([this, alive = alive_, id, terminal] {
    if (!*alive) return;
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;  // cancelled
    waiting_.erase(found);
    sides_.answer_agent(id, terminal->exit_status());
  });
}

void Terminals::release(const AgentId& id, const std::string& terminal_id) {
  const std::shared_ptr<Terminal> terminal = open_.at(terminal_id);
  open_.erase(terminal_id);
  display_.release(terminal_id);
  // Those who wait for its end get it: it ends now.
  if (!terminal->ended()) terminal->kill([] {});
  terminal->when_ended([this, alive = alive_, terminal] {
    // Behind whoever asked for its output before.
    terminal->refresh([this, alive, terminal] {
      if (*alive && reading_ == 0) terminal->keep_only(Display::kShownText);
    });
  });
  sides_.answer_agent(id, json::object());
}

void Terminals::abandon(const AgentId& id) {
  const Creating open = std::move(creating_.extract(id).mapped());
  if (open.approval.empty()) return;
  approvals_.close(open.approval);
  wire::WithdrawRequest withdraw;
  withdraw.approval = open.approval;
  daemon_.call<wire::WithdrawRequest>(withdraw, {}, [](const auto&) {});
}

bool Terminals::cancel(const AgentId& id) {
  if (creating_.contains(id)) {
    abandon(id);
  } else if (const auto found = waiting_.find(id); found != waiting_.end()) {
    waiting_.erase(found);
  } else {
    return false;
  }
  sides_.refuse_agent(id, rpc::kRequestCancelled, "the request was cancelled");
  return true;
}

void Terminals::cancel_questions() {
  std::vector<AgentId> asking;
  for (const auto& [id, open] : creating_) {
    if (!open.approval.empty()) asking.push_back(id);
  }
  for (const AgentId& id : asking) cancel(id);
}

void Terminals::release_all(const std::shared_ptr<void>& done) {
  for (const auto& [id, terminal] : std::exchange(open_, {})) {
    display_.release(id);
    if (!terminal->ended()) terminal->kill([done] {});
  }
  std::vector<AgentId> asking;
  for (const auto& [id, open] : creating_) {
    asking.push_back(id);
    // If the daemon is about to start it, it is ended as soon as that is known.
    const bool started = !open.terminal->terminal_id.empty();
    started ? open.terminal->kill([done] {}) : static_cast<void>(open.terminal->held = done);
  }
  for (const AgentId& id : asking) cancel(id);
}

}  // namespace ttyward::acp
