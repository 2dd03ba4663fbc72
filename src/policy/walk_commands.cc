// Simple commands, their assignments and redirections; and text inside text.
#include "policy/danger.h"
#include "policy/judge.h"
#include "policy/shell_walk.h"
#include "policy/text_screen.h"

namespace ttyward::policy {
namespace {

bool is_redirect(NodeKind kind) {
  return kind == NodeKind::FileRedirect || kind == NodeKind::HeredocRedirect ||
         kind == NodeKind::HerestringRedirect;
}

constexpr std::string_view kNumbers[] = {"RANDOM",       "SECONDS", "UID",     "EUID",  "PPID",
                                         "LINENO",       "BASHPID", "COLUMNS", "LINES", "SHLVL",
                                         "EPOCHSECONDS", "SRANDOM", "OPTIND"};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ShellWalk::ShellWalk(std::string_view text, ShellState state, const Place& place, Facts& facts, int depth,
                     Span outer)
    : text_(text),
      tree_(parse_bash(text)),
      reader_(text, tree_, *this),
      state_(std::move(state)),
      place_(place),
      facts_(facts),
      depth_(depth),
      outer_(outer) {}

std::string ShellWalk::run(const Input& input) {
  if (!tree_.understood()) {
    not_understood(tree_.problem, tree_.problem_span);
    rough_reading();
    return std::string(1, kAny);
  }
  return sequence(node(0).first_child, 0, input);
}

const Value* ShellWalk::variable(std::string_view name) {
  if (const Value* value = state_.find(name)) return value;
  if (name == "HOME") {
    scratch_ = {place_.home};
  } else if (name == "PWD" && state_.cwds.size() == 1) {
    scratch_ = {state_.cwds.front()};
  } else if (name == "IFS") {
    scratch_ = {" \t\n"};
  } else if (name == "PATH") {
    scratch_ = {std::string("/") + kAny};
  } else {
    for (const std::string_view number : kNumbers) {
      if (name == number) {
        scratch_ = {std::string(1, kDigits)};
        return &scratch_;
      }
    }
    if (is_secret_name(name)) {
      line_finding(Risk::Medium, EffectKind::Secret,
                   "uses a variable that is likely to be a credential: " + std::string(name), outer_);
    }
    return nullptr;
  }
  return &scratch_;
}

std::string ShellWalk::possible_value(std::string_view name) {
  for (auto value = state_.possible.rbegin(); value != state_.possible.rend(); ++value) {
    if (value->first == name) return value->second;
  }
  return {};
}

void ShellWalk::assign(std::string_view name, Value value) {
  if (is_code_loading(name)) {
    line_finding(Risk::High, EffectKind::State,
                 "changes a variable that later commands obey: " + std::string(name), outer_);
    state_.poisoned = std::string(name) + " was changed";
  }
  state_.set(name, std::move(value));
}

std::string ShellWalk::substitution(uint32_t index) {
  const ShellState before = state_;
  // $(< file) is cat without cat.
  const size_t commands = facts_.commands.size();
  std::string out = sequence(node(index).first_child, 0, Input{});
  raise_since(facts_, commands, Risk::High);
  state_ = before;
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

void ShellWalk::visit_nested(uint32_t index) {
  const NodeKind kind = node(index).kind;
  if (kind == NodeKind::ProcessSubstitution) {
    const ShellState before = state_;
    const size_t commands = facts_.commands.size();
    sequence(node(index).first_child, 0, Input::of(std::string(1, kAny)));
    raise_since(facts_, commands, Risk::High);
    state_ = before;
    return;
  }
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (node(at).kind == NodeKind::CommandSubstitution) {
      substitution(at);
    } else {
      visit_nested(at);
    }
  }
}

void ShellWalk::not_understood(std::string why, Span span) {
  facts_.understood = false;
  Finding finding;
  finding.risk = Risk::High;
  finding.effect = EffectKind::Unknown;
  finding.reason = "not understood: " + why;
  finding.span = outward(span);
  for (const Finding& known : facts_.findings) {
    if (known.reason == finding.reason) return;
  }
  facts_.findings.push_back(std::move(finding));
}

void ShellWalk::line_finding(Risk risk, EffectKind kind, std::string reason, Span span) {
  Finding finding;
  finding.risk = risk;
  finding.effect = kind;
  finding.reason = std::move(reason);
  finding.span = outward(span);
  for (const Finding& known : facts_.findings) {
    if (known.reason == finding.reason) return;
  }
  facts_.findings.push_back(std::move(finding));
}

void ShellWalk::risky_expansion(std::string why, Span span) {
  line_finding(Risk::High, EffectKind::Execute, std::move(why), span);
}

void ShellWalk::record(CommandFact fact) {
  if (facts_.commands.size() >= kMaxCommands) {
    not_understood("too many commands in one line", fact.span);
    return;
  }
  facts_.commands.push_back(std::move(fact));
}

void ShellWalk::read_word(uint32_t index, WordContext context, std::vector<Field>& out) {
  reader_.read(node(index).begin, node(index).end, context, out);
  if (depth_ > 0) {
    for (Field& field : out) field.span = outer_;
  }
}

ShellWalk::Assignment ShellWalk::read_assignment(uint32_t index) {
  Assignment assignment;
  bool append = false;
  bool array = false;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::VariableName && assignment.name.empty()) {
      assignment.name = std::string(slice(node(at)));
    } else if (kind == NodeKind::Subscript) {
      assignment.name = std::string(slice(node(at)));
      visit_nested(at);
    } else if (kind == NodeKind::Token) {
      append |= slice(node(at)) == "+=";
    } else if (kind == NodeKind::Array) {
      array = true;
      Value values;
      std::vector<Field> fields;
      for (uint32_t item = node(at).first_child; item != 0; item = node(item).next) {
        if (node(item).kind == NodeKind::VariableAssignment || node(item).kind == NodeKind::Subscript) {
          not_understood("an array with keys", {node(at).begin, node(at).end});
        } else if (node(item).kind != NodeKind::Token && node(item).kind != NodeKind::Comment) {
          read_word(item, WordContext::Argument, fields);
        }
      }
      for (const Field& field : fields) values.push_back(field.text);
      if (append) values = {std::string(1, kAnyFields)};
      state_.set(assignment.name, std::move(values));
    } else {
      assignment.value = reader_.read_text(node(at).begin, node(at).end);
    }
  }
  if (append && !array) {
    const Value* before = variable(assignment.name);
    assignment.value =
        (before == nullptr || before->empty() ? std::string(1, kAny) : before->front()) + assignment.value;
  }
  if (array) assignment.value = "(array)";
  return assignment;
}

