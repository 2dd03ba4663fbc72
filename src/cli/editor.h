// Lets a person change a text in their own editor.
#pragma once

#include <string>

#include "base/result.h"

namespace ttyward::cli {

// Opens $VISUAL, $EDITOR or vi on a private copy of `text` and returns what it holds afterwards. An editor
// that fails changes nothing.
base::Result<std::string> edit_text(const std::string& text);

}  // namespace ttyward::cli
