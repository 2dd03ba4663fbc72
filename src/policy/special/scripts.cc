// sed, awk and jq: small languages, read by what in them could do more than print.
#include <cctype>

#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

// Reads a sed script by its grammar. Anything unexpected is not harmless.
class SedScript {
 public:
  explicit SedScript(std::string_view text) : text_(text) {}

  // Empty: only prints and edits the stream.
  std::string problem() {
    while (at_ < text_.size() && problem_.empty()) statement();
    return problem_;
  }

  std::vector<std::string> reads;
  std::vector<std::string> writes;

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks(std::string_view extra = "") {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || extra.find(text_[at_]) != std::string_view::npos))
      ++at_;
  }
  void fail(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
    at_ = text_.size();
  }
  std::string to_line_end() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string line(text_.substr(at_, end - at_));
    at_ = end;
    while (!line.empty() && line.front() == ' ') line.erase(0, 1);
    return line;
  }
  // A part that ends at an unescaped `delimiter`; brackets hide it, as in regular expressions.
  bool delimited(char delimiter, bool regex) {
    bool bracket = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (bracket) {
        if (c == ']') bracket = false;
      } else if (c == delimiter) {
        ++at_;
        return true;
      } else if (regex && c == '[') {
        // Whether a delimiter inside brackets ends the expression differs between versions.
        const size_t close = text_.find(']', at_ + 2);
        if (close != std::string_view::npos &&
            text_.substr(at_, close - at_).find(delimiter) != std::string_view::npos) {
          fail("a sed expression that can be read in two ways");
          return false;
        }
        bracket = close != std::string_view::npos;
        if (bracket && at_ + 1 < text_.size() && (text_[at_ + 1] == ']' || text_[at_ + 1] == '^')) ++at_;
      }
    }
    fail("a sed expression that does not end");
    return false;
  }

  bool address() {
    if (std::isdigit(static_cast<unsigned char>(peek())) != 0 || peek() == '$' || peek() == '+' ||
        peek() == '~') {
      ++at_;
      while (std::isdigit(static_cast<unsigned char>(peek())) != 0 || peek() == '~') ++at_;
      return true;
    }
    if (peek() == '/' || peek() == '\\') {
      char delimiter = '/';
      if (peek() == '\\') {
        ++at_;
        delimiter = peek();
      }
      ++at_;
      if (!delimited(delimiter, true)) return false;
      while (peek() == 'I' || peek() == 'M') ++at_;
      return true;
    }
    return false;
  }

  void substitute_flags() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == 'e') return fail("sed runs what it edited as a command");
      if (c == 'w') {
        ++at_;
        writes.push_back(to_line_end());
        return;
      }
      if (std::string_view("gpiImM0123456789").find(c) == std::string_view::npos) return;
      ++at_;
    }
  }

  void statement() {
    blanks("\n;");
    if (at_ >= text_.size()) return;
    if (peek() == '#') {
      to_line_end();
      return;
    }
    if (address()) {
      blanks();
      if (peek() == ',') {
        ++at_;
        blanks();
        if (!address()) return fail("a sed address that is not understood");
      }
    }
    blanks();
    while (peek() == '!') {
      ++at_;
      blanks();
    }
    const char command = peek();
    ++at_;
    switch (command) {
      case '\0':
        return;
      case '{':
      case '}':
      case '=':
      case 'd':
      case 'D':
      case 'g':
      case 'G':
      case 'h':
      case 'H':
      case 'n':
      case 'N':
      case 'p':
      case 'P':
      case 'x':
      case 'z':
      case 'F':
        return;
      case 'q':
      case 'Q':
      case 'l':
      case 'L':
        blanks();
        while (std::isdigit(static_cast<unsigned char>(peek())) != 0) ++at_;
        return;
      case 'a':
      case 'i':
      case 'c':
        while (true) {  // text goes on over escaped line ends
          const std::string line = to_line_end();
          if (at_ >= text_.size() || line.empty() || line.back() != '\\') return;
          ++at_;
        }
      case ':':
      case 'b':
      case 't':
      case 'T':
        while (at_ < text_.size() && peek() != '\n' && peek() != ';' && peek() != '}') ++at_;
        return;
      case 'r':
      case 'R':
        reads.push_back(to_line_end());
        return;
      case 'w':
      case 'W':
        writes.push_back(to_line_end());
        return;
      case 's':
      case 'y': {
        const char delimiter = peek();
        if (delimiter == '\0' || delimiter == '\n' || delimiter == '\\')
          return fail("a sed command that is not understood");
        ++at_;
        if (!delimited(delimiter, command == 's') || !delimited(delimiter, false)) return;
        if (command == 's') substitute_flags();
        return;
      }
      case 'e':
        return fail("sed runs a command");
      default:
        return fail("a sed command that is not understood");
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string problem_;
};

void judge_sed_script(Invocation& call, const Field& script) {
  if (!script.constant())
    return call.ask(Risk::High, EffectKind::Execute,
                    "a sed script that is only known when it runs could run commands");
  SedScript reader(script.text);
  const std::string problem = reader.problem();
  if (!problem.empty()) call.ask(Risk::High, EffectKind::Execute, problem);
  Field path;
  for (const std::string& name : reader.writes) {
    path.text = name;
    call.write_path(path);
    call.raise(Risk::High);
  }
  for (const std::string& name : reader.reads) {
    path.text = name;
    call.read_path(path);
  }
}

// awk text with strings and regular expressions blanked out, so that only its syntax is left.
std::string awk_skeleton(std::string_view code, bool& understood) {
  std::string out;
  char last = '\0';  // last character that is not blank
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '#') {
      while (i < code.size() && code[i] != '\n') ++i;
      out += '\n';
      continue;
    }
    const bool regex = c == '/' && (last == '\0' ||
                                    std::string_view("~(,!&|{};=?:\n").find(last) != std::string_view::npos ||
                                    out.ends_with("return "));
    if (c == '"' || regex) {
      size_t end = i + 1;
      bool bracket = false;
      while (end < code.size() && (code[end] != c || bracket)) {
        if (code[end] == '\\')
          ++end;
        else if (regex && code[end] == '[')
          bracket = true;
        else if (regex && code[end] == ']')
          bracket = false;
        ++end;
      }
      if (end >= code.size()) {
        understood = false;
        return out;
      }
      out += c == '"' ? "\"\"" : "0";
      last = c == '"' ? '"' : '0';
      i = end;
      continue;
    }
    out.push_back(c);
    if (c != ' ' && c != '\t') last = c;
  }
  return out;
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto letter = [&](size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
    };
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

