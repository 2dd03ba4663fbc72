// ttyward ls: the terminals there are.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "cli/choice.h"
#include "cli/colour.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/person_tty.h"
#include "cli/terminal_table.h"
#include "cli/terminal_use.h"
#include "cli/verbs/verbs.h"
#include "wire/types/policy_calls.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace ls_verb {
namespace {

using std::chrono::milliseconds;

struct Arguments {
  std::string task;
  std::string owner;
  bool all = false;
  bool background = false;
};

constexpr milliseconds kBetweenLooks{100};  // for processor time; only while something is busy

// Processor time needs two looks; where nothing runs there is nothing to see.
TerminalUses uses_of(const std::vector<wire::Terminal>& terminals) {
  UseMeter meter;
  TerminalUses uses = meter.look(terminals);
  const bool busy = std::any_of(terminals.begin(), terminals.end(),
                                [](const wire::Terminal& each) { return each.state == "busy"; });
  if (!busy) return uses;
  std::this_thread::sleep_for(kBetweenLooks);
  return meter.look(terminals);
}

// A terminal with what it uses.
struct UsedTerminal {
  wire::Terminal terminal;
  std::optional<int64_t> cpu_ms;
  std::vector<int64_t> ports;
  template <class V>
  static void describe(V& v, auto& self) {
    wire::Terminal::describe(v, self.terminal);
    v.field("cpu_ms", self.cpu_ms, "processor time used so far");
    v.field("ports", self.ports, "TCP ports that its processes listen on");
  }
};

struct Listing {
  std::vector<UsedTerminal> terminals;
  std::vector<wire::Approval> approvals;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminals", self.terminals, "oldest first");
    v.field("approvals", self.approvals, "open questions");
  }
};

Listing with_uses(std::vector<wire::Terminal> terminals, std::vector<wire::Approval> approvals) {
  const TerminalUses uses = UseMeter().look(terminals);
  Listing made;
  for (wire::Terminal& each : terminals) {
    UsedTerminal& used = made.terminals.emplace_back();
    if (const auto use = uses.find(each.id); use != uses.end()) {
      used.cpu_ms = use->second.cpu_ms;
      used.ports.assign(use->second.ports.begin(), use->second.ports.end());
    }
    used.terminal = std::move(each);
  }
  made.approvals = std::move(approvals);
  return made;
}

// What waits for a person is for a person.
std::vector<wire::Approval> open_approvals(client::Session& daemon) {
  if (is_agent()) return {};
  auto answer = daemon.call(wire::ApprovalsRequest{});
  return answer ? std::move(answer->approvals) : std::vector<wire::Approval>();
}

std::string text_of_all(const std::vector<wire::Terminal>& terminals,
                        const std::vector<wire::Approval>& approvals) {
  const auto size = PersonTty::size();
  const bool person = ::isatty(STDOUT_FILENO) != 0 && size;
  const size_t width = person ? size->columns : 0;
  const Paint paint = Paint::for_stdout();
  std::string out;
  if (!approvals.empty()) {
    for (const std::string& line : approval_lines(pointers_to(approvals), width, now_in_ms(), paint))
      out += line + "\n";
    out += paint(Colour::Yellow, "answer with: ttyward approvals watch") + "\n\n";
  }
  if (terminals.empty()) return out;
  const TerminalUses uses = uses_of(terminals);
  for (const std::string& line : terminal_lines(
           pointers_to(terminals), uses, person ? Ids::Short : Ids::Whole, width, now_in_ms(), paint)) {
    out += line + "\n";
  }
  return out;
}

int list(const Arguments& args, const Globals& globals) {
  return with_daemon("ls", [&](client::Session& daemon) -> Outcome {
    const auto owner = wire::word_named<wire::Owner>(args.owner);
    auto answer = daemon.call(wire::ListRequest{args.task, owner, args.all, args.background});
    if (!answer) return tl::unexpected(answer.error());
    std::vector<wire::Approval> approvals = open_approvals(daemon);
    if (globals.json)
      return print_answer("ls", with_uses(std::move(answer->terminals), std::move(approvals)));
    const std::string text = text_of_all(answer->terminals, approvals);
    if (const int written = text.empty() ? 0 : print_text("ls", text); written != 0) return written;
    if (answer->terminals.empty()) return complain("ls", "there are no terminals; ttyward open opens one", 0);
    return 0;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_flag("--all", args->all, "Include terminals that have ended");
  app.add_option("--task", args->task, "Only those of this task");
  choose(app.add_option("--owner", args->owner, "Only those of this owner"), {"agent", "user", "system"});
  app.add_flag("--background", args->background, "Only those without a task");
  return [args, &globals] { return list(*args, globals); };
}

}  // namespace
}  // namespace ls_verb

const Verb kLs = {"ls", "List the terminals and the open questions", &ls_verb::declare};

}  // namespace ttyward::cli
