#include "cli/setup/change.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/private_folder.h"
#include "base/sha256.h"

namespace ttyward::cli::setup {
namespace change {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string digest_of(const std::string& text) {
  std::string out;
  for (const uint8_t byte : base::sha256(text)) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

Result<void> write_private(const std::string& path, const std::optional<std::string>& text) {
  auto file = read_config_file(path);
  if (!file) return tl::unexpected(file.error());
  file->mode = 0600;
  return replace_config_file(*file, text);
}

// The file as it would be if it had not been set up.
Result<std::optional<std::string>> without_us(const ConfigFile& now, const ChangedFile& earlier,
                                              const Editor& editor, bool& merged) {
  if (digest_of(now.text) == earlier.sha256) {
    if (!earlier.existed) return std::nullopt;
    auto kept = read_config_file(earlier.backup);
    if (kept && kept->exists) return std::optional(std::move(kept->text));
  }
  merged = true;
  auto reverted = editor.revert(now.text, earlier.reverts);
  if (!reverted) return tl::unexpected(reverted.error());
  if (!earlier.existed && editor.is_empty(*reverted)) return std::nullopt;
  return std::optional(std::move(*reverted));
}

base::Error about(const std::string& path, base::Error error) {
  if (error.message.find(path) == std::string::npos) error.message = path + ": " + error.message;
  return error;
}

}  // namespace
}  // namespace change

using base::Result;

Result<Change> Change::prepare(std::string folder, std::string name, const std::vector<PlannedEdit>& edits) {
  Change out;
  out.folder_ = std::move(folder);
  out.name_ = std::move(name);
  const auto stored = read_config_file(out.record_path());
  if (!stored) return tl::unexpected(stored.error());
  Record earlier;
  if (stored->exists) {
    auto read = read_record(stored->text);
    if (!read) {
      return base::fail(base::ErrorCode::Corrupt, out.record_path() + ": " + read.error().message +
                                                      "; the files as they were are beside it");
    }
    earlier = std::move(*read);
    out.was_set_up_ = true;
  }
  for (const ChangedFile& file : earlier.files) {
    if (!file.backup.empty()) out.backups_.push_back(file.backup);
    if (auto done = out.add_file(&file, file.path, &file.editor(), edits); !done)
      return tl::unexpected(done.error());
  }
  for (const PlannedEdit& edit : edits) {
    const bool known =
        std::ranges::any_of(out.files_, [&](const FileChange& file) { return file.now.path == edit.file; });
    if (known) continue;
    if (auto done = out.add_file(nullptr, edit.file, edit.editor, edits); !done)
      return tl::unexpected(done.error());
  }
  return out;
}

Result<void> Change::add_file(const ChangedFile* earlier, const std::string& path, const Editor* editor,
                              const std::vector<PlannedEdit>& edits) {
  FileChange file;
  auto now = read_config_file(path);
  if (!now) return tl::unexpected(now.error());
  file.now = std::move(*now);
  if (file.now.exists) file.base = file.now.text;
  if (earlier != nullptr && file.now.exists) {
    auto base = change::without_us(file.now, *earlier, *editor, file.merged);
    if (!base) return tl::unexpected(change::about(path, base.error()));
    file.base = std::move(*base);
  }

  std::vector<Edit> wanted;
  const char* new_file = "";
  for (const PlannedEdit& each : edits) {
    if (each.file != path) continue;
    wanted.push_back(each.edit);
    if (*each.new_file != '\0') new_file = each.new_file;
  }
  file.record.path = path;
  file.record.toml = editor == &toml_editor();
  file.record.existed = file.base.has_value();
  file.after = file.base;
  if (!wanted.empty()) {
    auto edited = editor->apply(file.base.value_or(new_file), wanted);
    if (!edited) return tl::unexpected(change::about(path, edited.error()));
    file.record.reverts = std::move(edited->reverts);
    if (!file.record.reverts.empty()) file.after = std::move(edited->text);
  }
  if (!file.record.reverts.empty()) {
    file.record.sha256 = change::digest_of(*file.after);
    if (file.base) {
      file.record.backup = folder_ + "/" + name_ + "-" + change::digest_of(path).substr(0, 8) + "-" +
                           std::filesystem::path(path).filename().string();
    }
  }
  files_.push_back(std::move(file));
  return {};
}

bool Change::changes() const {
  return std::ranges::any_of(files_, &FileChange::changes);
}

Result<void> Change::write_record(const Record& record) const {
  return change::write_private(
      record_path(), record.files.empty() ? std::nullopt : std::optional<std::string>(to_json(record)));
}

Result<void> Change::carry_out() {
  if (auto folder = base::open_private_folder(folder_, base::IfMissing::Create); !folder)
    return tl::unexpected(folder.error());
  const auto before = read_config_file(record_path());
  if (!before) return tl::unexpected(before.error());
  Record record;
  for (const FileChange& file : files_) {
    if (file.record.reverts.empty()) continue;
    if (file.base) {
      if (auto kept = change::write_private(file.record.backup, *file.base); !kept) return kept;
    }
    record.files.push_back(file.record);
  }
  if (!record.files.empty()) {
    if (auto written = write_record(record); !written) return written;
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    if (!files_[i].changes()) continue;
    auto done = replace_config_file(files_[i].now, files_[i].after);
    if (done) continue;
    while (i-- > 0) {
      auto written = read_config_file(files_[i].now.path);
      if (written && files_[i].changes())
        (void)replace_config_file(*written,
                                  files_[i].now.exists ? std::optional(files_[i].now.text) : std::nullopt);
    }
    (void)change::write_private(record_path(), before->exists ? std::optional(before->text) : std::nullopt);
    return done;
  }
  for (const std::string& old : backups_) {
    const bool used =
        std::ranges::any_of(record.files, [&](const ChangedFile& file) { return file.backup == old; });
    const bool merged = std::ranges::any_of(files_, &FileChange::merged);
    if (!used && !merged) ::unlink(old.c_str());
  }
  if (record.files.empty()) return write_record(record);
  return {};
}

}  // namespace ttyward::cli::setup
