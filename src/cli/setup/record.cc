#include "cli/setup/record.h"

#include <cstdlib>

#include "base/json_text.h"
#include "cli/setup/json_tree.h"

namespace ttyward::cli::setup {
namespace record {
namespace {

std::string list(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ",") + item;
  return "[" + out + "]";
}

std::string revert_json(const Revert& revert) {
  std::vector<std::string> path;
  for (const std::string& part : revert.edit.path) path.push_back(base::json_quoted(part));
  base::JsonObject out;
  out.text("kind", revert.edit.kind == Edit::Kind::Add ? "add" : "set").raw("path", list(path));
  out.text("value", revert.edit.value);
  revert.previous ? out.text("previous", *revert.previous) : out.null("previous");
  out.number("kept", static_cast<int64_t>(revert.kept));
  return out.str();
}

std::string text_of(const JsonNode& node, std::string_view key) {
  const JsonMember* member = node.member(key);
  return member == nullptr ? "" : member->value.text;
}

Revert read_revert(const JsonNode& node) {
  Revert out;
  out.edit.kind = text_of(node, "kind") == "add" ? Edit::Kind::Add : Edit::Kind::Set;
  if (const JsonMember* path = node.member("path")) {
    for (const JsonMember& part : path->value.members) out.edit.path.push_back(part.value.text);
  }
  out.edit.value = text_of(node, "value");
  const JsonMember* previous = node.member("previous");
  if (previous != nullptr && previous->value.kind == JsonNode::Kind::String)
    out.previous = previous->value.text;
  out.kept = std::strtoul(text_of(node, "kept").c_str(), nullptr, 10);
  return out;
}

}  // namespace
}  // namespace record

std::string to_json(const Record& done) {
  std::vector<std::string> files;
  for (const ChangedFile& file : done.files) {
    std::vector<std::string> reverts;
    for (const Revert& each : file.reverts) reverts.push_back(record::revert_json(each));
    base::JsonObject out;
    out.text("path", file.path).boolean("toml", file.toml).boolean("existed", file.existed);
    out.text("backup", file.backup).text("sha256", file.sha256).raw("reverts", record::list(reverts));
    files.push_back(out.str());
  }
  return base::JsonObject().number("version", 1).raw("files", record::list(files)).str() + "\n";
}

base::Result<Record> read_record(const std::string& json) {
  const auto root = read_json(json);
  if (!root) return tl::unexpected(root.error());
  if (record::text_of(*root, "version") != "1")
    return base::fail(base::ErrorCode::Unsupported, "it was written by another version of ttyward");
  Record out;
  const JsonMember* files = root->member("files");
  if (files == nullptr) return out;
  for (const JsonMember& each : files->value.members) {
    ChangedFile file;
    file.path = record::text_of(each.value, "path");
    file.toml = record::text_of(each.value, "toml") == "true";
    file.existed = record::text_of(each.value, "existed") == "true";
    file.backup = record::text_of(each.value, "backup");
    file.sha256 = record::text_of(each.value, "sha256");
    if (const JsonMember* reverts = each.value.member("reverts")) {
      for (const JsonMember& revert : reverts->value.members)
        file.reverts.push_back(record::read_revert(revert.value));
    }
    out.files.push_back(std::move(file));
  }
  return out;
}

}  // namespace ttyward::cli::setup
