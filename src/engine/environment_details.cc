#include "engine/environment_details.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttyward::engine {
namespace {

// How long a program that watches files needs to notice a change.
constexpr std::chrono::milliseconds kAfterEdit{300};
constexpr std::chrono::milliseconds kLookAgain{100};

// Each command gets a part of the room at most, so that one that prints much does not hide the others.
constexpr uint64_t kPartOfRoom = 4;
constexpr uint64_t kLeastChars = 200;

// Who is told, and for how many characters there is room in all.
struct Telling {
  Readers& readers;
  const std::string& reader;
  terminal::ViewLimits view;
  uint64_t room;

  bool has_room() const { return room >= kLeastChars; }
};

CommandNews news_of(Terminal& terminal, const Command& command, Telling& telling) {
  CommandNews news;
  news.facts = terminal.facts(command);
  const auto source = OutputSource::find(terminal, command.facts.command_id);
  if (!source) return news;
  if (!telling.has_room()) return news;  // it stays unread
  terminal::ViewLimits view = telling.view;
  view.chars = std::min(std::max(kLeastChars, view.chars / kPartOfRoom), telling.room);
  news.output = telling.readers.read_new(telling.reader, *source, view);
  telling.room -= std::min<uint64_t>(telling.room, news.output.text.size());
  return news;
}

TerminalNews news_of(Terminal& terminal, Telling& telling) {
  TerminalNews news;
  news.id = terminal.id();
  news.name = terminal.spec().name;
  news.cwd = terminal.cwd();
  news.active = terminal.live() && terminal.busy();
  news.hot = terminal.hot();
  for (const auto& command : terminal.commands()) {
    if (command->over() && !telling.has_room()) {
      news.left_out += telling.readers.has_all(telling.reader, command->facts.command_id) ? 0 : 1;
      continue;
    }
    CommandNews told = news_of(terminal, *command, telling);
    if (!command->over()) {
      news.running = std::move(told);
    } else if (!told.output.text.empty()) {
      news.finished.push_back(std::move(told));
    }
  }
  return news;
}

std::string ending(const terminal::CommandResult& facts) {
  if (facts.exit_code)
    return fmt::format("{}, exit code {}", command_state_name(facts.state), *facts.exit_code);
  if (!facts.signal.empty()) return fmt::format("{} by {}", command_state_name(facts.state), facts.signal);
  return command_state_name(facts.state);
}

// Of a command line, what fits into a line of the report.
std::string_view shown(std::string_view command) {
  constexpr size_t kMostShown = 300;
  return command.substr(0, kMostShown);
}

void append_output(std::string& out, const ReadResult& output, const char* what) {
  if (output.text.empty()) return;
  out += fmt::format("{}:\n{}", what, output.text);
  if (out.back() != '\n') out += '\n';
}

void append(std::string& out, const TerminalNews& news) {
  out += fmt::format("\nTerminal {}{} ({})\n", news.id, news.name.empty() ? "" : " \"" + news.name + "\"",
                     news.active ? "Active" : "Inactive");
  out += "Working directory: " + news.cwd + "\n";
  for (const CommandNews& ended : news.finished) {
    out += fmt::format("Finished command ({}): {}\n", ending(ended.facts), shown(ended.facts.command));
    append_output(out, ended.output, "Output not seen yet");
  }
  if (news.left_out > 0)
    out += fmt::format("{} more finished commands with output not seen yet; the next look tells of them\n",
                       news.left_out);
  if (!news.running) return;
  const terminal::CommandResult& facts = news.running->facts;
  out += fmt::format("Running command: {}\n", shown(facts.command));
  if (facts.waiting) {
    out += fmt::format("It waits for input ({}): {}\n", facts.waiting->kind, facts.waiting->prompt);
  }
  append_output(out, news.running->output, "New output");
}

}  // namespace

std::vector<std::string> unread_commands(const std::vector<Terminal*>& terminals, const Readers& readers,
                                         const std::string& reader) {
  std::vector<std::string> unread;
  for (const Terminal* terminal : terminals) {
    for (const auto& command : terminal->commands()) {
      const bool made = !command->over() || command->output != nullptr || terminal->spec().temporary();
      if (!made && !readers.has_all(reader, command->facts.command_id))
        unread.push_back(command->facts.command_id);
    }
  }
  return unread;
}

EnvironmentDetails describe_environment(const std::vector<Terminal*>& terminals, Readers& readers,
                                        const std::string& reader, const terminal::ViewLimits& view) {
  EnvironmentDetails details;
  constexpr size_t kMostTerminals = 40;
  constexpr uint64_t kUnlimited = uint64_t{1} << 40;
  terminal::ViewLimits limits = view;
  if (limits.chars == 0) limits.chars = kUnlimited;
  Telling telling{readers, reader, limits, limits.chars};
  // What runs is told first: it matters most, should there not be room for all.
  std::vector<Terminal*> ordered = terminals;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const Terminal* terminal) { return terminal->live() && terminal->busy(); });
  for (Terminal* terminal : ordered) {
    if (details.active.size() + details.inactive.size() == kMostTerminals) {
      details.left_out++;
      continue;
    }
    TerminalNews news = news_of(*terminal, telling);
    if (news.active) {
      details.active.push_back(std::move(news));
    } else if (!news.finished.empty() || news.left_out > 0) {
      details.inactive.push_back(std::move(news));
    }
  }
  if (!details.active.empty()) details.text += "# Terminals in use\n";
  for (const TerminalNews& news : details.active) append(details.text, news);
  if (!details.inactive.empty()) {
    details.text +=
        std::string(details.text.empty() ? "" : "\n") + "# Terminals with output of finished commands\n";
  }
  for (const TerminalNews& news : details.inactive) append(details.text, news);
  if (details.left_out > 0)
    details.text += fmt::format("\n{} more terminals were not looked at: ttyward list\n", details.left_out);
  return details;
}

CoolDown::CoolDown(io::Loop& loop, Terminals terminals, bool edited, std::chrono::milliseconds most,
                   std::function<void()> done)
    : loop_(loop),
      terminals_(std::move(terminals)),
      give_up_(io::Loop::Clock::now() + most),
      done_(std::move(done)) {
  timer_ =
      loop_.after(edited ? std::min(kAfterEdit, most) : std::chrono::milliseconds(0), [this] { look(); });
}

void CoolDown::look() {
  timer_ = 0;
  const std::vector<Terminal*> terminals = terminals_();
  const bool hot =
      std::any_of(terminals.begin(), terminals.end(), [](const Terminal* t) { return t->hot(); });
  const auto now = io::Loop::Clock::now();
  if (hot && now < give_up_) {
    timer_ = loop_.at(std::min(now + kLookAgain, give_up_), [this] { look(); });
    return;
  }
  // It may destroy us.
  const std::function<void()> done = std::move(done_);
  done();
}

}  // namespace ttyward::engine
