#include "engine/registry.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/unique_fd.h"
#include "engine/json_fields.h"

namespace ttyward::engine {
namespace {

namespace json = boost::json;

template <typename Use>
void for_each_object(const json::object& in, std::string_view name, Use use) {
  const json::value* list = field(in, name);
  if (list == nullptr || !list->is_array()) return;
  for (const json::value& entry : list->get_array()) {
    if (const json::object* object = entry.if_object()) use(*object);
  }
}

}  // namespace

void Registry::load() {
  std::ifstream file(file_, std::ios::binary);
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

void Registry::save() const {
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
  const std::string fresh = file_ + ".new";
  const base::UniqueFd file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return;
  static_cast<void>(::rename(fresh.c_str(), file_.c_str()));
}

void Registry::contribute_path(PathContribution contribution) {
  remove_path(contribution.contributor);
  paths_.push_back(std::move(contribution));
  save();
}

bool Registry::remove_path(const std::string& contributor) {
  const bool removed = std::erase_if(paths_, [&](const PathContribution& path) {
                         return path.contributor == contributor;
                       }) > 0;
  if (removed) save();
  return removed;
}

void Registry::add_paths(std::vector<std::string>& environment) const {
  for (std::string& entry : environment) {
    if (!entry.starts_with("PATH=")) continue;
    for (const PathContribution& path : paths_) {
      entry = path.prepend ? "PATH=" + path.path + ":" + entry.substr(5) : entry + ":" + path.path;
    }
  }
}

base::Result<void> Registry::associate(const std::string& terminal_id, const std::string& session,
                                       const std::string& quality) {
  if (quality != "none" && quality != "basic" && quality != "rich") {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "quality is none, basic or rich, not '" + quality + "'");
  }
  const auto [begin, end] = associations_.equal_range(terminal_id);
  const auto known = std::find_if(begin, end, [&](const auto& one) { return one.second.session == session; });
  if (known != end) {
    known->second.quality = quality;
  } else {
    associations_.emplace(terminal_id, Association{session, quality});
  }
  save();
  return {};
}

std::vector<Registry::Association> Registry::sessions_of(const std::string& terminal_id) const {
  std::vector<Association> list;
  const auto [begin, end] = associations_.equal_range(terminal_id);
  for (auto at = begin; at != end; ++at) list.push_back(at->second);
  return list;
}

bool Registry::used_by(const std::string& terminal_id, const std::string& session) const {
  const auto [begin, end] = associations_.equal_range(terminal_id);
  return std::any_of(begin, end, [&](const auto& one) { return one.second.session == session; });
}

void Registry::forget_terminal(const std::string& terminal_id) {
  if (associations_.erase(terminal_id) > 0) save();
}

}  // namespace ttyward::engine
