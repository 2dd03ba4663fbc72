#include "engine/wait.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using Condition = WaitOutcome::Condition;
using testing::Bench;

// A wait and what it said.
class Heard {
 public:
  Heard(Bench& bench, Terminal& terminal, WaitSpec spec) : bench_(bench) {
    spec.timeout = testing::kPatience / 2;
    auto started = Wait::start(bench.loop(), terminal, std::move(spec), [this](const WaitOutcome& outcome) {
      calls_++;
      outcome_ = outcome;
    });
    EXPECT_TRUE(started) << started.error().message;
    EXPECT_EQ(calls_, 0) << "answered from within start()";
    wait_ = std::move(*started);
  }
  const WaitOutcome& outcome() {
    bench_.until([&] { return calls_ > 0; });
    EXPECT_EQ(calls_, 1);
    return outcome_;
  }
  std::string condition() { return condition_name(outcome().condition); }
  bool heard() const { return calls_ > 0; }
  void cancel() { wait_.reset(); }

 private:
  Bench& bench_;
  int calls_ = 0;
  WaitOutcome outcome_;
  std::unique_ptr<Wait> wait_;
};

// A place whose answers come in a later turn of the loop, as those of a far one do.
class LatePlace final : public place::Place {
 public:
  explicit LatePlace(io::Loop& loop) : loop_(loop) {}
  std::string name() const override { return "late"; }
  void process(pid_t pid, uint32_t parts,
               const Then<std::optional<place::ProcessFacts>>& then) const override {
    loop_.post([=] { place::local().process(pid, parts, then); });
  }
  void descendants(pid_t root, const Then<std::optional<Stats>>& then) const override {
    loop_.post([=] { place::local().descendants(root, then); });
  }
  void ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const override {
    loop_.post(
        [=, kept = std::vector<pid_t>(pids.begin(), pids.end())] { place::local().ports(kept, then); });
  }
  void left_behind(const place::LeftBehindQuery& query, const Then<place::LeftBehind>& then) const override {
    loop_.post([=, asked = std::chrono::steady_clock::now()] {
      place::LeftBehindQuery now = query;
      now.ran += std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - asked);
      place::local().left_behind(now, then);
    });
  }
  pid_t newest_process() const override { return 0; }
  void file(const std::string& path, const Then<base::Result<place::FileKind>>& then) const override {
    loop_.post([=] { place::local().file(path, then); });
  }
  void text(const std::string& path, size_t most,
            const Then<base::Result<std::string>>& then) const override {
    loop_.post([=] { place::local().text(path, most, then); });
  }
  void program(const std::string& name, const std::string& search,
               const Then<std::string>& then) const override {
    loop_.post([=] { place::local().program(name, search, then); });
  }
  base::Result<void> make_folder(const std::string& path) const override {
    return place::local().make_folder(path);
  }
  base::Result<void> write_file(const std::string& path, std::string_view content,
                                uint32_t mode) const override {
    return place::local().write_file(path, content, mode);
  }
  void end_holder(pid_t holder) const override { place::local().end_holder(holder); }

 private:
  io::Loop& loop_;
};

WaitSpec pattern(std::string text, std::string command_id = "") {
  WaitSpec spec;
  spec.pattern = std::move(text);
  spec.command_id = std::move(command_id);
  return spec;
}

TEST(Wait, ExitOfACommandThatRunsAndOfOneThatIsOver) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = (*t.submit(bench.request("read x")))->facts.command_id;
  WaitSpec spec;
  spec.exit = true;
  spec.command_id = id;
  Heard running(bench, t, spec);
  WaitSpec asks;  // what is typed before it reads is the shell's
  asks.input = true;
  EXPECT_EQ(Heard(bench, t, asks).condition(), "input");
  t.input("\r", Owner::Agent, [](auto) {});
  EXPECT_EQ(running.condition(), "exit");
  EXPECT_TRUE(t.find(id)->over());
  EXPECT_EQ(Heard(bench, t, spec).condition(), "exit");
}

