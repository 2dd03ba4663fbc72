#include "gate/rule_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/path.h"
#include "base/unique_fd.h"

namespace ttyward::gate {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;
constexpr size_t kMaxFoldersUp = 64;     // a deeper folder is asked about no further up
constexpr size_t kMaxFoldersKnown = 64;  // beyond it everything is read anew: a bound, not a cache to tune
constexpr const char* kProjectFile = ".ttyward.toml";

// A project's file counts if it is the project's: another user's file in /tmp must not decide what we may do
// there.
bool is_projects_own(const struct stat& file, const std::string& folder) {
  if (file.st_uid == ::getuid() || file.st_uid == 0) return true;
  struct stat place{};
  return ::stat(folder.c_str(), &place) == 0 && place.st_uid == file.st_uid;
}

}  // namespace

RuleFiles::Stamp RuleFiles::stamp_of(const std::string& path) {
  Stamp stamp;
  stamp.path = path;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    stamp.there = errno != ENOENT && errno != ENOTDIR;  // there, but hidden from us
    return stamp;
  }
  stamp.there = true;
  stamp.device = info.st_dev;
  stamp.inode = info.st_ino;
  stamp.size = static_cast<uint64_t>(info.st_size);
  stamp.changed_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec;
  return stamp;
}

std::vector<std::string> RuleFiles::files_for(const std::string& folder) const {
  std::vector<std::string> files = {own_file_};
  std::string at = base::normalize_path(folder);
  for (size_t i = 0; i < kMaxFoldersUp && at.starts_with('/'); ++i) {
    files.push_back((at == "/" ? "" : at) + "/" + kProjectFile);
    if (at == "/") break;
    at = at.substr(0, at.rfind('/'));
    if (at.empty()) at = "/";
  }
  return files;
}

void RuleFiles::read(const std::string& path, policy::RuleLevel level, const std::string& root,
                     RulesAt& into) const {
  const auto wrong = [&](const std::string& what) { into.errors.push_back(path + ": " + what); };
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    if (errno != ENOENT && errno != ENOTDIR) wrong(std::string("cannot be read: ") + std::strerror(errno));
    return;
  }
  struct stat info{};
  const bool known = ::fstat(fd.get(), &info) == 0;
  // A sandbox keeps others from making the file (sandbox/placeholders.h).
  if (known && S_ISDIR(info.st_mode) && level == policy::RuleLevel::Project) return;
  if (!known || !S_ISREG(info.st_mode)) return wrong("is not a file");
  if (level == policy::RuleLevel::Project && !is_projects_own(info, root)) return;
  if (info.st_size > static_cast<off_t>(kMaxFileBytes))
    return wrong("is longer than 1 MiB, the limit for a rule file");
  std::string text(kMaxFileBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return wrong(std::string("cannot be read: ") + std::strerror(errno));
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size > kMaxFileBytes) return wrong("is longer than 1 MiB, the limit for a rule file");
  text.resize(size);
  auto rules = policy::parse_rules(text, level, path, root);
  if (!rules) {
    into.errors.push_back(rules.error().message);
    return;
  }
  for (policy::Rule& rule : *rules) {
    into.rules.push_back(std::move(rule));
    into.sources.push_back(path);
  }
}

namespace {

// What a rule does, without what it is called or why it is there.
std::string meaning_of(policy::Rule rule) {
  rule.name.clear();
  rule.reason.clear();
  rule.matches.clear();
  rule.not_matches.clear();
  return policy::to_toml(rule);
}

bool holds_rule(const std::vector<policy::Rule>& rules, const policy::Rule& rule) {
  const std::string meaning = meaning_of(rule);
  return std::any_of(rules.begin(), rules.end(), [&](const policy::Rule& other) {
    return other.decision == rule.decision && meaning_of(other) == meaning;
  });
}

}  // namespace

void RuleFiles::hold_to_confirmed(const std::string& root, RulesAt& own) const {
  if (confirmations_ == nullptr || confirmations_->standing() == Confirmations::Standing::None ||
      !own.errors.empty())
    return;
  const std::string& text = confirmations_->confirmed().rules;
  auto confirmed = policy::parse_rules(text, policy::RuleLevel::Global, "confirmed rules", root);
  // A copy that is no rule file confirms nothing.
  const std::vector<policy::Rule> known = confirmed ? std::move(*confirmed) : std::vector<policy::Rule>();
  std::vector<policy::Rule> held;
  for (policy::Rule& rule : own.rules) {
    if (rule.decision == policy::Decision::Allow && !holds_rule(known, rule)) {
      own.unconfirmed.push_back({UnconfirmedRule::Change::Added, std::move(rule)});
    } else {
      held.push_back(std::move(rule));
    }
  }
  for (const policy::Rule& rule : known) {
    if (rule.decision == policy::Decision::Allow || holds_rule(held, rule)) continue;
    own.unconfirmed.push_back({UnconfirmedRule::Change::Removed, rule});
    held.push_back(rule);
  }
  own.sources.assign(held.size(), own_file_);
  own.rules = std::move(held);
}

const RulesAt& RuleFiles::at(const std::string& folder) {
  std::vector<Stamp> stamps;
  for (const std::string& file : files_for(folder)) {
    Stamp stamp = stamp_of(file);
    if (stamp.there) stamps.push_back(std::move(stamp));
  }
  const uint64_t confirmation = confirmations_ == nullptr ? 0 : confirmations_->version();
  if (const auto found = known_.find(folder);
      found != known_.end() && found->second.stamps == stamps && found->second.confirmation == confirmation) {
    return found->second.rules;
  }
  if (known_.size() >= kMaxFoldersKnown) known_.clear();
  Known known;
  RulesAt& rules = known.rules;
  if (!stamps.empty() && stamps.front().path == own_file_)
    read(own_file_, policy::RuleLevel::Global, folder, rules);
  hold_to_confirmed(folder, rules);
  for (const Stamp& stamp : stamps) {
    if (stamp.path == own_file_) continue;
    const std::string project = stamp.path.substr(0, stamp.path.rfind('/'));
    read(stamp.path, policy::RuleLevel::Project, project.empty() ? "/" : project, rules);
  }
  known.stamps = std::move(stamps);
  known.confirmation = confirmation;
  return known_.insert_or_assign(folder, std::move(known)).first->second.rules;
}

}  // namespace ttyward::gate
