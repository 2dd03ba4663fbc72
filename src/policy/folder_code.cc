#include "policy/folder_code.h"

#include <algorithm>

namespace ttyward::policy {
namespace {

constexpr size_t kMaxFolders = 64;
constexpr size_t kMaxText = 1024UL * 1024;

bool is_above(std::string_view folder, std::string_view path) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

// 1.21.3 as one number; 0: there is none.
size_t version_in(std::string_view text) {
  size_t parts[3] = {0, 0, 0};
  size_t part = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      parts[part] = parts[part] * 10 + static_cast<size_t>(c - '0');
    } else if (c == '.' && part < 2) {
      ++part;
    } else {
      break;
    }
  }
  return (std::min<size_t>(parts[0], 1000) * 1000 + std::min<size_t>(parts[1], 999)) * 1000 +
         std::min<size_t>(parts[2], 999);
}

// `go 1.25` in go.mod: an older go fetches that version and runs it. Nobody knows what is installed: then it
// does.
bool wants_newer_go(const std::string& text, const FileView& files) {
  size_t wanted = 0;
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    if (text.compare(at, 3, "go ") == 0) wanted = version_in(std::string_view(text).substr(at + 3));
  }
  // The first version that fetches others is 1.21; older demands are met by any.
  if (wanted < 1'021'000) return false;
  for (const char* const place : {"/usr/local/go/VERSION", "/usr/lib/go/VERSION", "/usr/share/go/VERSION"}) {
    const FileText found = files.read(place, kMaxText);
    if (found.state == FileText::State::Missing || !found.text.starts_with("go")) continue;
    return version_in(std::string_view(found.text).substr(2)) < wanted;
  }
  return true;
}

bool obeyed(const FileView& files, const std::string& folder, std::string_view entry) {
  const size_t colon = entry.find(':');
  const std::string path = (folder == "/" ? "/" : folder + "/") + std::string(entry.substr(0, colon));
  if (colon == std::string_view::npos) return files.exists(path);
  const FileText found = files.read(path, kMaxText);
  if (found.state == FileText::State::Missing) return false;
  if (entry.ends_with(":newer go") && found.state != FileText::State::Unknown)
    return wants_newer_go(found.text, files);
  return found.state == FileText::State::Unknown ||
         found.text.find(entry.substr(colon + 1)) != std::string::npos;
}

}  // namespace

void check_obeyed_files(Invocation& call, const ProgramRow& row) {
  const Place& place = call.walk.place();
  if (row.obeys.empty() || place.files == nullptr) return;
  const std::vector<std::string>& cwds = call.walk.state().cwds;
  if (cwds.empty()) {
    return call.ask(Risk::Medium, EffectKind::Execute,
                    "obeys settings of a folder that is only known when it runs");
  }
  for (const std::string& cwd : cwds) {
    const std::string start = normalize(place.files->canonical(cwd));
    std::string folder = start;
    for (size_t i = 0; i < kMaxFolders; ++i) {
      // What is in the home directory itself is the user's own.
      if (is_above(folder, place.home) && folder != start) break;
      for (const std::string_view entry : row.obeys) {
        if (!obeyed(*place.files, folder, entry)) continue;
        return call.ask(Risk::High, EffectKind::Execute, "runs or obeys a file in this folder",
                        folder + "/" + std::string(entry.substr(0, entry.find(':'))));
      }
      if (folder == "/") break;
      const size_t slash = folder.rfind('/');
      folder.resize(slash == 0 ? 1 : slash);
    }
  }
}

}  // namespace ttyward::policy
