// The terminals there are, in the order they were opened, and how one of them is found.
//
// Thread rule: the loop's. Pointers are good until control returns to the loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/terminal.h"

namespace ttyward::engine {

// A command and where it runs.
struct CommandInTerminal {
  Terminal* terminal = nullptr;
  Command* command = nullptr;
};

class TerminalList {
 public:
  using Terminals = std::vector<std::unique_ptr<Terminal>>;

  Terminal* add(std::unique_ptr<Terminal> terminal);
  std::unique_ptr<Terminal> take_out(const std::string& id);
  void sort_by_age();
  Terminals::const_iterator begin() const { return terminals_.begin(); }
  Terminals::const_iterator end() const { return terminals_.end(); }

  // By id, by name, or by the beginning of an id where only one has it.
  base::Result<Terminal*> find(std::string_view name) const;
  base::Result<CommandInTerminal> find_command(std::string_view id) const;
  // Null: nobody asked for one by this so far, or it is forgotten.
  Terminal* opened_for(const std::string& request) const;
  // The one whose holder or first process this is.
  const Terminal* led_by(pid_t pid) const;
  // Whether a terminal may be called so; `of` is the one that is to be.
  base::Result<void> check_name(const std::string& name, const Terminal* of) const;

  std::vector<Terminal*> all() const;  // without shells started ahead
  size_t live_shells() const;          // that stay; without those started ahead
  size_t live_commands() const;        // of their own
  size_t pooled() const;               // started ahead, and ready
  // A terminal or a command lives, or what one left behind does. Shells started ahead do not count.
  bool holds_anything() const;

 private:
  Terminals terminals_;
};

}  // namespace ttyward::engine
