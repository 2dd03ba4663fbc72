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

Settings come from these places; later ones take precedence:

1. the defaults below;
2. `config.toml` in the configuration folder (`ttyward config path` prints its path), in TOML:
   ```toml
   [times]
   timeout = "2m"
   ```
   The file must belong to you or root, and nobody else may have write permission;
3. the environment: `TTYWARD_TIMES_TIMEOUT=2m`; list entries are separated by commas;
4. `.ttyward.toml` in the folder a command runs in, or the nearest one above it. It comes with a
   project, so it can only make settings stricter; the last column says how. For commands that the
   daemon runs, its `[policy]` section and its rules apply; for `run`, `batch`, `prompt` and `check`, all of it
   applies. (Its `[[rule]]` tables are described in `policy.md`.)

Times are numbers in the unit shown, or strings such as `"500ms"`, `"90s"`, `"5m"`, `"1.5h"`, `"2d"`. Sizes are
bytes, or strings such as `"64KiB"`, `"256MiB"`, `"4GiB"`.

An error is reported with its line and column, and only that setting is ignored. `ttyward config show` prints
each value and where it comes from; `ttyward config check` reports errors.
)";

constexpr const char* kAgents = R"(
## [agents.NAME]

Agents that speak the Agent Client Protocol, for `ttyward agent NAME` ([acp.md](acp.md)). Only your own
`config.toml` can have them.

```toml
[agents.opencode]
command = ["opencode", "acp"]
display_name = "opencode"
```

| setting | default | meaning |
|---|---|---|
| `command` | – | the program and its arguments |
| `mode` | `"stdio"` | how it is talked to; there is no other |
| `participant` | `NAME` | its id among other participants of a conversation |
| `display_name` | what it calls itself | its name for people |
| `profile` | `"auto"` | what is known about it, as in `ttyward acp --profile` |
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
  out += kAgents;
  return out;
}

}  // namespace ttyward::config
