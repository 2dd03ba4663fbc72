#include "cli/demo/scenes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "wire/decoder.h"
#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli::demo {
namespace {

constexpr const char* kTerminal = "tour";

// An answer; where there is none, the error is told as a claim that did not hold, and the answer is empty.
template <client::Request R>
typename R::Answer ask(Teller& tell, client::Session& session, const R& request) {
  auto answer = session.call(request);
  if (answer) return std::move(*answer);
  tell.claim(false, fmt::format("{}: {}", R::kCall, answer.error().message));
  return {};
}

wire::CommandResult exec(Teller& tell, client::Session& session, const std::string& command,
                         std::optional<std::chrono::milliseconds> yield_after = {}) {
  wire::ExecRequest request;
  request.terminal = kTerminal;
  request.command = command;
  request.on_busy = wire::OnBusy::Wait;
  request.yield_after = yield_after;
  return ask(tell, session, request);
}

wire::CommandResult wait_for_end(Teller& tell, client::Session& session, const std::string& command_id) {
  wire::WaitRequest request;
  request.command = command_id;
  request.exit = true;
  return ask(tell, session, request).result.value_or(wire::CommandResult());
}

wire::AnswerRequest allowing(const std::string& approval) {
  wire::AnswerRequest request;
  request.approval = approval;
  request.decision = wire::AnswerWord::Allow;
  return request;
}

void true_ends(Stage& stage, Teller& tell) {
  tell.heading("How a command ended is known, not guessed");
  const std::string missing = "ls /no/such/folder";
  tell.command("", missing);
  wire::CommandResult result = exec(tell, stage.person(), missing);
  tell.output(result.output);
  tell.claim(result.exit_code == 2,
             fmt::format("exit code {}, known by {}", result.exit_code.value_or(-1), result.known_by));
  const std::string pipeline = "(exit 3) | cat";
  tell.command("", pipeline);
  result = exec(tell, stage.person(), pipeline);
  tell.claim(result.pipeline == std::vector<int64_t>{3, 0},
             fmt::format("exit code {}, and the pipeline's parts ended with 3 and 0",
                         result.exit_code.value_or(-1)));
}

void a_question(Stage& stage, Teller& tell) {
  tell.heading("A command that asks for input is noticed, and can be answered");
  const std::string command = R"(bash -c 'read -p "Your favourite colour? " c; echo "so it is $c"')";
  tell.command("", command);
  const wire::CommandResult asked = exec(tell, stage.person(), command);
  const std::string prompt = asked.waiting ? asked.waiting->prompt : "";
  if (!tell.claim(asked.state == "awaiting_input",
                  fmt::format("it waits for a line: {}", prompt.empty() ? "nothing" : prompt))) {
    return;
  }
  if (asked.waiting) tell.say("evidence: " + asked.waiting->evidence);
  wire::InputRequest answer;
  answer.terminal = kTerminal;
  answer.text = "green\r";
  ask(tell, stage.person(), answer);
  const wire::CommandResult result = wait_for_end(tell, stage.person(), asked.command_id);
  tell.output(result.output);
  tell.claim(result.output.find("so it is green") != std::string::npos && result.exit_code == 0,
             "answered, and it ended with 0");
}

void a_progress_bar(Stage& stage, Teller& tell) {
  tell.heading("Output is what a person would see");
  const std::string command =
      R"(for i in $(seq 1000); do printf '\rDownloading… %d of 1000' $i; done; printf '\nready\n')";
  tell.command("", command);
  const wire::CommandResult result = exec(tell, stage.person(), command);
  const std::string& output = result.output;
  tell.output(output);
  tell.claim(output == "Downloading… 1000 of 1000\nready\n",
             fmt::format("1000 updates, {} bytes, shown as {} lines", result.total_bytes,
                         std::ranges::count(output, '\n')));
}

void a_refusal(Stage& stage, Teller& tell) {
  tell.heading("A catastrophe is refused");
  tell.command("agent", "rm -rf /");
  const wire::CommandResult result = exec(tell, stage.agent(), "rm -rf /");
  const auto reasons = wire::decode(result.verdict).value_or(wire::Verdict()).reasons;
  tell.claim(result.state == "denied" && !reasons.empty(),
             fmt::format("denied, because it {}", reasons.empty() ? "…" : reasons.front().text));
}

void a_consent(Stage& stage, Teller& tell) {
  tell.heading("A command that changes something needs approval, and only a person can give it");
  const std::string command = "touch made-by-the-agent";
  tell.command("agent", command);
  const wire::CommandResult asked = exec(tell, stage.agent(), command, std::chrono::milliseconds(50));
  const std::string& approval = asked.approval;
  const std::string file = stage.work() + "/made-by-the-agent";
  if (!tell.claim(asked.state == "pending_approval" && ::access(file.c_str(), F_OK) != 0,
                  "it waits for approval, and nothing was done")) {
    return;
  }
  tell.command("agent", "(tries to answer its own question)");
  const auto own = stage.agent().call(allowing(approval));
  tell.claim(!own, "refused: " + (own ? std::string("not at all") : own.error().message));
  tell.command("person", "ttyward approvals allow " + approval);
  ask(tell, stage.person(), allowing(approval));
  const wire::CommandResult result = wait_for_end(tell, stage.agent(), asked.command_id);
  tell.claim(result.exit_code == 0 && ::access(file.c_str(), F_OK) == 0, "allowed once, and now it has run");
}

void a_crash(Stage& stage, Teller& tell) {
  tell.heading("The daemon may die; commands do not");
  const std::string command = "bash -c 'sleep 1; echo still here; touch finished; exit 7'";
  tell.command("", command);
  const wire::CommandResult begun = exec(tell, stage.person(), command, std::chrono::milliseconds(100));
  const pid_t before = stage.daemon_pid();
  tell.command("", fmt::format("kill -9 {}    # the daemon", before));
  if (const auto killed = stage.kill_daemon(); !killed) {
    tell.claim(false, killed.error().message);
    return;
  }
  tell.claim(stage.file_appears("finished"), "the command ran on while there was no daemon");
  const wire::CommandResult result = wait_for_end(tell, stage.person(), begun.command_id);
  tell.output(result.output);
  tell.claim(
      stage.daemon_pid() != before && result.exit_code == 7 && result.output == "still here\n",
      fmt::format("the new daemon knows its output and its exit code {}", result.exit_code.value_or(-1)));
}

// Nothing to see: everybody's terminal for the scenes that follow.
void open_terminal(Stage& stage, Teller& tell) {
  wire::OpenRequest request;
  request.name = kTerminal;
  request.cwd = stage.work();
  request.shell = "bash";
  ask(tell, stage.agent(), request);
}

}  // namespace

std::span<const Scene> scenes() {
  static constexpr std::array<Scene, 7> kScenes = {open_terminal, true_ends, a_question, a_progress_bar,
                                                   a_refusal,     a_consent, a_crash};
  return kScenes;
}

}  // namespace ttyward::cli::demo
