#include "panel/sessions.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/hex.h"
#include "base/same_secret.h"
#include "base/secret_file.h"
#include "base/sha256.h"
#include "base/unix_time.h"

namespace ttyward::panel {
namespace {

std::string digest_of(std::string_view secret) {
  return base::to_hex(base::sha256(secret));
}

constexpr size_t kDigestSize = 64;

}  // namespace

const char* role_name(Role role) {
  return role == Role::Person ? "person" : "viewer";
}

Sessions::Sessions(Options options)
    : options_([&] {
        if (!options.now) options.now = base::unix_ms;
        return std::move(options);
      }()) {
  load();
}

std::string Sessions::make_link(Role role) {
  forget_old();
  if (links_.size() >= kMostLinks) links_.erase(links_.begin());
  std::string token = base::random_secret();
  links_.push_back({digest_of(token), std::min(role, options_.most), options_.now() + kLinkLife});
  return token;
}

tl::expected<Sessions::Made, Sessions::Problem> Sessions::redeem(std::string_view token) {
  const std::string digest = digest_of(token);
  const auto link = std::find_if(links_.begin(), links_.end(),
                                 [&](const Link& each) { return base::same_secret(each.digest, digest); });
  if (link == links_.end()) {
    const bool guessing = is_guessing();
    count_wrong();
    return tl::unexpected(guessing ? Problem::TooMany : Problem::Unknown);
  }
  if (link->used) return tl::unexpected(Problem::Used);
  if (link->until < options_.now()) return tl::unexpected(Problem::Expired);
  link->used = true;
  Made made{base::random_secret(), base::random_secret(), link->role};
  if (sessions_.size() >= kMostSessions) sessions_.erase(sessions_.begin());
  sessions_.push_back(
      {digest_of(made.cookie), digest_of(made.key), made.role, options_.now() + kSessionLife});
  save();
  return made;
}

const Sessions::Session* Sessions::find(std::string_view cookie) {
  forget_old();
  const std::string digest = digest_of(cookie);
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const Session& each) {
    return base::same_secret(each.cookie, digest);
  });
  return found != sessions_.end() ? &*found : nullptr;
}

bool Sessions::knows_cookie(std::string_view cookie) {
  if (find(cookie) != nullptr) return true;
  count_wrong();
  return false;
}

std::optional<Role> Sessions::admit(std::string_view cookie, std::string_view key) {
  const Session* const session = find(cookie);
  if (session != nullptr && base::same_secret(session->key, digest_of(key))) return session->role;
  count_wrong();
  return std::nullopt;
}

bool Sessions::is_guessing() {
  while (!wrong_.empty() && wrong_.front() + kWrongTime < options_.now()) wrong_.pop_front();
  return wrong_.size() >= kMostWrong;
}

void Sessions::count_wrong() {
  wrong_.push_back(options_.now());
  if (wrong_.size() > kMostWrong) wrong_.pop_front();
}

// A link that is over is remembered for as long again, so that its second user learns why it does not work.
void Sessions::forget_old() {
  const int64_t now = options_.now();
  std::erase_if(links_, [&](const Link& each) { return each.until + 60 * kLinkLife < now; });
  std::erase_if(sessions_, [&](const Session& each) { return each.until < now; });
}

void Sessions::load() {
  if (options_.file.empty()) return;
  std::ifstream file(options_.file);
  std::string line;
  while (std::getline(file, line) && sessions_.size() < kMostSessions) {
    std::istringstream words(line);
    Session read;
    std::string role;
    words >> read.cookie >> read.key >> role >> read.until;
    if (words.fail() || read.cookie.size() != kDigestSize || read.key.size() != kDigestSize) continue;
    read.role = std::min(role == "person" ? Role::Person : Role::Viewer, options_.most);
    sessions_.push_back(std::move(read));
  }
  forget_old();
}

// Where they are not kept, pages have to be opened with a new link after a restart: no more.
void Sessions::save() const {
  if (!options_.keep) return;
  std::string text;
  for (const Session& each : sessions_)
    text +=
        each.cookie + " " + each.key + " " + role_name(each.role) + " " + std::to_string(each.until) + "\n";
  options_.keep(text);
}

}  // namespace ttyward::panel
