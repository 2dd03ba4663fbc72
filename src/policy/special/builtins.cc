// Builtins of the shell that change it, or that run what they are given.
#include <algorithm>
#include <cctype>

#include "policy/name_expansion.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

std::vector<std::string> texts_of(std::span<const Field> fields) {
  std::vector<std::string> texts;
  for (const Field& field : fields) texts.push_back(field.text);
  return texts;
}

std::string joined(std::span<const Field> fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    text += fields[i].text;
  }
  return text;
}

}  // namespace

namespace {
constexpr size_t kMaxFolders = 6;
}  // namespace

void cd(Invocation& call, const ProgramRow&) {
  ShellState& state = call.walk.state();
  size_t at = 1;
  bool physical = false;
  while (at < call.argv.size() && (call.word(at) == "-P" || call.word(at) == "-L" || call.word(at) == "--"))
    physical = call.word(at++) == "-P" || physical;
  if (at + 1 < call.argv.size()) {
    call.ask(Risk::Medium, EffectKind::Unknown, "more than one folder to change to");
    state.cwds.clear();
    return;
  }
  call.output.clear();
  if (at >= call.argv.size()) {
    // pushd and popd go back to where nobody remembers having been.
    if (call.word(0) == "cd") {
      state.cwds = {call.walk.place().home};
    } else {
      state.cwds.clear();
    }
    return;
  }
  const Field& target = call.argv[at];
  if (target.text == "-" || target.text.starts_with("+") || target.text.starts_with("-")) {
    state.cwds.clear();
    if (target.text != "-") call.ask(Risk::Medium, EffectKind::State, "changes the stack of folders");
    return;
  }
  if (call.word(0) == "pushd" && call.argv.size() > at + 1) {
    state.cwds.clear();
    return call.ask(Risk::Medium, EffectKind::State, "changes the stack of folders");
  }
  std::vector<std::string> next;
  const FileView* files = call.walk.place().files;
  const bool glob = target.has(kStar) || target.has(kOne);
  if (glob && files != nullptr) {
    // Every folder that it matches now. More than a few are as good as unknown.
    for (const std::string& pattern : call.folders(target.text)) {
      const NameExpansion found = expand_glob(pattern, *files);
      if (found.too_many) next.resize(kMaxFolders + 1);
      for (const ExpandedName& name : found.names) next.push_back(name.path);
    }
    if (next.size() > kMaxFolders) next.clear();
  } else if (!glob && !target.may_be_option() && !target.may_split()) {
    for (const std::string& cwd : state.cwds) {
      std::string path = target.text.starts_with("/") ? target.text : cwd + "/" + target.text;
      path = normalize(physical && files != nullptr && target.constant() ? files->canonical(path) : path);
      if (std::find(next.begin(), next.end(), path) == next.end()) next.push_back(path);
    }
    if (state.cwds.empty() && target.text.starts_with("/")) next.push_back(normalize(target.text));
  }
  if (target.has(kAny) || target.has(kAnyFields)) next.clear();
  state.cwds = std::move(next);
}

// export, declare, local, readonly, typeset
void declare(Invocation& call, const ProgramRow& row) {
  bool exports = call.word(0) == "export";
  bool prints = true;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word.starts_with("-") && word.size() > 1) {
      exports |= word.find('x') != std::string_view::npos;
      if (word.find_first_of("nifF") != std::string_view::npos) {
        call.ask(Risk::High, EffectKind::State, "changes how a variable or function is read");
        prints = false;
      }
      // Later assignments to it would not do what they say.
      if (word.find_first_of("lucr") != std::string_view::npos)
        call.ask(Risk::Medium, EffectKind::State, "changes what later assignments to a variable do");
      continue;
    }
    if (i == 1 && call.word(0) == "readonly")
      call.ask(Risk::Medium, EffectKind::State, "changes what later assignments to a variable do");
    prints = false;
    const size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals);
    if (name.ends_with('+')) name.remove_suffix(1);
    // What is not a plain name, or a value that is only known when it runs, may be evaluated.
    if (!is_plain_name(name)) {
      call.ask(Risk::High, EffectKind::Execute, "declares a variable whose name can run commands",
               shown(call.argv[i]));
      continue;
    }
    if (!call.argv[i].constant()) {
      call.ask(Risk::High, EffectKind::Execute, "declares a variable with a value that may be evaluated",
               std::string(name));
    }
    if (name.starts_with("__ttyward"))
      call.ask(Risk::High, EffectKind::State, "uses a variable of ttyward's own", std::string(name));
    if (equals == std::string_view::npos && !exports) {
      if (is_code_loading(name))
        call.ask(Risk::Medium, EffectKind::State, "changes a variable that later commands obey",
                 std::string(name));
      continue;
    }
    judge_assignment(call, name,
                     equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1),
                     exports ? AssignmentScope::Exported : AssignmentScope::Shell);
    if (exports)
      call.ask(is_code_loading(name) ? Risk::High : Risk::Medium, EffectKind::State,
               "changes the environment of later commands", std::string(name));
  }
  if (prints) call.ask(Risk::Medium, EffectKind::Secret, "prints every variable, credentials too");
  (void)row;
}

