#include "policy/program_table.h"

#include <algorithm>

namespace ttyward::policy {
namespace compiled {

#include "policy/programs_compiled.inc"

}  // namespace compiled

const ProgramRow* find_program(std::string_view name) {
  const std::span<const ProgramRow> rows(compiled::kPrograms);
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const ProgramRow& row, std::string_view key) { return row.name.view() < key; });
  return found != rows.end() && found->name == name ? &*found : nullptr;
}

const OptionRow* find_option(const ProgramRow& program, std::string_view name) {
  const auto found =
      std::lower_bound(program.options.begin(), program.options.end(), name,
                       [](const OptionRow& row, std::string_view key) { return row.name.view() < key; });
  return found != program.options.end() && found->name == name ? &*found : nullptr;
}

std::span<const ProgramExample> program_examples() {
  return compiled::kExamples;
}

}  // namespace ttyward::policy
