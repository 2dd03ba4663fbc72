// The error codes that MCP adds to those of JSON-RPC (rpc/message.h).
#pragma once

namespace ttyward::mcp {

inline constexpr int kResourceNotFound = -32002;    // legacy revisions only
inline constexpr int kHeaderMismatch = -32020;      // 2026-07-28 on HTTP
inline constexpr int kMissingCapability = -32021;   // 2026-07-28
inline constexpr int kUnsupportedVersion = -32022;  // 2026-07-28

}  // namespace ttyward::mcp