void set(Invocation& call, const ProgramRow&) {
  if (call.argv.size() == 1)
    return call.ask(Risk::Medium, EffectKind::Secret, "prints every variable, credentials too");
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (word == "-o" || word == "+o") {
      const std::string_view name = call.word(++i);
      if (name == "pipefail" || name == "errexit" || name == "nounset" || name == "xtrace" ||
          name == "noglob" || name.empty())
        continue;
      call.ask(name == "allexport" ? Risk::High : Risk::Low, EffectKind::State,
               "changes how the shell works");
    } else if (word == "--") {
      return call.walk.state().set_parameters(texts_of(call.rest(i + 1)));
    } else if (word.size() > 1 && (word[0] == '-' || word[0] == '+')) {
      const bool with_name = word.back() == 'o';
      if (word.find_first_not_of("euxf", 1) != std::string_view::npos &&
          !(with_name &&
            word.substr(1, word.size() - 2).find_first_not_of("euxf") == std::string_view::npos)) {
        call.ask(Risk::Medium, EffectKind::State, "changes how the shell works");
      }
      if (with_name) {
        const std::string_view name = call.word(++i);
        if (name != "pipefail" && name != "errexit" && name != "nounset")
          call.ask(Risk::Medium, EffectKind::State, "changes how the shell works");
      }
    } else if (call.argv[i].may_be_option()) {
      call.ask(Risk::Medium, EffectKind::State, "changes how the shell works");
      return call.walk.state().forget_parameters();
    } else {
      return call.walk.state().set_parameters(texts_of(call.rest(i)));
    }
  }
}

void shift(Invocation& call, const ProgramRow&) {
  size_t by = 1;
  const std::string_view count = call.word(1);
  const bool number = count.size() == 1 && count[0] >= '0' && count[0] <= '9';
  if (number) by = static_cast<size_t>(count[0] - '0');
  if (call.argv.size() > 1 && !call.argv[1].constant())
    call.ask(Risk::High, EffectKind::Execute, "a number that some shells evaluate as an expression",
             shown(call.argv[1]));
  if (call.argv.size() > 2 || (call.argv.size() == 2 && !number))
    return call.walk.state().forget_parameters();
  call.walk.state().shift_parameters(by);
}

void pwd(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const std::vector<std::string>& cwds = call.walk.state().cwds;
  if (cwds.size() == 1 && call.argv.size() == 1) call.output = cwds.front() + "\n";
}

// alias NAME=value: the value is a command later.
void alias(Invocation& call, const ProgramRow& row) {
  for (const Field& field : call.rest(1)) {
    const size_t equals = field.text.find('=');
    if (equals != std::string::npos)
      check_command_text(call, std::string_view(field.text).substr(equals + 1));
  }
  poison(call, row);
}

void eval(Invocation& call, const ProgramRow&) {
  call.ask(Risk::High, EffectKind::Execute, "runs text as a command");
  Field text;
  text.text = joined(call.rest(call.word(1) == "--" ? 2 : 1));
  call.run_script(text, true);
  call.walk.state().poisoned = "eval may have changed what names mean";
}

