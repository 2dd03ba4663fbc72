#include "fleet/claims.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file_io.h"
#include "base/ids.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "base/unique_fd.h"

namespace ttyward::fleet {
namespace {

std::string content(const std::string& path) {
  const std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

base::Result<Claims> Claims::open(const std::string& folder) {
  if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  return Claims(folder);
}

base::Result<void> Claims::keep(const Claim& claim) const {
  const std::string text = text_of(claim);
  const std::string fresh = path(claim.job.id) + ".new";
  {
    const base::UniqueFd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) return base::fail_errno(errno, "cannot write " + fresh);
    if (auto written = base::write_at(file.get(), text.data(), text.size(), 0, fresh); !written)
      return written;
  }
  if (::rename(fresh.c_str(), path(claim.job.id).c_str()) != 0)
    return base::fail_errno(errno, "cannot write " + path(claim.job.id));
  return {};
}

void Claims::remove(const std::string& id) const {
  ::unlink(path(id).c_str());
}

bool Claims::has(const std::string& id) const {
  return ::access(path(id).c_str(), F_OK) == 0;
}

std::vector<Claim> Claims::all() const {
  std::vector<Claim> found;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(folder_, ignored)) {
    if (!base::is_id(file.path().filename().string(), 'c')) continue;
    if (auto claim = read_as<Claim>(content(file.path()))) found.push_back(std::move(*claim));
  }
  std::sort(found.begin(), found.end(), [](const Claim& a, const Claim& b) { return a.job.id < b.job.id; });
  return found;
}

base::Result<std::string> installation_id(const std::string& file) {
  const std::string made = base::random_nonce();
  if (base::write_secret_file(file, made)) return made;
  return base::read_secret_file(file);
}

std::string boot_id() {
  std::string id = content("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

}  // namespace ttyward::fleet
