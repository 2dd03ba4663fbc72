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
  constexpr std::array<std::string_view, 8> kNames = {"default", "digest", "head", "tail",
                                                      "full",    "void",   "roo",  "gemini"};
  return kNames[static_cast<size_t>(view)];
}

// The preset of that name. "default" is what the settings say it is; "agent" is the view of the settings, and
// a digest where they have the default one. Empty: there is none.
inline std::optional<terminal::ViewLimits> view_named(std::string_view name,
                                                      const config::OutputSettings& settings) {
  if (name == "agent") name = settings.view == config::View::Default ? "digest" : view_name(settings.view);
  auto view = terminal::view_preset(name);
  const bool short_one = name == "digest" || name == "head" || name == "tail";
  if (view && short_one) {
    // Limits that somebody has set hold for these, too.
    const config::OutputSettings usual;
    if (settings.lines != usual.lines) view->lines = static_cast<uint64_t>(settings.lines);
    if (settings.chars != usual.chars) view->chars = static_cast<uint64_t>(settings.chars);
  }
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
  view.agent = name == "agent";
  view.since_last = view.agent && !asked.lines && !asked.chars && settings.since_last &&
                    view.form == terminal::ViewLimits::Form::Digest;
  return view;
}

}  // namespace ttyward::app
