// How much of a command's output a result holds, as the configuration says.
#pragma once

#include <array>
#include <string_view>

#include "config/settings.h"
#include "terminal/output_view.h"
#include "wire/types/arguments.h"

namespace ttyward::app {

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

// What a call asks for, on top of what is configured.
inline terminal::ViewLimits view_of(const wire::ViewArguments& asked,
                                    const config::OutputSettings& settings) {
  const std::string name = asked.view.value_or(std::string(view_name(settings.view)));
  terminal::ViewLimits view = view_named(name, settings).value_or(terminal::ViewLimits{});
  if (asked.lines) view.lines = static_cast<uint64_t>(*asked.lines);
  if (asked.chars) view.chars = static_cast<uint64_t>(*asked.chars);
  return view;
}

}  // namespace ttyward::app
