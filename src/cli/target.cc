#include "cli/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/daemon_verb.h"
#include "wire/types/policy_calls.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace {

constexpr size_t kIdLength = 13;  // base/ids.h: a letter and twelve characters
constexpr std::string_view kActiveTerminal = "@active";
constexpr int64_t kCommandsSearched = 1000;  // of the history, newest first

bool is_whole_id(const std::string& word, char kind) {
  return word.size() == kIdLength && word[0] == kind && std::all_of(word.begin() + 1, word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
         });
}

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

class Search {
 public:
  explicit Search(std::string word) : word_(std::move(word)) {}

  void terminal(const wire::Terminal& terminal) {
    const std::string& id = terminal.id;
    if (id == word_ || terminal.name == word_) {
      const bool first = id == word_ || (terminal.state != "finished" && terminal.state != "lost");
      (first ? exact_ : ended_).push_back({Target::Kind::Terminal, id, id});
    } else if (begins_with(id, word_)) {
      partial_.try_emplace(id, Target{Target::Kind::Terminal, id, id});
    }
    if (terminal.command) command(terminal.command->command_id, terminal.command->terminal_id);
  }

  void command(const std::string& id, const std::string& terminal_id) {
    if (!id.empty() && begins_with(id, word_))
      partial_.try_emplace(id, Target{Target::Kind::Command, id, terminal_id});
  }

  bool found() const { return !exact_.empty() || !ended_.empty() || !partial_.empty(); }

  tl::expected<Target, client::CallFailure> answer() const {
    const std::vector<Target>& named = exact_.empty() ? ended_ : exact_;
    if (named.size() == 1) return named.front();
    if (named.empty() && partial_.size() == 1) return partial_.begin()->second;
    if (!found()) {
      return refuse(
          base::Error{base::ErrorCode::NotFound, 0,
                      fmt::format("there is no terminal or command '{}': see ttyward ls --all", word_)});
    }
    std::string ids;
    for (const Target& each : named) ids += (ids.empty() ? "" : ", ") + each.id;
    if (!named.empty())
      return refuse(fmt::format("'{}' is the name of several terminals: give one of the ids {}", word_, ids));
    for (const auto& [id, target] : partial_) ids += (ids.empty() ? "" : ", ") + id;
    return refuse(fmt::format("'{}' matches {}: write more of the id", word_, ids));
  }

 private:
  std::string word_;
  std::vector<Target> exact_;
  std::vector<Target> ended_;              // of this name, but not alive any more
  std::map<std::string, Target> partial_;  // by id
};

}  // namespace

tl::expected<Target, client::CallFailure> find_target(client::Session& daemon, const std::string& word) {
  if (word.empty()) return refuse("name a terminal or a command: ttyward ls --all lists them");
  // The daemon knows which one that is.
  if (word == kActiveTerminal) return Target{Target::Kind::Terminal, word, word};
  if (is_whole_id(word, 'c')) return Target{Target::Kind::Command, word, ""};
  wire::ListRequest all;
  all.all = true;
  auto listed = daemon.call(all);
  if (!listed) return tl::unexpected(listed.error());
  Search search(word);
  for (const wire::Terminal& terminal : listed->terminals) search.terminal(terminal);
  if (!search.found() && word[0] == 'c') {
    wire::HistoryRequest newest;
    newest.limit = kCommandsSearched;
    if (const auto history = daemon.call(newest)) {
      for (const wire::HistoryRow& row : history->commands) search.command(row.command_id, row.terminal_id);
    }
  }
  return search.answer();
}

}  // namespace ttyward::cli
