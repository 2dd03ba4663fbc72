// ttyward ls: the terminals there are.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include <boost/json/object.hpp>

#include "cli/choice.h"
#include "cli/colour.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/person_tty.h"
#include "cli/terminal_table.h"
#include "cli/terminal_use.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

struct Arguments {
  std::string task;
  std::string owner;
  bool all = false;
  bool background = false;
};

constexpr milliseconds kBetweenLooks{100};  // for processor time; only while something is busy

bool is_busy(const json::object& terminal) {
  return text_in(terminal, "state") == "busy";
}

// Processor time needs two looks; where nothing runs there is nothing to see.
TerminalUses uses_of(const std::vector<const json::object*>& terminals) {
  UseMeter meter;
  TerminalUses uses = meter.look(terminals);
  if (std::none_of(terminals.begin(), terminals.end(), [](const auto* each) { return is_busy(*each); }))
    return uses;
  std::this_thread::sleep_for(kBetweenLooks);
  return meter.look(terminals);
}

// Each terminal of the answer with what it uses, as `cpu_ms` and `ports`.
json::object with_uses(json::object answer, const TerminalUses& uses) {
  json::value* list = answer.if_contains("terminals");
  if (list == nullptr || !list->is_array()) return answer;
  for (json::value& each : list->get_array()) {
    if (!each.is_object()) continue;
    json::object& terminal = each.get_object();
    const auto use = uses.find(text_in(terminal, "id"));
    const bool known = use != uses.end();
    terminal["cpu_ms"] = known ? json::value(use->second.cpu_ms) : json::value(nullptr);
    json::array ports;
    for (const uint16_t port : known ? use->second.ports : std::vector<uint16_t>()) ports.emplace_back(port);
    terminal["ports"] = std::move(ports);
  }
  return answer;
}

// The questions that are open; an agent, who cannot answer them, sees none.
json::array open_approvals(client::Session& daemon) {
  if (is_agent()) return {};
  auto answer = daemon.call("approvals", {{"all", false}});
  if (!answer) return {};
  json::value* list = answer->if_contains("approvals");
  return list != nullptr && list->is_array() ? std::move(list->get_array()) : json::array();
}

std::string text_of_all(const json::object& answer, const TerminalUses& uses) {
  const auto size = PersonTty::size();
  const bool person = ::isatty(STDOUT_FILENO) != 0 && size;
  const size_t width = person ? size->columns : 0;
  const Paint paint = Paint::for_stdout();
  std::string out;
  if (const auto approvals = objects_in(answer, "approvals"); !approvals.empty()) {
    for (const std::string& line : approval_lines(approvals, width, now_in_ms(), paint)) out += line + "\n";
    out += paint(Colour::Yellow, "answer with: ttyward approvals watch") + "\n\n";
  }
  const auto terminals = objects_in(answer, "terminals");
  if (terminals.empty()) return out;
  for (const std::string& line :
       terminal_lines(terminals, uses, person ? Ids::Short : Ids::Whole, width, now_in_ms(), paint)) {
    out += line + "\n";
  }
  return out;
}

int list(const Arguments& args, const Globals& globals) {
  return with_daemon("ls", [&](client::Session& daemon) -> Outcome {
    json::object call;
    set_text(call, "task", args.task);
    set_text(call, "owner", args.owner);
    if (args.all) call["all"] = true;
    if (args.background) call["background"] = true;
    auto answer = daemon.call("list", std::move(call));
    if (!answer) return tl::unexpected(answer.error());
    (*answer)["approvals"] = open_approvals(daemon);
    const auto terminals = objects_in(*answer, "terminals");
    if (globals.json) {
      const TerminalUses uses = UseMeter().look(terminals);
      return print_json("ls", with_uses(std::move(*answer), uses));
    }
    const TerminalUses uses = uses_of(terminals);
    const std::string text = text_of_all(*answer, uses);
    if (const int written = text.empty() ? 0 : print_text("ls", text); written != 0) return written;
    if (terminals.empty()) return complain("ls", "there are no terminals; ttyward open opens one", 0);
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

const Verb kLs = {"ls", "List the terminals and the open questions", &declare};

}  // namespace ttyward::cli
