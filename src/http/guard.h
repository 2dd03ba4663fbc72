// Who may use a server on this machine: the right Host, no foreign Origin, and a secret.
//
// Every web page can send requests to a port of this machine; what keeps pages out is checked here, before
// anything else looks at a request. The Host check stops names that were made to point here (DNS rebinding),
// the Origin check stops pages of other sites and of other ports, the secret stops other users.
//
// Pure but for the token file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/request.h"

namespace ttyward::http {

// Whether "host[:port]" or, for an origin, "scheme://host[:port]" names this machine by its loopback names.
bool is_local_host(std::string_view host, int port);
bool is_local_origin(std::string_view origin);

struct Admission {
  int port = 0;
  // Another name under which the server may be addressed, without a port: "q7x2.localhost". Empty: none.
  std::string own_name;
  enum class Origins {
    AnyLocal,  // programs, and pages served from any port of this machine
    Same,      // pages of this very server; what changes something has to say where it comes from
  };
  Origins origins = Origins::AnyLocal;
  // "Authorization: Bearer TOKEN". Empty: no token is accepted.
  std::string token;
  // A cookie that counts as much as the token. Empty name: none does.
  std::string cookie_name;
  std::function<bool(std::string_view value)> is_good_cookie;
  // Without a token and a cookie everybody on this machine is let in.
  std::string how_to_authenticate;  // what a request without either is told
};

struct Refusal {
  int status = 0;  // 0: let it in
  std::string text;
};
Refusal check(const Request& request, const Admission& admission);

// Whether it has "Authorization: Bearer TOKEN" with this token, which is not empty.
bool has_token(const Request& request, const std::string& token);

// A new token of 256 bits, written to `path` (0600, made anew, links not followed).
base::Result<std::string> make_token_file(const std::string& path);
// Removes the file if it still holds this token; one that another server wrote meanwhile stays.
void remove_token_file(const std::string& path, const std::string& token);

}  // namespace ttyward::http