void ShellWalk::bare_assignment(uint32_t index) {
  const bool array = slice(node(index)).find("=(") != std::string_view::npos;
  const Assignment assignment = read_assignment(index);
  const Value* held = array ? state_.find(assignment.name) : nullptr;
  const Value values = held != nullptr ? *held : Value{assignment.value};
  Invocation call(*this, {}, span_of(index), Input{});
  call.fact.argv = {assignment.name + "=" + shown(std::string_view(assignment.value))};
  judge_assignment(call, assignment.name, assignment.value, AssignmentScope::Shell);
  state_.set(assignment.name, values);
  record(std::move(call.fact));
}

std::string ShellWalk::declaration(uint32_t index, const Input& input) {
  std::vector<Field> argv;
  std::vector<Assignment> assignments;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::Comment) continue;
    if (kind == NodeKind::VariableAssignment) {
      const Assignment assignment = read_assignment(at);
      Field field;
      field.text = assignment.name + "=" + assignment.value;
      field.span = span_of(at);
      argv.push_back(std::move(field));
    } else {
      read_word(at, WordContext::Argument, argv);
    }
  }
  return run_command(argv, span_of(index), input);
}

std::string ShellWalk::simple_command(uint32_t index, const Input& outer_input,
                                      const std::vector<Field>& extra) {
  std::vector<Field> argv;
  std::vector<Assignment> assignments;
  Redirections redirections;
  redirections.input = outer_input;
  uint32_t previous = 0;
  bool named = false;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (previous != 0 && node(previous).end == node(at).begin && !is_redirect(kind) &&
        kind != NodeKind::Comment) {
      not_understood("words without a blank between them", {node(previous).begin, node(at).end});
    }
    previous = at;
    if (kind == NodeKind::VariableAssignment && !named) {
      assignments.push_back(read_assignment(at));
    } else if (kind == NodeKind::CommandName) {
      named = true;
      const uint32_t inside = node(at).first_child;
      if (inside != 0 && node(inside).kind == NodeKind::ArithmeticExpansion &&
          slice(node(inside)).starts_with("((")) {
        reader_.check_arithmetic(node(inside).begin + 2, node(inside).end - 2);  // (( … )) as a command
        visit_nested(inside);
        return {};
      }
      read_word(at, WordContext::Argument, argv);
      const std::string_view written = slice(node(at));
      if (written == "$0" && (in_background() || in_pipeline())) {
        line_finding(Risk::High, EffectKind::Process, "starts itself again", span_of(at));
      }
    } else if (is_redirect(kind)) {
      redirect(at, redirections);
    } else if (kind == NodeKind::Subshell) {
      not_understood("parentheses among arguments", {node(at).begin, node(at).end});
    } else if (kind != NodeKind::Comment) {
      read_word(at, WordContext::Argument, argv);
    }
  }
  argv.insert(argv.end(), redirections.arguments.begin(), redirections.arguments.end());
  argv.insert(argv.end(), extra.begin(), extra.end());
  const Span span = span_of(index);
  if (!assignments.empty()) {
    Invocation call(*this, {}, span, Input{});
    for (const Assignment& assignment : assignments) {
      call.fact.argv.push_back(assignment.name + "=" + shown(std::string_view(assignment.value)));
      judge_assignment(call, assignment.name, assignment.value,
                       argv.empty() ? AssignmentScope::Shell : AssignmentScope::Command);
    }
    record(std::move(call.fact));
  }
  if (argv.empty()) {
    if (named)
      line_finding(Risk::Medium, EffectKind::Unknown, "a command whose name may turn out to be empty", span);
    return redirections.any_input ? redirections.input.text : std::string();
  }
  std::string out = run_command(argv, span, redirections.input);
  bool has_other = false;
  for (const Field& field : argv) has_other |= !field.other.empty();
  if (has_other) {
    std::vector<Field> other;
    for (const Field& field : argv) {
      if (field.other.empty()) {
        other.push_back(field);
        continue;
      }
      // Unquoted, the other value may be several words.
      Field part = field;
      part.other.clear();
      part.text.clear();
      for (const char c : field.other + (field.quoted ? "" : " ")) {
        if (c != ' ' || field.quoted) {
          part.text.push_back(c);
        } else if (!part.text.empty()) {
          other.push_back(part);
          part.text.clear();
        }
      }
      if (field.quoted) other.push_back(part);
    }
    Invocation holder(*this, {}, span, Input{});
    deny_only(holder, [&] { run_command(other, span, redirections.input); });
    if (!holder.fact.findings.empty()) record(std::move(holder.fact));
  }
  return out;
}

