// The service for policy: what would be said about a command, questions to people and their answers, rules,
// modes, and the confirmation of what was changed without us.
//
// Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <string>

#include "app/core.h"
#include "app/gatekeeper.h"
#include "app/reply.h"
#include "wire/types/policy_calls.h"

namespace ttyward::app {

class Approvals {
 public:
  // `reload` reads the configuration and the rules again.
  Approvals(Core& core, Gatekeeper& gatekeeper, std::function<void()> reload)
      : core_(core), gatekeeper_(gatekeeper), reload_(std::move(reload)) {}

  base::Result<wire::Encoded<wire::Verdict>> check(const Caller& caller, const wire::CheckRequest& request);
  void permit(const Caller& caller, const wire::PermitRequest& request, const Reply<wire::Permission>& reply);
  wire::ApprovalList approvals(const Caller& caller, const wire::ApprovalsRequest& request) const;
  base::Result<wire::OneApproval> answer(const Caller& caller, const wire::AnswerRequest& request);
  base::Result<wire::OneApproval> withdraw(const Caller& caller, const wire::WithdrawRequest& request);
  wire::RuleList rules(const Caller& caller, const wire::RulesRequest& request);
  base::Result<wire::AddedRules> rule_add(const Caller& caller, const wire::RuleAddRequest& request);
  base::Result<wire::RemovedRules> rule_remove(const Caller& caller, const wire::RuleRemoveRequest& request);
  base::Result<wire::Unconfirmed> rules_unconfirmed(const Caller& caller,
                                                    const wire::RulesUnconfirmedRequest& request);
  base::Result<wire::Confirmed> rules_confirm(const Caller& caller, const wire::RulesConfirmRequest& request);
  base::Result<wire::CurrentMode> mode(const Caller& caller, const wire::ModeRequest& request);

 private:
  Core& core_;
  Gatekeeper& gatekeeper_;
  const std::function<void()> reload_;
};

}  // namespace ttyward::app
