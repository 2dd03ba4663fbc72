// Proofs that a person made a message: a code that only who has the person's key can make, for exactly that
// message and host. The key itself never travels, and a proof is of no use for anything else.
//
// A host accepts the holder of its own person's token (`ttyward person token`) without a name, and the people
// in the file that `fleet worker --people` names: one a line, a name and a key of at least 32 characters.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "fleet/messages.h"

namespace ttyward::fleet {

Proof prove(const std::string& by, const std::string& key, const std::string& message);

class People {
 public:
  // `own_token` may be empty: then nobody can come without a name.
  static base::Result<People> read(const std::string& file, const std::string& own_token);
  // Why the proof does not hold; empty: it does.
  std::string doubt(const Proof& proof, const std::string& message) const;

 private:
  std::map<std::string, std::string> keys_;  // by name
};

// What is proved. Fields are counted, so that no two different messages have the same text.
std::string job_text(const Job& job);
std::string answer_text(const std::string& host, const std::string& approval, const AnswerMessage& answer);
std::string tunnel_text(const std::string& host, const TunnelRequest& request);
// What a person sends through a tunnel, in order.
std::string line_text(const std::string& tunnel, uint64_t number, std::string_view bytes);
// Of what a person saw of a question.
std::string shown_hash(const wire::Approval& approval);

}  // namespace ttyward::fleet
