#include "policy/paths.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "policy/name_expansion.h"
#include "policy/path_lists.h"
#include "policy/words.h"

namespace ttyward::policy {
namespace {

bool is_mark(char c) {
  return c >= kAny && c <= kListed;
}

bool has_mark(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_mark);
}

bool under(std::string_view path, std::string_view folder) {
  if (folder.empty()) return false;
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty()) parts.push_back(part);
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

// Row by row over the pattern, so that many stars cost no more than a few.
bool can_match(std::string_view pattern, std::string_view name) {
  std::vector<char> reached(name.size() + 1, 0);  // reached[i]: the pattern so far can stand for name[0, i)
  reached[0] = 1;
  for (size_t p = 0; p < pattern.size(); ++p) {
    const char c = pattern[p];
    const bool any = c == kStar || c == kAny || c == kAnyFields || c == kListed || c == kDigits;
    const bool hidden = p == 0 && (c == kStar || c == kOne) && name.starts_with(".");
    if (any) {
      if (hidden) return false;
      for (size_t i = 1; i <= name.size(); ++i) reached[i] = reached[i] != 0 || reached[i - 1] != 0 ? 1 : 0;
      continue;
    }
    if (hidden) return false;
    for (size_t i = name.size(); i > 0; --i)
      reached[i] = reached[i - 1] != 0 && (c == kOne || c == name[i - 1]) ? 1 : 0;
    reached[0] = 0;
  }
  return reached[name.size()] != 0;
}

bool only_marks(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_mark);
}

// A list of names, ready to be asked about every component of a path.
class NameList {
 public:
  explicit NameList(std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      const size_t slash = name.find('/');
      if (name.front() == '*') {
        suffixes_.push_back(name.substr(1));
      } else if (name.back() == '*') {
        prefixes_.push_back(name.substr(0, name.size() - 1));
      } else if (slash != std::string_view::npos) {
        pairs_[name.substr(0, slash)].push_back(name.substr(slash + 1));
      } else {
        exact_.insert(name);
      }
    }
  }

  // A component that is nothing but wildcards is not taken to mean a listed name; one that spells part of it
  // is.
  bool has(std::string_view component) const {
    if (exact_.count(component) > 0) return true;
    if (has_mark(component) && !only_marks(component)) {
      for (const std::string_view name : exact_) {
        if (can_match(component, name)) return true;
      }
    }
    for (const std::string_view suffix : suffixes_) {
      if (component.size() > suffix.size() && component.ends_with(suffix)) return true;
    }
    for (const std::string_view prefix : prefixes_) {
      if (component.starts_with(prefix)) return true;
    }
    return false;
  }

  // Whether any component is listed, or any two that follow each other are.
  bool anywhere(const std::vector<std::string_view>& parts) const {
    for (size_t i = 0; i < parts.size(); ++i) {
      if (has(parts[i])) return true;
      if (i + 1 == parts.size()) break;
      const auto matches = [&](std::string_view name) {
        return parts[i + 1] == name ||
               (has_mark(parts[i + 1]) && !only_marks(parts[i + 1]) && can_match(parts[i + 1], name));
      };
      if (const auto found = pairs_.find(parts[i]); found != pairs_.end()) {
        if (std::any_of(found->second.begin(), found->second.end(), matches)) return true;
      }
      if (!has_mark(parts[i]) || only_marks(parts[i])) continue;
      for (const auto& [first, seconds] : pairs_) {
        if (can_match(parts[i], first) && std::any_of(seconds.begin(), seconds.end(), matches)) return true;
      }
    }
    return false;
  }

 private:
  std::unordered_set<std::string_view> exact_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> pairs_;
  std::vector<std::string_view> prefixes_;
  std::vector<std::string_view> suffixes_;
};

const NameList& secret_names() {
  static const NameList kList(kSecretNames);
  return kList;
}
const NameList& secret_places() {
  static const NameList kList(kSecretPlaces);
  return kList;
}
const NameList& agent_control() {
  static const NameList kList(kAgentControl);
  return kList;
}
const NameList& control_files() {
  static const NameList kList(kControlFiles);
  return kList;
}

bool is_template(std::string_view name) {
  for (const std::string_view suffix : {"example", "sample", "template", ".dist", ".pub"}) {
    if (name.ends_with(suffix)) return true;
  }
  return false;
}