TEST(Wait, APatternIsFoundInALineThatIsStillBeingWritten) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id =
      (*t.submit(bench.request("echo one; printf 'ready on 80'; read x")))->facts.command_id;
  Heard wait(bench, t, pattern("on (\\d+)", id));
  EXPECT_EQ(wait.condition(), "pattern");
  EXPECT_EQ(wait.outcome().line, 2U);
  EXPECT_EQ(wait.outcome().text, "ready on 80");
}

TEST(Wait, APatternFromNowDoesNotSeeWhatIsOld) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id =
      (*t.submit(bench.request("echo old ready; printf 'half '; read x; echo; echo new ready; read x")))
          ->facts.command_id;
  bench.until([&] { return t.output().cursor_line() == "half"; });
  Heard old_too(bench, t, [&] {
    WaitSpec spec = pattern("ready", id);
    spec.from_start = true;
    return spec;
  }());
  EXPECT_EQ(old_too.outcome().line, 1U);
  Heard only_new(bench, t, pattern("ready|half", id));
  t.input("\r", Owner::Agent, [](auto) {});
  EXPECT_EQ(only_new.condition(), "pattern");
  EXPECT_EQ(only_new.outcome().text, "new ready");
}

TEST(Wait, APatternDoesNotMatchTheLineThatWasTyped) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.until([&] { return t.settled() && t.state() == Terminal::State::Idle; });
  Heard first(bench, t, pattern("rea|one"));
  bench.exec(t, "echo 'rea'dy; seq 100");
  EXPECT_EQ(first.outcome().text, "ready");
  // The same of what a person types, and of several lines.
  bench.until([&] { return t.settled() && t.state() == Terminal::State::Idle; });
  Heard typed(bench, t, pattern("rea|one"));
  t.input("echo 'one'\" two\"\r", Owner::User, [](auto) {});
  EXPECT_EQ(typed.outcome().text, "one two");
  bench.until([&] { return t.settled() && t.state() == Terminal::State::Idle; });
  Heard lines(bench, t, pattern("tw|thr"));
  bench.exec(t, "for i in 1; do\n  printf 'th''ree\\n'\ndone # two");
  EXPECT_EQ(lines.outcome().text, "three");
  // What is there already.
  WaitSpec spec = pattern("'?rea");
  spec.from_start = true;
  EXPECT_EQ(Heard(bench, t, spec).outcome().text, "ready");
}

TEST(Wait, APatternSeesWhatAJobPrintsAtThePrompt) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string pipe = bench.root() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  bench.exec(t, "{ read -r x < " + pipe + "; echo listening on $x; } &");
  bench.until([&] { return t.settled() && t.state() == Terminal::State::Idle; });
  Heard wait(bench, t, pattern("listening on \\d+"));
  std::ofstream(pipe) << "80\n" << std::flush;
  EXPECT_EQ(wait.condition(), "pattern");
  EXPECT_NE(wait.outcome().text.find("listening on 80"), std::string::npos);
}

TEST(Wait, APatternIsSeenInAFloodThatScrollsBy) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = (*t.submit(bench.request("seq 1 60000")))->facts.command_id;
  Heard wait(bench, t, pattern("^31415$", id));
  EXPECT_EQ(wait.condition(), "pattern");
  EXPECT_EQ(wait.outcome().line, 31415U);
}

TEST(Wait, TheSameTextWrittenAgainIsNew) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(bench.request("clear; echo passed; read -s x; clear; echo passed; read -s x")));
  bench.until([&] { return t.output().screen().line(0).text.starts_with("passed"); });
  Heard wait(bench, t, pattern("passed"));
  t.input("\r", Owner::Agent, [](auto) {});
  EXPECT_EQ(wait.condition(), "pattern");
}

