// What reaches a shell and what its marks are worth, with real shells and programs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "engine/agent_input.h"
#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using terminal::CommandState;
using testing::Bench;

bool installed(const std::string& program) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (::access((folder + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

struct Shell {
  const char* name;
  std::vector<std::string> argv;
};

class EveryShell : public ::testing::TestWithParam<Shell> {
 protected:
  void SetUp() override {
    if (!installed(GetParam().argv[0])) GTEST_SKIP() << GetParam().argv[0] << " is not installed";
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, EveryShell,
                         ::testing::Values(Shell{"bash", {"bash"}}, Shell{"zsh", {"zsh"}},
                                           Shell{"fish", {"fish"}}, Shell{"dash", {"dash"}},
                                           Shell{"ash", {"busybox", "ash"}}, Shell{"mksh", {"mksh"}},
                                           Shell{"ksh", {"ksh93"}}),
                         [](const auto& made) { return std::string(made.param.name); });

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Until the command of `t` asks for something, or ends.
bool until_it_asks(Bench& bench, Terminal& t) {
  t.want_input_state(1);
  bench.until([&] { return t.last()->over() || t.state() == Terminal::State::AwaitingInput; });
  t.want_input_state(-1);
  return t.state() == Terminal::State::AwaitingInput;
}

TEST_P(EveryShell, AFileThatIsShownTypesNothing) {
  Bench bench;
  Terminal& t = bench.shell(GetParam().argv);
  for (const char* query : {"\033[c", "\033[6n", "\033]4;1;?\a", "\033[?1;2$p", "\033[5n\n\033[c"}) {
    write_text(bench.root() + "/home/file", std::string("hello") + query + "\n");
    EXPECT_EQ(bench.exec(t, "cat file").exit_code, 0);
    const auto next = bench.exec(t, "echo hi");
    EXPECT_EQ(next.output.text, "hi\n") << ::testing::PrintToString(query);
    EXPECT_EQ(next.exit_code, 0);
  }
}

TEST(Environment, OfAShellThatReportsNoneIsReadFromItsCommands) {
  Bench bench;
  Terminal& t = bench.shell({"/bin/dash"});
  EXPECT_EQ(bench.exec(t, "export MODE=fast").exit_code, 0);
  EXPECT_EQ(t.environment_changes().at("MODE"), "fast");
  EXPECT_NE(bench.exec(t, "export 1x=wrong").exit_code, 0);
  EXPECT_EQ(t.environment_changes().count("1x"), 0U);
  const std::string token = "ghp_" + std::string(36, 'q');
  EXPECT_EQ(bench.exec(t, "export TOKEN=" + token).exit_code, 0);
  EXPECT_EQ(t.environment_changes().at("TOKEN"), "[hidden]");
}

TEST_P(EveryShell, WhatAProgramLeavesUnreadIsNoCommand) {
  if (!installed("less")) GTEST_SKIP() << "less is not installed";
  Bench bench;
  Terminal& t = bench.shell(GetParam().argv);
  write_text(bench.root() + "/home/file", "one\ntwo\n");
  for (const char* keys : {"qtouch pwned\r", "qtouch pwned", "qecho x\rtouch pwned\r\x18\x05"}) {
    auto command = t.submit(Bench::request("less file"));
    ASSERT_TRUE(command);
    ASSERT_TRUE(until_it_asks(bench, t));
    t.input(keys, Owner::Agent, [](const base::Result<void>& sent) { EXPECT_TRUE(sent); });
    bench.until([&] { return t.last()->over(); });
    const auto next = bench.exec(t, "echo hi");
    EXPECT_EQ(next.output.text, "hi\n") << keys;
    EXPECT_EQ(::access((bench.root() + "/home/pwned").c_str(), F_OK), -1) << keys;
  }
}

TEST(Queries, AProgramThatReadsIsAnswered) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto place = bench.exec(t, "printf '\\033[6n'; IFS= read -rsd R place; echo \"got ${place#*[}\"");
  EXPECT_TRUE(place.output.text.find("got ") != std::string::npos &&
              place.output.text.find(';') != std::string::npos)
      << place.output.text;
  const auto other =
      bench.exec(t,
                 "python3 -c 'import "
                 "os,sys,termios,tty\nold=termios.tcgetattr(0)\ntty.setraw(0)\nos.write(1,b\"\\x1b[c\")\n"
                 "a=b\"\"\nwhile not a.endswith(b\"c\"): a+=os.read(0,1)\n"
                 "termios.tcsetattr(0,termios.TCSANOW,old)\nprint(len(a)>3)'");
  EXPECT_NE(other.output.text.find("True"), std::string::npos) << other.output.text;
  EXPECT_EQ(bench.exec(t, "echo hi").output.text, "hi\n");
}

// --- the secret of marks

TEST_P(EveryShell, ANonceThatLeaksIsWorthNothing) {
  Bench bench;
  Terminal& t = bench.shell(GetParam().argv);
  const auto leaked = bench.exec(t, "echo $__ttyward_nonce");
  ASSERT_GE(leaked.output.text.size(), 32u);
  const std::string nonce = leaked.output.text.substr(0, 32);
  const auto forged =
      bench.exec(t, "printf '\\033]633;D;0;;1;" + nonce + "\\007'; sh -c 'echo after; exit 6'");
  EXPECT_EQ(forged.exit_code, 6);
  EXPECT_EQ(forged.output.text, "after\n");
}

TEST(Marks, ValuesOfOurVariablesAreNeverEvaluated) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string bomb = "'a[$(touch pwned)]'";
  for (const std::string& text : std::vector<std::string>{
           "__ttyward_s=" + bomb, "__ttyward_s[seen]=" + bomb, "__ttyward_h=" + bomb,
           "declare -i __ttyward_nonce", "declare -ig __ttyward_dir",
           "unset __ttyward_s; declare -n __ttyward_s=" + bomb, "unset __ttyward_h; __ttyward_h=" + bomb,
           "unset __ttyward_env; declare -ai __ttyward_env"}) {
    bench.exec(t, text);
    bench.exec(t, "true");
    const auto after = bench.exec(t, "echo hi; (exit 4)");
    EXPECT_EQ(after.output.text, "hi\n") << text;
    EXPECT_EQ(after.exit_code, 4) << text;
  }
  EXPECT_EQ(::access((bench.root() + "/home/pwned").c_str(), F_OK), -1);
}

TEST(Marks, ChangesAreReportedHoweverManyQuietCommandsCameBefore) {
  Bench bench;
  Terminal& t = bench.shell();
  for (const char* text : {"true", "echo hi", "ls /"}) bench.exec(t, text);
  EXPECT_TRUE(t.last()->quiet);
  bench.exec(t, "alias twx=ls; export TWX=1");
  EXPECT_FALSE(t.last()->quiet);
  bench.exec(t, "echo between");
  EXPECT_TRUE(t.last()->quiet);
  EXPECT_TRUE(t.reading().has_alias("twx"));
  EXPECT_EQ(bench.exec(t, "false | true").pipeline, (std::vector<int>{1, 0}));
  EXPECT_EQ(bench.exec(t, "cd /usr && pwd").cwd_after, "/usr");
  EXPECT_FALSE(t.environment_changes().empty());
  // Traps and hooks of others may change the shell at any time.
  bench.exec(t, "trap 'alias twy=ls' USR1");
  bench.exec(t, "kill -USR1 $$");
  EXPECT_TRUE(t.reading().has_alias("twy"));
  bench.exec(t, "trap - USR1");
  bench.exec(t, "PROMPT_COMMAND[5]='alias twz=ls'");
  bench.exec(t, "true");
  EXPECT_TRUE(t.reading().has_alias("twz"));
}

// The hooks trust the nonce that says so only as far as nothing is evaluated by it, and we do not trust it at
// all for a command that was not sent as a quiet one.
TEST(Marks, ACommandCannotPretendThatItChangedNothing) {
  const std::string bomb = "'a[$(touch pwned)]'";
  for (const std::string& text : std::vector<std::string>{
           "__ttyward_next=${__ttyward_next}q; alias twx=ls", "declare -i __ttyward_nonce; __ttyward_next=xq",
           "__ttyward_quiet=" + bomb + "; __ttyward_next=xq",
           "unset -n __ttyward_quiet; declare -n __ttyward_quiet=" + bomb + "; __ttyward_next=xq",
           "unset __ttyward_s; ran=" + bomb + "; __ttyward_next=xq"}) {
    Bench bench;
    Terminal& t = bench.shell();
    t.want_input_state(1);  // as a caller that waits does: the shell without valid marks is noticed
    bench.exec(t, "echo hi");
    bench.exec(t, text);
    EXPECT_TRUE(!t.reading().known || t.reading().has_alias("twx")) << text;
    EXPECT_EQ(::access((bench.root() + "/home/pwned").c_str(), F_OK), -1) << text;
  }
}

// --- shells without marks

struct Loss {
  const char* name;
  const char* command;
  shell::Quality quality;  // afterwards
};

class LossOfMarks : public ::testing::TestWithParam<Loss> {};

INSTANTIATE_TEST_SUITE_P(
    Bash, LossOfMarks,
    ::testing::Values(Loss{"exec_bash", "exec bash", shell::Quality::Rich},
                      Loss{"exec_zsh", "exec zsh -f", shell::Quality::Rich},
                      Loss{"exec_dash", "exec dash", shell::Quality::Basic},
                      Loss{"unset_hooks", "unset PROMPT_COMMAND PS0 PS1", shell::Quality::Rich},
                      Loss{"other_prompt_command", "PROMPT_COMMAND=(true :)", shell::Quality::Rich},
                      Loss{"no_promptvars", "shopt -u promptvars", shell::Quality::Rich},
                      Loss{"stderr_to_file", "exec 2>errors", shell::Quality::Rich},
                      Loss{"bash_inside", "bash --norc", shell::Quality::Rich},
                      Loss{"zsh_inside", "zsh -f", shell::Quality::Rich},
                      Loss{"dash_inside", "dash", shell::Quality::Basic},
                      Loss{"read_only_variable", "readonly __ttyward_next", shell::Quality::None}),
    [](const auto& made) { return std::string(made.param.name); });

TEST_P(LossOfMarks, TheTerminalWorksOn) {
  std::vector<std::string> told;
  Bench bench;
  Terminal& t = bench.shell();
  bench.host().on_quality = [&](const Terminal&, shell::Quality, shell::Quality to, const std::string&) {
    told.push_back(shell::quality_name(to));
  };
  t.want_input_state(1);  // as a caller that waits does
  const auto lost = bench.exec(t, GetParam().command);
  EXPECT_EQ(lost.state, CommandState::Exited) << terminal::command_state_name(lost.state);
  for (int i = 0; i < 2; i++) {
    const auto next = bench.exec(t, "echo alive; (exit 3)");
    EXPECT_EQ(next.output.text, "alive\n");
    EXPECT_EQ(next.exit_code, 3);
  }
  EXPECT_EQ(t.quality(), GetParam().quality);
  EXPECT_EQ(t.fallback_reason().empty(), GetParam().quality != shell::Quality::None) << t.fallback_reason();
  EXPECT_TRUE(lost.exit_code || !told.empty());
}

TEST(LostMarks, AShellInsideGoesAndTheOtherIsBack) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  Bench bench;
  Terminal& t = bench.shell();
  t.want_input_state(1);
  const auto inside = bench.exec(t, "zsh -f");
  EXPECT_EQ(inside.exit_code, std::nullopt);
  EXPECT_NE(inside.reason.find("zsh"), std::string::npos) << inside.reason;
  EXPECT_EQ(t.shell().kind, shell::ShellKind::Zsh);
  EXPECT_EQ(bench.exec(t, "echo $ZSH_VERSION").output.text.find("5."), 0u);
  EXPECT_EQ(bench.exec(t, "exit 4").exit_code, 4);
  EXPECT_EQ(bench.exec(t, "echo ${BASH_VERSION:+back}").output.text, "back\n");
  EXPECT_EQ(t.shell().kind, shell::ShellKind::Bash);
  EXPECT_EQ(t.quality(), shell::Quality::Rich);
  // The same again, as an engine after us finds it.
  const std::string id = t.id();
  bench.exec(t, "zsh -f");
  bench.exec(t, "true");
  bench.forget_all();
  Terminal& again = bench.recover(id);
  EXPECT_EQ(again.shell().kind, shell::ShellKind::Zsh);
  EXPECT_EQ(bench.exec(again, "echo $ZSH_VERSION; (exit 5)").exit_code, 5);
}

TEST(LostMarks, AQuestionOfTheShellItselfIsNoPrompt) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(Bench::request("read -e -p 'Name? ' name; echo \"<$name>\"")));
  ASSERT_TRUE(until_it_asks(bench, t));
  t.input("me\r", Owner::Agent, [](const base::Result<void>&) {});
  bench.until([&] { return t.last()->over(); });
  EXPECT_NE(Bench::result(t).output.text.find("<me>"), std::string::npos) << Bench::result(t).output.text;
}

