// Recordings for people and programs that have no asciicast player.
#pragma once

#include "record/asciicast.h"
#include "record/recording.h"

namespace ttyward::record {

// A page that plays itself: no other file, no network, nothing of the output becomes markup or script.
void write_html(const Recording& recording, const Sink& sink);
// A picture that moves by itself, without script: for a README. Pauses are shown for two seconds at most if
// the recording has no limit of its own.
void write_svg(const Recording& recording, const Sink& sink);
// The lines as a person would have read them.
void write_text(const Recording& recording, const Sink& sink);
// One object with everything.
void write_json(const Recording& recording, const Sink& sink);

}  // namespace ttyward::record
