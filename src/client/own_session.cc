#include "client/own_session.h"

#include <unistd.h>

#include <utility>

#include "base/hex.h"
#include "base/ids.h"
#include "base/join_secret.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "base/sha256.h"

namespace ttyward::client {
namespace {

std::string secrets_folder(const base::Folders& folders) {
  return folders.state + "/session-secrets";
}

std::string secret_path(const base::Folders& folders, const std::string& name) {
  return secrets_folder(folders) + "/" + base::to_hex(base::sha256(name));
}

}  // namespace

OwnSession new_session(char kind) {
  return {base::random_id(kind), base::random_secret()};
}

base::Result<OwnSession> named_session(const base::Folders& folders, const std::string& name) {
  if (auto opened = base::open_private_folder(secrets_folder(folders), base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  const std::string path = secret_path(folders, name);
  std::string secret = base::random_secret();
  if (base::write_secret_file(path, secret)) return OwnSession{name, std::move(secret)};
  auto kept = base::read_secret_file(path);
  if (!kept) return tl::unexpected(kept.error());
  return OwnSession{name, std::move(*kept)};
}

base::Result<void> let_join(const base::Folders& folders, const OwnSession& session) {
  if (auto opened = base::open_private_folder(secrets_folder(folders), base::IfMissing::Create); !opened)
    return tl::unexpected(opened.error());
  return base::write_secret_file(secret_path(folders, session.name), base::join_secret(session.secret));
}

void forget_session(const base::Folders& folders, const std::string& name) {
  ::unlink(secret_path(folders, name).c_str());
}

}  // namespace ttyward::client
