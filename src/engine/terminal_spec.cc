#include "engine/terminal_spec.h"

#include <boost/json/array.hpp>

#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/masked.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

json::array strings(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

}  // namespace

shell::Quality quality_named(const std::string& name) {
  for (const auto quality : {shell::Quality::Basic, shell::Quality::Rich}) {
    if (name == shell::quality_name(quality)) return quality;
  }
  return shell::Quality::None;
}

json::object spec_record(const TerminalSpec& spec, const Birth& birth) {
  json::object record{{"k", "spec"},
                      {"version", 1},
                      {"id", spec.id},
                      {"name", spec.name},
                      {"owner", owner_name(spec.owner)},
                      {"session", spec.session},
                      {"task", spec.task},
                      {"cwd", spec.cwd},
                      {"argv", strings(masked(spec.argv))},
                      {"cols", spec.size.columns},
                      {"rows", spec.size.rows},
                      {"provider", pty::provider_name(spec.provider)},
                      {"login", spec.login},
                      {"integrate", spec.integrate},
                      {"pooled", spec.pooled},
                      {"request", spec.request},
                      {"created_at", birth.created_at_ms},
                      {"secret", birth.secret},
                      {"expected", shell::quality_name(birth.expected)},
                      {"remove", strings(birth.remove_when_ready)}};
  if (!spec.place.empty()) {
    record["place"] = spec.place;
    record["shell_folder"] = spec.shell_folder;
  }
  if (!spec.sandbox.profile.empty()) {
    record["sandbox"] = json::object{{"profile", spec.sandbox.profile},
                                     {"workspace", spec.sandbox.workspace},
                                     {"layers", strings(spec.sandbox.layers)},
                                     {"denied", strings(spec.sandbox.denied)},
                                     {"notes", strings(spec.sandbox.notes)}};
  }
  if (spec.temporary()) {
    record["command_id"] = spec.command_id;
    record["command"] = base::mask_secrets(spec.command);
    record["description"] = base::mask_secrets(spec.description);
    record["timeout_ms"] = spec.timeout.count();
    record["idle_timeout_ms"] = spec.idle_timeout.count();
    record["verdict"] = masked_json(spec.verdict_json);
    record["keep_background"] = spec.keep_background;
  }
  return record;
}

TerminalSpec spec_from(const json::object& record) {
  TerminalSpec spec;
  spec.id = text_of(record, "id");
  spec.name = text_of(record, "name");
  spec.request = text_of(record, "request");
  spec.owner = owner_named(text_of(record, "owner")).value_or(Owner::Agent);
  spec.session = text_of(record, "session");
  spec.task = text_of(record, "task");
  spec.place = text_of(record, "place");
  spec.shell_folder = text_of(record, "shell_folder");
  spec.cwd = text_of(record, "cwd");
  spec.argv = strings_of(record, "argv");
  spec.size.columns = static_cast<uint16_t>(number_or(record, "cols", 80));
  spec.size.rows = static_cast<uint16_t>(number_or(record, "rows", 24));
  spec.provider = text_of(record, "provider") == "pipe" ? pty::Provider::Pipe : pty::Provider::Pty;
  spec.login = truth_of(record, "login");
  spec.integrate = truth_of(record, "integrate", true);
  spec.pooled = truth_of(record, "pooled");
  spec.command_id = text_of(record, "command_id");
  spec.command = text_of(record, "command");
  spec.description = text_of(record, "description");
  spec.timeout = std::chrono::milliseconds(number_or(record, "timeout_ms", 0));
  spec.idle_timeout = std::chrono::milliseconds(number_or(record, "idle_timeout_ms", 0));
  spec.verdict_json = text_of(record, "verdict");
  spec.keep_background = truth_of(record, "keep_background", true);
  const json::value* const confined = record.if_contains("sandbox");
  if (const json::object* const sandbox = confined != nullptr ? confined->if_object() : nullptr) {
    spec.sandbox = {text_of(*sandbox, "profile"), text_of(*sandbox, "workspace"),
                    strings_of(*sandbox, "layers"), strings_of(*sandbox, "denied"),
                    strings_of(*sandbox, "notes")};
  }
  return spec;
}

Birth birth_from(const json::object& record) {
  return {number_or(record, "created_at", 0), text_of(record, "secret"),
          quality_named(text_of(record, "expected")), strings_of(record, "remove")};
}

}  // namespace ttyward::engine
