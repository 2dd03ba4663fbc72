// A run state, to and from bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pty/run_state.h"

namespace ttyward::hold {

std::string encode_run_state(const pty::RunState& state);
std::optional<pty::RunState> decode_run_state(std::string_view payload);

}  // namespace ttyward::hold
