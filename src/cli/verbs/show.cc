// ttyward show: everything about one terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/person_tty.h"
#include "cli/result_words.h"
#include "cli/shown_text.h"
#include "cli/table.h"
#include "cli/terminal_table.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

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

void describe(Page& page, const json::object& terminal) {
  page.line("id", text_in(terminal, "id"));
  page.line("name", text_in(terminal, "name"));
  page.line("owner", text_in(terminal, "owner"));
  page.line("session", text_in(terminal, "session"));
  if (const json::object* lent = object_in(terminal, "lent")) {
    const std::string to = text_in(*lent, "to");
    const json::value* only = lent->if_contains("read_only");
    page.line("lent", std::string("to ") + (to.empty() ? "every agent" : "session " + to) +
                          (only != nullptr && only->is_bool() && only->get_bool() ? ", for reading" : "") +
                          ", by " + text_in(*lent, "by"));
  }
  page.line("task", text_in(terminal, "task"));
  page.line("state", text_in(terminal, "state"));
  if (const json::object* command = object_in(terminal, "command")) {
    page.line("command", text_in(*command, "command"));
    if (const json::object* waiting = object_in(*command, "waiting")) {
      for (const std::string& words : waiting_words(*waiting, text_in(terminal, "id"))) page.line("", words);
    }
  }
  const std::string known_by = text_in(terminal, "cwd_known_by");
  page.line("cwd",
            text_in(terminal, "cwd") + (known_by.empty() ? "" : fmt::format(" (from the {})", known_by)));
  page.line("shell", text_in(terminal, "shell"));
  page.line("integration", text_in(terminal, "integration"));
  page.line("runs in", text_in(terminal, "provider"));
  if (const auto pid = number_in(terminal, "pid")) page.line("pid", std::to_string(*pid));
  page.line("size", fmt::format("{}x{}", number_in(terminal, "cols").value_or(0),
                                number_in(terminal, "rows").value_or(0)));
  page.line("title", text_in(terminal, "title"));
  if (const json::object* lease = object_in(terminal, "lease"))
    page.line("keyboard", "with " + text_in(*lease, "by"));
  if (const auto created = time_in(terminal, "created_at"))
    page.line("age", age_text(now_in_ms() - *created));
  if (const json::object* journal = object_in(terminal, "journal")) {
    const int64_t dropped = number_in(*journal, "dropped").value_or(0);
    page.line("journal", fmt::format("{} bytes{}", number_in(*journal, "bytes").value_or(0),
                                     dropped > 0 ? fmt::format(", {} dropped", dropped) : ""));
  }
}

void list_commands(Page& page, const json::object& answer, size_t width) {
  const auto commands = objects_in(answer, "commands");
  if (commands.empty()) return;
  Table table({{"ID"}, {"STATE"}, {"TOOK"}, {"COMMAND", true}});
  for (const json::object* each : commands) {
    table.add(
        {text_in(*each, "command_id"), how_it_ended(*each),
         fmt::format("{:.1f}s", static_cast<double>(number_in(*each, "duration_ms").value_or(0)) / 1000),
         text_in(*each, "command")});
  }
  page.section("commands");
  page.table(table, width);
}

void list_processes(Page& page, const json::object& answer, size_t width) {
  const auto processes = objects_in(answer, "processes");
  const auto ports = objects_in(answer, "ports");
  if (!processes.empty()) {
    Table table({{"PID"}, {"COMMAND", true}});
    for (const json::object* each : processes)
      table.add({std::to_string(number_in(*each, "pid").value_or(0)), text_in(*each, "command")});
    page.section("processes");
    page.table(table, width);
  }
  if (ports.empty()) return;
  Table table({{"PORT"}, {"PID"}});
  for (const json::object* each : ports)
    table.add({std::to_string(number_in(*each, "port").value_or(0)),
               std::to_string(number_in(*each, "pid").value_or(0))});
  page.section("listens on");
  page.table(table, width);
}

int show(const Arguments& args, const Globals& globals) {
  if (args.most < 0) return complain("show", "--most: give a number of commands", kExitUsage);
  return with_daemon("show", [&](client::Session& daemon) -> Outcome {
    auto answer = daemon.call_json(wire::ShowRequest{args.terminal, args.most});
    if (!answer) return tl::unexpected(answer.error());
    if (globals.json) return print_json("show", *answer);
    const auto size = PersonTty::size();
    const size_t width = ::isatty(STDOUT_FILENO) != 0 && size && size->columns > 4 ? size->columns - 2U : 0;
    Page page;
    const json::object* terminal = object_in(*answer, "terminal");
    if (terminal != nullptr) describe(page, *terminal);
    list_commands(page, *answer, width);
    list_processes(page, *answer, width);
    const json::object* environment = object_in(*answer, "environment");
    if (args.environment && environment != nullptr && !environment->empty()) {
      page.section("environment");
      Table table({{"NAME"}, {"VALUE", true}});
      for (const auto& member : *environment)
        table.add({std::string(member.key()), text_in(*environment, member.key())});
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

const Verb kShow = {"show", "Show details of a terminal: its commands, processes and ports", &declare};

}  // namespace ttyward::cli
