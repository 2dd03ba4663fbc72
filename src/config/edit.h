// Changing one setting in the text of a config.toml, and nothing else in it: remarks, order and what we do
// not know stay as they are. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/setting_table.h"

namespace ttyward::config {

// `value`: as to_toml() writes it; null takes the setting out, so that its default holds. `shown_name` is for
// messages. Fails if the text has errors, or if it writes the setting in a way that cannot be changed line by
// line.
base::Result<std::string> with_setting(const std::string& text, const Setting& setting,
                                       const std::optional<Value>& value, const std::string& shown_name);

}  // namespace ttyward::config
