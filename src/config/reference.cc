#include <fmt/format.h>

#include "config/load.h"

namespace ttyward::config {
namespace {

const char* project_says(Tighten tighten) {
  switch (tighten) {
    case Tighten::Never:
      return "no";
    case Tighten::Lower:
      return "lower it";
    case Tighten::True:
      return "switch it on";
    case Tighten::False:
      return "switch it off";
    case Tighten::Earlier:
      return "choose an earlier one";
    case Tighten::Add:
      return "add to it";
    case Tighten::Narrow:
      return "narrow it";
  }
  return "";
}

constexpr const char* kIntroduction = R"(# Configuration

<!-- Made from the table in src/config/setting_table.cc by `ttyward config reference`. -->

Settings come from, in this order, the later ones winning:

1. the defaults below;
2. `config.toml` in the configuration folder (`ttyward config path` says where), in TOML, a section each:
   ```toml
   [times]
   timeout = "2m"
   ```
   It must be yours or root's, and nobody else may be able to write to it;
3. the environment: `TTYWARD_TIMES_TIMEOUT=2m`; lists with commas;
4. `.ttyward.toml` in the folder a command runs in, or the nearest one above it. It comes with a
   project, from anywhere, so it may only make things stricter; the last column says how. For what the
   daemon runs, its `[policy]` and its rules count; for `run`, `batch`, `prompt` and `check` all of it. (Its
   `[[rule]]` tables are described in `policy.md`.)

Times are numbers in the unit named, or texts such as `"500ms"`, `"90s"`, `"5m"`, `"1.5h"`, `"2d"`. Sizes are
bytes, or texts such as `"64KiB"`, `"256MiB"`, `"4GiB"`.

A mistake is named with its place and costs only itself: everything else counts. `ttyward config show` prints
each value and where it comes from; `ttyward config check` says what is wrong.

Some settings that other terminals for agents have are not here because nothing would use them: intervals for
polling (ttyward waits on events); how long silence must last to be taken for the end of a command (it never
is); lines of scrollback (everything is kept, up to `limits.journal`); whether redrawn lines such as progress
bars are shown once (results show what a person would see; `read --raw` has every byte); a ZDOTDIR for zsh and a
counter for PowerShell (the shell integration needs neither).
)";

}  // namespace

std::string reference_markdown() {
  std::string out = kIntroduction;
  const Settings defaults;
  std::string_view section;
  for (const Setting& setting : setting_table()) {
    if (section != setting.section) {
      section = setting.section;
      out += fmt::format(
          "\n## [{}]\n\n| setting | default | allowed | meaning | a project may |\n|---|---|---|---|---|\n",
          section);
    }
    out +=
        fmt::format("| `{}` | `{}` | {} | {} | {} |\n", setting.name, to_toml(setting, setting.get(defaults)),
                    allowed(setting), setting.doc, project_says(setting.tighten));
  }
  return out;
}

}  // namespace ttyward::config
