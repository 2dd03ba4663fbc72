// ttyward doctor: what works on this machine, what does not, and what to do about it.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/json_text.h"
#include "cli/colour.h"
#include "cli/current_folder.h"
#include "cli/doctor/check.h"
#include "cli/doctor/explain.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace doctor_verb {
namespace {

doctor::Context make_context() {
  doctor::Context context;
  context.folders = base::user_folders();
  for (char** entry = environ; *entry != nullptr; ++entry) context.environment.emplace_back(*entry);
  context.config = config::load(context.folders, current_folder(), context.environment);
  return context;
}

Colour colour_of(doctor::Level level) {
  return level == doctor::Level::Ok     ? Colour::Green
         : level == doctor::Level::Warn ? Colour::Yellow
                                        : Colour::Red;
}

std::string to_json(const doctor::Check& check, const doctor::Finding& finding) {
  base::JsonObject out;
  out.text("check", check.name).text("level", doctor::level_name(finding.level)).text("text", finding.text);
  finding.advice.empty() ? out.null("advice") : out.text("advice", finding.advice);
  return out.str();
}

int examine(const Globals& globals) {
  const doctor::Context context = make_context();
  const Paint paint = Paint::for_stdout();
  doctor::Level worst = doctor::Level::Ok;
  std::string list;
  for (const doctor::Check& check : doctor::check_table()) {
    if (!globals.json) std::printf("%s: %s\n", paint(Colour::Bold, check.name).c_str(), check.about);
    for (const doctor::Finding& finding : check.run(context)) {
      worst = std::max(worst, finding.level);
      if (globals.json) {
        list += (list.empty() ? "" : ",") + to_json(check, finding);
        continue;
      }
      const std::string level = doctor::level_name(finding.level);
      std::printf("  %s  %s\n",
                  paint(colour_of(finding.level), level + std::string(4 - level.size(), ' ')).c_str(),
                  one_line(finding.text).c_str());
      if (!finding.advice.empty()) std::printf("        what to do: %s\n", one_line(finding.advice).c_str());
    }
    std::fflush(stdout);
  }
  if (globals.json) {
    std::printf("%s\n", base::JsonObject()
                            .text("worst", doctor::level_name(worst))
                            .raw("findings", "[" + list + "]")
                            .str()
                            .c_str());
  }
  return worst == doctor::Level::Fail ? 1 : 0;
}

int explain(const std::string& topic) {
  const std::string_view text = doctor::explanation(topic);
  if (text.empty()) {
    return complain("doctor", "there is no topic '" + topic + "'; there are: " + doctor::topic_names(),
                    kExitUsage);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto topic = std::make_shared<std::string>();
  const CLI::Option* asked =
      app.add_option("--explain", *topic, "Answer a frequent question instead of checking the machine")
          ->type_name(doctor::topic_names());
  return
      [topic, asked, &globals]() -> int { return asked->count() > 0 ? explain(*topic) : examine(globals); };
}

}  // namespace
}  // namespace doctor_verb

const Verb kDoctor = {"doctor", "Check what works on this machine, and say how to fix what does not",
                      &doctor_verb::declare};

}  // namespace ttyward::cli
