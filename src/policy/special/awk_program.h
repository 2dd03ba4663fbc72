// What an awk program does beyond computing and printing.
//
// Splits the program into tokens the way awk does (a / is a division after an operand and begins a regular
// expression elsewhere) and looks for what reaches outside. What can be read in two ways is not understood.
// Total: every text has an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ttyward::policy::special {

struct AwkProgram {
  std::string problem;                   // empty: understood
  std::vector<std::string> reads;        // files named by constants: getline < "f"
  std::vector<std::string> writes;       // print > "f"
  std::vector<std::string> environment;  // ENVIRON["NAME"]
  bool runs_commands = false;            // system(), pipes
  bool loads_code = false;               // @load, @include, calls by name
  bool reads_unknown = false;            // getline < expression
  bool writes_unknown = false;           // print > expression
  bool reads_environment = false;        // ENVIRON other than by a constant
  bool changes_input = false;            // ARGV, PROCINFO

  bool operator==(const AwkProgram&) const = default;
};

AwkProgram read_awk_program(std::string_view text);

}  // namespace ttyward::policy::special
