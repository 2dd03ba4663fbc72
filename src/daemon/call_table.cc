#include "daemon/call_table.h"

#include <iterator>

namespace ttyward::daemon {

std::vector<CallRow> call_table(app::Services& services) {
  std::vector<CallRow> all = command_rows(services);
  for (auto* more : {&terminal_rows, &watching_rows, &policy_rows}) {
    std::vector<CallRow> rows = (*more)(services);
    all.insert(all.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  }
  return all;
}

std::vector<CallRow> command_rows(app::Services& services) {
  app::Commands& commands = services.commands();
  using C = app::Commands;
  return {call_row(commands, &C::run),    call_row(commands, &C::exec),      call_row(commands, &C::batch),
          call_row(commands, &C::result), call_row(commands, &C::interrupt), call_row(commands, &C::signal)};
}

}  // namespace ttyward::daemon
