// Text from elsewhere on a person's terminal: nothing in it acts on the terminal, and its width is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::cli {

// On one line: control characters, those above ASCII too, become visible or blank; ill-formed UTF-8 U+FFFD.
std::string one_line(std::string_view text);

// Columns it takes; `text` has no control characters.
size_t shown_width(std::string_view text);
enum class Cut : uint8_t { End, Begin };
// At most `width` columns; where something was cut away there is a "…".
std::string cut_to(std::string_view text, size_t width, Cut where = Cut::End);
// Exactly `width` columns.
std::string pad_to(std::string_view text, size_t width, Cut where = Cut::End);

// "3s", "12m", "5h", "9d"
std::string age_text(int64_t milliseconds);
// ~ for the home folder.
std::string short_path(const std::string& path);

}  // namespace ttyward::cli
