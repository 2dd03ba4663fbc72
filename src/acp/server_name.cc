#include "acp/server_name.h"

#include <unistd.h>

#include <algorithm>

#include "base/ids.h"
#include "base/private_folder.h"
#include "base/secret_file.h"

namespace ttyward::acp {
namespace {

constexpr size_t kCharacters = 8;

}  // namespace

base::Result<std::string> server_name(const base::Folders& folders) {
  if (auto opened = base::open_private_folder(folders.state, base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  const std::string path = folders.state + "/acp-server-name";
  if (::access(path.c_str(), F_OK) != 0) {
    // Several proxies may begin at once. The first one's file stays, and nobody sees half of one.
    const std::string made = path + "." + base::random_id('f');
    if (auto written = base::write_secret_file(made, base::random_secret()); !written)
      return tl::unexpected(written.error());
    static_cast<void>(::link(made.c_str(), path.c_str()));
    ::unlink(made.c_str());
  }
  const auto kept = base::read_secret_file(path);
  if (!kept) return tl::unexpected(kept.error());
  const std::string part = kept->substr(0, kCharacters);
  const bool plain = std::all_of(part.begin(), part.end(), [](char each) {
    return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9');
  });
  if (plain) return "ttyward" + part;
  return base::fail(base::ErrorCode::InvalidArgument,
                    path + " must begin with letters a-z and digits: remove it, and a new one is made");
}

}  // namespace ttyward::acp
