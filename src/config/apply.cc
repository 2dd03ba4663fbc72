// From TOML and from the environment into Loaded.
#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "config/load.h"
#include "config/tighten.h"

namespace ttyward::config {
namespace {

std::string suggestion(std::string_view wrong) {
  const std::string near = nearest_name(wrong);
  return near.empty() ? "; `ttyward config show` lists all settings" : "; did you mean " + near + "?";
}

base::Result<Value> value_of(const Setting& setting, const toml::node& node) {
  const auto wrong = [&](std::string_view what) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      fmt::format("{} is {}, not {}", setting.full_name(), allowed(setting), what));
  };
  if (const auto flag = node.value_exact<bool>()) {
    if (setting.kind != Kind::Bool) return wrong(*flag ? "true" : "false");
    return Value(*flag);
  }
  if (const auto number = node.value_exact<int64_t>()) return value_from_number(setting, *number);
  if (const auto text = node.value_exact<std::string>()) return value_from_text(setting, *text);
  if (const toml::array* array = node.as_array()) {
    if (setting.kind != Kind::List) return wrong("a list");
    std::vector<std::string> words;
    for (const toml::node& item : *array) {
      const auto word = item.value_exact<std::string>();
      if (!word) return wrong("a list that contains something else");
      words.push_back(*word);
    }
    return checked(setting, std::move(words));
  }
  if (node.is_table()) return wrong("a section");
  return wrong(node.is_floating_point() ? "a number with a fraction" : "a date or time of day");
}

class FileReader {
 public:
  FileReader(Loaded& loaded, const std::string& shown_name, FileLevel level)
      : loaded_(loaded), name_(shown_name), level_(level) {}

  void read(std::string_view text) {
    read_unsorted(text);
    // The library sorts by name; errors are reported in the order of the file.
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    for (Found& found : found_) loaded_.problems.push_back(std::move(found.problem));
  }

 private:
  struct Found {
    toml::source_position place;
    Problem problem;
  };

  void read_unsorted(std::string_view text) {
    const toml::parse_result parsed = toml::parse(text, name_);
    if (!parsed) {
      report(parsed.error().source(), std::string(parsed.error().description()));
      return;
    }
    for (const auto& [key, node] : parsed.table()) {
      if (key.str() == "rule" && level_ == FileLevel::Project) continue;  // policy reads these
      const toml::table* section = node.as_table();
      if (section != nullptr && key.str() == "agents") {
        read_agents(key, *section);
        continue;
      }
      if (section == nullptr || !is_section(key.str())) {
        const bool setting_alone = section == nullptr && is_section(key.str());
        report(key.source(),
               setting_alone ? fmt::format("'{}' is a section: write [{}]", key.str(), key.str())
                             : fmt::format("there is no section '{}'{}", key.str(), suggestion(key.str())));
        continue;
      }
      for (const auto& [name, value] : *section) read_setting(std::string(key.str()), name, value);
    }
  }

  void read_agents(const toml::key& key, const toml::table& agents) {
    if (level_ == FileLevel::Project) {
      report(key.source(), "agents cannot be set by a project. They belong in your own config.toml");
      return;
    }
    for (const auto& [name, node] : agents) {
      const toml::table* const table = node.as_table();
      if (table == nullptr) {
        report(name.source(), fmt::format("an agent is a section: write [agents.{}]", name.str()));
        continue;
      }
      if (auto agent = read_agent(std::string(name.str()), *table); !agent.command.empty())
        loaded_.settings.agents[std::string(name.str())] = std::move(agent);
    }
  }

  AgentSettings read_agent(const std::string& name, const toml::table& table) {
    AgentSettings made;
    for (const auto& [key, node] : table) {
      const std::string full = "agents." + name + "." + std::string(key.str());
      const auto text = node.value_exact<std::string>();
      if (key.str() == "command") {
        if (const toml::array* words = node.as_array()) {
          for (const toml::node& word : *words) {
            if (const auto each = word.value_exact<std::string>()) made.command.push_back(*each);
          }
          if (made.command.size() != words->size()) made.command.clear();
        }
        if (made.command.empty())
          report(node.source(), full + " is a list of texts: the program and its arguments");
      } else if (!text) {
        report(node.source(), full + " is a text");
      } else if (key.str() == "mode") {
        if (*text != "stdio") report(node.source(), full + " is \"stdio\"; there is no other mode");
      } else if (key.str() == "participant") {
        made.participant = *text;
      } else if (key.str() == "display_name") {
        made.display_name = *text;
      } else if (key.str() == "profile") {
        made.profile = *text;
      } else {
        report(key.source(), fmt::format("there is no setting {}; an agent has command, mode, participant, "
                                         "display_name and profile",
                                         full));
      }
    }
    if (!table.contains("command"))
      report(table.source(),
             fmt::format("agents.{}.command is missing: the program and its arguments", name));
    return made;
  }