TEST(LostMarks, AnInterruptHeals) {
  Bench bench;
  Terminal& t = bench.shell();
  // Nothing in its text says what it does.
  ASSERT_TRUE(t.submit(Bench::request("a=PROMPT b=_COMMAND; unset $a$b; a=PS; unset ${a}0 ${a}1")));
  t.want_input_state(1);
  bench.until([&] { return t.state() == Terminal::State::AwaitingInput; });
  t.interrupt([](const base::Result<void>&) {});
  bench.until([&] { return t.last()->over(); });
  EXPECT_EQ(bench.exec(t, "echo alive; (exit 3)").exit_code, 3);
  EXPECT_EQ(t.quality(), shell::Quality::Rich);
}

TEST(LostMarks, AStartFileThatRunsAnotherShell) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  Bench bench;
  write_text(bench.root() + "/home/.bashrc", "exec zsh -f\n");
  bench.settings().shell_integration_timeout = std::chrono::seconds(50);
  const auto begin = std::chrono::steady_clock::now();
  Terminal& t = bench.shell();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(t.shell().kind, shell::ShellKind::Zsh);
  EXPECT_EQ(t.quality(), shell::Quality::Rich);
  EXPECT_EQ(bench.exec(t, "echo ${ZSH_VERSION:+zsh}; (exit 3)").exit_code, 3);
}

