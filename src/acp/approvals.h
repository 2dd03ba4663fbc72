// Questions of the daemon that are shown in the editor, too.
//
// The daemon decides; the editor is one of the places where a person can answer. An answer that is given here
// goes to the daemon as the session's dialogue, and what the daemon makes of it comes back to whoever waits
// for the question. A question that is answered elsewhere is withdrawn here.
//
// Thread rule: the loop thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acp/sides.h"
#include "client/client.h"

namespace ttyward::acp {

// One option of a permission request.
struct Option {
  std::string id;
  std::string kind;
  bool allows() const { return kind == "allow_once" || kind == "allow_always"; }
};
std::vector<Option> options_of(const json::object& params);

// The option that a person's client takes to say "this once, and nothing else"; empty: there is none, or it
// is not clear which. `plain` are ids that are known to mean it.
std::string plain_allow(const std::vector<Option>& options, const std::vector<std::string>& plain);
// An option that says no, the mildest first; empty: there is none.
std::string some_reject(const std::vector<Option>& options);

// The options of a question that ttyward asks by itself.
json::array own_options();

class Approvals {
 public:
  Approvals(Sides& sides, client::Client& person) : sides_(sides), person_(person) {}
  Approvals(const Approvals&) = delete;
  Approvals& operator=(const Approvals&) = delete;
  ~Approvals() { *alive_ = false; }

  // Shows the question in the editor: `params` are those of session/request_permission.
  void show(const std::string& approval, json::object params);
  // It is closed. Returns the option that was chosen in the editor; empty: none.
  std::string close(const std::string& approval);
  // Nobody waits for an answer in the editor any more.
  void withdraw_all();

 private:
  struct Shown {
    uint64_t asked = 0;  // 0: not asked, or answered
    std::vector<Option> options;
    std::string chosen;
  };
  void answered(const std::string& approval, const rpc::Answer& answer);

  Sides& sides_;
  client::Client& person_;
  std::map<std::string, Shown> shown_;  // by the question's id
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
