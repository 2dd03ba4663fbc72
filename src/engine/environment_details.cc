#include "engine/environment_details.h"

#include <fmt/format.h>

#include <algorithm>

namespace ttyward::engine {
namespace {

// How long a program that watches files needs to notice a change.
constexpr std::chrono::milliseconds kAfterEdit{300};
constexpr std::chrono::milliseconds kLookAgain{100};

CommandNews news_of(Terminal& terminal, const Command& command, Readers& readers, const std::string& reader,
                    const terminal::ViewLimits& view) {
  CommandNews news;
  news.facts = terminal.facts(command);
  if (const auto source = OutputSource::find(terminal, command.facts.command_id)) {
    news.output = readers.read_new(reader, *source, view);
  }
  return news;
}

TerminalNews news_of(Terminal& terminal, Readers& readers, const std::string& reader,
                     const terminal::ViewLimits& view) {
  TerminalNews news;
  news.id = terminal.id();
  news.name = terminal.spec().name;
  news.cwd = terminal.cwd();
  news.active = terminal.live() && terminal.busy();
  news.hot = terminal.hot();
  for (const auto& command : terminal.commands()) {
    CommandNews told = news_of(terminal, *command, readers, reader, view);
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
    out += fmt::format("Finished command ({}): {}\n", ending(ended.facts), ended.facts.command);
    append_output(out, ended.output, "Output not seen yet");
  }
  if (!news.running) return;
  const terminal::CommandResult& facts = news.running->facts;
  out += fmt::format("Running command: {}\n", facts.command);
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
  for (Terminal* terminal : terminals) {
    TerminalNews news = news_of(*terminal, readers, reader, view);
    if (news.active) {
      details.active.push_back(std::move(news));
    } else if (!news.finished.empty()) {
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
