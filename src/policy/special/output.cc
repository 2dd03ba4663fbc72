// Programs whose output can be worked out: what is echoed may be run by the next command.
#include <algorithm>

#include "policy/ansi_c.h"
#include "policy/git_repository.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {
namespace {

std::string joined(std::span<const Field> fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    text += fields[i].text;
  }
  return text;
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::string decode_base64(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) continue;
    bits = (bits << 6U) | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(
          static_cast<char>(static_cast<unsigned char>((bits >> static_cast<unsigned>(count)) & 0xFFU)));
    }
  }
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') c = '?';
  }
  return out;
}

}  // namespace

void echo(Invocation& call, const ProgramRow&) {
  size_t from = 1;
  bool escapes = false;
  while (from < call.argv.size() && call.word(from).size() > 1 && call.word(from)[0] == '-' &&
         call.word(from).find_first_not_of("neE", 1) == std::string_view::npos) {
    escapes |= call.word(from).find('e') != std::string_view::npos;
    ++from;
  }
  std::string text = joined(call.rest(from));
  if (escapes) {
    std::string decoded;
    text = decode_ansi_c(text, decoded) ? decoded : std::string(1, kAny);
  } else if (call.walk.shell_dialect() != syntax::Dialect::Bash && text.find('\\') != std::string::npos) {
    text = std::string(1, kAny);  // the echo of other shells takes backslashes for escapes
  }
  call.output = text + "\n";
}

// Only the plain cases are worked out; -v names a variable, whose subscript bash evaluates.
namespace {

// %n assigns to the variable that its argument names; other shells evaluate numbers as arithmetic.
void check_format(Invocation& call, size_t at) {
  if (at >= call.argv.size()) return;
  const Field& format = call.argv[at];
  const std::string_view text = format.text;
  bool assigns = !format.constant();
  bool numbers = false;
  bool wide = false;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '%') continue;
    size_t directive = text.find_first_not_of("-+ #0123456789.*'", i + 1);
    if (directive == std::string_view::npos) break;
    assigns |= text[directive] == 'n';
    const std::string_view width = text.substr(i + 1, directive - i - 1);
    wide |= width.size() > 6;
    if (width.find('*') != std::string_view::npos) {
      for (const Field& argument : call.rest(at + 1))
        wide |= !argument.constant() || argument.text.size() > 6;
    }
    numbers |= std::string_view("diouxXeEfFgGaA").find(text[directive]) != std::string_view::npos ||
               text.substr(i, directive - i).find('*') != std::string_view::npos;
    i = directive;
  }
  if (assigns)
    call.ask(Risk::High, EffectKind::Execute, "a format that can assign to variables or is not known");
  if (wide) call.ask(Risk::Medium, EffectKind::Process, "prints more than the memory may hold");
  if (!numbers || call.walk.shell_dialect() == syntax::Dialect::Bash) return;
  for (const Field& argument : call.rest(at + 1)) {
    if (!argument.constant())
      return call.ask(Risk::High, EffectKind::Execute,
                      "prints a value that this shell evaluates as arithmetic");
  }
}

}  // namespace

void printf(Invocation& call, const ProgramRow&) {
  if (call.word(1).starts_with("-v")) {
    const bool apart = call.word(1) == "-v";
    const std::string_view name = apart ? call.word(2) : call.word(1).substr(2);
    if (!is_plain_name(name)) {
      call.ask(Risk::High, EffectKind::Execute, "assigns to a variable whose name can run commands");
    } else {
      judge_assignment(call, name, std::string_view("\x01"), AssignmentScope::Shell);
      // Only for finding catastrophes: its last argument, or the format.
      if (call.argv.back().constant()) call.walk.state().keep_possible(name, call.argv.back().text);
    }
    call.output.clear();
    check_format(call, apart ? 3 : 2);
    return;
  }
  const size_t from = call.word(1) == "--" ? 2 : 1;
  check_format(call, from);
  std::string format;
  if (call.argv.size() <= from || !decode_ansi_c(call.word(from), format)) return;
  std::string out;
  size_t argument = from + 1;
  // The format is used again while there are arguments left.
  constexpr size_t kMaxRounds = 64;
  for (size_t round = 0; round == 0 || argument < call.argv.size(); ++round) {
    const size_t first = argument;
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%' || i + 1 == format.size()) {
        out.push_back(format[i]);
        continue;
      }
      const char directive = format[++i];
      if (directive == 's' || directive == 'b') {
        const std::string_view word = call.word(argument++);
        std::string decoded(word);
        if (directive == 'b' && word.find('\\') != std::string_view::npos && !decode_ansi_c(word, decoded))
          return;
        out += decoded;
      } else if (directive == '%') {
        out.push_back('%');
      } else {
        return;  // numbers and widths: unknown
      }
    }
    if (argument == first || round == kMaxRounds) break;
  }
  if (argument < call.argv.size() && argument > from + 1) return;  // too many to follow
  call.output = std::move(out);
}

