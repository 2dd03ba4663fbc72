// Statements of the shell: who runs, in which state, with which input.
#include "policy/shell_walk.h"

namespace ttyward::policy {
namespace {

constexpr int kMaxLoopNesting = 4;
constexpr size_t kMaxLoopValues = 32;

}  // namespace

std::string ShellWalk::statement(uint32_t index, const Input& input) {
  if (++facts_.steps > kMaxSteps) {
    not_understood("too many steps to follow", {node(index).begin, node(index).end});
    return std::string(1, kAny);
  }
  switch (node(index).kind) {
    case NodeKind::Command:
      return simple_command(index, input, {});
    case NodeKind::RedirectedStatement:
      return redirected(index, input);
    case NodeKind::List:
      return list(index, input);
    case NodeKind::Pipeline:
      return pipeline(index, input, Input{});
    case NodeKind::NegatedCommand: {
      std::string out;
      for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
        if (node(at).kind != NodeKind::Token) out = statement(at, input);
      }
      return out;
    }
    case NodeKind::Subshell: {
      const ShellState before = state_;
      std::string out = sequence(node(index).first_child, 0, input);
      state_ = before;
      return out;
    }
    case NodeKind::CompoundStatement:
    case NodeKind::DoGroup:
      return sequence(node(index).first_child, 0, input);
    case NodeKind::IfStatement:
      conditional(index, input);
      return std::string(1, kAny);
    case NodeKind::WhileStatement:
    case NodeKind::CStyleForStatement:
      loop(index, input);
      return std::string(1, kAny);
    case NodeKind::ForStatement:
      for_loop(index, input);
      return std::string(1, kAny);
    case NodeKind::CaseStatement:
      case_statement(index, input);
      return std::string(1, kAny);
    case NodeKind::FunctionDefinition:
      function_definition(index);
      return {};
    case NodeKind::DeclarationCommand:
    case NodeKind::UnsetCommand:
      return declaration(index, input);
    case NodeKind::TestCommand:
      test_command(index);
      return {};
    case NodeKind::VariableAssignment:
      bare_assignment(index);
      return {};
    case NodeKind::VariableAssignments:
      for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) bare_assignment(at);
      return {};
    case NodeKind::Comment:
    case NodeKind::HeredocBody:
    case NodeKind::HeredocEnd:
      return {};
    default:
      not_understood("syntax that is not understood", {node(index).begin, node(index).end});
      return std::string(1, kAny);
  }
}

std::string ShellWalk::sequence(uint32_t first, uint32_t stop, const Input& input) {
  std::string out;
  for (uint32_t at = first; at != 0 && at != stop; at = node(at).next) {
    if (node(at).kind == NodeKind::Token) continue;
    const uint32_t next = node(at).next;
    const bool background = next != 0 && is_token(next, "&");
    const ShellState before = state_;
    if (background) ++background_;
    out += statement(at, input);
    if (background) {
      --background_;
      state_ = before;
      CommandFact fact;
      fact.argv = {"&"};
      fact.span = span_of(next);
      Finding finding;
      finding.effect = EffectKind::Process;
      finding.reason = "leaves a process running in the background";
      finding.span = fact.span;
      fact.findings.push_back(std::move(finding));
      fact.effects.push_back({EffectKind::Process, ""});
      record(std::move(fact));
    } else if (state_.cwds != before.cwds) {
      // `cd there; …` goes on even if the folder is not there.
      ShellState other = state_;
      other.cwds = before.cwds;
      state_.merge(other);
    }
  }
  return out;
}

std::string ShellWalk::list(uint32_t index, const Input& input) {
  std::string out;
  ShellState fallback = state_;
  bool first = true;
  bool by_or = false;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (node(at).kind == NodeKind::Comment) continue;
    if (node(at).kind == NodeKind::Token) {
      by_or = slice(node(at)) == "||";
      continue;
    }
    const ShellState before = state_;
    if (!first && by_or) state_.merge(fallback);
    fallback = before;
    out += statement(at, input);
    if (!first) {
      // Either side may be the last that ran; what `&&` leads to keeps the folder it came from.
      const std::vector<std::string> cwds = state_.cwds;
      state_.merge(before);
      if (!by_or) state_.cwds = cwds;
    }
    first = false;
  }
  return out;
}

