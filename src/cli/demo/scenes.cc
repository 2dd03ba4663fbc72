#include "cli/demo/scenes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/fields.h"

namespace ttyward::cli::demo {
namespace {

namespace json = boost::json;

constexpr const char* kTerminal = "tour";

// An answer; where there is none, the error is told as a claim that did not hold, and the object is empty.
json::object ask(Teller& tell, client::Session& session, std::string_view call, json::object args) {
  auto answer = session.call(call, std::move(args));
  if (answer) return std::move(*answer);
  tell.claim(false, fmt::format("{}: {}", call, answer.error().message));
  return {};
}

json::object exec(Teller& tell, client::Session& session, const std::string& command) {
  return ask(tell, session, "exec",
             {{"terminal", kTerminal}, {"command", command}, {"wait_for_input", false}, {"on_busy", "wait"}});
}

json::object wait_for_end(Teller& tell, client::Session& session, const std::string& command_id) {
  const json::object answer =
      ask(tell, session, "wait", {{"command", command_id}, {"exit", true}, {"timeout_ms", 30'000}});
  const json::object* result = object_in(answer, "result");
  return result != nullptr ? *result : json::object();
}

void true_ends(Stage& stage, Teller& tell) {
  tell.heading("How a command ended is known, not guessed");
  const std::string missing = "ls /no/such/folder";
  tell.command("", missing);
  json::object result = exec(tell, stage.person(), missing);
  tell.output(text_in(result, "output"));
  tell.claim(number_in(result, "exit_code") == 2,
             fmt::format("exit code {}, known by {}", number_in(result, "exit_code").value_or(-1),
                         text_in(result, "known_by")));
  const std::string pipeline = "(exit 3) | cat";
  tell.command("", pipeline);
  result = exec(tell, stage.person(), pipeline);
  const json::value* parts = result.if_contains("pipeline");
  tell.claim(parts != nullptr && *parts == json::value{3, 0},
             fmt::format("exit code {}, and the pipeline's parts ended with 3 and 0",
                         number_in(result, "exit_code").value_or(-1)));
}

void a_question(Stage& stage, Teller& tell) {
  tell.heading("A command that asks for input is noticed, and can be answered");
  const std::string command = R"(bash -c 'read -p "Your favourite colour? " c; echo "so it is $c"')";
  tell.command("", command);
  const json::object asked = exec(tell, stage.person(), command);
  const json::object* waiting = object_in(asked, "waiting");
  const std::string prompt = waiting != nullptr ? text_in(*waiting, "prompt") : "";
  if (!tell.claim(text_in(asked, "state") == "awaiting_input",
                  fmt::format("it waits for a line: {}", prompt.empty() ? "nothing" : prompt))) {
    return;
  }
  if (waiting != nullptr) tell.say("evidence: " + text_in(*waiting, "evidence"));
  ask(tell, stage.person(), "input", {{"terminal", kTerminal}, {"text", "green\r"}});
  const json::object result = wait_for_end(tell, stage.person(), text_in(asked, "command_id"));
  tell.output(text_in(result, "output"));
  tell.claim(text_in(result, "output").find("so it is green") != std::string::npos &&
                 number_in(result, "exit_code") == 0,
             "answered, and it ended with 0");
}

void a_progress_bar(Stage& stage, Teller& tell) {
  tell.heading("Output is what a person would see");
  const std::string command =
      R"(for i in $(seq 1000); do printf '\rDownloading… %d of 1000' $i; done; printf '\nready\n')";
  tell.command("", command);
  const json::object result = exec(tell, stage.person(), command);
  const std::string output = text_in(result, "output");
  tell.output(output);
  tell.claim(output == "Downloading… 1000 of 1000\nready\n",
             fmt::format("1000 updates, {} bytes, shown as {} lines",
                         number_in(result, "total_bytes").value_or(0), std::ranges::count(output, '\n')));
}

void a_refusal(Stage& stage, Teller& tell) {
  tell.heading("A catastrophe is refused");
  tell.command("agent", "rm -rf /");
  const json::object result = exec(tell, stage.agent(), "rm -rf /");
  const json::object* verdict = object_in(result, "verdict");
  const std::vector<const json::object*> reasons =
      verdict != nullptr ? objects_in(*verdict, "reasons") : std::vector<const json::object*>();
  tell.claim(text_in(result, "state") == "denied" && !reasons.empty(),
             fmt::format("denied, because it {}", reasons.empty() ? "…" : text_in(*reasons.front(), "text")));
}

void a_consent(Stage& stage, Teller& tell) {
  tell.heading("A command that changes something needs approval, and only a person can give it");
  const std::string command = "touch made-by-the-agent";
  tell.command("agent", command);
  const json::object asked = ask(tell, stage.agent(), "exec",
                                 {{"terminal", kTerminal}, {"command", command}, {"yield_after_ms", 50}});
  const std::string approval = text_in(asked, "approval");
  const std::string file = stage.work() + "/made-by-the-agent";
  if (!tell.claim(text_in(asked, "state") == "pending_approval" && ::access(file.c_str(), F_OK) != 0,
                  "it waits for approval, and nothing was done")) {
    return;
  }
  tell.command("agent", "(tries to answer its own question)");
  const auto own = stage.agent().call("answer", {{"approval", approval}, {"decision", "allow"}});
  tell.claim(!own, "refused: " + (own ? std::string("not at all") : own.error().message));
  tell.command("person", "ttyward approvals allow " + approval);
  ask(tell, stage.person(), "answer", {{"approval", approval}, {"decision", "allow"}});
  const json::object result = wait_for_end(tell, stage.agent(), text_in(asked, "command_id"));
  tell.claim(number_in(result, "exit_code") == 0 && ::access(file.c_str(), F_OK) == 0,
             "allowed once, and now it has run");
}

void a_crash(Stage& stage, Teller& tell) {
  tell.heading("The daemon may die; commands do not");
  const std::string command = "bash -c 'sleep 1; echo still here; touch finished; exit 7'";
  tell.command("", command);
  const json::object begun = ask(tell, stage.person(), "exec",
                                 {{"terminal", kTerminal}, {"command", command}, {"yield_after_ms", 100}});
  const pid_t before = stage.daemon_pid();
  tell.command("", fmt::format("kill -9 {}    # the daemon", before));
  if (const auto killed = stage.kill_daemon(); !killed) {
    tell.claim(false, killed.error().message);
    return;
  }
  tell.claim(stage.file_appears("finished"), "the command ran on while there was no daemon");
  const json::object result = wait_for_end(tell, stage.person(), text_in(begun, "command_id"));
  tell.output(text_in(result, "output"));
  tell.claim(stage.daemon_pid() != before && number_in(result, "exit_code") == 7 &&
                 text_in(result, "output") == "still here\n",
             fmt::format("the new daemon knows its output and its exit code {}",
                         number_in(result, "exit_code").value_or(-1)));
}

// Nothing to see: everybody's terminal for the scenes that follow.
void open_terminal(Stage& stage, Teller& tell) {
  ask(tell, stage.agent(), "open", {{"name", kTerminal}, {"cwd", stage.work()}, {"shell", "bash"}});
}

}  // namespace

std::span<const Scene> scenes() {
  static constexpr std::array<Scene, 7> kScenes = {open_terminal, true_ends, a_question, a_progress_bar,
                                                   a_refusal,     a_consent, a_crash};
  return kScenes;
}

}  // namespace ttyward::cli::demo
