// Simple commands, their assignments and redirections; and text inside text.
#include <algorithm>
#include <array>

#include "policy/danger.h"
#include "policy/judge.h"
#include "policy/shell_walk.h"

namespace ttyward::policy {
namespace {

using syntax::RedirectOp;

// Numbers for certain, in bash: assigning other text to them asks.
constexpr std::string_view kNumbers[] = {"RANDOM", "SECONDS", "UID",          "EUID",   "PPID",
                                         "LINENO", "BASHPID", "EPOCHSECONDS", "SRANDOM"};

constexpr size_t kMaxPrinted = 64UL * 1024;  // of a substitution; more is not read closely

// Builtins whose arguments are assignments: not split, and name=( … ) is an array.
constexpr auto kDeclarations =
    std::to_array<const char*>({"declare", "typeset", "local", "export", "readonly"});

// Commands of the shell itself. Another shell may have the same names with other meanings.
constexpr auto kBuiltins = std::to_array<std::string_view>(
    {":",       ".",       "[",       "alias",    "bg",      "bind",     "break",     "builtin",  "caller",
     "cd",      "command", "compgen", "complete", "compopt", "continue", "declare",   "dirs",     "disown",
     "echo",    "enable",  "eval",    "exec",     "exit",    "export",   "false",     "fc",       "fg",
     "getopts", "hash",    "help",    "history",  "jobs",    "kill",     "let",       "local",    "logout",
     "mapfile", "popd",    "printf",  "pushd",    "pwd",     "read",     "readarray", "readonly", "return",
     "set",     "shift",   "shopt",   "source",   "suspend", "test",     "times",     "trap",     "true",
     "type",    "typeset", "ulimit",  "umask",    "unalias", "unset",    "wait"});
// Those that fish has with the same meaning, as far as harmless uses go.
constexpr auto kFishBuiltins =
    std::to_array<std::string_view>({"[", "cd", "echo", "false", "pwd", "test", "true"});

template <size_t N>
bool among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// An alias that leads to another is followed so far.
constexpr int kMaxAliases = 4;

bool is_declaration(const syntax::Command& item) {
  return !item.words.empty() &&
         std::any_of(kDeclarations.begin(), kDeclarations.end(),
                     [&](const char* name) { return item.words.front().is_plain(name); });
}

// NAME= at the beginning of a word, written plainly; its length.
size_t assignment_prefix(const syntax::Word& word) {
  const syntax::Part& first = word.parts.front();
  if (first.kind != syntax::PartKind::Text || first.quoting != syntax::Quoting::None) return 0;
  const size_t equals = first.text.find('=');
  if (equals == std::string::npos || !is_plain_name(std::string_view(first.text).substr(0, equals))) return 0;
  return equals + 1;
}

std::string unknown() {
  return std::string(1, kAny);
}

// Programs that may run what they read, if they were told to run something at all.
bool runs_its_input(std::string_view program) {
  static constexpr auto kRunners =
      std::to_array<std::string_view>({"awk", "gawk", "mawk", "sed", "make", "gmake", "parallel", "at",
                                       "batch", "crontab", "ed", "ex", "exec", "dc"});
  return std::find(kRunners.begin(), kRunners.end(), program) != kRunners.end();
}

}  // namespace

ShellWalk::ShellWalk(std::string_view text, const syntax::Reading& reading, ShellState state,
                     const Place& place, Facts& facts, int depth, Span outer)
    : text_(text),
      reading_(reading),
      tree_(syntax::parse(text, reading)),
      reader_(*this),
      state_(std::move(state)),
      place_(place),
      facts_(facts),
      depth_(depth),
      outer_(outer) {}

namespace {

bool has_one_reader(const syntax::List& items) {
  return items.items.size() == 1 && items.items.front().pipelines.size() == 1 &&
         items.items.front().pipelines.front().commands.front().kind == syntax::CommandKind::Simple;
}

// What one of several commands gets of it: `head -c 1; xargs cat` gives xargs all but the first character.
Input partly_read(Input input) {
  if (!input.given || input.text.empty()) return input;
  if (input.likely.empty() && input.text.find(kAny) == std::string::npos) input.likely = input.text;
  input.text = unknown();
  return input;
}

}  // namespace

std::string ShellWalk::run(const Input& input) {
  if (!tree_) {
    const syntax::NotUnderstood& problem = tree_.error();
    not_understood(problem.why, {problem.offset, problem.offset + 1});
    rough_reading();
    return unknown();
  }
  std::string out = list(*tree_, has_one_reader(*tree_) ? input : partly_read(input));
  for (Definition& definition : definitions_) take_definition(definition);
  definitions_.clear();
  return out;
}

const Value* ShellWalk::variable(std::string_view name) {
  if (name.starts_with("__ttyward"))
    line_finding(Risk::High, EffectKind::Secret, "uses a variable of ttyward's own", outer_);
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
      if (name == number && reading_.dialect == syntax::Dialect::Bash) {
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
  // Of several the gravest, otherwise the latest.
  std::string latest;
  for (auto value = state_.possible.rbegin(); value != state_.possible.rend(); ++value) {
    if (value->first != name) continue;
    if (latest.empty()) latest = value->second;
    if (value->second.starts_with("/") && look_at(value->second, "/", place_).vital) return value->second;
  }
  return latest;
}

void ShellWalk::assign(std::string_view name, Value value) {
  if (is_code_loading(name)) {
    line_finding(Risk::High, EffectKind::State,
                 "changes a variable that later commands obey: " + std::string(name), outer_);
    state_.poisoned = std::string(name) + " was changed";
  }
  state_.set(name, std::move(value));
}

bool ShellWalk::network_since(size_t commands) const {
  for (size_t c = commands; c < facts_.commands.size(); ++c) {
    for (const Effect& effect : facts_.commands[c].effects) {
      if (effect.kind == EffectKind::Network) return true;
    }
  }
  return false;
}

Printed ShellWalk::substitution(const syntax::List& items) {
  const ShellState before = state_;
  const size_t commands = facts_.commands.size();
  std::string out = list(items, Input{});
  if (never_ends(commands) && !cuts_off(commands))
    line_finding(Risk::High, EffectKind::Process, "collects endless output until memory is full", outer_);
  raise_since(facts_, commands, Risk::High);
  state_.leave_subshell(before);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  if (out.size() > kMaxPrinted) out = std::string(1, kAny);
  return {std::move(out), network_since(commands)};
}

Printed ShellWalk::process(const syntax::List& items) {
  const ShellState before = state_;
  const size_t commands = facts_.commands.size();
  std::string out = list(items, Input::of(unknown()));
  raise_since(facts_, commands, Risk::High);
  state_.leave_subshell(before);
  // Its name; what it holds is kept for whoever reads it.
  std::string path = "/dev/fd/" + std::to_string(63 - std::min<size_t>(state_.texts.size(), 50));
  state_.keep_text(path, std::move(out));
  return {std::move(path), network_since(commands)};
}

void ShellWalk::not_understood(std::string why, Span span) {
  facts_.understood = false;
  Finding finding;
  finding.risk = Risk::High;
  finding.effect = EffectKind::Unknown;
  finding.reason = "is not understood: " + why;
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

void ShellWalk::read_word(const syntax::Word& word, WordContext context, std::vector<Field>& out) {
  const size_t before = out.size();
  reader_.read(word, context, out);
  if (depth_ == 0) return;
  for (size_t i = before; i < out.size(); ++i) out[i].span = outer_;
}

Value ShellWalk::array_values(const syntax::Word& word) {
  std::vector<Field> fields;
  for (const syntax::Word& element : word.elements) read_word(element, WordContext::Argument, fields);
  Value values;
  for (const Field& field : fields) values.push_back(field.text);
  return values;
}

// NAME=value in front of a command, or alone.
void ShellWalk::assignments(const syntax::Command& item, bool before_command, Span span) {
  if (item.assignments.empty()) return;
  const AssignmentScope scope = before_command ? AssignmentScope::Command : AssignmentScope::Shell;
  Invocation call(*this, {}, span, Input{});
  // `IFS= read -r line` splits that one line otherwise, nothing else.
  const bool reads = before_command && item.words.front().is_plain("read");
  for (const syntax::Assignment& one : item.assignments) {
    Value values;
    if (one.value.array) {
      values = array_values(one.value);
      if (one.append) values = {std::string(1, kAnyFields)};
    } else {
      std::string text = one.value.parts.empty() ? std::string() : reader_.read_text(one.value).text;
      if (one.append) {
        const Value* before = variable(one.name);
        text = (before == nullptr || before->empty() ? unknown() : before->front()) + text;
      }
      values = {std::move(text)};
    }
    const std::string shown_value = one.value.array ? "(array)" : values.front();
    call.fact.argv.push_back(one.name + "=" + shown(std::string_view(shown_value)));
    const bool for_read = reads && one.name == "IFS" && !one.value.array && !one.append;
    if (!for_read)
      judge_assignment(call, one.name, one.value.array ? std::string_view("\x01") : values.front(), scope);
    if (before_command) continue;
    if (!one.subscript.empty()) values = {std::string(1, kAnyFields)};
    state_.set(one.name, std::move(values));
  }
  record(std::move(call.fact));
}

void ShellWalk::read_argument(const syntax::Command& item, const syntax::Word& word,
                              std::vector<Field>& out) {
  const bool declares = reading_.dialect == syntax::Dialect::Bash && is_declaration(item);
  const size_t prefix = declares ? assignment_prefix(word) : 0;
  if (prefix == 0) return read_word(word, WordContext::Argument, out);
  Field field = reader_.read_text(word);
  if (word.array) {
    const std::string name = word.parts.front().text.substr(0, prefix - 1);
    const Value values = array_values(word);
    const bool constant = std::all_of(values.begin(), values.end(), [](const std::string& value) {
      return value.find_first_of("\x01\x02\x03\x04\x05\x06") == std::string::npos;
    });
    field.text = name + "=" + (constant ? "array" : "\x01");
    out.push_back(std::move(field));
    return;
  }
  if (depth_ > 0) field.span = outer_;
  out.push_back(std::move(field));
}

bool ShellWalk::names_contain(std::string_view value, std::string_view characters) {
  Invocation looking(*this, {}, {}, Input{});
  return looking.names_contain(value, characters);
}

std::string ShellWalk::simple_command(const syntax::Command& item, const Input& outer_input) {
  const Span span = outward(item.span);
  const size_t first_command = facts_.commands.size();
  std::vector<Field> argv;
  Redirections redirections;
  redirections.input = outer_input;
  for (const syntax::Word& word : item.words) read_argument(item, word, argv);
  for (const syntax::Redirect& one : item.redirects) redirect(one, redirections);
  if (!item.words.empty() && item.words.front().parts.size() == 1) {
    const syntax::Part& name = item.words.front().parts.front();
    if (name.kind == syntax::PartKind::Parameter && name.expansion->name == "0" &&
        (in_background() || in_pipeline()))
      line_finding(Risk::Critical, EffectKind::Process, "starts itself again", item.span);
  }
  assignments(item, !item.words.empty(), span);
  if (argv.empty()) {
    if (!item.words.empty())
      line_finding(Risk::Medium, EffectKind::Unknown, "a command whose name may turn out to be empty",
                   item.span);
    return redirections.any_input ? redirections.input.text : std::string();
  }
  terminal_names(item, argv);
  std::string out = call_by_name(argv, span, redirections.input);
  other_values(argv, span, redirections.input);
  // curl … > >(sh)
  if (redirections.to_process && network_since(first_command))
    raise_fed_shells(first_command, facts_.commands.size());
  for (const std::string& path : redirections.written) state_.keep_text(path, out);
  return out;
}

// A function that was defined in this line, or a program. Only a command that stands by itself means a
// function: `command f`, `xargs f` and their kind do not.
std::string ShellWalk::call_by_name(const std::vector<Field>& argv, Span span, const Input& input) {
  std::vector<const syntax::Command*> bodies;
  for (const auto& [function, body] : state_.functions) {
    if (function == argv.front().text) bodies.push_back(body);
  }
  if (bodies.empty()) return run_command(argv, span, input);
  if (++facts_.steps > kMaxSteps) {
    not_understood("too many steps to follow", span);
    return unknown();
  }
  if (argv.front().expanded || argv.front().disguised || argv.front().quoted)
    line_finding(Risk::High, EffectKind::Execute, "calls a function under a disguised name", span);
  if (!state_.poisoned.empty()) {
    line_finding(Risk::High, EffectKind::Unknown, "what follows may not be what it seems: " + state_.poisoned,
                 span);
  }
  // Where it is not certain which of several definitions holds, or that it was made at all, both count.
  if (bodies.size() > 1 ||
      std::find(state_.certain.begin(), state_.certain.end(), bodies.front()) == state_.certain.end())
    run_command(argv, span, input);
  std::string out;
  for (const syntax::Command* body : bodies) {
    if (body == nullptr)
      line_finding(Risk::Medium, EffectKind::Execute,
                   "calls the function '" + argv.front().text + "' defined in the same line", span);
    const ShellState before = state_;
    std::vector<std::string> parameters;
    for (const Field& field : argv) parameters.push_back(field.text);
    set_parameters(parameters);
    out = call_function(body, input);
    for (const std::string_view parameter : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"}) {
      state_.forget(parameter);
      if (const Value* held = before.find(parameter)) state_.set(parameter, *held);
    }
  }
  return bodies.size() == 1 ? out : unknown();
}

// Aliases and functions that the terminal's shell has: what runs is what they say.
void ShellWalk::terminal_names(const syntax::Command& item, std::vector<Field>& argv) {
  if (!same_shell_ || place_.shell == nullptr) return;
  const ShellReading& shell = *place_.shell;
  if (shell.aliases.empty() && shell.functions.empty()) return;
  std::vector<std::string> seen;
  std::string name = argv.front().text;
  const syntax::Part& first = item.words.front().parts.front();
  bool plain = item.words.front().parts.size() == 1 && first.kind == syntax::PartKind::Text &&
               first.quoting == syntax::Quoting::None;
  while (plain) {
    const std::string* value = shell.alias(name);
    if (value == nullptr || std::find(seen.begin(), seen.end(), name) != seen.end()) break;
    seen.push_back(name);
    // Only an alias that is one plain command can be followed; the next word of one that ends in a blank is
    // an alias again.
    const auto parsed = syntax::parse(*value, reading_);
    const bool simple = parsed && seen.size() <= kMaxAliases && !value->empty() && value->back() != ' ' &&
                        value->back() != '\t' && value->find('\n') == std::string::npos &&
                        parsed->items.size() == 1 && !parsed->items[0].background &&
                        parsed->items[0].pipelines.size() == 1 &&
                        parsed->items[0].pipelines[0].commands.size() == 1;
    const syntax::Command* inner = simple ? &parsed->items[0].pipelines[0].commands[0] : nullptr;
    if (inner == nullptr || inner->kind != syntax::CommandKind::Simple || inner->words.empty() ||
        !inner->assignments.empty() || !inner->redirects.empty()) {
      line_finding(Risk::High, EffectKind::Execute,
                   "'" + name + "' is an alias in this terminal that is not a plain command", item.span);
      return;
    }
    std::vector<Field> words;
    for (const syntax::Word& word : inner->words) reader_.read(word, WordContext::Argument, words);
    if (words.empty()) return;
    for (Field& word : words) word.span = argv.front().span;
    words.insert(words.end(), argv.begin() + 1, argv.end());
    argv = std::move(words);
    name = argv.front().text;
    plain = inner->words.front().is_plain(name.c_str());
  }
  if (shell.has_function(name)) {
    line_finding(Risk::High, EffectKind::Execute, "'" + name + "' is a function in this terminal", item.span);
  }
  if (reading_.dialect == syntax::Dialect::Zsh) {  // global aliases stand anywhere
    for (size_t i = 1; i < argv.size(); ++i) {
      if (shell.alias(argv[i].text) != nullptr)
        line_finding(Risk::High, EffectKind::Execute,
                     "'" + argv[i].text + "' may be an alias in this terminal", item.span);
    }
  }
}

// The same command with the values that ${x:-these} may have: only catastrophes count.
void ShellWalk::other_values(const std::vector<Field>& argv, Span span, const Input& input) {
  if (std::none_of(argv.begin(), argv.end(), [](const Field& field) { return !field.other.empty(); })) return;
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
  deny_only(holder, [&] { run_command(other, span, input); });
  if (!holder.fact.findings.empty()) record(std::move(holder.fact));
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
  Invocation call(*this, std::vector<Field>(argv.begin(), argv.end()), span, input);
  ++depth_guard_;
  if (depth_guard_ > kMaxWrapperDepth) {
    not_understood("commands nested too deeply", span);
  } else {
    judge_command(call);
  }
  --depth_guard_;
  own_names(call);
  if (input.from_network && runs_its_input(call.fact.program)) {
    const bool executes =
        std::any_of(call.fact.findings.begin(), call.fact.findings.end(), [](const Finding& finding) {
          return finding.effect == EffectKind::Execute || finding.effect == EffectKind::Process ||
                 finding.effect == EffectKind::Privilege || finding.effect == EffectKind::State;
        });
    if (executes) call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
  }
  for (const Field& field : call.argv) {
    if (!field.from_network) continue;
    const bool executes =
        std::any_of(call.fact.findings.begin(), call.fact.findings.end(),
                    [](const Finding& finding) { return finding.effect == EffectKind::Execute; });
    if (executes) call.ask(Risk::Critical, EffectKind::Execute, "runs what comes from the network");
    break;
  }
  if (call.fact.program == "tee" && input.given) {
    for (const Field& file : call.rest(1)) state_.keep_text(call.look(file).path, input.text);
  }
  std::string out = std::move(call.output);
  record(std::move(call.fact));
  return out;
}

// What only some shells have under a name that bash knows, and names of our own given to builtins.
void ShellWalk::own_names(Invocation& call) {
  const std::string_view name = call.fact.program;
  if (reading_.dialect == syntax::Dialect::Fish && same_shell_ && among(kBuiltins, name) &&
      !among(kFishBuiltins, name))
    call.ask(Risk::High, EffectKind::State, "is a builtin of fish that differs from bash's",
             std::string(name));
  if (!among(kBuiltins, name) && name != "printenv" && name != "env") return;
  for (const Field& field : call.rest(1)) {
    if (field.text.starts_with("__ttyward"))
      return call.ask(Risk::High, EffectKind::State, "uses a name of ttyward's own", shown(field));
  }
}

void ShellWalk::set_parameters(const std::vector<std::string>& parameters) {
  if (parameters.empty()) return;
  const bool known = parameters[0].find_first_of("\x02\x04\x05\x06") == std::string::npos;
  if (!known) return state_.forget_parameters();
  state_.set("0", {parameters[0]});
  state_.set_parameters({parameters.begin() + 1, parameters.end()});
}

std::string ShellWalk::run_script(const std::string& text, Span span, bool in_this_shell, const Input& input,
                                  std::optional<syntax::Dialect> dialect) {
  if (depth_ >= kMaxScriptDepth) {
    not_understood("shell text nested too deeply", span);
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
  for (auto& [name, body] : inner.functions) body = nullptr;  // their bodies are in another text
  inner.certain.clear();
  if (!in_this_shell) inner.variables.clear();  // only exported ones get through: unknown
  const syntax::Reading reading{dialect.value_or(reading_.dialect), syntax::Manner::Script};
  ShellWalk walk(plain, reading, std::move(inner), place_, facts_, depth_ + 1, span);
  walk.same_shell_ = same_shell_ && in_this_shell;
  walk.depth_guard_ = depth_guard_;
  walk.background_ = background_;
  if (!input.parameters.empty()) walk.set_parameters(input.parameters);
  std::string out = walk.run(input);
  if (in_this_shell) {
    const auto functions = state_.functions;
    const auto certain = state_.certain;
    state_ = walk.state_;
    state_.functions = functions;
    state_.certain = certain;
  }
  return out;
}

void ShellWalk::redirect(const syntax::Redirect& item, Redirections& out) {
  switch (item.op) {
    case RedirectOp::Duplicate:
    case RedirectOp::Close:
      return;
    case RedirectOp::HereString: {
      const Field text = reader_.read_text(item.target);
      out.any_input = true;
      out.input = Input::of(text.text + "\n", text.from_network);
      return;
    }
    case RedirectOp::HereDoc: {
      const Field text = reader_.read_text(item.here->content);
      out.any_input = true;
      out.input = Input::of(text.text, text.from_network);
      return;
    }
    default:
      return file_redirect(item, out);
  }
}

void ShellWalk::file_redirect(const syntax::Redirect& item, Redirections& out) {
  std::vector<Field> targets;
  read_word(item.target, WordContext::Argument, targets);
  Invocation call(*this, {}, outward(item.span), Input{});
  if (targets.empty())
    call.ask(Risk::High, EffectKind::Unknown, "a redirection to a file that is only known when it runs");
  const bool reads = item.op == RedirectOp::Read;
  const std::string_view op = reads                               ? "<"
                              : item.op == RedirectOp::Append     ? ">>"
                              : item.op == RedirectOp::ReadWrite  ? "<>"
                              : item.op == RedirectOp::Both       ? "&>"
                              : item.op == RedirectOp::BothAppend ? "&>>"
                                                                  : ">";
  for (const Field& target : targets) {
    call.fact.argv = {std::string(op), shown(target)};
    if (reads) {
      call.read_path(target);
      out.any_input = true;
      out.input = Input::of(unknown(), call.look(target).network || target.from_network);
      // A process substitution or a listing behind it is judged on its own.
      if (const std::string* text = state_.text_of(call.look(target).path)) out.input.likely = *text;
      out.input.endless = is_endless_device(target.text);
    } else {
      call.write_path(target, "writes");
      if (target.constant()) out.written.push_back(call.look(target).path);
      out.to_process |= target.text.starts_with("/dev/fd/");
    }
  }
  record(std::move(call.fact));
}

}  // namespace ttyward::policy