// A > that redirects: in a print statement, outside parentheses. A comparison stands elsewhere.
bool awk_redirects(std::string_view code) {
  int depth = 0;
  bool printing = false;
  int print_depth = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    const bool word_start =
        i == 0 || (std::isalnum(static_cast<unsigned char>(code[i - 1])) == 0 && code[i - 1] != '_');
    if (word_start && code.substr(i).starts_with("print")) {
      printing = true;
      print_depth = depth;
    }
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ';' || c == '}' || c == '\n') printing = false;
    if (c == '>' && printing && depth <= print_depth) return true;
  }
  return false;
}

void judge_awk_code(Invocation& call, const Field& code) {
  if (!code.constant())
    return call.ask(Risk::High, EffectKind::Execute,
                    "an awk program that is only known when it runs could run commands");
  bool understood = true;
  const std::string text = awk_skeleton(code.text, understood);
  if (!understood) return call.ask(Risk::High, EffectKind::Unknown, "an awk program that is not understood");
  if (has_word(text, "system")) {
    call.ask(Risk::High, EffectKind::Execute, "awk runs a shell command");
    check_foreign_code(call, code.text);
  }
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '|') {
      ++at;
      continue;
    }
    call.ask(Risk::High, EffectKind::Execute, "awk pipes to or from a command");
    check_foreign_code(call, code.text);
    break;
  }
  if (awk_redirects(text)) call.ask(Risk::Medium, EffectKind::Write, "awk writes files");
  if (has_word(text, "getline"))
    call.ask(Risk::Medium, EffectKind::Read, "awk reads files named in its program");
  if (has_word(text, "ENVIRON"))
    call.ask(Risk::Medium, EffectKind::Secret, "awk reads environment variables");
  if (text.find('@') != std::string::npos)
    call.ask(Risk::High, EffectKind::Execute, "awk loads code or calls by name");
  if (has_word(text, "PROCINFO") || has_word(text, "ARGV"))
    call.ask(Risk::Medium, EffectKind::Unknown, "awk changes what it reads or how");
}

}  // namespace

void sed(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan rest = scan;
  bool has_script = false;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name == "e" || hit.row->name == "expression") {
      has_script = true;
      judge_sed_script(call, hit.value);
    }
    has_script |= hit.row->name == "f" || hit.row->name == "file";
  }
  if (!has_script && !rest.arguments.empty()) {
    judge_sed_script(call, rest.arguments.front());
    rest.arguments.erase(rest.arguments.begin());
  }
  const bool in_place = scan.has("i") || scan.has("in-place");
  if (in_place) {
    for (const Field& file : rest.arguments) call.write_path(file, "edits");
    rest.arguments.clear();
  }
  apply_scan(call, row, rest);
  if (in_place) call.writes_nothing_else();
}

void awk(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  OptionScan rest = scan;
  bool has_program = false;
  for (const OptionHit& hit : scan.hits) {
    has_program |= hit.row->name == "f" || hit.row->name == "file";
    if (hit.row->name == "e" || hit.row->name == "source") {
      has_program = true;
      judge_awk_code(call, hit.value);
    }
  }
  if (!has_program && !rest.arguments.empty()) {
    judge_awk_code(call, rest.arguments.front());
    rest.arguments.erase(rest.arguments.begin());
  }
  // var=value among the files is an assignment.
  std::erase_if(rest.arguments, [](const Field& field) {
    const size_t equals = field.text.find('=');
    return equals != std::string::npos && equals > 0 &&
           field.text.substr(0, equals).find('/') == std::string::npos;
  });
  apply_scan(call, row, rest);
}

void jq(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  for (const Field& field : call.argv) {
    const std::string_view text = field.text;
    if (has_word(text, "env") || text.find("$ENV") != std::string_view::npos) {
      call.ask(Risk::Medium, EffectKind::Secret, "reads environment variables");
    }
    if (has_word(text, "import") || has_word(text, "include") || has_word(text, "load") ||
        has_word(text, "strenv") || has_word(text, "load_str") || has_word(text, "system") ||
        has_word(text, "eval")) {
      call.ask(Risk::Medium, EffectKind::Read, "loads other files");
    }
  }
  apply_scan(call, row, scan);
}

}  // namespace ttyward::policy::special
