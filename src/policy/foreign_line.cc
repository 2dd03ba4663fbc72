#include "policy/foreign_line.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "policy/text_screen.h"

namespace ttyward::policy {
namespace {

constexpr auto kFatalWords = std::to_array<std::string_view>(
    {"format", "diskpart", "mkfs", "clear-disk", "format-volume", "stop-computer", "restart-computer",
     "shutdown", "cipher", "initialize-disk", "remove-partition"});
constexpr auto kRemovers =
    std::to_array<std::string_view>({"remove-item", "rm", "del", "erase", "rd", "rmdir", "ri"});

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool names_a_root(const std::string& line) {
  for (const std::string_view root :
       {"c:\\", "c:/", "d:\\", "$env:systemdrive", "%systemdrive%", "$env:windir", "%windir%", "$home",
        "$env:userprofile", "%userprofile%", "~"}) {
    const size_t at = line.find(root);
    if (at == std::string::npos) continue;
    const size_t end = line.find_first_not_of("\\/*.\"'", at + root.size());
    if (end == std::string::npos || line[end] == ' ' || line[end] == ';' || line[end] == '&' ||
        line.substr(end).starts_with("windows") || line.substr(end).starts_with("users")) {
      return true;
    }
  }
  return line.find(" / ") != std::string::npos || line.ends_with(" /");
}

}  // namespace

SegmentedLine split_line(std::string_view line, ShellKind shell) {
  SegmentedLine result;
  std::string word;
  bool first = true;
  char quote = '\0';
  const char escape = shell == ShellKind::PowerShell ? '`' : shell == ShellKind::Cmd ? '^' : '\\';
  const auto end_word = [&] {
    if (first && !word.empty()) {
      result.commands.push_back(word);
      first = false;
    }
    word.clear();
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        if (quote == '"' && (c == '$' || c == '`' || c == '%')) result.understood = false;
        word.push_back(c);
      }
    } else if (c == '"' || (c == '\'' && shell != ShellKind::Cmd)) {
      quote = c;
    } else if (c == escape) {
      result.understood = false;  // escapes in command names are there to deceive
      if (i + 1 < line.size()) word.push_back(line[++i]);
    } else if (c == ';' || c == '|' || c == '&' || c == '\n') {
      end_word();
      first = true;
    } else if (c == ' ' || c == '\t') {
      end_word();
    } else {
      if (std::string_view("$(){}@%!<>").find(c) != std::string_view::npos) result.understood = false;
      word.push_back(c);
    }
  }
  end_word();
  result.understood &= quote == '\0';
  return result;
}

Verdict check_foreign_line(std::string_view line, ShellKind shell) {
  Verdict verdict;
  verdict.rule = "built-in";
  verdict.decision = Decision::Ask;
  verdict.risk = Risk::Medium;
  const Span whole{0, static_cast<uint32_t>(line.size())};
  for (const TextProblem& problem : screen_text(line)) {
    verdict.risk = std::max(verdict.risk, problem.risk);
    verdict.reasons.push_back({problem.what, problem.span, problem.risk, Decision::Ask});
  }
  const SegmentedLine split = split_line(line, shell);
  verdict.commands = split.commands;
  verdict.effects.push_back({EffectKind::Unknown, ""});
  verdict.reasons.push_back(
      {"ttyward cannot tell what this shell does with the line", whole, Risk::Medium, Decision::Ask});
  if (!split.understood) {
    verdict.risk = std::max(verdict.risk, Risk::High);
    verdict.reasons.push_back(
        {"has expressions or quotes that are not understood", whole, Risk::High, Decision::Ask});
  }
  const std::string text = lowered(line);
  for (const std::string& command : split.commands) {
    const std::string name = lowered(command);
    const bool fatal = std::find(kFatalWords.begin(), kFatalWords.end(), name) != kFatalWords.end();
    const bool removes = std::find(kRemovers.begin(), kRemovers.end(), name) != kRemovers.end();
    const bool recursive = text.find("-r") != std::string::npos || text.find("/s") != std::string::npos;
    if (removes) {
      verdict.risk = std::max(verdict.risk, recursive ? Risk::Critical : Risk::High);
      verdict.effects.push_back({EffectKind::Delete, ""});
      verdict.reasons.push_back({"deletes files", whole, verdict.risk, Decision::Ask});
    }
    if (fatal || (removes && recursive && names_a_root(text))) {
      verdict.decision = Decision::Deny;
      verdict.risk = Risk::Critical;
      verdict.reasons.insert(verdict.reasons.begin(),
                             {"destroys a disk or a home directory, or stops the machine", whole,
                              Risk::Critical, Decision::Deny});
    }
  }
  return verdict;
}

}  // namespace ttyward::policy
