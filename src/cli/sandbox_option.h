// The option --sandbox of verbs that serve agents: a name that is no profile is refused before anything
// begins.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "sandbox/profile.h"

namespace ttyward::cli {

inline CLI::Option* add_sandbox_option(CLI::App& app, std::string& profile, const std::string& about) {
  return app.add_option("--sandbox", profile, about)
      ->type_name("PROFILE")
      ->check(CLI::Validator(
          [](std::string& name) {
            return sandbox::profile_named(name)
                       ? std::string()
                       : "there is no sandbox '" + name + "': use " + sandbox::profile_names();
          },
          ""));
}

}  // namespace ttyward::cli