Zone zone_of(std::string_view path, const Place& place, bool written_absolute) {
  const bool broad = place.workspace == "/" || place.workspace == place.home || place.workspace == "/tmp";
  if (!place.workspace.empty() && under(path, place.workspace) && !(broad && written_absolute))
    return Zone::Workspace;
  if (under(path, "/tmp") || under(path, "/var/tmp") || under(path, "/dev/shm")) return Zone::Temporary;
  if (under(path, "/dev")) return Zone::Device;
  if (under(path, "/proc") || under(path, "/sys")) return Zone::Kernel;
  if (under(path, place.home)) return Zone::Home;
  if ((under(path, "/home") && path.size() > 6) || under(path, "/root")) return Zone::OtherHome;
  return Zone::System;
}

// A tree is vital if it is one of the machine's own, somebody's home, or above either.
bool is_vital(std::string_view path, const Place& place) {
  // /usr/* and ~/.[!.]* are as vital as /usr and ~.
  std::vector<std::string_view> parts = components(path);
  while (!parts.empty() && has_mark(parts.back()) && (only_marks(parts.back()) || parts.back()[0] == '.')) {
    parts.pop_back();
  }
  if (parts.empty()) return true;
  std::string joined;
  for (const std::string_view part : parts) joined.append("/").append(part);
  if (under(place.home, joined)) return true;
  if (parts.size() == 1) {
    return std::any_of(kVitalRoots.begin(), kVitalRoots.end(),
                       [&](std::string_view name) { return can_match(parts[0], name); });
  }
  if (parts.size() == 2 &&
      (parts[0] == "home" || parts[0] == "usr" || parts[0] == "var" || parts[0] == "lib")) {
    return !under(place.workspace, joined) || parts[0] == "home";
  }
  return false;
}

void look_at_device(PathFacts& facts, std::string_view path) {
  const std::string_view name = path.substr(5);
  for (const std::string_view harmless : kHarmlessDevices) facts.harmless_device |= name == harmless;
  facts.harmless_device |= name.starts_with("fd/");
  facts.network = name.starts_with("tcp/") || name.starts_with("udp/");
  facts.terminal = name == "tty" || name.starts_with("tty") || name.starts_with("pts/") ||
                   name.starts_with("vcs") || name == "console" || name == "ptmx" || name == "uinput" ||
                   name.starts_with("input/");
  if (facts.terminal) return;
  for (const std::string_view prefix : kDiskPrefixes) {
    facts.disk |=
        name.starts_with(prefix) || (has_mark(name) && can_match(name.substr(0, prefix.size()), prefix));
  }
}

void look_at_kernel(PathFacts& facts, const std::vector<std::string_view>& parts) {
  const std::string_view last = parts.back();
  if (parts[0] == "sys" && parts.size() > 1) {
    facts.disk = parts[1] == "block" || parts[1] == "firmware" || parts[1] == "power" || last == "remove" ||
                 last == "delete" || last == "unbind";
    return;
  }
  if (last == "sysrq-trigger" || last == "kcore" || last == "kmem") facts.disk = true;
  if (parts.size() < 3 || parts[1] == "sys") return;
  const bool thread = parts.size() > 4 && parts[2] == "task";
  const std::string_view what = thread ? parts[4] : parts[2];
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return can_match(what, name); });
  };
  if (is({"environ", "auxv"})) facts.secret = true;
  if (is({"mem", "fd", "root", "cwd", "map_files", "ns", "fdinfo"})) {
    facts.sandbox = !((parts[1] == "self" || parts[1] == "thread-self") && what == "fd");
    facts.secret = facts.sandbox;
  }
}

void look_at_names(PathFacts& facts, std::string_view path, const Place& place) {
  const std::vector<std::string_view> parts = components(path);
  if (parts.empty()) return;
  const std::string_view last = parts.back();
  facts.secret |= (secret_names().has(last) && !is_template(last)) || secret_places().anywhere(parts);
  facts.agent |= agent_control().anywhere(parts);
  facts.control |= facts.agent || control_files().anywhere(parts);
  if (under(path, place.home) && facts.zone != Zone::Workspace && path.size() > place.home.size()) {
    const std::string_view inside = path.substr(place.home.size() + 1);
    facts.control |= inside.starts_with(".") && !inside.starts_with(".cache/");
  }
  if (parts[0] == "proc" || parts[0] == "sys") look_at_kernel(facts, parts);
}

