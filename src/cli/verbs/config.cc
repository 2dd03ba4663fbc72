// ttyward config: what is set, where it comes from, and whether it is right.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "cli/daemon_verb.h"
#include "cli/verbs/verbs.h"
#include "config/load.h"

namespace ttyward::cli {
namespace {

std::string problems_json(const config::Loaded& loaded) {
  std::string out;
  for (const config::Problem& problem : loaded.problems) {
    base::JsonObject each;
    each.text("severity", problem.severity == config::Severity::Error ? "error" : "note");
    each.text("where", problem.where).text("text", problem.text);
    out += (out.empty() ? "" : ",") + each.str();
  }
  return "[" + out + "]";
}

void complain_of(const config::Loaded& loaded) {
  for (const config::Problem& problem : loaded.problems) complain("config", problem.shown(), 0);
}

int show(const Globals& globals) {
  const config::Loaded loaded = load_here();
  if (globals.json) {
    base::JsonObject settings;
    for (const config::Setting& setting : config::setting_table()) {
      const config::Origin& origin = loaded.origin(setting);
      base::JsonObject each;
      each.raw("value", config::to_json(setting, setting.get(loaded.settings)));
      const std::string_view unit = setting.kind == config::Kind::Duration ? "ms" : setting.unit;
      unit.empty() ? each.null("unit") : each.text("unit", unit);
      each.text("source", config::source_name(origin.source));
      origin.where.empty() ? each.null("where") : each.text("where", origin.where);
      settings.raw(setting.full_name(), each.str());
    }
    base::JsonObject all;
    all.raw("settings", settings.str()).raw("problems", problems_json(loaded)).text("file", loaded.file);
    loaded.project_file.empty() ? all.null("project_file") : all.text("project_file", loaded.project_file);
    std::printf("%s\n", all.str().c_str());
    return loaded.has_errors() ? kExitFailure : 0;
  }
  size_t width = 0;
  for (const config::Setting& setting : config::setting_table()) {
    const std::string value = config::to_toml(setting, setting.get(loaded.settings));
    width = std::max(width, std::min<size_t>(40, std::string_view(setting.name).size() + 3 + value.size()));
  }
  std::string_view section;
  for (const config::Setting& setting : config::setting_table()) {
    if (section != setting.section) {
      std::printf("%s[%s]\n", section.empty() ? "" : "\n", setting.section);
      section = setting.section;
    }
    const std::string line =
        std::string(setting.name) + " = " + config::to_toml(setting, setting.get(loaded.settings));
    const config::Origin& origin = loaded.origin(setting);
    std::printf("%-*s  # %s\n", static_cast<int>(width), line.c_str(),
                origin.where.empty() ? config::source_name(origin.source) : origin.where.c_str());
  }
  std::fflush(stdout);
  complain_of(loaded);
  return loaded.has_errors() ? kExitFailure : 0;
}

int check(const std::string& file, const Globals& globals) {
  config::Loaded loaded;
  if (file.empty()) {
    loaded = load_here();
  } else {
    const bool project = file.substr(file.rfind('/') + 1) == config::kProjectFileName;
    config::apply_file(loaded, file, project ? config::FileLevel::Project : config::FileLevel::Person,
                       config::IfAbsent::Problem);
  }
  if (globals.json) {
    std::printf("%s\n", base::JsonObject()
                            .boolean("ok", !loaded.has_errors())
                            .raw("problems", problems_json(loaded))
                            .str()
                            .c_str());
  } else {
    complain_of(loaded);
    if (loaded.problems.empty()) std::printf("no errors\n");
  }
  return loaded.has_errors() ? 1 : 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  app.require_subcommand(1);
  const CLI::App* show_app =
      app.add_subcommand("show", "Show every setting, its value and where it comes from");
  const CLI::App* path_app = app.add_subcommand("path", "Print the path of your configuration file");
  CLI::App* check_app = app.add_subcommand("check", "Report errors in the configuration");
  const CLI::App* reference_app =
      app.add_subcommand("reference", "The reference of all settings, as Markdown");
  auto file = std::make_shared<std::string>();
  check_app->add_option("FILE", *file, "Check only this file")->type_name("FILE");
  return [=, &globals]() -> int {
    if (show_app->parsed()) return show(globals);
    if (check_app->parsed()) return check(*file, globals);
    if (path_app->parsed()) {
      const std::string path = config::config_path(base::user_folders());
      std::printf("%s\n", globals.json ? base::JsonObject().text("path", path).str().c_str() : path.c_str());
    }
    if (reference_app->parsed()) std::fputs(config::reference_markdown().c_str(), stdout);
    return 0;
  };
}

}  // namespace

const Verb kConfig = {"config", "Show, find and check the configuration", &declare};

}  // namespace ttyward::cli
