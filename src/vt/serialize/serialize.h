// The screen in the forms people and programs read.
//
// Each writer hands pieces to a sink, so that a long history never has to be in
// memory twice. Rows are numbered from 0 at the top of the screen; history rows
// are negative, -1 being the newest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vt/screen.h"

namespace ttyward::vt {

using Sink = std::function<void(std::string_view)>;

enum class Format : uint8_t { Text, Ansi, Json, Html, Svg };
std::optional<Format> format_named(std::string_view name);

enum class WithHistory : uint8_t { No, Yes };

// Lines as a person would copy them: soft-wrapped rows joined, trailing blanks and blank lines at the end
// gone.
void write_text(const Screen& screen, WithHistory history, const Sink& sink);
// Escape sequences that bring a terminal of the same size to this screen, its modes and its cursor.
void write_ansi(const Screen& screen, WithHistory history, const Sink& sink);
void write_json(const Screen& screen, WithHistory history, const Sink& sink);
void write_html(const Screen& screen, WithHistory history, const Sink& sink);
void write_svg(const Screen& screen, WithHistory history, const Sink& sink);

void write_screen(const Screen& screen, Format format, WithHistory history, const Sink& sink);
std::string screen_as(const Screen& screen, Format format, WithHistory history = WithHistory::No);

// Calls visit(row number, line) for each row; lines are as stored, not trimmed.
void for_each_line(const Screen& screen, WithHistory history, const std::function<void(int, Line&)>& visit);

}  // namespace ttyward::vt