void trap(Invocation& call, const ProgramRow&) {
  size_t at = 1;
  if (call.word(at) == "-p" || call.word(at) == "-l" || call.argv.size() == 1) return;
  if (call.word(at) == "--") ++at;
  call.ask(Risk::High, EffectKind::State, "makes a command run later, when something happens");
  if (at < call.argv.size() && call.word(at) != "-") call.run_script(call.argv[at], false);
}

namespace {

// What the variables may hold: words and lines of an input that is known, for finding catastrophes. A listing
// stays one: a variable that is read from it is one of its names.
void keep_what_it_reads(Invocation& call, const OptionScan& scan, const std::vector<Field>& names) {
  ShellState& state = call.walk.state();
  const std::string& text = call.input.text.find(kAny) == std::string::npos || call.input.likely.empty()
                                ? call.input.text
                                : call.input.likely;
  if (!call.input.given || text.find_first_of("\x01\x02") != std::string::npos) return;
  const bool listing = text.find(kListed) != std::string::npos;
  const bool one_line = text.find('\n') + 1 == text.size();
  if (listing && one_line && names.size() == 1 && call.word(0) == "read" && scan.value("a") == nullptr &&
      scan.value("d") == nullptr && &text == &call.input.text) {
    return state.set(names.front().text, {text.substr(0, text.size() - 1)});
  }
  if (listing) return;
  std::string word;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool ends = i == text.size() || text[i] == '\n' || text[i] == ' ' || text[i] == '\t';
    if (!ends) {
      word.push_back(text[i]);
      continue;
    }
    for (const Field& name : names) state.keep_possible(name.text, word);
    word.clear();
  }
}

}  // namespace

// read, mapfile, getopts: they assign; a subscript in the name is evaluated.
void read(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
  call.output.clear();
  std::vector<Field> names = scan.arguments;
  if (const Field* array = scan.value("a")) names.push_back(*array);
  for (const Field& name : names) {
    if (!name.constant() || !is_plain_name(name.text)) {
      call.ask(Risk::High, EffectKind::State, "assigns to a variable whose name can run commands",
               shown(name));
    } else {
      judge_assignment(call, name.text, std::string_view("\x01"), AssignmentScope::Shell);
    }
  }
  keep_what_it_reads(call, scan, names);
}

