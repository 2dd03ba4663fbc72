// Statements of the shell: who runs, in which state, with which input.
#include "policy/shell_walk.h"

namespace ttyward::policy {
namespace {

using syntax::CommandKind;

constexpr int kMaxLoopNesting = 4;
constexpr size_t kMaxLoopValues = 32;

std::string unknown() {
  return std::string(1, kAny);
}

// Names that mean something already, or that a shell calls by itself.
bool takes_a_place(std::string_view name) {
  if (find_program(name) != nullptr || name.starts_with('_')) return true;
  for (const std::string_view own :
       {"command_not_found", "TRAP", "precmd", "preexec", "chpwd", "periodic", "zsh", "fish", "PROMPT"}) {
    if (name.starts_with(own)) return true;
  }
  return false;
}

bool is_number_test(std::string_view op) {
  return op == "-eq" || op == "-ne" || op == "-lt" || op == "-le" || op == "-gt" || op == "-ge";
}

// Starts something in the background, and nothing in it waits.
bool starts_without_waiting(const syntax::List& list) {
  bool background = false;
  for (const syntax::AndOr& one : list.items) {
    if (one.background) {
      background = true;
      continue;
    }
    for (const syntax::Pipeline& pipeline : one.pipelines) {
      for (const syntax::Command& command : pipeline.commands) {
        if (command.kind == CommandKind::Subshell || command.kind == CommandKind::Group) {
          if (!starts_without_waiting(command.lists[0])) return false;
          background = true;
          continue;
        }
        if (command.kind != CommandKind::Simple || command.words.empty()) return false;
        bool instant = false;
        for (const char* const name : {"true", ":", "echo", "printf", "false", "continue", "let"})
          instant |= command.words[0].is_plain(name);
        if (!instant) return false;
      }
    }
  }
  return background;
}

// A command that always succeeds or always fails, written plainly.
bool is_plain_command(const syntax::List& list, std::string_view name) {
  if (list.items.size() != 1 || list.items[0].pipelines.size() != 1) return false;
  const syntax::Pipeline& pipeline = list.items[0].pipelines[0];
  if (pipeline.negated || pipeline.commands.size() != 1) return false;
  const syntax::Command& command = pipeline.commands[0];
  if (command.kind == CommandKind::Arithmetic) return name == "((" && command.expressions[0] == "1";
  if (command.kind == CommandKind::Test) return name == "[[" && command.test.size() == 1;
  return command.kind == CommandKind::Simple && !command.words.empty() &&
         command.words[0].is_plain(std::string(name).c_str());
}

}  // namespace

void ShellWalk::note_background(const syntax::AndOr& item) {
  CommandFact fact;
  fact.argv = {"&"};
  fact.span = outward({item.span.end - 1, item.span.end});
  Finding finding;
  finding.effect = EffectKind::Process;
  finding.reason = "leaves a process running in the background";
  finding.span = fact.span;
  fact.findings.push_back(std::move(finding));
  fact.effects.push_back({EffectKind::Process, ""});
  record(std::move(fact));
}

std::string ShellWalk::list(const syntax::List& items, const Input& input) {
  std::string out;
  for (const syntax::AndOr& item : items.items) {
    const ShellState before = state_;
    if (item.background) ++background_;
    out += and_or(item, input);
    if (item.background) {
      --background_;
      state_.leave_subshell(before);
      note_background(item);
    } else if (state_.cwds != before.cwds) {
      // `cd there; …` goes on even if the folder is not there.
      ShellState other = state_;
      other.cwds = before.cwds;
      state_.merge(other);
    }
  }
  return out;
}

std::string ShellWalk::and_or(const syntax::AndOr& item, const Input& input) {
  if (item.pipelines.size() == 1) return pipeline(item.pipelines.front(), input);
  std::string out;
  ShellState fallback = state_;
  for (size_t i = 0; i < item.pipelines.size(); ++i) {
    const bool by_or = i > 0 && item.by_or[i - 1];
    const ShellState before = state_;
    if (by_or) state_.merge(fallback);
    fallback = before;
    out += pipeline(item.pipelines[i], input);
    if (i == 0) continue;
    // Either side may be the last that ran; what `&&` leads to keeps the folder it came from.
    const std::vector<std::string> cwds = state_.cwds;
    state_.merge(before);
    if (!by_or) state_.cwds = cwds;
  }
  return out;
}

std::string ShellWalk::pipeline(const syntax::Pipeline& item, const Input& first_input) {
  if (item.commands.size() == 1) return command(item.commands.front(), first_input);
  std::string out;
  Input input = first_input;
  const size_t first_command = facts_.commands.size();
  ++pipeline_;
  for (const syntax::Command& stage : item.commands) {
    const ShellState before = state_;  // every stage is a subshell
    const size_t commands = facts_.commands.size();
    out = command(stage, input);
    state_.leave_subshell(before);
    const bool network = input.from_network || network_since(commands);
    bool vital = false;
    for (size_t c = commands; c < facts_.commands.size(); ++c) {
      const CommandFact& fact = facts_.commands[c];
      if (fact.program != "find") continue;
      for (const Effect& effect : fact.effects) {
        if (effect.kind != EffectKind::List) continue;
        vital |= look_at(effect.target, before.cwds.empty() ? "" : before.cwds.front(), place_).vital;
      }
    }
    const bool deletes_vital =
        vital || (input.deletes_vital && out.find_first_of("\x01\x06") != std::string::npos);
    const bool endless = never_ends(commands) || (input.endless && !cuts_off(commands));
    if (network && !input.from_network) raise_fed_shells(first_command, commands);
    constexpr size_t kMaxPiped = 256UL * 1024;
    input = Input::of(out.size() > kMaxPiped ? unknown() : out, network, deletes_vital);
    input.endless = endless;
  }
  --pipeline_;
  // zsh and ksh run the last stage in the shell itself.
  if (reading_.dialect != syntax::Dialect::Bash) {
    for (auto& [name, value] : state_.variables) value = {unknown()};
  }
  return out;
}

// Whether something since then prints for ever.
bool ShellWalk::never_ends(size_t commands) const {
  for (size_t c = commands; c < facts_.commands.size(); ++c) {
    const CommandFact& fact = facts_.commands[c];
    if (fact.program == "yes") return !cuts_off(commands);
    const bool copies = fact.program == "cat" || fact.program == "tr" || fact.program == "base64" ||
                        fact.program == "od" || fact.program == "xxd" || fact.program == "hexdump";
    for (const Effect& effect : fact.effects) {
      if (copies && effect.kind == EffectKind::Read && is_endless_device(effect.target)) return true;
    }
  }
  return false;
}

// Whether something since then stops reading by itself.
bool ShellWalk::cuts_off(size_t commands) const {
  for (size_t c = commands; c < facts_.commands.size(); ++c) {
    const std::string& program = facts_.commands[c].program;
    for (const std::string_view stops :
         {"head", "timeout", "sed", "awk", "grep", "dd", "read", "true", "less"}) {
      if (program == stops) return true;
    }
  }
  return false;
}

// sh < pipe | nc host: what it is fed comes back from the other machine.
void ShellWalk::raise_fed_shells(size_t from, size_t to) {
  for (size_t c = from; c < to; ++c) {
    for (Finding& finding : facts_.commands[c].findings) {
      if (finding.effect == EffectKind::Execute && finding.reason == "runs its input as commands")
        finding.risk = Risk::Critical;
    }
  }
}

std::string ShellWalk::command(const syntax::Command& item, const Input& input) {
  if (++facts_.steps > kMaxSteps) {
    not_understood("too many steps to follow", item.span);
    return unknown();
  }
  if (item.kind == CommandKind::Simple) return simple_command(item, input);
  Redirections redirections;
  redirections.input = input;
  for (const syntax::Redirect& one : item.redirects) redirect(one, redirections);
  return compound(item, redirections.input);
}

std::string ShellWalk::compound(const syntax::Command& item, const Input& input) {
  switch (item.kind) {
    case CommandKind::Subshell: {
      const ShellState before = state_;
      std::string out = list(item.lists[0], input);
      state_.leave_subshell(before);
      return out;
    }
    case CommandKind::Group:
      return list(item.lists[0], input);
    case CommandKind::If:
      conditional(item, input);
      return unknown();
    case CommandKind::While:
    case CommandKind::Until:
    case CommandKind::ArithmeticFor:
      loop(item, input);
      return unknown();
    case CommandKind::For:
      for_loop(item, input);
      return unknown();
    case CommandKind::Case:
      case_statement(item, input);
      return unknown();
    case CommandKind::Function:
      function_definition(item);
      return {};
    case CommandKind::Test:
      test_command(item);
      return {};
    case CommandKind::Arithmetic:
      reader_.check_arithmetic(item.expressions[0], item.expression_spans[0],
                               WordReader::Arithmetic::AlwaysRuns);
      return {};
    case CommandKind::Simple:
      break;
  }
  return unknown();
}

void ShellWalk::conditional(const syntax::Command& item, const Input& input) {
  const std::vector<syntax::List>& lists = item.lists;
  size_t at = 0;
  ShellState merged;
  bool first = true;
  for (; at + 1 < lists.size(); at += 2) {
    list(lists[at], input);
    const ShellState condition = state_;
    list(lists[at + 1], input);
    if (first) {
      merged = state_;
    } else {
      merged.merge(state_);
    }
    first = false;
    state_ = condition;
  }
  if (at < lists.size()) list(lists[at], input);  // else
  merged.merge(state_);
  state_ = std::move(merged);
}

// A body that may run again sees what it left behind the first time.
void ShellWalk::body_twice(const syntax::List& body, const Input& input) {
  if (++loops_ > kMaxLoopNesting) {
    not_understood("loops nested too deeply", body.span);
  } else {
    const ShellState before = state_;
    list(body, input);
    const bool changed = state_.variables != before.variables || state_.cwds != before.cwds;
    state_.merge(before);
    if (changed) {
      const ShellState once = state_;
      list(body, input);
      state_.merge(once);
    }
  }
  --loops_;
}

void ShellWalk::loop(const syntax::Command& item, const Input& input) {
  if (item.kind == CommandKind::ArithmeticFor) {
    for (size_t i = 0; i < item.expressions.size(); ++i)
      reader_.check_arithmetic(item.expressions[i], item.expression_spans[i],
                               i == 0 ? WordReader::Arithmetic::AlwaysRuns : WordReader::Arithmetic::MayRun);
  } else {
    list(item.lists[0], input);
  }
  if (spawns_for_ever(item)) {
    CommandFact fact;
    fact.argv = {"while … &"};
    fact.span = outward(item.span);
    fact.effects.push_back({EffectKind::Process, ""});
    Finding finding;
    finding.decision = Decision::Deny;
    finding.risk = Risk::Critical;
    finding.effect = EffectKind::Process;
    finding.reason = "starts processes without end and would exhaust the machine";
    finding.span = fact.span;
    fact.findings.push_back(std::move(finding));
    record(std::move(fact));
  }
  body_twice(item.lists.back(), input);
}

// while true; do something & done, with nothing in between that waits
bool ShellWalk::spawns_for_ever(const syntax::Command& item) const {
  bool endless = false;
  if (item.kind == CommandKind::ArithmeticFor) {
    endless = item.expressions[1].find_first_not_of(" 1") == std::string::npos;
  } else if (item.kind == CommandKind::Until) {
    endless = is_plain_command(item.lists[0], "false");
  } else {
    for (const std::string_view constant :
         {"true", ":", "[", "((", "[[", "ls", "sleep", "pwd", "echo", "date", "id"})
      endless |= is_plain_command(item.lists[0], constant);
  }
  return endless && starts_without_waiting(item.lists.back());
}

void ShellWalk::for_loop(const syntax::Command& item, const Input& input) {
  std::vector<Field> values;
  for (const syntax::Word& word : item.words) read_word(word, WordContext::Argument, values);
  Invocation assigning(*this, {}, outward(item.span), Input{});
  bool constant = item.has_in;
  for (const Field& value : values) constant &= value.constant();
  judge_assignment(assigning, item.name, constant && !values.empty() ? values.front().text : unknown(),
                   AssignmentScope::Shell);
  if (!assigning.fact.findings.empty()) record(std::move(assigning.fact));
  const syntax::List& body = item.lists.back();
  if (!item.has_in || values.size() > kMaxLoopValues) {
    state_.set(item.name, {unknown()});
    return body_twice(body, input);
  }
  if (++loops_ > kMaxLoopNesting) {
    not_understood("loops nested too deeply", item.span);
  } else {
    const ShellState before = state_;
    // With many values only the first few rounds are gone through one by one.
    for (const Field& value : values) {
      // A value split from unknown text is one word at a time.
      std::string text = value.text;
      for (char& c : text) {
        if (c == kAnyFields) c = kAny;
      }
      state_.set(item.name, {text});
      list(body, input);
      if (facts_.commands.size() > kMaxCommands) break;
    }
    ShellState after = state_;
    after.merge(before);
    state_ = after;
  }
  --loops_;
}

void ShellWalk::case_statement(const syntax::Command& item, const Input& input) {
  std::vector<Field> ignored;
  read_word(item.words[0], WordContext::Assignment, ignored);
  const ShellState before = state_;
  ShellState merged = before;
  for (const syntax::CaseItem& one : item.cases) {
    state_ = before;
    for (const syntax::Word& pattern : one.patterns) read_word(pattern, WordContext::Assignment, ignored);
    list(one.body, input);
    merged.merge(state_);
  }
  state_ = merged;
}

void ShellWalk::function_definition(const syntax::Command& item) {
  const std::string& name = item.name;
  CommandFact fact;
  fact.argv = {name + "()"};
  fact.program = "function";
  fact.subcommand = name;
  fact.span = outward(item.span);
  fact.effects.push_back({EffectKind::State, name});
  Finding finding;
  finding.effect = EffectKind::State;
  finding.target = name;
  finding.span = fact.span;
  finding.risk = Risk::High;
  finding.reason = "defines a function that replaces '" + name + "'";
  // Any other name means nothing yet. What a terminal's shell calls by that name later is asked about.
  if (takes_a_place(name)) fact.findings.push_back(std::move(finding));
  record(std::move(fact));
  const bool again = std::any_of(state_.functions.begin(), state_.functions.end(),
                                 [&](const auto& one) { return one.first == name; });
  state_.functions.emplace_back(name, item.body.get());
  if (!again) state_.certain.push_back(item.body.get());
  judge_definition(item.body.get());
}

// A body may be called later, with any arguments and variables. What speaks against that counts if this line
// does not call it, which says more; a catastrophe counts in any case.
void ShellWalk::judge_definition(const syntax::Command* body) {
  const ShellState state = state_;
  const Facts before = facts_;
  state_.forget_parameters();
  for (auto& [variable, value] : state_.variables)
    value = {std::string(1, variable == "@" ? kAnyFields : kAny)};
  call_function(body, Input{});
  state_ = state;
  Definition found{body, {}, {}};
  const auto denies = [](const Finding& finding) { return finding.decision == Decision::Deny; };
  bool catastrophe = false;
  for (size_t i = before.commands.size(); i < facts_.commands.size(); ++i) {
    const std::vector<Finding>& findings = facts_.commands[i].findings;
    catastrophe |= std::any_of(findings.begin(), findings.end(), denies);
    found.commands.push_back(std::move(facts_.commands[i]));
  }
  for (size_t i = before.findings.size(); i < facts_.findings.size(); ++i)
    found.findings.push_back(std::move(facts_.findings[i]));
  const bool understood = facts_.understood;
  const size_t steps = facts_.steps;
  const size_t speculations = facts_.speculations;
  facts_ = before;
  facts_.steps = steps;
  facts_.speculations = speculations;
  facts_.understood = understood;
  if (catastrophe || !understood) return take_definition(found);
  definitions_.push_back(std::move(found));
}

void ShellWalk::take_definition(Definition& definition) {
  for (CommandFact& fact : definition.commands) record(std::move(fact));
  for (Finding& finding : definition.findings) facts_.findings.push_back(std::move(finding));
}

std::string ShellWalk::call_function(const syntax::Command* body, const Input& input) {
  if (body == nullptr) return unknown();
  std::erase_if(definitions_, [&](const Definition& definition) { return definition.body == body; });
  for (const syntax::Command* running : running_) {
    if (running != body) continue;
    if (in_background() || in_pipeline()) {
      CommandFact fact;
      fact.argv = {"(recursion)"};
      fact.span = outward(body->span);
      fact.effects.push_back({EffectKind::Process, ""});
      Finding finding;
      finding.decision = Decision::Deny;
      finding.risk = Risk::Critical;
      finding.effect = EffectKind::Process;
      finding.reason = "a function that starts itself again and again and would exhaust the machine";
      finding.span = fact.span;
      fact.findings.push_back(std::move(finding));
      record(std::move(fact));
    }
    line_finding(Risk::Medium, EffectKind::Process, "a function that calls itself", body->span);
    return unknown();
  }
  if (running_.size() > 8) {
    not_understood("function calls nested too deeply", body->span);
    return unknown();
  }
  running_.push_back(body);
  std::string out = command(*body, input);
  running_.pop_back();
  return out;
}

// [[ ]]: operands are words; numbers are arithmetic, and -v evaluates a subscript.
void ShellWalk::test_command(const syntax::Command& item) {
  for (const syntax::TestToken& token : item.test) {
    std::vector<Field> operands;
    if (!token.left.parts.empty()) read_word(token.left, WordContext::Assignment, operands);
    if (!token.right.parts.empty()) read_word(token.right, WordContext::Assignment, operands);
    if ((token.op == "-v" || token.op == "-R") &&
        (operands.empty() || !operands[0].constant() || !is_plain_name(operands[0].text)))
      risky_expansion("tests a variable whose name can run commands", item.span);
    if (!is_number_test(token.op)) continue;
    for (const Field& operand : operands) {
      if (operand.text.find_first_not_of("0123456789-+ \x03") != std::string::npos)
        risky_expansion("compares numbers that are not known to be numbers", item.span);
    }
  }
}

}  // namespace ttyward::policy
