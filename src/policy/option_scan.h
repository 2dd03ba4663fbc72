// Reads a program's arguments the way getopt does, by the program's row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/program_table.h"
#include "policy/words.h"

namespace ttyward::policy {

struct OptionHit {
  const OptionRow* row = nullptr;
  Field value;  // empty if it takes none
  bool has_value = false;
};

struct OptionScan {
  std::vector<OptionHit> hits;
  std::vector<Field> arguments;        // what is not an option
  std::vector<std::string> unknown;    // options the row does not list
  std::vector<const Field*> doubtful;  // may turn out to be options when the command runs
  size_t options_end = 0;              // index in argv of the first argument, or argv.size()

  bool has(std::string_view name) const;
  const Field* value(std::string_view name) const;
};

enum class ScanStop : uint8_t { Never, AtFirstArgument };

// `argv[0]` is the program itself.
OptionScan scan_options(const ProgramRow& row, std::span<const Field> argv, ScanStop stop);

}  // namespace ttyward::policy