void look_at_absolute(PathFacts& facts, const std::string& path, const Place& place) {
  const Zone zone = zone_of(path, place, facts.absolute);
  facts.zone = facts.zone == Zone::Unknown || zone != Zone::Workspace ? zone : facts.zone;
  if (path.starts_with("/dev/")) look_at_device(facts, path);
  look_at_names(facts, path, place);
  if (std::any_of(place.own.begin(), place.own.end(),
                  [&](const std::string& folder) { return under(path, folder); }))
    facts.secret = facts.control = facts.agent = true;
  facts.vital |= is_vital(path, place);
}

// Every name that a glob matches now is looked at, behind links too.
void look_at_matches(PathFacts& facts, const std::string& pattern, const Place& place) {
  const NameExpansion found = expand_glob(pattern, *place.files);
  facts.too_many = found.too_many;
  // What the pattern could match matters only where nobody can tell what it does match.
  if (found.looked && !found.too_many) facts.secret = facts.agent = facts.control = false;
  for (const ExpandedName& name : found.names) {
    PathFacts one;
    one.absolute = facts.absolute;
    one.path = name.by_link ? normalize(place.files->canonical(name.path)) : name.path;
    look_at_absolute(one, name.path, place);
    if (name.by_link) look_at_absolute(one, one.path, place);
    const bool worse =
        (one.secret && !facts.secret) || (one.zone != facts.zone && one.zone != Zone::Workspace);
    facts.secret |= one.secret;
    facts.agent |= one.agent;
    facts.control |= one.control;
    facts.disk |= one.disk;
    facts.terminal |= one.terminal;
    facts.network |= one.network;
    facts.sandbox |= one.sandbox;
    if (!worse) continue;
    if (one.zone != Zone::Workspace) facts.zone = one.zone;
    facts.path = one.path;
  }
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) {
  return can_match(pattern, name);
}

bool names_secret(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (secret_names().has(last)) return !is_template(last);
  return secret_places().anywhere(components(path));
}

std::string normalize(std::string_view absolute) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : components(absolute)) {
    if (part == ".") continue;
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else {
      kept.push_back(part);
    }
  }
  std::string path;
  for (const std::string_view part : kept) path.append("/").append(part);
  return path.empty() ? "/" : path;
}

PathFacts look_at(std::string_view text, std::string_view cwd, const Place& place) {
  PathFacts facts;
  facts.path = std::string(text);
  facts.absolute = text.starts_with("/");
  facts.known = !has_mark(text);
  std::string joined(text);
  if (!facts.absolute) {
    const char first = text.empty() ? '.' : text[0];
    const bool unknown_start = first == kAny || first == kAnyFields;
    if (unknown_start) {
      facts.may_be_root = text.size() > 1 && (text[1] == '/' || text[1] == kAnyFields || text[1] == kAny);
      look_at_names(facts, text, place);
      return facts;
    }
    if (cwd.empty()) {
      look_at_names(facts, text, place);
      return facts;
    }
    joined = std::string(cwd) + "/" + joined;
  }
  facts.path = normalize(joined);
  look_at_absolute(facts, facts.path, place);
  if (place.files != nullptr && !has_mark(joined) && facts.zone != Zone::Device &&
      facts.zone != Zone::Kernel) {
    const std::string real = place.files->canonical(joined);
    if (real != facts.path) {
      const std::string real_path = normalize(real);
      look_at_absolute(facts, real_path, place);
      facts.path = real_path;
    }
  }
  const bool only_globs = text.find_first_of("\x01\x02\x03\x06") == std::string_view::npos;
  if (place.files != nullptr && has_mark(joined) && only_globs && facts.zone != Zone::Device &&
      facts.zone != Zone::Kernel) {
    look_at_matches(facts, facts.path, place);
  }
  // An unknown part may climb out of wherever it seems to be.
  if (text.find(kAny) != std::string_view::npos || text.find(kAnyFields) != std::string_view::npos) {
    facts.zone = facts.zone == Zone::Workspace ? Zone::Unknown : facts.zone;
  }
  return facts;
}

bool holds_secrets(const PathFacts& facts, const Place& place) {
  if (facts.secret) return true;
  if (facts.zone == Zone::Workspace && facts.path != "/" && facts.path != place.home) return false;
  if (facts.zone == Zone::OtherHome || facts.zone == Zone::Kernel) return true;
  const std::string_view path = facts.path;
  return path == "/" || under(place.home, path) || under(path, "/etc") || under(path, "/root") ||
         path == "/home" || path == "/var" || under(path, "/run") || path == "/var/lib" || path == "/home/" ||
         under(path, "/var/log");
}

}  // namespace ttyward::policy