namespace {

bool is_test_unary(std::string_view word) {
  return word.size() == 2 && word[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLNORS").find(word[1]) != std::string_view::npos;
}

bool is_number_test(std::string_view word) {
  return word == "-eq" || word == "-ne" || word == "-lt" || word == "-le" || word == "-gt" || word == "-ge";
}

bool is_test_binary(std::string_view word) {
  return word == "=" || word == "==" || word == "!=" || word == "<" || word == ">" || word == "-nt" ||
         word == "-ot" || word == "-ef" || is_number_test(word);
}

// What a test reads: operators must be written out, so that no operand can turn into one.
class TestReader {
 public:
  TestReader(Invocation& call, std::span<const Field> words) : call_(call), words_(words) {}

  // False: a value could be taken for an operator, or is evaluated.
  bool run() {
    if (words_.size() == 1) return !words_[0].may_split();
    while (at_ < words_.size()) {
      if (!term()) return false;
      if (at_ == words_.size()) return true;
      if (text() != "-a" && text() != "-o") return false;
      ++at_;
    }
    return at_ > 0 ? false : words_.empty();
  }

 private:
  std::string_view text(size_t ahead = 0) const {
    return at_ + ahead < words_.size() ? std::string_view(words_[at_ + ahead].text) : std::string_view();
  }

  bool operand(size_t at, bool number) const {
    if (at >= words_.size() || words_[at].may_split()) return false;
    // mksh, ksh and zsh evaluate numbers as arithmetic.
    if (!number || call_.walk.shell_dialect() == syntax::Dialect::Bash) return true;
    return !words_[at].text.empty() &&
           words_[at].text.find_first_not_of("0123456789-+\x03") == std::string::npos;
  }

  bool term() {
    while (text() == "!" && at_ + 1 < words_.size()) ++at_;
    if (is_test_binary(text(1))) {
      const bool number = is_number_test(text(1));
      if (!operand(at_, number) || !operand(at_ + 2, number)) return false;
      at_ += 3;
      return true;
    }
    if (is_test_unary(text()) && at_ + 1 < words_.size()) {
      if (!operand(at_ + 1, false)) return false;
      const std::string_view op = text();
      if ((op == "-v" || op == "-R") && (!words_[at_ + 1].constant() || !is_plain_name(text(1))))
        return false;
      if (op == "-t" && call_.walk.shell_dialect() != syntax::Dialect::Bash && !words_[at_ + 1].constant())
        return false;
      at_ += 2;
      return true;
    }
    if (words_[at_].constant()) {
      ++at_;
      return true;
    }
    return false;
  }

  Invocation& call_;
  std::span<const Field> words_;
  size_t at_ = 0;
};

}  // namespace

// test and [: -v and -R evaluate subscripts, and a value that is taken for an operator may be one of them.
void test(Invocation& call, const ProgramRow&) {
  std::span<const Field> words = call.rest(1);
  const bool bracket = call.word(0) == "[" || call.word(0).ends_with("/[");
  if (bracket && !words.empty() && words.back().text == "]") words = words.first(words.size() - 1);
  const bool constant =
      std::all_of(words.begin(), words.end(), [](const Field& word) { return word.constant(); });
  const bool evaluates = std::any_of(words.begin(), words.end(), [](const Field& word) {
    return word.text == "-v" || word.text == "-R" || is_number_test(word.text);
  });
  if ((!constant || evaluates) && !TestReader(call, words).run())
    call.ask(Risk::High, EffectKind::Execute, "tests something that can run commands");
  for (const Field& word : words) {
    if (word.text.starts_with("__ttyward"))
      call.ask(Risk::High, EffectKind::State, "uses a variable of ttyward's own");
  }
  call.output.clear();
}

// command and builtin: the same program, past functions and aliases.
void command(Invocation& call, const ProgramRow& row) {
  size_t at = 1;
  bool describes = false;
  while (at < call.argv.size() && call.word(at).starts_with("-")) {
    if (call.word(at) == "--") {
      ++at;
      break;
    }
    describes |= call.word(at).find_first_of("vV") != std::string_view::npos;
    if (call.word(at).find_first_not_of("pvV", 1) != std::string_view::npos) {
      call.ask(Risk::Medium, EffectKind::Unknown, "an option that is not known to be harmless");
    }
    ++at;
  }
  if (!describes) call.run_program(call.rest(at), call.input);
  (void)row;
}

void exec(Invocation& call, const ProgramRow&) {
  size_t at = 1;
  while (at < call.argv.size() && call.word(at).starts_with("-")) at += call.word(at) == "-a" ? 2 : 1;
  call.ask(Risk::High, EffectKind::State, "replaces the shell, or redirects everything that follows");
  call.run_program(call.rest(at), call.input);
}

void printenv(Invocation& call, const ProgramRow&) {
  bool named = false;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    if (call.word(i).starts_with("-")) continue;
    named = true;
    if (!call.argv[i].constant() || is_secret_name(call.word(i))) {
      call.ask(Risk::Medium, EffectKind::Secret, "prints a variable that is likely to be a credential",
               shown(call.argv[i]));
    }
  }
  if (!named) call.ask(Risk::Medium, EffectKind::Secret, "prints every variable, credentials too");
}

void poison(Invocation& call, const ProgramRow& row) {
  apply_scan(call, row, scan_options(row, call.argv, ScanStop::Never));
  call.walk.state().poisoned = "'" + call.fact.program + "' may have changed what names mean";
}

void unset(Invocation& call, const ProgramRow&) {
  for (const Field& field : call.rest(1)) {
    if (field.text.starts_with("-")) continue;
    const bool plain = field.constant() && is_plain_name(field.text);
    if (!plain || is_code_loading(field.text) || field.text.starts_with("__ttyward")) {
      call.ask(Risk::High, EffectKind::State, "removes a variable or function that matters", shown(field));
    }
    call.walk.state().set(field.text, {std::string(1, kAny)});
  }
  // Without the function the name means a program.
  if (call.word(1).starts_with("-") && call.word(1) != "-v" && call.argv.size() > 1)
    call.ask(Risk::Medium, EffectKind::State, "changes what names mean in this shell");
}

}  // namespace ttyward::policy::special
