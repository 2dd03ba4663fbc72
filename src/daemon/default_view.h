// How much of a command's output a result holds, as the configuration says.
#pragma once

#include <array>
#include <string_view>

#include "config/settings.h"
#include "terminal/output_view.h"

namespace ttyward::daemon {

// What the setting output.view is called.
inline std::string_view view_name(config::View view) {
  constexpr std::array<std::string_view, 5> kNames = {"default", "void", "roo", "gemini", "full"};
  return kNames[static_cast<size_t>(view)];
}

// The preset of that name; "default" is what the settings say it is. Empty: there is none.
inline std::optional<terminal::ViewLimits> view_named(std::string_view name,
                                                      const config::OutputSettings& settings) {
  auto view = terminal::view_preset(name);
  if (!view || name != "default") return view;
  view->lines = static_cast<uint64_t>(settings.lines);
  view->chars = static_cast<uint64_t>(settings.chars);
  view->head_percent = static_cast<unsigned>(settings.head_percent);
  view->fold_repeats = settings.fold_repeats;
  return view;
}

}  // namespace ttyward::daemon
