#include "policy/danger.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace ttyward::policy {
namespace {

constexpr auto kTreeRemovers = std::to_array<std::string_view>(
    {"rmtree", "rm_rf", "rm_r", "rmSync", "remove_tree", "removeAll", "RemoveAll", "rimraf", "remove_dir_all",
     "rmdirSync", "remove_entry", "deltree", "fs.rm", "unlink glob", "unlink(glob", "delete-directory"});
constexpr auto kTerminalTricks = std::to_array<std::string_view>({"TIOCSTI", "TIOCLINUX", "0x5412", "21522"});

std::vector<std::string> string_literals(std::string_view code) {
  std::vector<std::string> found;
  for (size_t i = 0; i < code.size() && found.size() < 64; ++i) {
    const char quote = code[i];
    if (quote != '"' && quote != '\'' && quote != '`') continue;
    std::string text;
    size_t at = i + 1;
    for (; at < code.size() && code[at] != quote; ++at) {
      if (code[at] == '\\' && at + 1 < code.size()) ++at;
      text.push_back(code[at]);
    }
    if (at >= code.size()) break;
    found.push_back(std::move(text));
    i = at;
  }
  return found;
}

}  // namespace

void deny_only(Invocation& call, const std::function<void()>& judge) {
  Facts& facts = call.walk.facts();
  if (++facts.speculations > kMaxSpeculations) return;
  Facts before = facts;
  const ShellState state = call.walk.state();
  judge();
  call.walk.state() = state;  // what may not run changes nothing
  before.steps = facts.steps;
  before.speculations = facts.speculations;
  std::string reason;
  bool fetched = false;
  for (size_t i = before.commands.size(); i < facts.commands.size() && reason.empty(); ++i) {
    for (const Finding& finding : facts.commands[i].findings) {
      if (finding.decision == Decision::Deny) reason = finding.reason;
      fetched |= finding.risk == Risk::Critical && finding.effect == EffectKind::Execute;
    }
  }
  facts = std::move(before);
  if (!reason.empty()) call.deny(EffectKind::Execute, reason);
  if (fetched && reason.empty())
    call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
}

void check_command_text(Invocation& call, std::string_view text) {
  constexpr int kDeepest = 4;
  if (call.walk.depth() > kDeepest) return;
  const auto judge = [&](std::string_view command) {
    command.remove_prefix(std::min(command.find_first_not_of("!|:+& \t\n"), command.size()));
    if (command.find_first_of(" \t\n(") == std::string_view::npos) return;
    deny_only(call, [&] { call.walk.run_script(std::string(command), call.span, false, Input{}); });
  };
  if (text.starts_with("ext::")) {  // an address of git, with % before each blank
    std::string command(text.substr(5));
    std::erase(command, '%');
    judge(command);
    const size_t text_of_shell = command.find("-c ");
    if (text_of_shell != std::string::npos) judge(std::string_view(command).substr(text_of_shell + 3));
    return;
  }
  judge(text);
  const size_t name_end = text.find_first_of("=: ");
  if (name_end != std::string_view::npos && text[name_end] != ' ') judge(text.substr(name_end + 1));
}

void check_known_script(Invocation& call, const Field& file) {
  const std::string* text = call.walk.state().text_of(call.look(file).path);
  if (text == nullptr) return;
  deny_only(call, [&] { call.walk.run_script(*text, call.span, false, Input{}); });
  check_foreign_code(call, *text);
}

void check_foreign_code(Invocation& call, std::string_view code) {
  for (const std::string_view trick : kTerminalTricks) {
    if (code.find(trick) != std::string_view::npos) {
      call.ask(Risk::Critical, EffectKind::Process, "types into a terminal as if it were its user");
    }
  }
  const auto has = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return code.find(word) != std::string_view::npos; });
  };
  if (has({"fork"}) && has({"while", "for(;;", "for (;;", "loop", "until"}))
    call.ask(Risk::Critical, EffectKind::Process,
             "starts processes without end and would exhaust the machine");
  const bool takes =
      has({"urlopen", "urllib", "requests.get", "fetch(", "http.get", "https.get", "Net::HTTP", "open-uri",
           "LWP::", "file_get_contents('http", "file_get_contents(\"http", "socket"}) ||
      (call.input.from_network && has({"stdin", "STDIN", "<>"}));
  if (takes && has({"exec(", "eval(", "eval)", "eval ", "system(", "popen", "subprocess", "pty.spawn",
                    "/bin/sh", "/bin/bash"}))
    call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
  bool removes_trees = false;
  for (const std::string_view remover : kTreeRemovers)
    removes_trees |= code.find(remover) != std::string_view::npos;
  const std::vector<std::string> literals = string_literals(code);
  for (const std::string& literal : literals) {
    Field field;
    field.text =
        literal == "~" || literal.starts_with("~/") ? call.walk.place().home + literal.substr(1) : literal;
    for (char& c : field.text) {
      if (c == '*' && removes_trees) c = kStar;
    }
    const PathFacts facts = call.look(field);
    if (removes_trees && facts.absolute && facts.vital) {
      call.deny(EffectKind::Delete, "deletes a whole system or home directory", shown(facts.path));
    }
    if (facts.absolute && facts.disk)
      call.deny(EffectKind::Write, "opens a device that holds a file system", shown(facts.path));
    if (literal.find(' ') == std::string::npos || call.walk.depth() > 4) continue;
    deny_only(call, [&] { call.walk.run_script(literal, call.span, false, Input{}); });
  }
  // sh -c and friends spelled as a list: ['rm', '-rf', '/']
  if (literals.size() >= 3) {
    for (size_t i = 0; i + 2 < literals.size(); ++i) {
      Field target;
      target.text = literals[i + 2];
      if (literals[i] == "rm" && literals[i + 1].starts_with("-") &&
          literals[i + 1].find_first_of("rR") != std::string::npos && call.look(target).vital) {
        call.deny(EffectKind::Delete, "deletes a whole system or home directory", target.text);
      }
    }
  }
}

}  // namespace ttyward::policy