std::string ShellWalk::pipeline(uint32_t index, const Input& input, const Input& last_input) {
  std::vector<uint32_t> parts;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (node(at).kind != NodeKind::Token && node(at).kind != NodeKind::Comment) parts.push_back(at);
  }
  return stages(parts, input, last_input);
}

std::string ShellWalk::stages(const std::vector<uint32_t>& parts, Input input, const Input& last_input) {
  std::string out;
  ++pipeline_;
  const bool network_before = facts_.commands.empty();
  (void)network_before;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ShellState before = state_;  // every stage is a subshell
    const size_t commands = facts_.commands.size();
    if (i + 1 == parts.size() && last_input.given) input = last_input;
    out = statement(parts[i], input);
    state_ = before;
    bool network = input.from_network;
    bool vital = false;
    for (size_t c = commands; c < facts_.commands.size(); ++c) {
      const CommandFact& fact = facts_.commands[c];
      for (const Effect& effect : fact.effects) {
        network |= effect.kind == EffectKind::Network;
        if (effect.kind == EffectKind::List && fact.program == "find") {
          vital |= look_at(effect.target, before.cwds.empty() ? "" : before.cwds.front(), place_).vital;
        }
      }
    }
    const bool deletes_vital =
        vital || (input.deletes_vital && out.find_first_of("\x01\x06") != std::string::npos);
    input = Input::of(out, network, deletes_vital);
  }
  --pipeline_;
  return out;
}

void ShellWalk::conditional(uint32_t index, const Input& input) {
  // Parts in order: if CONDITION then …; elif_clause, else_clause hold their own.
  std::vector<uint32_t> branch_clauses;
  uint32_t then = 0;
  uint32_t last = 0;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (is_token(at, "then")) then = at;
    if (node(at).kind == NodeKind::ElifClause || node(at).kind == NodeKind::ElseClause) {
      if (last == 0) last = at;
      branch_clauses.push_back(at);
    }
  }
  sequence(node(index).first_child, then, input);
  const ShellState condition = state_;
  if (then != 0) sequence(then, last, input);
  ShellState merged = state_;
  merged.merge(condition);
  for (const uint32_t clause : branch_clauses) {
    state_ = condition;
    if (node(clause).kind == NodeKind::ElifClause) {
      conditional(clause, input);
    } else {
      sequence(node(clause).first_child, 0, input);
    }
    merged.merge(state_);
  }
  state_ = merged;
}

// A body that may run again sees what it left behind the first time.
void ShellWalk::body_twice(uint32_t body, const Input& input) {
  if (++loops_ > kMaxLoopNesting) {
    not_understood("loops nested too deeply", {node(body).begin, node(body).end});
  } else {
    const ShellState before = state_;
    statement(body, input);
    const bool changed = state_.variables != before.variables || state_.cwds != before.cwds;
    state_.merge(before);
    if (changed) {
      const ShellState once = state_;
      statement(body, input);
      state_.merge(once);
    }
  }
  --loops_;
}

void ShellWalk::loop(uint32_t index, const Input& input) {
  uint32_t body = 0;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (node(at).kind == NodeKind::DoGroup || node(at).kind == NodeKind::CompoundStatement) body = at;
  }
  if (node(index).kind == NodeKind::CStyleForStatement) {
    const std::string_view whole = slice(node(index));
    const size_t open = whole.find("((");
    const size_t close = whole.find("))");
    if (open == std::string_view::npos || close == std::string_view::npos)
      return not_understood("a loop that is not understood", {node(index).begin, node(index).end});
    reader_.check_arithmetic(node(index).begin + static_cast<uint32_t>(open) + 2,
                             node(index).begin + static_cast<uint32_t>(close));
    for (uint32_t at = node(index).first_child; at != 0 && at != body; at = node(at).next) visit_nested(at);
  } else {
    sequence(node(index).first_child, body, input);
  }
  if (body == 0) return;
  if (spawns_for_ever(index, body)) {
    CommandFact fact;
    fact.argv = {"while … &"};
    fact.span = span_of(index);
    fact.effects.push_back({EffectKind::Process, ""});
    Finding finding;
    finding.decision = Decision::Deny;
    finding.risk = Risk::Critical;
    finding.effect = EffectKind::Process;
    finding.reason = "starts processes without end: they would fill the machine";
    finding.span = fact.span;
    fact.findings.push_back(std::move(finding));
    record(std::move(fact));
  }
  body_twice(body, input);
}

