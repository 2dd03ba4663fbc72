// What a project's value makes of the person's.
#pragma once

#include <optional>

#include "config/setting_table.h"

namespace ttyward::config {

// The value that counts from now on; none if the project's would loosen it.
std::optional<Value> tightened(const Setting& setting, const Value& now, const Value& project);

}  // namespace ttyward::config
