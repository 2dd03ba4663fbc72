// Everything a reader can get out of a screen, as text: two screens with equal dumps are the same to anybody.
#pragma once

#include <string>

#include "vt/screen.h"

namespace ttyward::test {

// Rows, history, cursor, modes, margins, pen, tabs, titles and palette. Replies and events are taken out of
// the screen and are part of it too.
std::string dump(vt::Screen& screen);

// The part of it that a viewer sees or a program can notice: no history, marks, replies or events.
std::string appearance(const vt::Screen& screen);

// Options for a screen of this size, everything else as it comes.
vt::ScreenOptions sized(int cols, int rows);

// The row's text without blanks at its end.
std::string row_text(const vt::Screen& screen, int row);
// Rows joined by line feeds, without blank rows at the end.
std::string screen_text(const vt::Screen& screen);
std::string history_text(const vt::Screen& screen);
// History and screen with wrapped rows joined: what no resize may lose.
std::string logical_text(const vt::Screen& screen);

std::string to_text(const vt::Event& event);
// Control characters as \e, \n, \x01; everything else as it is.
std::string escaped(std::string_view bytes);
// The reverse, as scripts write it: \e \n \r \t \b \a \\ \" \xHH.
std::string unescaped(std::string_view text);

// What must hold whatever was fed: empty, or what is broken.
std::string broken_invariant(const vt::Screen& screen);

}  // namespace ttyward::test
