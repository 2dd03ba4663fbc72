#include "policy/folder_code.h"

namespace ttyward::policy {
namespace {

constexpr size_t kMaxFolders = 64;
constexpr size_t kMaxText = 1024UL * 1024;

bool is_above(std::string_view folder, std::string_view path) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

bool obeyed(const FileView& files, const std::string& folder, std::string_view entry) {
  const size_t colon = entry.find(':');
  const std::string path = (folder == "/" ? "/" : folder + "/") + std::string(entry.substr(0, colon));
  if (colon == std::string_view::npos) return files.exists(path);
  const FileText found = files.read(path, kMaxText);
  if (found.state == FileText::State::Missing) return false;
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
        return call.ask(Risk::High, EffectKind::Execute,
                        "runs or obeys what a file in this folder says, even for this",
                        folder + "/" + std::string(entry.substr(0, entry.find(':'))));
      }
      if (folder == "/") break;
      const size_t slash = folder.rfind('/');
      folder.resize(slash == 0 ? 1 : slash);
    }
  }
}

}  // namespace ttyward::policy
