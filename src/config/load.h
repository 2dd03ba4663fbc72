// Settings from where they are written: defaults, config.toml, the environment,
// and a project's .ttyward.toml, in this order.
//
//   config.toml        the person's; must be theirs and closed to others' writing
//   TTYWARD_SECTION_NAME   the same for one process
//   .ttyward.toml      comes with a folder from anywhere, so it may only tighten
//
// Nothing is lost by a mistake: what cannot be used is named, with its place,
// and everything else counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/folders.h"
#include "config/setting_table.h"
#include "config/settings.h"

namespace ttyward::config {

enum class Severity : uint8_t {
  Error,  // a mistake to be put right
  Note,   // fine as it is, but without effect here
};

struct Problem {
  Severity severity = Severity::Error;
  std::string where;  // FILE:LINE:COLUMN, or the name of a variable
  std::string text;

  std::string shown() const { return where + ": " + text; }
  bool operator==(const Problem&) const = default;
};

enum class Source : uint8_t { Default, File, Environment, Project };
const char* source_name(Source source);

struct Origin {
  Source source = Source::Default;
  std::string where;  // FILE:LINE, or the name of a variable; empty for a default

  bool operator==(const Origin&) const = default;
};

struct Loaded {
  Settings settings;
  std::vector<Origin> origins;  // one for each row of setting_table()
  std::vector<Problem> problems;
  std::string file;          // the person's, whether it is there or not
  std::string project_file;  // empty: none was found

  Loaded();
  const Origin& origin(const Setting& setting) const;
  // Somebody has chosen it: it is not the default.
  bool is_set(std::string_view section, std::string_view name) const;
  bool has_errors() const;
};

enum class FileLevel : uint8_t { Person, Project };
// One file's text on top of what is there. `shown_name` is for messages.
void apply_toml(Loaded& loaded, std::string_view text, const std::string& shown_name, FileLevel level);
// NAME=value each, as environ holds them; what does not begin with TTYWARD_<section>_ is left alone.
void apply_environment(Loaded& loaded, const std::vector<std::string>& environment);
// A file from the disk. One that is not there is no problem unless it was asked for by name.
enum class IfAbsent : uint8_t { Fine, Problem };
void apply_file(Loaded& loaded, const std::string& path, FileLevel level, IfAbsent absent);

inline constexpr const char* kProjectFileName = ".ttyward.toml";
// Lets the project file in `cwd`, or in the nearest folder above it, make stricter what is there. The one
// place where that is done: for what is loaded for a folder, and for a command that the daemon runs in one.
void tighten_for_project(Loaded& loaded, const std::string& cwd);
std::string config_path(const base::Folders& folders);

// Loads everything, as each ttyward program does at its start. `after_file` may change what config.toml said,
// before the environment counts.
Loaded load(const base::Folders& folders, const std::string& cwd, const std::vector<std::string>& environment,
            const std::function<void(Loaded&)>& after_file = {});

// The known name most like this one; empty if none is.
std::string nearest_name(std::string_view wrong);

// docs/configuration.md
std::string reference_markdown();

}  // namespace ttyward::config
