#include "acp/profile.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>

#include "acp/profiles_embedded.inc"
#include "base/check.h"

namespace ttyward::acp {
namespace {

std::vector<std::string> texts(const toml::table& table, std::string_view key) {
  std::vector<std::string> out;
  if (const toml::array* list = table[key].as_array()) {
    for (const toml::node& each : *list) {
      if (const auto text = each.value<std::string>()) out.push_back(*text);
    }
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> pairs(const toml::table& table, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> out;
  if (const toml::table* inner = table[key].as_table()) {
    for (const auto& [name, node] : *inner) {
      if (const auto text = node.value<std::string>()) out.emplace_back(std::string(name.str()), *text);
    }
  }
  return out;
}

// As in ".toml".
bool is_ending(std::string_view text) {
  return text.size() > 1 && text.front() == '.' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", 1) == std::string_view::npos;
}

base::Result<std::vector<Profile::ArgumentFile>> argument_files(const toml::table& table,
                                                                const std::string& id) {
  const auto wrong = [&id](const std::string& what) {
    return base::fail(base::ErrorCode::InvalidArgument, "profile " + id + ": " + what);
  };
  std::vector<Profile::ArgumentFile> out;
  const toml::node_view<const toml::node> given = table["argument_files"];
  if (!given) return out;
  if (!given.is_array_of_tables())
    return wrong("argument_files is written as [[argument_files]], with option, ending and text");
  for (const toml::node& each : *given.as_array()) {
    const toml::table& inner = *each.as_table();
    Profile::ArgumentFile file{inner["option"].value_or(std::string()),
                               inner["ending"].value_or(std::string(".json")),
                               inner["text"].value_or(std::string())};
    if (!file.option.starts_with('-'))
      return wrong("option of [[argument_files]] is \"" + file.option + "\"; it begins with -");
    if (!is_ending(file.ending))
      return wrong("ending of [[argument_files]] is \"" + file.ending +
                   "\"; it is a dot and small letters, such as .toml");
    if (file.text.empty()) return wrong("[[argument_files]] needs text, which the file will have");
    out.push_back(std::move(file));
  }
  return out;
}

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Whether a part of the path is `name`, with or without an ending such as ".js".
bool names_path(std::string_view path, std::string_view name) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == name || (part.starts_with(name) && part.substr(name.size()).starts_with('.'))) return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
  return false;
}

void put_name(std::string& text, const std::string& name) {
  static constexpr std::string_view kPlace = "{server}";
  for (size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at + name.size()))
    text.replace(at, kPlace.size(), name);
}

}  // namespace

Profile with_server(Profile profile, const std::string& name) {
  for (auto* list : {&profile.our_tools, &profile.our_calls}) {
    for (std::string& text : *list) put_name(text, name);
  }
  for (auto* list : {&profile.environment, &profile.files, &profile.defaults}) {
    for (auto& [variable, value] : *list) put_name(value, name);
  }
  for (Profile::ArgumentFile& file : profile.argument_files) put_name(file.text, name);
  put_name(profile.session_meta, name);
  return profile;
}

bool prepares_start(const Profile& profile) {
  return !profile.environment.empty() || !profile.files.empty() || !profile.argument_files.empty();
}

const char* shell_word(Profile::Shell shell) {
  return shell == Profile::Shell::Terminals ? "terminals"
         : shell == Profile::Shell::Mcp     ? "mcp"
                                            : "not_governed";
}

bool names_our_tool(const Profile& profile, std::string_view text) {
  return std::any_of(profile.our_tools.begin(), profile.our_tools.end(), [text](std::string_view pattern) {
    const size_t star = pattern.find('*');
    if (star == std::string_view::npos) return text == pattern;
    const std::string_view before = pattern.substr(0, star);
    const std::string_view after = pattern.substr(star + 1);
    if (text.size() <= before.size() + after.size() || !text.starts_with(before) || !text.ends_with(after))
      return false;
    const std::string_view name = text.substr(before.size(), text.size() - before.size() - after.size());
    return name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
  });
}

base::Result<Profile> parse_profile(std::string_view text, std::string id) {
  const toml::parse_result parsed = toml::parse(text, id);
  if (!parsed) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "profile " + id + ": " + std::string(parsed.error().description()));
  }
  const toml::table& table = parsed.table();
  Profile made;
  made.id = std::move(id);
  made.names = texts(table, "names");
  made.commands = texts(table, "commands");
  made.note = table["note"].value_or(std::string());
  made.environment = pairs(table, "environment");
  made.files = pairs(table, "files");
  auto arguments = argument_files(table, made.id);
  if (!arguments) return tl::unexpected(arguments.error());
  made.argument_files = std::move(*arguments);
  made.ignored_where = texts(table, "ignored_where");
  made.defaults = pairs(table, "defaults");
  made.session_meta = table["session_meta"].value_or(std::string());
  made.our_tools = texts(table, "our_tools");
  made.our_calls = texts(table, "our_calls");
  made.allow_options = texts(table, "allow_options");
  const std::string shell = table["shell"].value_or(std::string("not_governed"));
  if (shell != "terminals" && shell != "mcp" && shell != "not_governed") {
    return base::fail(base::ErrorCode::InvalidArgument, "profile " + made.id + ": shell is \"" + shell +
                                                            "\"; it is terminals, mcp or not_governed");
  }
  made.shell = shell == "terminals" ? Profile::Shell::Terminals
               : shell == "mcp"     ? Profile::Shell::Mcp
                                    : Profile::Shell::NotGoverned;
  return made;
}

const std::vector<Profile>& built_in_profiles() {
  static const std::vector<Profile> kAll = [] {
    std::vector<Profile> all;
    const auto add = [&all](const char* id, std::string_view text) {
      auto profile = parse_profile(text, id);
      TTYWARD_CHECK(profile.has_value());
      all.push_back(std::move(*profile));
    };
    add("claude", kClaude_toml);
    add("codex", kCodex_toml);
    add("gemini", kGemini_toml);
    add("kimi", kKimi_toml);
    add("opencode", kOpencode_toml);
    add("qwen", kQwen_toml);
    return all;
  }();
  return kAll;
}

const Profile* profile_for_command(const std::vector<Profile>& all, const std::vector<std::string>& argv) {
  for (const Profile& profile : all) {
    for (const std::string& word : argv) {
      if (std::any_of(profile.commands.begin(), profile.commands.end(),
                      [&](const std::string& name) { return names_path(word, name); }))
        return &profile;
    }
  }
  return nullptr;
}

const Profile* profile_named(const std::vector<Profile>& all, std::string_view agent_name) {
  for (const Profile& profile : all) {
    if (has(profile.names, agent_name)) return &profile;
  }
  return nullptr;
}

const Profile* profile_with_id(const std::vector<Profile>& all, std::string_view id) {
  for (const Profile& profile : all) {
    if (profile.id == id) return &profile;
  }
  return nullptr;
}

}  // namespace ttyward::acp
