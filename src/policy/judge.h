// Judges one simple command whose words are resolved.
#pragma once

#include "policy/invocation.h"
#include "policy/option_scan.h"

namespace ttyward::policy {

// Fills call.fact and call.output.
void judge_command(Invocation& call);

// Whether programs in this folder, written with a slash at its end, are what their names say.
bool is_trusted_folder(std::string_view folder);

// Options and arguments by the program's row; what special readers call for the ordinary part.
void apply_row(Invocation& call, const ProgramRow& row);
// `git -C x log …`: options of the program itself, then the row of the subcommand.
void apply_subcommand(Invocation& call, const ProgramRow& row);
void apply_scan(Invocation& call, const ProgramRow& row, const OptionScan& scan);
// What an option's row says against it; a value that is run may be a catastrophe.
void ask_about_option(Invocation& call, const OptionHit& hit);

// Who gets to see a NAME=value.
enum class AssignmentScope : uint8_t {
  Command,   // in front of a command, or given to env: that program
  Shell,     // read, printf -v, a bare assignment: this shell, and programs if it was exported before
  Exported,  // everything that follows
};
void judge_assignment(Invocation& call, std::string_view name, std::string_view value, AssignmentScope scope);

// /dev/zero and its kind.
bool is_endless_device(std::string_view path);

// Variables that make programs load or run something.
bool is_code_loading(std::string_view name);
// Variables whose value is a credential.
bool is_secret_name(std::string_view name);

using SpecialReader = void (*)(Invocation& call, const ProgramRow& row);
SpecialReader find_special(std::string_view name);

}  // namespace ttyward::policy
