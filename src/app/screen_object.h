// What changed on a screen, as the protocol has it.
#pragma once

#include "vt/delta.h"
#include "wire/types/screen.h"

namespace ttyward::app {

// Links and what only programs see of a cell are left out.
wire::ScreenDelta screen_object(const vt::Delta& delta);

}  // namespace ttyward::app