std::string ShellWalk::run_command(std::span<const Field> argv, Span span, const Input& input) {
  if (depth_ > kMaxScriptDepth || facts_.commands.size() > kMaxCommands) {
    not_understood("nested too deeply", span);
    return std::string(1, kAny);
  }
  if (argv.empty()) return {};
  if (!state_.poisoned.empty()) {
    line_finding(Risk::High, EffectKind::Unknown, "what follows may not be what it seems: " + state_.poisoned,
                 span);
  }
  const std::string& name = argv.front().text;
  const std::vector<std::pair<std::string, uint32_t>> functions = state_.functions;
  for (const auto& [function, body] : functions) {
    if (function != name) continue;
    line_finding(Risk::Medium, EffectKind::Execute,
                 "calls the function '" + name + "' defined in the same line", span);
    const ShellState before = state_;
    std::vector<std::string> parameters;
    for (const Field& field : argv) parameters.push_back(field.text);
    set_parameters(parameters);
    std::string out = call_function(body, input);
    for (const std::string_view parameter : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}) {
      state_.forget(parameter);
      if (const Value* held = before.find(parameter)) state_.set(parameter, *held);
    }
    return out;
  }
  Invocation call(*this, std::vector<Field>(argv.begin(), argv.end()), span, input);
  ++depth_guard_;
  if (depth_guard_ > kMaxWrapperDepth) {
    not_understood("commands inside commands, too deep", span);
  } else {
    judge_command(call);
  }
  --depth_guard_;
  std::string out = std::move(call.output);
  record(std::move(call.fact));
  return out;
}

