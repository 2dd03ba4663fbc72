#include "daemon/call_table.h"

namespace ttyward::daemon {

std::vector<CallRow> policy_rows(app::Services& services) {
  app::Approvals& approvals = services.approvals();
  app::History& history = services.history();
  app::ChangeSets& sets = services.change_sets();
  using A = app::Approvals;
  using H = app::History;
  using S = app::ChangeSets;
  return {call_row(approvals, &A::check),
          call_row(approvals, &A::approvals),
          call_row(approvals, &A::answer),
          call_row(approvals, &A::withdraw),
          call_row(approvals, &A::rules),
          call_row(approvals, &A::rule_add),
          call_row(approvals, &A::rule_remove),
          call_row(approvals, &A::rules_unconfirmed),
          call_row(approvals, &A::rules_confirm),
          call_row(services.setting_changes(), &app::SettingChanges::settings),
          call_row(services.setting_changes(), &app::SettingChanges::settings_change),
          call_row(approvals, &A::mode),
          call_row(history, &H::history),
          call_row(history, &H::decisions),
          call_row(sets, &S::change_sets),
          call_row(sets, &S::changes),
          call_row(sets, &S::apply),
          call_row(sets, &S::undo),
          call_row(sets, &S::discard),
          call_row(approvals, &A::permit),
          call_row(services.agents(), &app::Agents::told),
          call_row(services.agents(), &app::Agents::agent)};
}

}  // namespace ttyward::daemon
