#include "cli/man_page.h"

#include <fmt/format.h>

#include <cctype>

namespace ttyward::cli {
namespace {

// Text as it is: nothing in it is an instruction.
std::string plain(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool line_begins = i == 0 || text[i - 1] == '\n';
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '"') {
      out += "\\(dq";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string sentence(const std::string& text) {
  const bool ended = text.empty() || text.back() == '.';
  return plain(text) + (ended ? "\n" : ".\n");
}

void add_option(const OutlineOption& option, std::string& out) {
  out += ".TP\n";
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + plain(name) + "\\fR");
    if (option.values != Values::None) names += " \\fI" + plain(option.value_name) + "\\fR";
  }
  out += names + "\n" + sentence(option.doc);
  if (!option.default_value.empty()) out += "The default is " + plain(option.default_value) + ".\n";
}

std::string usage(const Outline& command, const std::string& path) {
  std::string out = ".B " + plain(path) + "\n";
  if (!command.options.empty()) out += ".RI [ options ]\n";
  if (!command.commands.empty()) out += ".I command\n";
  for (const OutlineArgument& argument : command.arguments)
    out += fmt::format(".RI [ {} ]{}\n", plain(argument.name), argument.repeatable ? "..." : "");
  return out;
}

void add_command(const Outline& command, const std::string& path, std::string& out) {
  out += fmt::format(".SS {}\n", plain(path));
  out += usage(command, path) + ".PP\n" + sentence(command.summary);
  for (const OutlineArgument& argument : command.arguments)
    out += ".TP\n.I " + plain(argument.name) + "\n" + sentence(argument.doc);
  for (const OutlineOption& option : command.options) {
    const std::string& name = option.names.front();
    if (name != "--help" && name != "--json") add_option(option, out);
  }
  for (const Outline& each : command.commands) add_command(each, path + " " + each.name, out);
}

constexpr const char* kDescription = R"(.SH DESCRIPTION
ttyward runs commands in real terminals and reports what they printed, whether they are running, wait
for input or have ended, and how they ended. Data goes to standard output, messages to standard error.
)";

constexpr const char* kEnd = R"(.SH EXIT STATUS
The exit code of a command that was run passes through. Other exit codes:
.TP
.B 2
Wrong usage; a message says what to write instead.
.TP
.B 75
The command has not ended: it keeps running, waits for input or for approval.
.TP
.B 124
A time limit was reached.
.TP
.B 125
ttyward itself failed, the daemon could not be reached, or the terminal was busy.
.TP
.BR 126 ", " 127
The program could not be executed, or was not found. 126 is also the code of a command that was denied.
.TP
.BI 128+ n
Signal
.I n
ended the command.
.PP
The results of
.B \-\-json
have the exit code and the signal as separate members.
.SH ENVIRONMENT
.TP
.B TTYWARD_HOME
A folder for configuration, state and sockets, instead of the ones below.
.TP
.BI TTYWARD_ SECTION _ NAME
Sets one setting for one process; see
.BR "ttyward config show" .
.SH FILES
.TP
.I ~/.config/ttyward/config.toml
Settings.
.TP
.I ~/.config/ttyward/rules.toml
Rules about what may run.
.TP
.I .ttyward.toml
A project's settings and rules; they can only make policy and limits stricter.
.TP
.I ~/.local/state/ttyward/
The output of commands (journals), the history and the state of terminals.
)";

}  // namespace

std::string verb_page(const Outline& program, const Outline& verb) {
  const std::string path = program.name + " " + verb.name;
  const std::string name = program.name + "-" + verb.name;
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out =
      fmt::format(".TH {} 1 \"\" \"ttyward {}\" \"User Commands\"\n", plain(upper), TTYWARD_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", plain(name), plain(verb.summary));
  out += usage(verb, path) + ".SH DESCRIPTION\n" + sentence(verb.summary);
  if (!verb.arguments.empty()) out += ".SH ARGUMENTS\n";
  for (const OutlineArgument& argument : verb.arguments)
    out += ".TP\n.I " + plain(argument.name) + "\n" + sentence(argument.doc);
  out += ".SH OPTIONS\n";
  for (const OutlineOption& option : verb.options) add_option(option, out);
  if (!verb.commands.empty()) out += ".SH COMMANDS\n";
  for (const Outline& command : verb.commands) add_command(command, path + " " + command.name, out);
  return out + ".SH SEE ALSO\n.BR ttyward (1)\n";
}

std::string man_page(const Outline& program) {
  const size_t colon = program.summary.find(": ");
  const std::string what = colon == std::string::npos ? program.summary : program.summary.substr(colon + 2);
  std::string out = fmt::format(".TH TTYWARD 1 \"\" \"ttyward {}\" \"User Commands\"\n", TTYWARD_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", plain(program.name), plain(what));
  out += usage(program, program.name) + kDescription + ".SH OPTIONS\n";
  for (const OutlineOption& option : program.options) add_option(option, out);
  out += ".SH COMMANDS\n";
  for (const Outline& command : program.commands)
    add_command(command, program.name + " " + command.name, out);
  return out + kEnd;
}

}  // namespace ttyward::cli
