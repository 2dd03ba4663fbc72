// ttyward show: everything about one terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/daemon_verb.h"
#include "cli/person_tty.h"
#include "cli/result_words.h"
#include "cli/shown_text.h"
#include "cli/table.h"
#include "cli/terminal_table.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace show_verb {
namespace {

struct Arguments {
  std::string terminal;
  int64_t most = 40;
  bool environment = false;
};

class Page {
 public:
  void line(const char* name, const std::string& value) {
    if (!value.empty()) out_ += fmt::format("{:<12} {}\n", name, one_line(value));
  }
  void section(const char* title) { out_ += fmt::format("\n{}\n", title); }
  void table(const Table& table, size_t width) {
    for (const std::string& each : table.lines(width)) out_ += "  " + each + "\n";
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
};

void describe(Page& page, const wire::Terminal& terminal) {
  page.line("id", terminal.id);
  page.line("name", terminal.name);
  page.line("owner", terminal.owner);
  page.line("session", terminal.session);
  if (terminal.lent) {
    const std::string& to = terminal.lent->to;
    page.line("lent", std::string("to ") + (to.empty() ? "every agent" : "session " + to) +
                          (terminal.lent->read_only ? ", for reading" : "") + ", by " + terminal.lent->by);
  }
  page.line("task", terminal.task);
  page.line("state", terminal.state);
  if (terminal.command) {
    page.line("command", terminal.command->command);
    if (terminal.command->waiting) {
      for (const std::string& words : waiting_words(*terminal.command->waiting, terminal.id))
        page.line("", words);
    }
  }
  if (!terminal.place.empty()) page.line("place", terminal.place);
  if (!terminal.link_lost.empty()) page.line("link lost", terminal.link_lost);
  const std::string& known_by = terminal.cwd_known_by;
  page.line("cwd", terminal.cwd + (known_by.empty() ? "" : fmt::format(" (from the {})", known_by)));
  page.line("shell", terminal.shell);
  page.line("integration", terminal.integration);
  page.line("runs in", terminal.provider);
  if (terminal.pid) page.line("pid", std::to_string(*terminal.pid));
  page.line("size", fmt::format("{}x{}", terminal.cols, terminal.rows));
  page.line("title", terminal.title);
  if (terminal.lease) page.line("keyboard", "with " + terminal.lease->by);
  page.line("age", age_text(now_in_ms() - terminal.created_at.ms));
  const wire::JournalUse& journal = terminal.journal;
  page.line("journal", fmt::format("{} bytes{}", journal.bytes,
                                   journal.dropped > 0 ? fmt::format(", {} dropped", journal.dropped) : ""));
}

void list_commands(Page& page, const std::vector<wire::CommandResult>& commands, size_t width) {
  if (commands.empty()) return;
  Table table({{"ID"}, {"STATE"}, {"TOOK"}, {"COMMAND", true}});
  for (const wire::CommandResult& each : commands) {
    table.add({each.command_id, how_it_ended(each),
               fmt::format("{:.1f}s", static_cast<double>(each.duration_ms) / 1000), each.command});
  }
  page.section("commands");
  page.table(table, width);
}

void list_processes(Page& page, const wire::TerminalDetails& details, size_t width) {
  if (!details.processes.empty()) {
    Table table({{"PID"}, {"COMMAND", true}});
    for (const wire::Process& each : details.processes) table.add({std::to_string(each.pid), each.command});
    page.section("processes");
    page.table(table, width);
  }
  if (details.ports.empty()) return;
  Table table({{"PORT"}, {"PID"}});
  for (const wire::Port& each : details.ports)
    table.add({std::to_string(each.port), std::to_string(each.pid)});
  page.section("listens on");
  page.table(table, width);
}

int show(const Arguments& args, const Globals& globals) {
  if (args.most < 0) return complain("show", "--most: give a number of commands", kExitUsage);
  return with_daemon("show", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call(wire::ShowRequest{args.terminal, args.most});
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_answer("show", *answer);
    const auto size = PersonTty::size();
    const size_t width = ::isatty(STDOUT_FILENO) != 0 && size && size->columns > 4 ? size->columns - 2U : 0;
    Page page;
    describe(page, answer->terminal);
    list_commands(page, answer->commands, width);
    list_processes(page, *answer, width);
    if (args.environment && !answer->environment.entries.empty()) {
      page.section("environment");
      Table table({{"NAME"}, {"VALUE", true}});
      for (const std::string& entry : answer->environment.entries) {
        const size_t equals = entry.find('=');
        table.add({entry.substr(0, equals), entry.substr(equals + 1)});
      }
      page.table(table, width);
    }
    return print_text("show", page.text());
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TERM", args->terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_option("--most", args->most, "Show at most this many of its commands")->capture_default_str();
  app.add_flag("--environment", args->environment, "Include the environment of its shell");
  return [args, &globals] { return show(*args, globals); };
}

}  // namespace
}  // namespace show_verb

const Verb kShow = {"show", "Show details of a terminal: its commands, processes and ports",
                    &show_verb::declare};

}  // namespace ttyward::cli