TEST(Wait, ACommandThatEndsWithoutThePatternIsToldAsItsExit) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = (*t.submit(bench.request("echo other")))->facts.command_id;
  EXPECT_EQ(Heard(bench, t, pattern("never", id)).condition(), "exit");
}

TEST(Wait, APatternOnTheAlternateScreen) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(bench.request("printf '\\e[?1049h\\e[5;10HMain menu'; read x; printf '\\e[?1049l'")));
  Heard wait(bench, t, pattern("^ +Main menu"));
  EXPECT_EQ(wait.condition(), "pattern");
  EXPECT_EQ(wait.outcome().line, 0U);
}

TEST(Wait, ATerminalThatIsOneCommand) {
  Bench bench;
  Terminal& t = bench.run("echo up; read x; echo down");
  Heard up(bench, t, pattern("up", t.last()->facts.command_id));
  EXPECT_EQ(up.outcome().line, 1U);
  Heard down(bench, t, pattern("down"));
  WaitSpec exit;
  exit.exit = true;
  exit.command_id = t.last()->facts.command_id;
  Heard ended(bench, t, exit);
  t.input("\r", Owner::Agent, [](auto) {});
  EXPECT_EQ(down.condition(), "pattern");
  EXPECT_EQ(ended.condition(), "exit");
}

TEST(Wait, AFrameThatNeverEndsIsShownAsFarAsItCame) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id =
      (*t.submit(bench.request("printf '\\e[?2026h%s\\n' half-a-frame; read x")))->facts.command_id;
  Heard in_command(bench, t, pattern("^half-a-frame", id));
  EXPECT_EQ(Heard(bench, t, pattern("^half-a-frame")).condition(), "pattern");
  EXPECT_EQ(in_command.outcome().line, 1U);
}

TEST(Wait, APortThatOneOfItsProcessesOpens) {
  Bench bench;
  Terminal& t = bench.shell();
  WaitSpec spec;
  spec.port = 0;
  Heard wait(bench, t, spec);
  ASSERT_TRUE(t.submit(bench.request(
      "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\"); "
      "print $s->sockport, \"\\n\"; <STDIN>'")));
  EXPECT_EQ(wait.condition(), "port");
  EXPECT_GT(wait.outcome().port, 0);
  spec.port = wait.outcome().port;
  EXPECT_EQ(Heard(bench, t, spec).outcome().port, *spec.port);
}

TEST(Wait, AFileThatAppears) {
  Bench bench;
  Terminal& t = bench.shell();
  WaitSpec spec;
  spec.file = "made";
  Heard wait(bench, t, spec);
  ASSERT_TRUE(t.submit(bench.request("touch made")));
  EXPECT_EQ(wait.condition(), "file");
  EXPECT_EQ(wait.outcome().text, t.cwd() + "/made");
}

TEST(Wait, InputIsWantedAndThePromptComesBack) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = (*t.submit(bench.request("read -p 'Name? ' x")))->facts.command_id;
  WaitSpec input;
  input.input = true;
  input.command_id = id;
  EXPECT_EQ(Heard(bench, t, input).condition(), "input");
  WaitSpec prompt;
  prompt.prompt = true;
  Heard idle(bench, t, prompt);
  t.input("x\r", Owner::Agent, [](auto) {});
  EXPECT_EQ(idle.condition(), "prompt");
  EXPECT_EQ(t.state(), Terminal::State::Idle);
}

TEST(Wait, QuietAndStable) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(bench.request("for i in 1 2 3; do echo $i; sleep 0.05; done; read x")));
  WaitSpec quiet;
  quiet.quiet = std::chrono::milliseconds(400);
  Heard silent(bench, t, quiet);
  EXPECT_EQ(silent.condition(), "quiet");
  // Bytes that change nothing to be seen.
  t.input("\r", Owner::Agent, [](auto) {});
  ASSERT_TRUE(t.find(t.last()->facts.command_id));
  bench.until([&] { return !t.busy(); });
  ASSERT_TRUE(t.submit(bench.request("clear; while :; do printf '\\rsame'; sleep 0.02; done")));
  WaitSpec stable;
  stable.stable = std::chrono::milliseconds(400);
  EXPECT_EQ(Heard(bench, t, stable).condition(), "stable");
}

