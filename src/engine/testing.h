// Terminals for tests: a loop, folders of their own, and ways to wait for things.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/testing.h"
#include "engine/terminal.h"
#include "journal/folder.h"
#include "place/local.h"

namespace ttyward::engine::testing {

// Far beyond what any of it takes on a loaded machine.
inline constexpr std::chrono::seconds kPatience{60};

class Bench {
 public:
  Bench() : loop_(io::Loop::create().value()) {
    char name[] = "/tmp/ttyward-engine-XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* part : {"/logs", "/sockets", "/journals", "/home"}) {
      ::mkdir((root_ + part).c_str(), 0700);
    }
    settings_.hold_program = TTYWARD_HOLD;
    settings_.interrupt_grace = std::chrono::milliseconds(100);
    logs_ = journal::open_private_folder(root_ + "/logs", journal::IfMissing::Fail).value();
    journals_ = journal::open_private_folder(root_ + "/journals", journal::IfMissing::Fail).value();
    start();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    for (const auto& terminal : terminals_) terminal->kill();
    // One that is just being launched has a holder a little later.
    for (const auto& terminal : terminals_)
      until([&] { return !terminal->launching() && !holder_lives(*terminal); });
    terminals_.clear();
    launcher_.reset();
    base::testing::remove_tree(root_);
  }

  TerminalSpec spec() const {
    TerminalSpec spec;
    spec.id = base::random_id('t');
    spec.cwd = root_ + "/home";
    spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_ + "/home", "TERM=xterm-256color",
                        "LANG=C.UTF-8", "PS1=$ "};
    spec.size.columns = 80;
    spec.size.rows = 24;
    return spec;
  }
  Terminal& open(TerminalSpec spec) {
    auto opened = Terminal::open(*host_, std::move(spec));
    EXPECT_TRUE(opened) << opened.error().message;
    terminals_.push_back(std::move(*opened));
    return *terminals_.back();
  }
  Terminal& run(const std::string& line) {
    TerminalSpec made = spec();
    made.command_id = base::random_id('c');
    made.command = line;
    made.argv = {"/bin/bash", "-c", line};
    return open(std::move(made));
  }
  Terminal& shell(std::vector<std::string> argv = {"/bin/bash"}) {
    TerminalSpec made = spec();
    made.argv = std::move(argv);
    Terminal& terminal = open(std::move(made));
    until([&] { return terminal.ready(); });
    return terminal;
  }
  static CommandRequest request(std::string text) {
    CommandRequest made;
    made.text = std::move(text);
    return made;
  }
  terminal::CommandResult exec(Terminal& terminal, CommandRequest made) {
    auto command = terminal.submit(std::move(made));
    EXPECT_TRUE(command) << command.error().message;
    if (!command) return {};
    const std::string id = (*command)->facts.command_id;
    until([&] { return terminal.find(id)->over(); });
    return terminal.result(*terminal.find(id), {});
  }
  terminal::CommandResult exec(Terminal& terminal, const std::string& text) {
    return exec(terminal, request(text));
  }
  static terminal::CommandResult result(Terminal& terminal) {
    return terminal.result(*terminal.commands().back(), {});
  }

  void until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "waited in vain";
        return;
      }
      loop_->turn(std::chrono::milliseconds(20));
    }
  }

  // Terminals go without a word, as when the engine's process is killed.
  void forget_all() { terminals_.clear(); }
  Terminal& recover(const std::string& id) {
    auto recovered = Terminal::recover(*host_, id);
    EXPECT_TRUE(recovered) << recovered.error().message;
    terminals_.push_back(std::move(*recovered));
    terminals_.back()->settle();
    return *terminals_.back();
  }
  bool holder_lives(const Terminal& terminal) const { return holder_lives(terminal.id()); }
  bool holder_lives(const std::string& id) const {
    return std::filesystem::exists(root_ + "/sockets/" + id + ".sock");
  }

  // For terminals that are opened from now on.
  void set_place(const place::Place& place) {
    place_ = &place;
    start();
  }

  io::Loop& loop() { return *loop_; }
  TerminalHost& host() { return *host_; }
  Settings& settings() { return settings_; }
  const std::string& root() const { return root_; }
  std::vector<std::string> recorded;  // ids of commands whose record became final

 private:
  void start() {
    launcher_ = std::make_unique<Launcher>(*loop_, settings_.hold_program, 1);
    launcher_->prepare_for({root_ + "/journals", settings_.journals_total, root_ + "/sockets"});
    slices_ = std::make_unique<Slices>(*loop_);
    host_.reset(new TerminalHost{*loop_,
                                 *slices_,
                                 *launcher_,
                                 *place_,
                                 settings_,
                                 logs_.get(),
                                 root_ + "/logs",
                                 root_ + "/sockets",
                                 root_ + "/journals",
                                 journals_.get(),
                                 {},
                                 {},
                                 {}});
    host_->on_record = [this](const Terminal&, const Command& command) {
      recorded.push_back(command.facts.command_id);
    };
  }

  std::unique_ptr<io::Loop> loop_;
  std::string root_;
  Settings settings_;
  base::UniqueFd logs_;
  base::UniqueFd journals_;
  const place::Place* place_ = &place::local();
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Slices> slices_;
  std::unique_ptr<TerminalHost> host_;
  std::vector<std::unique_ptr<Terminal>> terminals_;
};

}  // namespace ttyward::engine::testing