void ShellWalk::set_parameters(const std::vector<std::string>& parameters) {
  Value all;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i < 10) state_.set(std::to_string(i), {parameters[i]});
    if (i > 0) all.push_back(parameters[i]);
  }
  std::string joined;
  for (const std::string& one : all) joined += (joined.empty() ? "" : " ") + one;
  state_.set("@", std::move(all));
  state_.set("*", {joined});
}

std::string ShellWalk::run_script(const std::string& text, Span span, bool in_this_shell,
                                  const Input& input) {
  if (depth_ >= kMaxScriptDepth) {
    not_understood("shell text inside shell text, too deep", span);
    return std::string(1, kAny);
  }
  std::string plain;  // unknown parts stand as a variable nobody set
  for (const char c : text) {
    switch (c) {
      case kAny:
      case kListed:
      case kAnyFields:
        plain += "${__unknown__}";
        break;
      case kDigits:
        plain += "1";
        break;
      case kStar:
        plain += "*";
        break;
      case kOne:
        plain += "?";
        break;
      default:
        plain.push_back(c);
    }
  }
  ShellState inner = state_;
  for (auto& [name, body] : inner.functions) body = 0;  // their bodies are in another text
  if (!in_this_shell) inner.variables.clear();          // only exported ones get through: unknown
  ShellWalk walk(plain, std::move(inner), place_, facts_, depth_ + 1, span);
  walk.depth_guard_ = depth_guard_;
  walk.background_ = background_;
  if (!input.parameters.empty()) walk.set_parameters(input.parameters);
  std::string out = walk.run(input);
  if (in_this_shell) {
    const auto functions = state_.functions;
    state_ = walk.state_;
    state_.functions = functions;
  }
  return out;
}

std::string ShellWalk::redirected(uint32_t index, const Input& input) {
  Redirections redirections;
  redirections.input = input;
  uint32_t body = 0;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    if (is_redirect(node(at).kind)) {
      redirect(at, redirections);
    } else if (node(at).kind != NodeKind::Token && node(at).kind != NodeKind::Comment) {
      body = at;
    }
  }
  std::string out;
  if (body == 0) {
    out = redirections.any_input ? redirections.input.text : std::string();
  } else if (node(body).kind == NodeKind::Command) {
    out = simple_command(body, redirections.input, redirections.arguments);
  } else if (node(body).kind == NodeKind::Pipeline) {
    out = pipeline(body, input, redirections.any_input ? redirections.input : Input{});
  } else {
    out = statement(body, redirections.input);
  }
  if (!redirections.stages.empty()) {
    bool network = false;
    out = stages(redirections.stages, Input::of(out, network), Input{});
  }
  for (const uint32_t after : redirections.after) out += statement(after, input);
  return out;
}

void ShellWalk::redirect(uint32_t index, Redirections& out) {
  switch (node(index).kind) {
    case NodeKind::FileRedirect:
      return file_redirect(index, out);
    case NodeKind::HeredocRedirect:
      return heredoc(index, out);
    default:
      out.any_input = true;
      for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
        if (node(at).kind != NodeKind::Token && node(at).kind != NodeKind::FileDescriptor) {
          out.input = Input::of(reader_.read_text(node(at).begin, node(at).end) + "\n");
        }
      }
  }
}

