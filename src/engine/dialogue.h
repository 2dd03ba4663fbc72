// Answers to the questions of a running command, given ahead: when a pattern
// appears, a reply is typed.
//
// Output is searched from the command's start, and after a match from its end on.
// A reply is used once, unless it may repeat. A secret is typed only while a
// program reads with echo off; otherwise nothing is sent and the dialogue fails.
// It goes on until the command has really ended. Secrets are in no error, log or
// outcome. Thread rule: the loop's.
//
// What was typed is on the terminal's log before, so a dialogue of the same command
// under another engine goes on after it. A reply of which only the log is sure is
// not typed again: the question stays open then, and is seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/line_scan.h"
#include "engine/terminal.h"
#include "io/loop.h"

namespace ttyward::engine {

struct Reply {
  enum class Kind : uint8_t { Text, Keys, Secret };
  std::string when;  // RE2
  Kind kind = Kind::Text;
  std::string value;  // a text or secret is followed by Enter; keys by name: "Down Down Enter"
  bool repeat = false;
};

struct DialogueSpec {
  std::string command_id;
  std::vector<Reply> replies;
  std::chrono::milliseconds timeout{0};  // 0: as long as the command runs
  // An agent's replies are typed only while a program reads: the shell must not get them (agent_input.h).
  Owner by = Owner::User;
};

struct DialogueOutcome {
  enum class End : uint8_t {
    CommandEnded,
    Timeout,  // of the dialogue; the command goes on
    Failed,   // see reason; the command goes on
    Closed,   // the terminal is gone
  };
  struct Used {
    size_t reply = 0;               // index in the spec
    terminal::LineNumber line = 0;  // 0: on an alternate screen
    std::string asked;              // the line that matched
  };
  End end = End::CommandEnded;
  std::string reason;
  std::vector<Used> used;  // in order; the first so many
  uint64_t used_count = 0;
};
const char* dialogue_end_name(DialogueOutcome::End end);

class Dialogue final : private Watcher {
 public:
  using Done = std::function<void(const DialogueOutcome&)>;

  // `done` is called once, from the loop. Destroying the dialogue cancels it.
  static base::Result<std::unique_ptr<Dialogue>> start(io::Loop& loop, Terminal& terminal, DialogueSpec spec,
                                                       Done done);
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;
  ~Dialogue();

 private:
  using Clock = std::chrono::steady_clock;
  struct Rule {
    Reply reply;
    std::unique_ptr<re2::RE2> when;
    bool used = false;
  };

  Dialogue(io::Loop& loop, Terminal& terminal, std::string command_id, Owner by, std::vector<Rule> rules,
           Done done);
  void on_change(Terminal& terminal, uint32_t changes) override;
  void on_destroyed() override;
  void look();
  bool answer_one(const terminal::Output& output, LineScan::Finished finished);
  void go_on_after(const std::vector<GivenReply>& given);
  void note(size_t rule);
  void send(size_t rule, const std::string& asked);
  void send_when_read(size_t rule, const std::string& asked, const std::string& bytes,
                      Clock::time_point give_up);
  void take_back_use();
  void send_secret(size_t rule, const std::string& asked, Clock::time_point give_up);
  void sent(const base::Result<void>& result);
  void end(DialogueOutcome::End how, std::string reason);
  void stop_looking();
  void leave();

  io::Loop& loop_;
  Terminal* terminal_;  // null once it is gone
  std::string command_id_;
  Owner by_;
  std::vector<Rule> rules_;
  Done done_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  LineScan scan_;
  DialogueOutcome outcome_;
  GivenReply next_;       // what is about to be typed
  bool noted_ = false;    // it is on the log
  bool sending_ = false;  // a reply waits to be typed: nothing else is matched
  bool ended_ = false;
  io::Loop::TimerId deadline_ = 0;
  io::Loop::TimerId retry_ = 0;
};

}  // namespace ttyward::engine
