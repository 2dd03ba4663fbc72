#include "daemon/call_table.h"

namespace ttyward::daemon {

std::vector<CallRow> watching_rows(app::Services& services) {
  app::Watching& watching = services.watching();
  using W = app::Watching;
  return {call_row(watching, &W::wait),         call_row(watching, &W::read),
          call_row(watching, &W::environment),  call_row(watching, &W::attach),
          call_row(watching, &W::attach_input), call_row(watching, &W::attach_resize),
          call_row(watching, &W::detach),       call_row(watching, &W::select),
          call_row(watching, &W::subscribe),    call_row(watching, &W::unsubscribe),
          call_row(watching, &W::recording),    call_row(services.telemetry(), &app::Telemetry::metrics)};
}

}  // namespace ttyward::daemon
