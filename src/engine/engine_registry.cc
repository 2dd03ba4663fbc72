// What the engine knows beside its terminals, kept in a file for the engine after it. One that cannot be read
// or written costs what is in it and nothing else.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/unique_fd.h"
#include "engine/engine.h"
#include "engine/json_fields.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

std::string file_of(const Settings& settings) {
  return settings.folders.state + "/registry.json";
}

template <typename Use>
void for_each_object(const json::object& in, std::string_view name, Use use) {
  const json::value* list = field(in, name);
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& entry : list->get_array()) {
    if (const json::object* object = entry.if_object()) use(*object);
  }
}

}  // namespace

void Engine::load_registry() {
  std::ifstream file(file_of(settings_), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  boost::system::error_code wrong;
  const json::value read = json::parse(text, wrong);
  const json::object* all = wrong ? nullptr : read.if_object();
  if (all == nullptr) return;
  for_each_object(*all, "paths", [&](const json::object& path) {
    paths_.push_back({text_of(path, "contributor"), text_of(path, "path"), text_of(path, "description"),
                      truth_of(path, "prepend")});
  });
  for_each_object(*all, "sessions", [&](const json::object& one) {
    associations_.emplace(text_of(one, "terminal"),
                          Association{text_of(one, "session"), text_of(one, "quality")});
  });
}

void Engine::save_registry() const {
  json::array paths;
  for (const PathContribution& path : paths_) {
    paths.push_back(json::object{{"contributor", path.contributor},
                                 {"path", path.path},
                                 {"description", path.description},
                                 {"prepend", path.prepend}});
  }
  json::array sessions;
  for (const auto& [terminal, one] : associations_)
    sessions.push_back(
        json::object{{"terminal", terminal}, {"session", one.session}, {"quality", one.quality}});
  const std::string text =
      json::serialize(json::object{{"paths", std::move(paths)}, {"sessions", std::move(sessions)}});
  const std::string fresh = file_of(settings_) + ".new";
  const base::UniqueFd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return;
  static_cast<void>(::rename(fresh.c_str(), file_of(settings_).c_str()));
}

}  // namespace ttyward::engine
