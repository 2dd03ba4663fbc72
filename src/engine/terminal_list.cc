#include "engine/terminal_list.h"

#include <algorithm>

namespace ttyward::engine {

using base::ErrorCode;
using base::fail;

namespace {

constexpr size_t kLongestName = 64;

template <typename List, typename Is>
size_t count_where(const List& list, Is is) {
  return static_cast<size_t>(
      std::count_if(list.begin(), list.end(), [&](const auto& terminal) { return is(*terminal); }));
}

}  // namespace

Terminal* TerminalList::add(std::unique_ptr<Terminal> terminal) {
  terminals_.push_back(std::move(terminal));
  return terminals_.back().get();
}

std::unique_ptr<Terminal> TerminalList::take_out(const std::string& id) {
  const auto at = std::find_if(terminals_.begin(), terminals_.end(),
                               [&](const auto& terminal) { return terminal->id() == id; });
  if (at == terminals_.end()) return nullptr;
  std::unique_ptr<Terminal> taken = std::move(*at);
  terminals_.erase(at);
  return taken;
}

void TerminalList::sort_by_age() {
  std::sort(terminals_.begin(), terminals_.end(),
            [](const auto& a, const auto& b) { return a->created_at_ms() < b->created_at_ms(); });
}

base::Result<Terminal*> TerminalList::find(std::string_view name) const {
  Terminal* found = nullptr;
  bool several = false;
  for (const auto& terminal : terminals_) {
    if (terminal->id() == name) return terminal.get();
  }
  // Names are unique, but after a restart two terminals may have the same one: then neither is chosen.
  for (const auto& terminal : terminals_) {
    if (!terminal->live() || terminal->spec().name.empty() || terminal->spec().name != name) continue;
    if (found != nullptr) {
      return fail(ErrorCode::InvalidArgument, "terminals " + found->id() + " and " + terminal->id() +
                                                  " are both called '" + std::string(name) +
                                                  "': use the id of one, or rename one of them");
    }
    found = terminal.get();
  }
  if (found != nullptr) return found;
  for (const auto& terminal : terminals_) {
    if (name.size() < 2 || terminal->spec().pooled || !terminal->id().starts_with(name)) continue;
    several = found != nullptr;
    found = terminal.get();
  }
  if (several) {
    return fail(ErrorCode::InvalidArgument,
                "several terminals begin with '" + std::string(name) + "': write more of the id");
  }
  if (found != nullptr) return found;
  return fail(ErrorCode::NotFound, "Terminal with ID " + std::string(name) +
                                       " not found: list the terminals with ttyward ls, or open one");
}

base::Result<CommandInTerminal> TerminalList::find_command(std::string_view id) const {
  for (const auto& terminal : terminals_) {
    if (Command* command = terminal->find(id)) return CommandInTerminal{terminal.get(), command};
  }
  return fail(ErrorCode::NotFound,
              "Command with ID " + std::string(id) + " not found: it ended too long ago, or never existed");
}

Terminal* TerminalList::opened_for(const std::string& request) const {
  if (request.empty()) return nullptr;
  for (const auto& terminal : terminals_) {
    if (terminal->spec().request == request) return terminal.get();
  }
  return nullptr;
}

// A holder outlives its terminal as long as something of it runs. A number may have been given away by then:
// whoever trusts a terminal because of this has to ask whether it lives.
const Terminal* TerminalList::led_by(pid_t pid) const {
  for (const auto& terminal : terminals_) {
    if (terminal->holder_pid() == pid || terminal->pid() == pid) return terminal.get();
  }
  return nullptr;
}

base::Result<void> TerminalList::check_name(const std::string& name, const Terminal* of) const {
  if (name.empty()) return {};
  if (name.size() > kLongestName ||
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c == 127; })) {
    return fail(ErrorCode::InvalidArgument, "a name must have at most 64 characters and no blanks");
  }
  for (const auto& known : terminals_) {
    if (known.get() != of && known->live() && known->spec().name == name) {
      return fail(ErrorCode::AlreadyExists, "terminal " + known->id() + " is called '" + name +
                                                "' already: take another name, or rename that one first");
    }
  }
  return {};
}

std::vector<Terminal*> TerminalList::all() const {
  std::vector<Terminal*> list;
  for (const auto& terminal : terminals_) {
    if (!terminal->spec().pooled) list.push_back(terminal.get());
  }
  return list;
}

size_t TerminalList::live_shells() const {
  return count_where(terminals_, [](const Terminal& terminal) {
    return terminal.live() && !terminal.spec().temporary() && !terminal.spec().pooled;
  });
}

size_t TerminalList::live_commands() const {
  return count_where(terminals_,
                     [](const Terminal& terminal) { return terminal.live() && terminal.spec().temporary(); });
}

size_t TerminalList::pooled() const {
  return count_where(terminals_, [](const Terminal& terminal) {
    return terminal.spec().pooled && terminal.live() && terminal.ready();
  });
}

bool TerminalList::holds_anything() const {
  return std::any_of(terminals_.begin(), terminals_.end(), [](const auto& terminal) {
    return !terminal->spec().pooled && (terminal->live() || terminal->holder_alive());
  });
}

}  // namespace ttyward::engine
