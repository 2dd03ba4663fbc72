#include "gate/confirmations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "base/base64.h"
#include "base/file_io.h"
#include "base/hex.h"
#include "base/ids.h"
#include "base/private_folder.h"
#include "base/same_secret.h"
#include "base/sha256.h"
#include "base/unique_fd.h"
#include "base/unix_time.h"
#include "config/tighten.h"

namespace ttyward::gate {
namespace {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

constexpr const char* kRecord = "confirmed";
constexpr const char* kKey = "key";
constexpr size_t kMostBytes = 4 << 20;
constexpr size_t kMostLines = 16;  // older ones are of no use
constexpr std::string_view kFirst = "first";

// The settings with which commands run unasked that would be asked about otherwise.
constexpr auto kLoosening = std::to_array<std::string_view>(
    {"mode", "auto_approve_safe_commands", "confirm_dangerous_commands", "allowed_roots", "confine"});

bool can_loosen(const config::Setting& setting) {
  return std::string_view(setting.section) == "policy" &&
         std::find(kLoosening.begin(), kLoosening.end(), setting.name) != kLoosening.end();
}

std::string hash_of(std::string_view text) {
  return base::to_hex(base::sha256(text));
}

struct Read {
  bool there = false;
  std::string text;
};

Result<Read> read_private(int folder, const char* name, const std::string& shown) {
  auto fd = base::open_private_file_at(folder, name, O_RDONLY, shown);
  if (!fd) {
    if (fd.error().sys_errno == ENOENT) return Read{};
    return tl::unexpected(fd.error());
  }
  // Replaced as a whole when it changes, so its size is that of what is read.
  struct stat info{};
  if (::fstat(fd->get(), &info) != 0) return base::fail_errno(errno, "cannot read " + shown);
  if (info.st_size >= static_cast<off_t>(kMostBytes))
    return fail(ErrorCode::Exhausted, shown + " is too large");
  Read out{true, std::string(static_cast<size_t>(info.st_size), '\0')};
  auto size = base::read_at(fd->get(), out.text.data(), out.text.size(), 0, shown);
  if (!size) return tl::unexpected(size.error());
  out.text.resize(*size);
  return out;
}

// A reader sees the old content or the new one.
Result<void> write_private(int folder, const char* name, std::string_view text, const std::string& shown) {
  const std::string beside = std::string(name) + "." + base::random_id('n');
  {
    const UniqueFd fd(
        ::openat(folder, beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return fail_errno(errno, shown);
    auto written = base::write_at(fd.get(), text.data(), text.size(), 0, shown);
    if (written && ::fsync(fd.get()) != 0) written = fail_errno(errno, shown);
    if (!written) {
      ::unlinkat(folder, beside.c_str(), 0);
      return written;
    }
  }
  if (::renameat(folder, beside.c_str(), folder, name) != 0) {
    const int error = errno;
    ::unlinkat(folder, beside.c_str(), 0);
    return fail_errno(error, shown);
  }
  return ::fsync(folder) == 0 ? Result<void>{} : fail_errno(errno, shown);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

struct Line {
  ConfirmedPolicy policy;
  std::string by;
  std::string previous;
};

// "TIME BY RULES SETTINGS PREVIOUS CODE", the texts in base64. None if the code is not right.
std::optional<Line> read_line(std::string_view line, std::string_view key) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::string code = base::to_hex(base::hmac_sha256(key, line.substr(0, blank)));
  if (!base::same_secret(line.substr(blank + 1), code)) return std::nullopt;
  const std::vector<std::string_view> parts = split(line.substr(0, blank), ' ');
  if (parts.size() != 5) return std::nullopt;
  auto by = base::from_base64(parts[1].substr(1));
  auto rules = base::from_base64(parts[2].substr(1));
  auto settings = base::from_base64(parts[3].substr(1));
  if (!by || !rules || !settings) return std::nullopt;
  return Line{{std::move(*rules), std::move(*settings)}, std::move(*by), std::string(parts[4])};
}

}  // namespace

Confirmations::Confirmations(const std::string& state_folder) : folder_(state_folder + "/policy") {
  read();
}

void Confirmations::read() {
  const auto broken = [this](const std::string& why) {
    standing_ = Standing::Broken;
    problem_ = why;
    confirmed_ = {};
  };
  const auto folder = base::open_private_folder(folder_, base::IfMissing::Fail);
  if (!folder) {
    if (folder.error().sys_errno != ENOENT) broken(folder.error().message);
    return;
  }
  const auto key = read_private(folder->get(), kKey, folder_ + "/" + kKey);
  const auto record = read_private(folder->get(), kRecord, folder_ + "/" + kRecord);
  if (!key) return broken(key.error().message);
  if (!record) return broken(record.error().message);
  if (!key->there && !record->there) return;
  if (!key->there || !record->there)
    return broken(folder_ + ": a part of the record of confirmed rules was removed");
  std::string previous;
  const std::vector<std::string_view> lines = split(record->text, '\n');
  if (lines.empty()) return broken(folder_ + "/" + kRecord + " is empty");
  for (size_t i = 0; i < lines.size(); ++i) {
    auto line = read_line(lines[i], key->text);
    if (!line || (i > 0 && line->previous != previous))
      return broken(fmt::format("{}/{}: line {} was not written by ttyward", folder_, kRecord, i + 1));
    previous = hash_of(lines[i]);
    confirmed_ = std::move(line->policy);
    by_ = std::move(line->by);
  }
  last_line_ = record->text;
  standing_ = Standing::Good;
}

Result<void> Confirmations::store(ConfirmedPolicy policy, const std::string& by) {
  auto folder = base::open_private_folder(folder_, base::IfMissing::Create);
  if (!folder) return tl::unexpected(folder.error());
  auto key = read_private(folder->get(), kKey, folder_ + "/" + kKey);
  if (!key) return tl::unexpected(key.error());
  if (!key->there) {
    key->text = base::random_nonce() + base::random_nonce();
    if (auto made = write_private(folder->get(), kKey, key->text, folder_ + "/" + kKey); !made) return made;
  }
  // Our own lines, not what the file may hold by now.
  std::vector<std::string> lines;
  for (const std::string_view line : split(last_line_, '\n')) {
    if (read_line(line, key->text)) lines.emplace_back(line);
  }
  if (lines.size() >= kMostLines) lines.erase(lines.begin(), lines.end() - (kMostLines - 1));
  std::string line = fmt::format("{} ={} ={} ={} {}", base::unix_ms(), base::to_base64(by),
                                 base::to_base64(policy.rules), base::to_base64(policy.settings),
                                 lines.empty() ? std::string(kFirst) : hash_of(lines.back()));
  line += " " + base::to_hex(base::hmac_sha256(key->text, line));
  lines.push_back(std::move(line));
  std::string text;
  for (const std::string& each : lines) text += each + "\n";
  if (auto written = write_private(folder->get(), kRecord, text, folder_ + "/" + kRecord); !written)
    return written;
  last_line_ = std::move(text);
  confirmed_ = std::move(policy);
  by_ = by;
  standing_ = Standing::Good;
  problem_.clear();
  ++version_;
  return {};
}

std::string LoosenedSetting::in_words() const {
  return fmt::format("{} is {} ({}) instead of {}", name, wanted, where.empty() ? "the default" : where,
                     holds);
}

std::string policy_lines(const config::Settings& settings) {
  std::string out;
  for (const config::Setting& setting : config::setting_table()) {
    if (can_loosen(setting))
      out += fmt::format("{} = {}\n", setting.name, config::to_toml(setting, setting.get(settings)));
  }
  return out;
}

std::vector<LoosenedSetting> loosened(const config::Loaded& now, const std::string& before) {
  config::Loaded earlier;
  config::apply_toml(earlier, "[policy]\n" + before, "confirmed", config::FileLevel::Person);
  std::vector<LoosenedSetting> out;
  for (const config::Setting& setting : config::setting_table()) {
    if (!can_loosen(setting)) continue;
    const config::Value was = setting.get(earlier.settings);
    const config::Value is = setting.get(now.settings);
    if (was == is || config::tightened(setting, was, is)) continue;
    out.push_back({setting.full_name(), config::to_toml(setting, was), config::to_toml(setting, is),
                   now.origin(setting).where});
  }
  return out;
}

ConfirmedConfig load_confirmed(const base::Folders& folders, const std::string& cwd,
                               const std::vector<std::string>& environment,
                               const Confirmations& confirmations) {
  ConfirmedConfig out;
  std::string held;  // policy as it is before the environment is looked at
  out.loaded = config::load(folders, cwd, environment, [&](config::Loaded& file) {
    out.file_lines = policy_lines(file.settings);
    held = out.file_lines;
    if (confirmations.standing() == Confirmations::Standing::None) return;
    const std::string& holds = confirmations.confirmed().settings;
    out.unconfirmed = loosened(file, holds);
    config::Loaded confirmed;
    config::apply_toml(confirmed, "[policy]\n" + holds, "confirmed", config::FileLevel::Person);
    for (const LoosenedSetting& each : out.unconfirmed) {
      const config::Setting* setting = config::find_setting(
          "policy", std::string_view(each.name).substr(std::string_view("policy.").size()));
      if (setting != nullptr) setting->set(file.settings, setting->get(confirmed.settings));
    }
    held = policy_lines(file.settings);
  });
  for (LoosenedSetting& each : loosened(out.loaded, held)) {
    // What the environment, not a file, made looser.
    const config::Setting* setting = config::find_setting(
        "policy", std::string_view(each.name).substr(std::string_view("policy.").size()));
    if (setting != nullptr && out.loaded.origin(*setting).source == config::Source::Environment)
      out.from_environment.push_back(std::move(each));
  }
  return out;
}

}  // namespace ttyward::gate
