// Which variables stay outside.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/mask_secrets.h"
#include "sandbox/profile.h"

namespace ttyward::sandbox {
namespace {

// Sockets and files by which a program acts as the person, and names that do not say that they are secret.
constexpr auto kNames = std::to_array<std::string_view>({"SSH_AUTH_SOCK",
                                                         "SSH_AGENT_PID",
                                                         "SSH_ASKPASS",
                                                         "GPG_AGENT_INFO",
                                                         "KRB5CCNAME",
                                                         "DBUS_SESSION_BUS_ADDRESS",
                                                         "XAUTHORITY",
                                                         "DISPLAY",
                                                         "WAYLAND_DISPLAY",
                                                         "XDG_RUNTIME_DIR",
                                                         "DOCKER_HOST",
                                                         "KUBECONFIG",
                                                         "PGPASSFILE",
                                                         "PGPASSWORD",
                                                         "MYSQL_PWD",
                                                         "CLIENT_ID",
                                                         "DB_URI",
                                                         "CONNECTION_STRING",
                                                         "DATABASE_URL",
                                                         "SLACK_WEBHOOK_URL",
                                                         "SENTRY_DSN",
                                                         "TMPDIR",
                                                         "TMUX",
                                                         "STY",
                                                         "NODE_AUTH_TOKEN",
                                                         "AWS_PROFILE",
                                                         "GOOGLE_CLOUD_PROJECT",
                                                         "GOOGLE_CLOUD_ACCOUNT",
                                                         "FIREBASE_PROJECT_ID",
                                                         "TWILIO_ACCOUNT_SID",
                                                         "NETRC",
                                                         "BOTO_CONFIG",
                                                         "CLOUDSDK_CONFIG",
                                                         "DOCKER_CONFIG",
                                                         "GNUPGHOME",
                                                         "GOOGLE_APPLICATION_CREDENTIALS"});
constexpr auto kParts = std::to_array<std::string_view>({"TOKEN", "SECRET", "PASSWORD", "PASSWD",
                                                         "PASSPHRASE", "APIKEY", "API_KEY", "ACCESS_KEY",
                                                         "PRIVATE", "CREDENTIAL", "CREDS", "_PAT", "_AUTH"});

// Words between underscores that say it.
constexpr auto kWords =
    std::to_array<std::string_view>({"KEY", "KEYS", "AUTH", "CERT", "PASS", "PAT", "DSN", "PWD", "COOKIE"});
// Where certificates of authorities are: programs need them, and everybody may know them.
constexpr auto kHarmless =
    std::to_array<std::string_view>({"PWD", "OLDPWD", "SSL_CERT_FILE", "SSL_CERT_DIR"});

bool has_secret_word(std::string_view name) {
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    if (std::find(kWords.begin(), kWords.end(), name.substr(0, end)) != kWords.end()) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

bool is_secret(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  if (name.starts_with("AWS_") || name.starts_with("AZURE_") || name.starts_with("GIT_CONFIG_")) return true;
  for (const std::string_view part : kParts)
    if (name.find(part) != std::string_view::npos && name.find("AUTHOR") == std::string_view::npos)
      return true;
  const bool harmless = std::find(kHarmless.begin(), kHarmless.end(), name) != kHarmless.end();
  if (!harmless && has_secret_word(name)) return true;
  if (base::is_secret_name(name)) return true;
  // A token with a well-known look, a password in an address.
  return base::mask_secrets(variable) != variable;
}

}  // namespace

std::vector<std::string> without_secrets(std::vector<std::string> variables) {
  std::erase_if(variables, is_secret);
  return variables;
}

}  // namespace ttyward::sandbox