TEST(Wait, TheDeadlineAndACancelledWait) {
  Bench bench;
  Terminal& t = bench.shell();
  int calls = 0;
  WaitSpec spec = pattern("never");
  spec.timeout = std::chrono::milliseconds(10);
  WaitOutcome outcome;
  auto wait = Wait::start(bench.loop(), t, spec, [&](const WaitOutcome& told) {
    calls++;
    outcome = told;
  });
  ASSERT_TRUE(wait);
  bench.until([&] { return calls > 0; });
  EXPECT_EQ(outcome.condition, Condition::Timeout);

  WaitSpec prompt;
  prompt.prompt = true;
  auto cancelled = Wait::start(bench.loop(), t, prompt, [&](const WaitOutcome&) { calls++; });
  ASSERT_TRUE(cancelled);
  cancelled->reset();
  bench.exec(t, "true");
  EXPECT_EQ(calls, 1);
}

TEST(Wait, ATerminalThatGoesEndsItsWaits) {
  Bench bench;
  Terminal& t = bench.shell();
  Heard killed(bench, t, pattern("never"));
  WaitSpec exit;
  exit.exit = true;
  Heard ended(bench, t, exit);
  t.kill();
  EXPECT_EQ(killed.condition(), "closed");
  EXPECT_EQ(ended.condition(), "exit");

  Terminal& other = bench.shell();
  const std::string id = other.id();
  Heard destroyed(bench, other, pattern("never"));
  bench.forget_all();
  EXPECT_EQ(destroyed.condition(), "closed");
  bench.recover(id);  // so that it is ended with the bench
}

TEST(Wait, WhatMakesNoSenseIsRefusedWithAReason) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto refusal = [&](WaitSpec spec) {
    const auto wait = Wait::start(bench.loop(), t, std::move(spec), [](const WaitOutcome&) {});
    return wait ? std::string("accepted") : wait.error().message;
  };
  EXPECT_NE(refusal({}).find("no condition to wait for"), std::string::npos);
  EXPECT_NE(refusal(pattern("(")).find("RE2"), std::string::npos);
  EXPECT_NE(refusal(pattern("x", "c-unknown")).find("has no command"), std::string::npos);
}

TEST(Wait, IsAnsweredByAPlaceWhoseAnswersComeLater) {
  Bench bench;
  const LatePlace late(bench.loop());
  bench.set_place(late);
  Terminal& t = bench.shell();
  EXPECT_EQ(bench.exec(t, "echo here; exit_code() { return 3; }; exit_code").exit_code, 3);
  WaitSpec spec;
  spec.port = 0;
  Heard port(bench, t, spec);
  ASSERT_TRUE(t.submit(bench.request(
      "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\"); "
      "print $s->sockport, \"\\n\"; <STDIN>'")));
  EXPECT_EQ(port.condition(), "port");
  WaitSpec file;
  file.file = bench.root() + "/home/made";
  Heard made(bench, t, file);
  std::ofstream(file.file) << "x";
  EXPECT_EQ(made.condition(), "file");
}

TEST(Wait, WhatACommandLeftBehindIsAddedWhenAFarPlaceSaysIt) {
  Bench bench;
  const LatePlace late(bench.loop());
  bench.set_place(late);
  Terminal& t = bench.shell();
  // The command ends when its job has become the program.
  const std::string id =
      bench.exec(t, "sleep 1000 & until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done").command_id;
  bench.until([&] { return !t.find(id)->facts.background.empty(); });
  ASSERT_FALSE(t.find(id)->facts.background.empty());
  EXPECT_NE(t.find(id)->facts.background[0].command.find("sleep 1000"), std::string::npos);
}

}  // namespace
}  // namespace ttyward::engine