// while true; do something & done, with nothing in between that waits
bool ShellWalk::spawns_for_ever(uint32_t index, uint32_t body) const {
  const std::string_view text = slice(node(index));
  const size_t condition_end = node(body).begin - node(index).begin;
  const std::string_view condition = text.substr(0, condition_end);
  bool endless =
      node(index).kind == NodeKind::CStyleForStatement && condition.find(";;") != std::string_view::npos;
  for (const std::string_view constant :
       {"while true", "while :", "while [ 1 ]", "while ((1))", "while [[ 1 ]]", "until false"}) {
    endless |= condition.starts_with(constant);
  }
  if (!endless) return false;
  bool background = false;
  bool foreground = false;
  for (uint32_t at = node(body).first_child; at != 0; at = node(at).next) {
    if (node(at).kind == NodeKind::Token || node(at).kind == NodeKind::Comment) continue;
    const uint32_t next = node(at).next;
    (next != 0 && is_token(next, "&") ? background : foreground) = true;
  }
  return background && !foreground;
}

void ShellWalk::for_loop(uint32_t index, const Input& input) {
  std::string name;
  std::vector<Field> values;
  uint32_t body = 0;
  bool listed = false;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::VariableName) {
      name = std::string(slice(node(at)));
    } else if (kind == NodeKind::DoGroup || kind == NodeKind::CompoundStatement) {
      body = at;
    } else if (is_token(at, "in")) {
      listed = true;
    } else if (kind != NodeKind::Token && kind != NodeKind::Comment) {
      read_word(at, WordContext::Argument, values);
    }
  }
  if (name.empty() || body == 0)
    return not_understood("a loop that is not understood", {node(index).begin, node(index).end});
  if (is_token(node(index).first_child, "select"))
    line_finding(Risk::Medium, EffectKind::State, "waits for a choice", {node(index).begin, node(index).end});
  Invocation assigning(*this, {}, span_of(index), Input{});
  judge_assignment(assigning, name, std::string_view("\x01"), AssignmentScope::Shell);
  if (!assigning.fact.findings.empty()) record(std::move(assigning.fact));
  bool known = listed && values.size() <= kMaxLoopValues;
  if (!known) {
    state_.set(name, {std::string(1, kAny)});
    return body_twice(body, input);
  }
  if (++loops_ > kMaxLoopNesting) {
    not_understood("loops nested too deeply", {node(index).begin, node(index).end});
  } else {
    const ShellState before = state_;
    // With many values only the first few rounds are gone through one by one.
    for (const Field& value : values) {
      // A value split from unknown text is one word at a time.
      std::string text = value.text;
      for (char& c : text) {
        if (c == kAnyFields) c = kAny;
      }
      state_.set(name, {text});
      statement(body, input);
      if (facts_.commands.size() > kMaxCommands) break;
    }
    ShellState after = state_;
    after.merge(before);
    state_ = after;
  }
  --loops_;
}

void ShellWalk::case_statement(uint32_t index, const Input& input) {
  const ShellState before = state_;
  ShellState merged = before;
  std::vector<Field> ignored;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::Token || kind == NodeKind::Comment) continue;
    if (kind != NodeKind::CaseItem) {
      read_word(at, WordContext::Assignment, ignored);
      continue;
    }
    state_ = before;
    bool in_body = false;
    uint32_t body = 0;
    for (uint32_t part = node(at).first_child; part != 0; part = node(part).next) {
      if (is_token(part, ")")) {
        in_body = true;
        body = node(part).next;
        break;
      }
      if (node(part).kind != NodeKind::Token && node(part).kind != NodeKind::Comment)
        read_word(part, WordContext::Pattern, ignored);
    }
    if (in_body && body != 0) sequence(body, 0, input);
    merged.merge(state_);
  }
  state_ = merged;
}