// --- who reads the terminal

// Two busy threads per core for as long as it lives.
class Load {
 public:
  Load() {
    for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); i++) {
      threads_.emplace_back([this] {
        while (!over_) {
        }
      });
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

class CountQuestions final : public Watcher {
 public:
  void on_change(Terminal& terminal, uint32_t) override {
    if (terminal.state() == Terminal::State::AwaitingInput) count++;
  }
  int count = 0;
};

TEST(AwaitingInput, NobodyAsksWhenCommandsOnlyRun) {
  Bench bench;
  Terminal& t = bench.shell();
  CountQuestions questions;
  t.watch(questions);
  t.want_input_state(1);
  const Load load;
  for (int i = 0; i < 120; i++) EXPECT_EQ(bench.exec(t, "true").exit_code, 0);
  for (int i = 0; i < 10; i++) {
    const auto broken = bench.exec(t, "echo 'never closed");
    EXPECT_NE(broken.reason.find("not complete"), std::string::npos) << broken.reason;
  }
  for (int i = 0; i < 10; i++) bench.exec(t, "sleep 0.3");
  EXPECT_EQ(questions.count, 0);
  t.want_input_state(-1);
  t.unwatch(questions);
}

// A look at the wrong moment, however many agree.
TEST(AwaitingInput, TheShellThatHasYetToReadTheCommandAsksForNothing) {
  Bench bench;
  Terminal& t = bench.shell();
  t.want_input_state(1);
  ::kill(t.pid(), SIGSTOP);
  ASSERT_TRUE(t.submit(Bench::request("true")));
  int looks = 0;
  while (looks < 6) {
    const int before = looks;
    t.look([&](const base::Result<pty::RunState>&) { looks++; });
    bench.until([&] { return looks > before; });
    EXPECT_NE(t.state(), Terminal::State::AwaitingInput);
  }
  ::kill(t.pid(), SIGCONT);
  bench.until([&] { return t.current() == nullptr && !t.busy(); });
}

struct Program {
  const char* name;
  const char* needs;
  const char* command;
  const char* answer;  // ends it
};

class Polls : public ::testing::TestWithParam<Program> {};

INSTANTIATE_TEST_SUITE_P(
    Programs, Polls,
    ::testing::Values(
        Program{"node_question", "node",
                "node -e 'setInterval(()=>{},700);require(\"readline\").createInterface({input:process.stdin,"
                "output:process.stdout}).question(\"Name? \",()=>process.exit(0))'",
                "me\r"},
        Program{"node_repl", "node", "node -i", ".exit\r"}, Program{"npm_init", "npm", "npm init", "\x03"},
        Program{"python_repl", "python3", "python3 -q", "exit()\r"}, Program{"top", "top", "top -d 2", "q"},
        Program{"less", "less", "less /etc/passwd", "q"},
        Program{"select_loop", "python3",
                "python3 -c 'import select,sys\nwhile not select.select([sys.stdin],[],[],0.5)[0]: pass'",
                "x\r"},
        Program{"poll_in_raw_mode", "python3",
                "python3 -c 'import select,sys,tty\ntty.setcbreak(0)\np=select.poll()\np.register(0,1)\n"
                "while not p.poll(200): pass'; stty sane",
                "x"}),
    [](const auto& made) { return std::string(made.param.name); });

TEST_P(Polls, IsSeenToReadAndMayBeTypedTo) {
  if (!installed(GetParam().needs)) GTEST_SKIP() << GetParam().needs << " is not installed";
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(Bench::request(GetParam().command)));
  ASSERT_TRUE(until_it_asks(bench, t)) << Bench::result(t).output.text;
  std::optional<TypedInput> judged;
  t.look([&](const base::Result<pty::RunState>& state) { judged = judge_agent_input(t, state, "x"); });
  bench.until([&] { return judged.has_value(); });
  EXPECT_NE(judged->kind, TypedInput::Kind::Refuse);
  t.input(GetParam().answer, Owner::Agent, [](const base::Result<void>&) {});
  bench.until([&] { return t.last()->over(); });
  EXPECT_EQ(bench.exec(t, "echo hi").output.text, "hi\n");
}

