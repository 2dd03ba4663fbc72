// A syntax tree in the form in which `bash --pretty-print` writes it, so that both can be compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace ttyward::fuzz {

struct NormalForm {
  std::string text;
  std::vector<std::string> documents;  // bodies of here-documents with their end lines, in order
};

NormalForm normal_form(std::string_view source, const syntax::List& program);

// Runs of blanks, line ends and semicolons become one blank, or one line end if there was a separator among
// them. `loose`: always one blank, for bash's printing of here-documents loses separators.
std::string squeeze(std::string_view text, bool loose);

}  // namespace ttyward::fuzz
