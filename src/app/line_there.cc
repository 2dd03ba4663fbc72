#include "app/line_there.h"

#include "relay/place_name.h"
#include "shell/quoting.h"

namespace ttyward::app {

base::Result<std::string> line_there(const std::string& place, const std::string& command) {
  const auto name = relay::PlaceName::parse(place);
  if (!name) return tl::unexpected(name.error());
  return shell::quote_command(relay::equivalent_argv(*name, command), shell::Dialect::Posix);
}

}  // namespace ttyward::app
