#include "cli/version_text.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "hold/protocol.h"
#include "journal/format.h"
#include "mcp/server.h"
#include "store/database.h"
#include "wire/messages.h"

namespace ttyward::cli {

std::string version_text() {
  return fmt::format(
      "ttyward {}\nSQLite {}\n"
      "protocols: socket {}, holder {}, journal {}, MCP {} and up to {}",
      TTYWARD_VERSION, store::sqlite_version(), wire::kProtocol, hold::kProtocolVersion, journal::kVersion,
      mcp::kModernVersion, mcp::kNewestLegacyVersion);
}

std::string version_json() {
  const base::JsonObject protocols = base::JsonObject()
                                         .number("socket", wire::kProtocol)
                                         .number("holder", hold::kProtocolVersion)
                                         .number("journal", journal::kVersion)
                                         .text("mcp", mcp::kModernVersion)
                                         .text("mcp_legacy", mcp::kNewestLegacyVersion);
  return base::JsonObject().text("version", TTYWARD_VERSION).raw("protocols", protocols.str()).str();
}

}  // namespace ttyward::cli