void ShellWalk::file_redirect(uint32_t index, Redirections& out) {
  std::string_view op;
  std::vector<Field> targets;
  uint32_t previous = 0;
  for (uint32_t at = node(index).first_child; at != 0; at = node(at).next) {
    const NodeKind kind = node(at).kind;
    if (kind == NodeKind::Token && targets.empty() && op.empty()) {
      op = slice(node(at));
    } else if (kind == NodeKind::FileDescriptor) {
      continue;
    } else if (kind != NodeKind::Comment) {
      if (previous != 0 && node(previous).end == node(at).begin && !targets.empty()) {
        not_understood("words without a blank between them", {node(previous).begin, node(at).end});
      }
      read_word(at, WordContext::Argument, targets);
    }
    previous = at;
  }
  const bool reads = op.starts_with("<");
  const bool duplicates = op == ">&" || op == "<&" || op == ">&-" || op == "<&-";
  if (duplicates &&
      (targets.empty() || (targets.size() == 1 && (all_digits(targets[0].text) || targets[0].text == "-"))))
    return;
  Invocation call(*this, {}, span_of(index), Input{});
  if (targets.empty()) {
    call.ask(Risk::High, EffectKind::Unknown, "a redirection to a file that is only known when it runs");
  }
  for (const Field& target : targets) {
    call.fact.argv = {std::string(op), shown(target)};
    if (reads && op != "<>") {
      call.read_path(target);
      out.any_input = true;
      out.input = Input::of(std::string(1, kAny), call.look(target).network);
      // A process substitution or a listing behind it is judged on its own.
    } else {
      call.write_path(target, "writes");
    }
  }
  record(std::move(call.fact));
}

void ShellWalk::heredoc(uint32_t index, Redirections& out) {
  std::string_view mark;
  uint32_t body = 0;
  uint32_t end = 0;
  bool tabs = false;
  const Node& whole = node(index);
  for (uint32_t at = whole.first_child; at != 0; at = node(at).next) {
    switch (node(at).kind) {
      case NodeKind::HeredocStart:
        mark = slice(node(at));
        break;
      case NodeKind::HeredocBody:
        body = at;
        break;
      case NodeKind::HeredocEnd:
        end = at;
        break;
      case NodeKind::Token:
        tabs |= slice(node(at)) == "<<-";
        break;
      case NodeKind::Comment:
      case NodeKind::FileDescriptor:
        break;
      case NodeKind::FileRedirect:
      case NodeKind::HerestringRedirect:
        redirect(at, out);
        break;
      case NodeKind::HeredocRedirect:
        not_understood("two here-documents at once", {whole.begin, whole.end});
        break;
      case NodeKind::Pipeline:
        for (uint32_t part = node(at).first_child; part != 0; part = node(part).next) {
          if (node(part).kind != NodeKind::Token) out.stages.push_back(part);
        }
        break;
      case NodeKind::Word:
      case NodeKind::Number:
      case NodeKind::String:
      case NodeKind::RawString:
      case NodeKind::Concatenation:
      case NodeKind::SimpleExpansion:
      case NodeKind::Expansion:
        read_word(at, WordContext::Argument, out.arguments);
        break;
      default:
        out.after.push_back(at);
    }
  }
  const bool quoted = mark.find_first_of("'\"\\") != std::string_view::npos;
  std::string delimiter;
  for (const char c : mark) {
    if (c != '\'' && c != '"' && c != '\\') delimiter.push_back(c);
  }
  const Span span{whole.begin, whole.end};
  if (delimiter.empty() || end == 0) return not_understood("a here-document without an end", span);
  // The grammar's idea of where the document ends has to be bash's: the first line that is the mark alone.
  const uint32_t body_begin = body != 0 ? node(body).begin : node(end).begin;
  const uint32_t line_begin = [&] {
    uint32_t at = node(end).begin;
    while (at > 0 && text_[at - 1] != '\n') --at;
    return at;
  }();
  const size_t first_newline = text_.find('\n', whole.begin);
  if (first_newline == std::string_view::npos || first_newline > line_begin)
    return not_understood("a here-document without an end", span);
  const auto body_start = static_cast<uint32_t>(first_newline) + 1;
  uint32_t at = body_start;
  while (at <= line_begin) {
    const size_t newline = std::min(text_.find('\n', at), text_.size());
    std::string_view line = text_.substr(at, newline - at);
    while (tabs && line.starts_with("\t")) line.remove_prefix(1);
    const bool is_mark = line == delimiter;
    if (is_mark != (at == line_begin))
      return not_understood("a here-document whose end is not where it seems", span);
    at = static_cast<uint32_t>(newline) + 1;
  }
  (void)body_begin;
  out.any_input = true;
  out.input = Input::of(quoted ? std::string(text_.substr(body_start, line_begin - body_start))
                               : reader_.read_heredoc(body_start, line_begin));
}

}  // namespace ttyward::policy
