#include "app/setting_changes.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hex.h"
#include "base/sha256.h"
#include "config/edit.h"
#include "config/load.h"
#include "gate/confirmations.h"
#include "gate/rule_text.h"

namespace ttyward::app {
namespace {

using base::ErrorCode;
using base::fail;

bool is_shown(std::string_view section) {
  return section == "policy" || section == "sandbox";
}

const char* kind_name(config::Kind kind) {
  switch (kind) {
    case config::Kind::Bool:
      return "flag";
    case config::Kind::Number:
      return "number";
    case config::Kind::Bytes:
      return "bytes";
    case config::Kind::Duration:
      return "duration";
    case config::Kind::Choice:
      return "choice";
    case config::Kind::Text:
      return "text";
    case config::Kind::List:
      return "list";
  }
  return "";
}

std::string digest_of(const std::string& text) {
  return base::to_hex(base::sha256(text));
}

std::vector<std::string> words_of(const config::Setting& setting, const config::Value& value) {
  if (const auto* const list = std::get_if<std::vector<std::string>>(&value)) return *list;
  const auto* const number = std::get_if<int64_t>(&value);
  if (setting.kind != config::Kind::Choice || number == nullptr) return {};
  return {setting.choices[static_cast<size_t>(*number)]};
}

base::Result<const config::Setting*> find(const std::string& name) {
  const size_t dot = name.find('.');
  const std::string section = name.substr(0, dot);
  const config::Setting* const found = dot == std::string::npos || !is_shown(section)
                                           ? nullptr
                                           : config::find_setting(section, name.substr(dot + 1));
  if (found != nullptr) return found;
  return fail(ErrorCode::InvalidArgument,
              "there is no setting '" + name + "' that can be changed here; 'settings' lists them");
}

// Null: the default.
base::Result<std::optional<config::Value>> value_of(const config::Setting& setting,
                                                    const wire::SettingChange& change) {
  if (change.words) {
    auto made =
        setting.kind == config::Kind::List ? config::checked(setting, *change.words)
        : change.words->size() == 1
            ? config::value_from_text(setting, change.words->front())
            : base::Result<config::Value>(
                  fail(ErrorCode::InvalidArgument, setting.full_name() + " is " + config::allowed(setting)));
    if (!made) return tl::unexpected(made.error());
    return std::optional<config::Value>(std::move(*made));
  }
  if (!change.value) return std::optional<config::Value>();
  // Read as the file will be. Only this one setting is taken, whatever else the text has.
  config::Loaded read;
  config::apply_toml(read,
                     std::string("[") + setting.section + "]\n" + setting.name + " = " + *change.value + "\n",
                     setting.full_name(), config::FileLevel::Person);
  if (!read.problems.empty()) return fail(ErrorCode::InvalidArgument, read.problems.front().text);
  return std::optional<config::Value>(setting.get(read.settings));
}

}  // namespace

base::Result<wire::SettingList> SettingChanges::settings(const Caller&, const wire::SettingsRequest&) {
  reload_();
  const config::Loaded& loaded = core_.configuration.loaded();
  const auto text = gate::read_rule_file(loaded.file);
  if (!text) return tl::unexpected(text.error());
  wire::SettingList made;
  for (const config::Setting& setting : config::setting_table()) {
    if (!is_shown(setting.section)) continue;
    const config::Value value = setting.get(loaded.settings);
    const config::Origin& origin = loaded.origin(setting);
    wire::SettingRow row;
    row.name = setting.full_name();
    row.kind = kind_name(setting.kind);
    row.value = config::to_toml(setting, value);
    row.words = words_of(setting, value);
    row.usual = config::to_toml(setting, setting.get(config::Settings{}));
    row.choices.assign(setting.choices.begin(), setting.choices.end());
    row.source = config::source_name(origin.source);
    row.where = origin.where;
    row.about = setting.doc;
    made.settings.push_back(std::move(row));
  }
  made.file = loaded.file;
  made.digest = digest_of(*text);
  made.errors = core_.configuration.errors();
  return made;
}

base::Result<wire::ChangedSettings> SettingChanges::settings_change(
    const Caller& caller, const wire::SettingsChangeRequest& request) {
  reload_();
  const std::string file = core_.configuration.loaded().file;
  const auto before = gate::read_rule_file(file);
  if (!before) return tl::unexpected(before.error());
  if (request.digest != digest_of(*before)) {
    return fail(ErrorCode::InvalidArgument,
                "config.toml changed after it was shown, and nothing was saved; look at it again");
  }
  // What is written here counts as confirmed, and with it the whole file.
  if (!core_.configuration.confirmed().unconfirmed.empty() ||
      core_.configuration.confirmations().standing() == gate::Confirmations::Standing::Broken) {
    return fail(
        ErrorCode::InvalidArgument,
        "config.toml has changes that were made without ttyward and are not confirmed; confirm them or "
        "take them back first, with: ttyward rules confirm");
  }
  wire::ChangedSettings made;
  made.before = *before;
  made.after = *before;
  for (const wire::SettingChange& change : request.changes) {
    const auto setting = find(change.name);
    if (!setting) return tl::unexpected(setting.error());
    const auto value = value_of(**setting, change);
    if (!value) return tl::unexpected(value.error());
    auto with = config::with_setting(made.after, **setting, *value, file);
    if (!with) return tl::unexpected(with.error());
    made.after = std::move(*with);
  }
  made.digest = request.digest;
  if (request.preview || made.after == made.before) return made;
  // Confirmed first: a crash in between leaves a file that is stricter than what was confirmed.
  config::Loaded after;
  config::apply_toml(after, made.after, file, config::FileLevel::Person);
  gate::Confirmations& confirmations = core_.configuration.confirmations();
  // Of rules.toml counts what counted until now.
  const auto stored = confirmations.store(
      {confirmations.confirmed().rules, gate::policy_lines(after.settings)}, caller.client);
  if (!stored) return tl::unexpected(stored.error());
  if (auto written = gate::replace_rule_file(file, *before, made.after); !written)
    return tl::unexpected(written.error());
  core_.log.info("settings were changed by " + caller.client + ", pid " + std::to_string(caller.pid));
  made.digest = digest_of(made.after);
  made.saved = true;
  reload_();
  return made;
}

}  // namespace ttyward::app
