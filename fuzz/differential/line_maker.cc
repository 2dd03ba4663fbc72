#include "fuzz/differential/line_maker.h"

#include <string_view>

namespace ttyward::fuzz {
namespace {

constexpr std::string_view kPrograms[] = {"ls",     "echo",  "cat",     "true",  "test", "[",      "printf",
                                          "grep",   "head",  "wc",      "sort",  "cd",   "export", "read",
                                          "./evil", "touch", "declare", "local", "zz",   "git",    "find",
                                          ":",      "time",  "!",       "if",    "then"};
constexpr std::string_view kWords[] = {
    "a",      "b.txt", "-l",  "--x=y", "/tmp/x", "*.c",   "?",     "[ab]*", "~",    "~/x", "{a,b}",
    "{1..3}", "x=y",   "a#b", "#",     "1",      "22",    "]",     "]]",    "}",    "{",   "-",
    "--",     "=",     "==",  "=~",    "!",      "%s\\n", "a\\ b", "\\;",   "\\$x", "é",   "in",
    "do",     "done",  "fi",  "esac",  "@",      "^",     "+=",    "a[1]",  "a[x]", "!x",  "%"};
constexpr std::string_view kPieces[] = {
    "'a b'",     "''",         "\"\"",           "\"a b\"",  "\"$x\"",    "$x",
    "${x}",      "${x:-y}",    "\"${x:-y z}\"",  "${#x}",    "${x%.c}",   "${x//a/b}",
    "${x/#a/b}", "${x:1}",     "${x:1:2}",       "${x[0]}",  "${x[@]}",   "${x^^}",
    "$1",        "$@",         "\"$@\"",         "$?",       "$#",        "$$",
    "$((1+2))",  "$((x+1))",   "$(( (1) + 2 ))", "`b`",      "$'a\\nb'",  "$'\\''",
    "$'\\x41'",  "\"a\\\"b\"", "\"\\$x\"",       "\"a\\b\"", "$",         "\"$\"",
    "a$",        "\\\\",       "'a\nb'",         "\"a\nb\"", "${x:-'y'}", "${x:-\"y z\"}",
    "\"a'b\"",   "'a\"b'",     "${x:=y}",        "${x+y}",   "$((1<<2))", "$((a>b))"};
constexpr std::string_view kTokens[] = {
    " ",    " ",        " ",     "\n",     ";",      "&",   "|",   "&&",  "||",    ";;",     "(",
    ")",    "((",       "))",    "{",      "}",      "<",   ">",   ">>",  "<<",    "<<<",    "<&",
    ">&",   "&>",       "2>&1",  "2>",     "<(",     ">(",  "$(",  "${",  "$((",   "`",      "'",
    "\"",   "\\",       "\\\n",  "#",      "!",      "=",   "+=",  "=(",  "[",     "]",      "[[",
    "]]",   "if",       "then",  "else",   "fi",     "for", "in",  "do",  "done",  "while",  "case",
    "esac", "function", "time",  "coproc", "select", "a",   "b",   "x=1", "ls",    "echo",   "$x",
    "~",    "*",        "?",     "-f",     "==",     "=~",  "-eq", "1",   "2",     "12",     "E",
    "<<E",  "\nE\n",    "<<'E'", "<<-E",   "\t",     "$'",  "$\"", "$[",  "@(",    "!(",     "{v}>",
    ">|",   "<>",       "|&",    ";&",     "é",      "^",   "%",   "x[",  "x[1]=", "a=(1 2)"};
constexpr std::string_view kInserts[] = {"\n",  "\\\n",  "#",  ";",  "&",  "$",    "(",  ")",  "`",  "'",
                                         "\"",  "{",     "}",  "<",  ">",  "=~\n", "|",  "!",  "[",  "]",
                                         "=",   "\\",    " ",  "\t", "@",  ":",    "~",  "=(", "&&", "||",
                                         "<<E", "\nE\n", "$(", "${", "((", "))",   "2>", ">&"};

// Places where a shell may evaluate what a variable holds.
constexpr std::string_view kEvaluations[] = {"[ $x -eq 1 ]",
                                             "[ \"$x\" -lt 3 ]",
                                             "[ $y -eq 1 ]",
                                             "[ \"$x\" ]",
                                             "[ -n \"$x\" ]",
                                             "[ -v x ]",
                                             "[ $x = y ]",
                                             "test -v $x",
                                             "test \"$x\" = a",
                                             "printf %d \"$x\"",
                                             "printf %s $x",
                                             "printf -v x a",
                                             "printf -v $x a",
                                             "printf \"$z\"",
                                             "read $x",
                                             "read -r v",
                                             "unset x",
                                             "unset \"$x\"",
                                             "declare v=$x",
                                             "declare \"$x=1\"",
                                             "declare -i v=1",
                                             "typeset v=1",
                                             "local v=$x",
                                             "let v=1",
                                             "let x",
                                             "echo $((x))",
                                             "echo $((v))",
                                             "((x))",
                                             "((v++))",
                                             "[[ $x -eq 0 ]]",
                                             "[[ x -eq 0 ]]",
                                             "[[ -v $x ]]",
                                             "[[ $x == a ]]",
                                             "[[ $x =~ a ]]",
                                             "echo ${v:x}",
                                             "echo ${v:0:1}",
                                             "echo ${a[x]}",
                                             "echo ${a[0]}",
                                             "a[0]=1",
                                             "a[x]=1",
                                             "a=($x)",
                                             "v=$x",
                                             "v+=$x",
                                             "RANDOM=$x",
                                             "RANDOM=1",
                                             "OPTIND=$x",
                                             "SECONDS=$x",
                                             "COLUMNS=$x",
                                             "for v in $x; do echo $v; done",
                                             "for RANDOM in $x; do :; done",
                                             "case $x in *) echo;; esac",
                                             "echo $x $y $z",
                                             "echo \"$z\"",
                                             "echo ${x:-$z}",
                                             "echo ${x@P}",
                                             "echo ${!x}",
                                             "cat <<E\n$x $z\nE",
                                             "cat <<< $z",
                                             "echo ${x/a/$z}",
                                             "echo ${x#$z}",
                                             "echo ${v:=$x}",
                                             "exit $x",
                                             "shift $x",
                                             "return $x",
                                             "ulimit -c $x",
                                             "wait $x",
                                             "jobs $x",
                                             "kill -l $x",
                                             "echo `echo $z`",
                                             "echo $(echo $z)",
                                             "v=x; echo $((v))",
                                             "v=3; echo $((v + 1))",
                                             "echo $[x]",
                                             "export v=$x",
                                             "readonly v=$x",
                                             "set -- $x; echo $1",
                                             "getopts a $x",
                                             "mapfile $x",
                                             "trap $z EXIT",
                                             "eval $z",
                                             "cd $x",
                                             "pwd $x",
                                             "type $x",
                                             "hash $x",
                                             "umask $x",
                                             "times"};

}  // namespace

std::string LineMaker::next() {
  const size_t way = below(100);
  if (way < 45 || kept_.empty()) return program(3);
  if (way < 60) return soup();
  std::string line = mutate(kept_[below(kept_.size())]);
  while (chance(30)) line = mutate(std::move(line));
  return line;
}

void LineMaker::keep(const std::string& line) {
  if (line.size() > 300) return;
  if (kept_.size() < 4000) {
    kept_.push_back(line);
  } else {
    kept_[below(kept_.size())] = line;
  }
}

std::string LineMaker::mutate(std::string line) {
  const size_t at = below(line.size() + 1);
  const size_t way = below(10);
  if (way < 6) {
    line.insert(at, pick(kInserts));
  } else if (way < 8 && !line.empty()) {
    line.erase(below(line.size()), 1 + below(3));
  } else if (!kept_.empty()) {
    const std::string& other = kept_[below(kept_.size())];
    const size_t from = below(other.size() + 1);
    line.insert(at, other.substr(from, 1 + below(20)));
  }
  if (chance(30)) line += "\ntouch END";
  return line;
}

std::string LineMaker::soup() {
  std::string out;
  const size_t count = 2 + below(14);
  for (size_t i = 0; i < count; ++i) {
    out += pick(kTokens);
    if (chance(50)) out += ' ';
  }
  return out;
}

std::string LineMaker::program(int depth) {
  std::string out = list(depth);
  if (chance(10)) out += chance(50) ? ";" : " # a 'comment";
  return out;
}

std::string LineMaker::separator() {
  static constexpr std::string_view kSeparators[] = {"; ",    ";",    "\n",   " && ",  " || ",   " | ",
                                                     "|",     " & ",  "&&",   "\n\n",  " # c\n", " \\\n && ",
                                                     " &&\n", " |\n", " |& ", "; \\\n"};
  return pick(kSeparators);
}

std::string LineMaker::gap() {
  static constexpr std::string_view kGaps[] = {" ",  " ",  " ",     " ",     " ",
                                               "  ", "\t", " \\\n", "\\\n ", " \\\n  "};
  return pick(kGaps);
}

std::string LineMaker::list(int depth) {
  std::string out = command(depth);
  while (chance(35)) out += separator() + command(depth);
  return out;
}

std::string LineMaker::command(int depth) {
  if (chance(12)) return pick(kEvaluations);
  if (depth <= 0 || chance(60)) return simple(depth);
  const std::string body = list(depth - 1);
  switch (below(13)) {
    case 0:
      return "(" + body + ")";
    case 1:
      return "{ " + body + "; }";
    case 2:
      return "if " + list(depth - 1) + "; then " + body + (chance(30) ? "; else " + list(depth - 1) : "") +
             (chance(20) ? "\nelif a; then b" : "") + "; fi";
    case 3:
      return "for x in " + word(depth) + gap() + word(depth) + "; do " + body + "; done";
    case 4:
      return (chance(50) ? "while " : "until ") + list(depth - 1) + "; do " + body + "; done";
    case 5:
      return "case " + word(depth) + " in " + word(0) + ") " + body + ";; *) ;; esac";
    case 6:
      return "f() { " + body + "; }";
    case 7:
      return "! " + simple(depth);
    case 8:
      return "[[ -f " + word(0) + (chance(50) ? " && " : " || ") + word(0) + " == " + word(0) + " ]]";
    case 9:
      return "((x + 1))";
    case 10:
      return "cat <<" + std::string(chance(50) ? "'E'" : "E") + (chance(30) ? " | " + simple(0) : "") + "\n" +
             word(depth) + "\nE\n" + simple(0);
    case 11:
      return "for ((i=0; i<3; i++)); do " + body + "; done";
    default:
      return "time " + simple(depth);
  }
}

std::string LineMaker::simple(int depth) {
  static constexpr std::string_view kRedirects[] = {"> f",  ">f",   "2>&1", "2> /dev/null", "< f",
                                                    ">> f", "&> f", "2>f",  "<<< w",        ">&2",
                                                    "<&-",  "3>&-", "1>f",  "<> f"};
  std::string out;
  if (chance(12)) out += std::string(chance(50) ? "x=" : "y+=") + piece(depth) + gap();
  if (chance(5)) out += "a=(1 2)" + gap();
  out += chance(85) ? pick(kPrograms) : word(depth);
  const size_t count = below(4);
  for (size_t i = 0; i < count; ++i) {
    out += gap() + word(depth);
    if (chance(12)) out += gap() + pick(kRedirects);
  }
  return out;
}

std::string LineMaker::word(int depth) {
  std::string out = chance(60) ? pick(kWords) : piece(depth);
  while (chance(15)) out += chance(50) ? pick(kWords) : piece(depth);
  return out;
}

std::string LineMaker::piece(int depth) {
  if (depth > 0 && chance(25)) {
    const std::string inner = list(depth - 2);
    switch (below(5)) {
      case 0:
        return "\"$(" + inner + ")\"";
      case 1:
        return "<(" + inner + ")";
      case 2:
        return "${x:-$(" + inner + ")}";
      default:
        return "$(" + inner + ")";
    }
  }
  return pick(kPieces);
}

}  // namespace ttyward::fuzz
