#include "fleet/proof.h"

#include <fcntl.h>

#include <fstream>
#include <initializer_list>
#include <sstream>

#include "base/hex.h"
#include "base/private_folder.h"
#include "base/same_secret.h"
#include "base/sha256.h"

namespace ttyward::fleet {
namespace {

constexpr size_t kShortestKey = 32;

void append(std::string& text, std::string_view field) {
  text += std::to_string(field.size()) + ":";
  text += field;
}

std::string joined(std::initializer_list<std::string_view> fields) {
  std::string text;
  for (const std::string_view field : fields) append(text, field);
  return text;
}

std::string code_of(const std::string& key, const std::string& message) {
  return base::to_hex(base::hmac_sha256(key, message));
}

}  // namespace

Proof prove(const std::string& by, const std::string& key, const std::string& message) {
  return {by, code_of(key, message)};
}

base::Result<People> People::read(const std::string& file, const std::string& own_token) {
  People made;
  if (!own_token.empty()) made.keys_[""] = own_token;
  if (file.empty()) return made;
  auto opened = base::open_private_file_at(AT_FDCWD, file.c_str(), O_RDONLY, file);
  if (!opened) return tl::unexpected(opened.error());
  std::ifstream in("/proc/self/fd/" + std::to_string(opened->get()));
  std::string line;
  for (int number = 1; std::getline(in, line); number++) {
    if (line.empty() || line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name;
    std::string key;
    std::string more;
    words >> name >> key >> more;
    if (key.size() < kShortestKey || !more.empty())
      return base::fail(
          base::ErrorCode::InvalidArgument,
          file + ", line " + std::to_string(number) + ": write a name and a key of at least 32 characters");
    made.keys_[name] = key;
  }
  return made;
}

std::string People::doubt(const Proof& proof, const std::string& message) const {
  const auto found = keys_.find(proof.by);
  if (found == keys_.end()) {
    return proof.by.empty() ? "this host has no person's token; make one there with `ttyward person token`, "
                              "and start its worker again"
                            : "this host does not know a person called '" + proof.by + "'";
  }
  return base::same_secret(proof.code, code_of(found->second, message))
             ? ""
             : "the person's key is not the one that this host knows";
}

std::string job_text(const Job& job) {
  std::string text = joined({"job", job.id, job.command, job.cwd, job.sandbox,
                             std::to_string(job.submitted_at.value_or(wire::Time{}).ms)});
  for (const std::string& word : job.argv) append(text, word);
  text += ";";
  for (const std::string& entry : job.env.entries) append(text, entry);
  return text;
}

std::string answer_text(const std::string& host, const std::string& approval, const AnswerMessage& answer) {
  return joined({"answer", host, approval, answer.decision, answer.reason, answer.shown});
}

std::string tunnel_text(const std::string& host, const TunnelRequest& request) {
  return joined({"tunnel", host, request.id, request.role, request.nonce});
}

std::string line_text(const std::string& tunnel, uint64_t number, std::string_view bytes) {
  return joined({"line", tunnel, std::to_string(number), bytes});
}

std::string shown_hash(const wire::Approval& approval) {
  return base::to_hex(base::sha256(joined({approval.id, approval.command, approval.cwd})));
}

}  // namespace ttyward::fleet
