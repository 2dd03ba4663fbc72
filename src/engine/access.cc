#include "engine/access.h"

#include <utility>

#include "engine/json_fields.h"

namespace ttyward::engine {

void Access::set_loan(std::optional<Loan> loan) {
  loan_ = std::move(loan);
  lent_for_acting_ = lent_for_acting_ || (loan_ && loan_->use == Loan::Use::Act);
}

boost::json::object Access::loan_record() const {
  if (!loan_) return {{"k", "loan"}, {"over", true}};
  return {{"k", "loan"},
          {"act", loan_->use == Loan::Use::Act},
          {"to", loan_->to},
          {"by", loan_->by},
          {"since", loan_->since_ms}};
}

void Access::apply_loan(const boost::json::object& record) {
  if (truth_of(record, "over")) return set_loan(std::nullopt);
  set_loan(Loan{truth_of(record, "act") ? Loan::Use::Act : Loan::Use::Read, text_of(record, "to"),
                text_of(record, "by"), number_or(record, "since", 0)});
}

}  // namespace ttyward::engine
