// Who may talk to the HTTP endpoint: the right Host, no foreign Origin, and the token.
//
// Pure but for the token file.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "mcp/http/message.h"

namespace ttyward::mcp::http {

// Whether "host[:port]" or, for an origin, "scheme://host[:port]" names this machine by its loopback names.
bool is_local_host(std::string_view host, int port);
bool is_local_origin(std::string_view origin);

struct Refusal {
  int status = 0;  // 0: let it in
  std::string text;
};

// Empty token: none is asked for.
Refusal check_peer(const HttpRequest& request, int port, const std::string& token);

// A new token of 256 bits, written to `path` (0600, made anew, links not followed).
base::Result<std::string> make_token_file(const std::string& path);
// Removes the file if it still holds this token; one that another server wrote meanwhile stays.
void remove_token_file(const std::string& path, const std::string& token);
// The token in a file a person made: owned by us, closed to others, at least 32 characters.
base::Result<std::string> read_token_file(const std::string& path);

}  // namespace ttyward::mcp::http
