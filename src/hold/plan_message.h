// A sandbox's plan in a launch request.
#pragma once

#include <optional>

#include "hold/codec.h"
#include "sandbox/plan.h"

namespace ttyward::hold {

void encode_plan(Encoder& out, const std::optional<sandbox::Plan>& plan);
// False: not a plan of this version.
bool decode_plan(Decoder& in, std::optional<sandbox::Plan>& plan);

}  // namespace ttyward::hold
