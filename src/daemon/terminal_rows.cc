#include "daemon/call_table.h"

namespace ttyward::daemon {

std::vector<CallRow> terminal_rows(app::Services& services) {
  app::Terminals& terminals = services.terminals();
  using T = app::Terminals;
  return {call_row(terminals, &T::open),
          call_row(terminals, &T::acquire),
          call_row(terminals, &T::release),
          call_row(terminals, &T::input),
          call_row(terminals, &T::kill),
          call_row(terminals, &T::resize),
          call_row(terminals, &T::screen),
          call_row(terminals, &T::list),
          call_row(terminals, &T::show),
          call_row(terminals, &T::lend),
          call_row(terminals, &T::resume),
          call_row(terminals, &T::rename),
          call_row(terminals, &T::assign),
          call_row(terminals, &T::associate),
          call_row(terminals, &T::session_terminals),
          call_row(terminals, &T::session_cwd),
          call_row(terminals, &T::path_add),
          call_row(terminals, &T::path_remove),
          call_row(terminals, &T::path_list)};
}

}  // namespace ttyward::daemon