// A program that draws, say, and looks at its keys afterwards.
TEST(RawMode, KeysMayBeTypedWhileTheProgramIsBusy) {
  if (!installed("python3")) GTEST_SKIP() << "python3 is not installed";
  Bench bench;
  const std::string gate = bench.root() + "/home/gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  const std::string line =
      "python3 -c 'import sys,tty\ntty.setraw(0)\nprint(\"drawing\",flush=True)\nopen(\"" + gate +
      "\").read()\nsys.stdin.read(1)'; stty sane";
  const auto judge = [&](Terminal& t, std::string_view bytes) {
    bench.until([&] { return Bench::result(t).output.text.find("drawing") != std::string::npos; });
    std::optional<TypedInput> judged;
    t.look([&](const base::Result<pty::RunState>& state) { judged = judge_agent_input(t, state, bytes); });
    bench.until([&] { return judged.has_value(); });
    return judged->kind;
  };
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(Bench::request(line)));
  EXPECT_EQ(judge(t, "q"), TypedInput::Kind::Type);
  EXPECT_EQ(judge(t, "touch x\r"), TypedInput::Kind::Ask);  // if it ended, the shell would run this
}

// --- prompts that take their time, and what they say

TEST(Prompts, AThemeThatTakesLongDelaysNoResult) {
  Bench bench;
  const std::string gate = bench.root() + "/home/gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  Terminal& t = bench.shell();
  bench.exec(t, "theme() { [[ -e slow ]] && cat gate >/dev/null; }; PROMPT_COMMAND=theme");
  bench.exec(t, "true");
  const auto slow = bench.exec(t, "touch slow; mkdir -p sub; cd sub; echo out; (exit 3)");
  // The theme hangs in the fifo, the result is here.
  EXPECT_EQ(slow.exit_code, 3);
  EXPECT_EQ(slow.output.text, "out\n");
  EXPECT_EQ(slow.cwd_after, bench.root() + "/home/sub");
  EXPECT_FALSE(t.busy());
}