void ShellWalk::function_definition(uint32_t index) {
  std::string name;
  uint32_t body = 0;
  Redirections redirections;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::Word && name.empty()) {
      name = std::string(slice(node(at)));
    } else if (kind == NodeKind::FileRedirect || kind == NodeKind::HerestringRedirect ||
               kind == NodeKind::HeredocRedirect) {
      redirect(at, redirections);
    } else if (kind != NodeKind::Token && kind != NodeKind::Comment) {
      body = at;
    }
  }
  CommandFact fact;
  fact.argv = {name + "()"};
  fact.program = "function";
  fact.subcommand = name;
  fact.span = span_of(index);
  fact.effects.push_back({EffectKind::State, name});
  Finding finding;
  finding.effect = EffectKind::State;
  finding.target = name;
  finding.span = fact.span;
  const bool shadows = find_program(name) != nullptr;
  finding.risk = shadows ? Risk::High : Risk::Medium;
  finding.reason = shadows ? "defines a function that takes the place of '" + name + "'"
                           : "defines a function in the shell";
  fact.findings.push_back(std::move(finding));
  record(std::move(fact));
  state_.functions.emplace_back(name, body);
  // Its body is judged where it stands too: it may be called from anywhere later.
  if (body != 0) {
    const ShellState before = state_;
    call_function(body, Input{});
    state_ = before;
  }
}

std::string ShellWalk::call_function(uint32_t body, const Input& input) {
  if (body == 0) return std::string(1, kAny);
  for (const uint32_t running : running_) {
    if (running != body) continue;
    if (in_background() || in_pipeline()) {
      CommandFact fact;
      fact.argv = {"(recursion)"};
      fact.span = span_of(body);
      fact.effects.push_back({EffectKind::Process, ""});
      Finding finding;
      finding.decision = Decision::Deny;
      finding.risk = Risk::Critical;
      finding.effect = EffectKind::Process;
      finding.reason =
          "a function that starts itself over and over: it would fill the machine with processes";
      finding.span = fact.span;
      fact.findings.push_back(std::move(finding));
      record(std::move(fact));
    }
    return std::string(1, kAny);
  }
  if (running_.size() > 8) return std::string(1, kAny);
  running_.push_back(body);
  std::string out = statement(body, input);
  running_.pop_back();
  return out;
}

// [ ], [[ ]] and (( )): operands are words; in [[ ]] and (( )) numbers are arithmetic.
void ShellWalk::test_command(uint32_t index) {
  const std::string_view whole = slice(node(index));
  if (whole.starts_with("((")) {
    reader_.check_arithmetic(node(index).begin + 2, node(index).end - 2);
    visit_nested(index);
    return;
  }
  const bool extended = whole.starts_with("[[");
  std::vector<uint32_t> open = {index};
  std::vector<Field> operands;
  bool arithmetic = false;
  std::vector<uint32_t> order;
  while (!open.empty()) {
    const uint32_t current = open.back();
    open.pop_back();
    for (uint32_t at = node(current).first_child; at != 0; at = node(at).next) {
      switch (node(at).kind) {
        case NodeKind::BinaryExpression:
        case NodeKind::UnaryExpression:
        case NodeKind::ParenthesizedExpression:
        case NodeKind::PostfixExpression:
        case NodeKind::TernaryExpression:
        case NodeKind::TestCommand:
          open.push_back(at);
          break;
        case NodeKind::TestOperator: {
          const std::string_view op = slice(node(at));
          for (const std::string_view number : {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
            arithmetic |= extended && op == number;
          if (op == "-v" || op == "-R") {
            risky_expansion("tests a variable whose name can run commands",
                            {node(index).begin, node(index).end});
          }
          break;
        }
        case NodeKind::Token:
        case NodeKind::Comment:
          break;
        default:
          order.push_back(at);
      }
    }
  }
  for (const uint32_t word : order) read_word(word, WordContext::Pattern, operands);
  if (!arithmetic) return;
  for (const Field& operand : operands) {
    if (operand.text.find_first_not_of("0123456789-+ \x03") != std::string::npos) {
      risky_expansion("compares numbers that are not known to be numbers",
                      {node(index).begin, node(index).end});
      return;
    }
  }
}

}  // namespace ttyward::policy