  void report(const toml::source_region& where, std::string text, Severity severity = Severity::Error) {
    found_.push_back(
        {where.begin,
         {severity, fmt::format("{}:{}:{}", name_, where.begin.line, where.begin.column), std::move(text)}});
  }

  void read_setting(const std::string& section, const toml::key& name, const toml::node& node) {
    const Setting* setting = find_setting(section, name.str());
    if (setting == nullptr) {
      const std::string full = section + "." + std::string(name.str());
      report(name.source(), fmt::format("there is no setting {}{}", full, suggestion(full)));
      return;
    }
    if (level_ == FileLevel::Project && setting->tighten == Tighten::Never) {
      report(name.source(),
             fmt::format("{} cannot be set by a project: its file may only make policy and limits "
                         "stricter. It belongs in your own config.toml",
                         setting->full_name()));
      return;
    }
    auto value = value_of(*setting, node);
    if (!value) {
      report(node.source(), value.error().message);
      return;
    }
    if (level_ == FileLevel::Project) {
      const Value now = setting->get(loaded_.settings);
      const auto stricter = tightened(*setting, now, *value);
      if (!stricter) {
        report(node.source(),
               fmt::format("{} is {} already, and a project may only make it stricter; {} is not used",
                           setting->full_name(), to_toml(*setting, now), to_toml(*setting, *value)),
               Severity::Note);
        return;
      }
      if (*stricter == now) return;
      *value = *stricter;
    }
    setting->set(loaded_.settings, *value);
    loaded_.origins[static_cast<size_t>(setting - setting_table().data())] = {
        level_ == FileLevel::Project ? Source::Project : Source::File,
        fmt::format("{}:{}", name_, name.source().begin.line)};
  }

  Loaded& loaded_;
  std::vector<Found> found_;
  const std::string& name_;
  const FileLevel level_;
};

// The environment has only text: true, 30, 90s, a,b.
base::Result<Value> value_from_environment(const Setting& setting, std::string_view text) {
  if (setting.kind == Kind::Bool) {
    if (text == "true" || text == "1") return Value(true);
    if (text == "false" || text == "0") return Value(false);
    return base::fail(base::ErrorCode::InvalidArgument,
                      fmt::format("{} is true or false, not '{}'", setting.full_name(), text));
  }
  if (setting.kind == Kind::List) {
    std::vector<std::string> words;
    while (!text.empty()) {
      const size_t comma = std::min(text.find(','), text.size());
      if (comma > 0) words.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return checked(setting, std::move(words));
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && setting.kind != Kind::Text && setting.kind != Kind::Choice)
    return value_from_number(setting, number);
  return value_from_text(setting, text);
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

void apply_toml(Loaded& loaded, std::string_view text, const std::string& shown_name, FileLevel level) {
  FileReader(loaded, shown_name, level).read(text);
}

void apply_environment(Loaded& loaded, const std::vector<std::string>& environment) {
  constexpr std::string_view kPrefix = "TTYWARD_";
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (!entry.starts_with(kPrefix) || equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    const std::string plain = lowered(std::string_view(name).substr(kPrefix.size()));
    const size_t underscore = plain.find('_');
    if (underscore == std::string::npos || !is_section(plain.substr(0, underscore))) continue;
    const std::string section = plain.substr(0, underscore);
    const Setting* setting = find_setting(section, plain.substr(underscore + 1));
    if (setting == nullptr) {
      const std::string full = section + "." + plain.substr(underscore + 1);
      loaded.problems.push_back(
          {Severity::Error, name, fmt::format("there is no setting {}{}", full, suggestion(full))});
      continue;
    }
    const auto value = value_from_environment(*setting, std::string_view(entry).substr(equals + 1));
    if (!value) {
      loaded.problems.push_back({Severity::Error, name, value.error().message});
      continue;
    }
    setting->set(loaded.settings, *value);
    loaded.origins[static_cast<size_t>(setting - setting_table().data())] = {Source::Environment, name};
  }
}

}  // namespace ttyward::config