TEST(Reading, AliasesFunctionsAndOptionsOfTheShell) {
  for (const char* name : {"bash", "zsh"}) {
    if (!installed(name)) continue;
    Bench bench;
    Terminal& t = bench.shell({name});
    bench.exec(t, "true");
    bench.until([&] { return t.settled(); });
    EXPECT_TRUE(t.reading().known) << name;
    EXPECT_TRUE(t.reading().ifs_is_default) << name;
    EXPECT_TRUE(t.reading().locale_is_plain()) << name;
    EXPECT_FALSE(t.reading().has_alias("twx"));
    bench.exec(t, "alias twx=ls; twf() { :; }");
    bench.until([&] { return t.settled(); });
    EXPECT_TRUE(t.reading().has_alias("twx")) << name;
    EXPECT_TRUE(t.reading().has_function("twf")) << name;
    EXPECT_FALSE(t.reading().has_function("__ttyward_last")) << name;
    const char* option = t.shell().kind == shell::ShellKind::Bash ? "extglob" : "extendedglob";
    EXPECT_FALSE(t.reading().has_option(option));
    bench.exec(t, t.shell().kind == shell::ShellKind::Bash ? "shopt -s extglob; IFS=:"
                                                           : "setopt extendedglob; IFS=:");
    bench.until([&] { return t.settled(); });
    EXPECT_TRUE(t.reading().has_option(option)) << name;
    EXPECT_FALSE(t.reading().ifs_is_default) << name;
  }
}

}  // namespace
}  // namespace ttyward::engine