void dirname(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  if (call.argv.size() != 2 || !call.argv[1].constant()) return;
  const std::string_view path = call.word(1);
  const size_t slash = path.rfind('/');
  // Trailing and doubled slashes have rules of their own.
  if (path.empty() || path.ends_with("/") || path.find("//") != std::string_view::npos) return;
  if (row.name == "basename") {
    call.output = std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1)) + "\n";
  } else {
    call.output = slash == std::string_view::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    call.output += "\n";
  }
}

void translate(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const std::string& text = call.input.text;
  if (!call.input.given || text.find_first_of("\x01\x02\x03\x04\x05\x06") != std::string::npos) return;
  if (row.name == "rev") {
    if (!scan.arguments.empty()) return;
    std::string out = text;
    for (size_t from = 0; from < out.size();) {
      const size_t end = std::min(out.find('\n', from), out.size());
      std::reverse(out.begin() + static_cast<std::ptrdiff_t>(from),
                   out.begin() + static_cast<std::ptrdiff_t>(end));
      from = end + 1;
    }
    call.output = std::move(out);
    return;
  }
  if (call.argv.size() != 3) return;
  const std::string_view from = call.word(1);
  const std::string_view to = call.word(2);
  const auto plain = [](const Field& field) {
    return field.constant() && field.text.find_first_of("\\-[") == std::string::npos;
  };
  if (!plain(call.argv[2])) return;
  std::string out;
  if (from == "-d") {
    for (const char c : text) {
      if (to.find(c) == std::string_view::npos) out.push_back(c);
    }
  } else {
    if (!plain(call.argv[1]) || from.size() != to.size()) return;
    for (const char c : text) {
      const size_t at = from.rfind(c);
      out.push_back(at == std::string_view::npos ? c : to[at]);
    }
  }
  call.output = std::move(out);
}

void pass_through(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const bool plain =
      scan.arguments.empty() || (scan.arguments.size() == 1 && scan.arguments.front().text == "-");
  if (plain) call.output = call.input.given ? call.input.text : std::string(1, kAny);
}

void base64(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  const bool known =
      call.input.given && call.input.text.find_first_of("\x01\x02\x03\x04\x05\x06") == std::string::npos;
  if ((scan.has("d") || scan.has("decode") || scan.has("D")) && scan.arguments.empty() && known) {
    call.output = decode_base64(call.input.text);
  }
}

// Prints names: of the folder it stands in or looks at, or as they were given.
void lister(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  std::string names;
  bool hidden = row.name == "locate" || row.name == "readlink" || row.name == "realpath";
  bool below = false;
  for (size_t i = 1; i < call.argv.size(); ++i) {
    const std::string_view word = call.word(i);
    if (!word.starts_with("-")) continue;
    const bool letters = word.size() > 1 && word[1] != '-';
    hidden |= (letters && word.find_first_of("aAf") != std::string_view::npos) || word == "--all" ||
              word == "--almost-all";
    below |= (letters && word.find_first_of("RT") != std::string_view::npos) || word == "--recursive" ||
             word == "--tree";
  }
  for (const Field& field : scan.arguments) names += field.text + "\n";
  names += std::string(1, kListed) + "\n";
  if (hidden) names += std::string(".") + kListed + "\n";
  call.output = below ? std::string(1, kAny) : names;
}

// Prints tracked files; the index knows them by name.
void git_ls_files(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  OptionScan options_only = scan;
  options_only.arguments.clear();
  apply_scan(call, row, options_only);
  call.output = std::string(1, kListed) + "\n";
  if (scan.has("o") || scan.has("others") || scan.has("i") || scan.has("ignored")) {
    call.output = std::string("./") + kListed + "\n";
    return;
  }
  for (const Field& field : call.rest(1)) {
    const std::string_view word = field.text;
    if (word.size() > 1 && word[0] == '-' && word[1] != '-' &&
        word.find_first_of("oi") != std::string_view::npos)
      call.output = std::string("./") + kListed + "\n";
  }
  for (const std::string& cwd : call.walk.state().cwds) {
    std::vector<GitIndexEntry> entries;
    if (!tracked_files(cwd, call.walk.place(), entries)) continue;
    for (const GitIndexEntry& entry : entries) {
      // Whoever splits the list makes other names of such a name.
      const bool splits = entry.path.find_first_of(" \t\n\"'\\*?[", cwd.size()) != std::string::npos;
      const bool matters = splits || names_secret(entry.path) ||
                           (entry.mode == kGitSymlink && look_at(entry.path, "/", call.walk.place()).secret);
      if (matters) call.output = std::string(1, kAny);
    }
  }
}

}  // namespace ttyward::policy::special
