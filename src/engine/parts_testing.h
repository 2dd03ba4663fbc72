// For tests: the parts of a living terminal without one. A holder that notes what it is told, a journal whose
// bytes the test writes, and a model that reads them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "engine/live_terminal.h"
#include "engine/recorded_terminal.h"
#include "engine/testing.h"

namespace ttyward::engine::testing {

// Answers within the call, with what the test put there.
class NotedHolder final : public command::Source {
 public:
  struct Notes {
    std::string typed;
    int interrupts = 0;
    std::vector<int> signals;
    int terminated = 0;
    int looks = 0;
    std::deque<pty::RunState> states;  // the last one stays
    bool refuses = false;
  };
  explicit NotedHolder(Notes& notes) : notes_(notes) {}

  void turn(TimePoint /*now*/) override {}
  std::optional<TimePoint> deadline() const override { return std::nullopt; }
  void input(std::string_view bytes, Done done) override {
    if (!notes_.refuses) notes_.typed += bytes;
    if (!done) return;
    done(notes_.refuses ? base::Result<void>(base::fail(base::ErrorCode::Unavailable, "it takes no input"))
                        : base::Result<void>());
  }
  void close_input(Done /*done*/) override {}
  void resize(const pty::WindowSize& /*size*/, Done /*done*/) override {}
  void signal(int number, Target /*target*/, Done /*done*/) override { notes_.signals.push_back(number); }
  void interrupt(Done /*done*/) override { notes_.interrupts++; }
  void terminate(const std::vector<pty::KillRung>& /*rungs*/, Done /*done*/) override { notes_.terminated++; }
  void grant(uint64_t /*bytes*/, Done /*done*/) override {}
  void watch(uint64_t /*offset*/) override {}
  size_t input_waiting() const override { return 0; }
  void run_state(pty::AlternateScreen /*screen*/, RunStates done) override {
    notes_.looks++;
    const pty::RunState state = notes_.states.empty() ? pty::RunState{} : notes_.states.front();
    if (notes_.states.size() > 1) notes_.states.pop_front();
    done(state);
  }
  void processes(Processes done) override { done(std::vector<Process>{}); }

 private:
  Notes& notes_;
};

class Parts : public ::testing::Test, protected TerminalModel::Observer {
 protected:
  Parts() {
    settings_.interrupt_grace = std::chrono::milliseconds(10);
    model_.set_shell({shell::identify_shell({"/bin/bash"}), shell::Quality::Rich, kSecret, "/start", false});
    model_.feed().follow(journals_.open("t1"));
    holder_.connect(std::make_unique<NotedHolder>(notes_));
    EXPECT_TRUE(files_.open());
  }
  ~Parts() override { *alive_ = false; }

  static TerminalSpec spec() {
    TerminalSpec made;
    made.id = "t1";
    made.cwd = "/start";
    made.argv = {"/bin/bash"};
    return made;
  }
  static std::string made_folder(const std::string& path) {
    ::mkdir(path.c_str(), 0700);
    return path;
  }

  // --- what happens
  void print(const std::string& bytes) {
    RecordedJournals::put(writer_, bytes);
    model_.feed().read_all({});
  }
  // With a line editor that takes a paste.
  void print_prompt() {
    print(mark("A", prompts_) + "\x1b[?2004h$ " + mark("B", prompts_));
    prompts_++;
  }
  void print_start(const std::string& line) {
    print(line + "\r\n" + mark("E;" + line, prompts_) + mark("C", prompts_));
  }
  void print_end(int code) { print(mark("D;" + std::to_string(code), prompts_)); }
  Command& queue(const std::string& text, const command::LifeOptions& limits = {}) {
    Command& command = model_.add_command("", Owner::Agent, text, limits);
    command.delivered = text;
    model_.book().set_queued(&command);
    return command;
  }
  // As if it had been typed, and runs.
  Command& run(const std::string& text, const command::LifeOptions& limits = {}) {
    print_prompt();
    Command& command = model_.add_command("", Owner::Agent, text, limits);
    command.delivered = command.line = text;
    command.submission = model_.book().next_submission();
    model_.submitted(command);
    print_start(text);
    EXPECT_TRUE(command.started_seen);
    return command;
  }
  void until(const std::function<bool()>& holds) { bench_.until(holds); }
  void turn() { bench_.loop().turn(std::chrono::milliseconds(0)); }
  std::string log() const {
    std::ifstream file(logs_path_ + "/t1.log");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // --- TerminalModel::Observer
  TerminalModel::Clock::time_point now() const override { return TerminalModel::Clock::now(); }
  int64_t unix_ms() const override { return 1; }
  std::string typed_command_id(uint64_t /*begin*/) override { return "ctyped"; }

  Bench bench_;
  Settings settings_;
  NotedHolder::Notes notes_;
  RecordedJournals journals_;
  journal::Writer writer_{journals_.begin("t1")};
  TerminalModel model_{spec(), {}, *this};
  HolderPort holder_;
  std::string logs_path_{made_folder(bench_.root() + "/part-logs")};
  base::UniqueFd logs_{::open(logs_path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ShellFiles files_{made_folder(bench_.root() + "/part-shell")};
  LogWriter log_{logs_.get(), "t1", TerminalLog::create(logs_.get(), "t1").value()};
  Watchers watchers_{bench_.loop(), bench_.run("true")};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  LiveTerminal live_{bench_.loop(), settings_, place::local(), model_, holder_,
                     files_,        log_,      watchers_,      alive_};

 private:
  uint64_t prompts_ = 0;
};

}  // namespace ttyward::engine::testing
