#include "panel/site.h"

#include <array>
#include <utility>

#include <boost/json.hpp>

#include "base/ids.h"
#include "panel/assets.h"
#include "rpc/json.h"

namespace ttyward::panel {
namespace {

constexpr std::string_view kProtocol = "ttyward.panel.1";
constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kJson = "application/json";

// Addresses that are views of the page: it looks at the address itself.
bool is_view(std::string_view path) {
  constexpr std::array<std::string_view, 5> kWhole = {"/", "/terminals", "/history", "/overview",
                                                      "/settings"};
  constexpr std::array<std::string_view, 3> kBelow = {"/t/", "/c/", "/settings/"};
  for (const std::string_view each : kWhole) {
    if (path == each) return true;
  }
  for (const std::string_view each : kBelow) {
    if (path.starts_with(each) && path.find("..") == std::string_view::npos) return true;
  }
  return false;
}

// Browsers say from where a request comes; what does not say so is no browser, or an old one.
bool comes_from_elsewhere(const http::Request& request) {
  const auto site = request.header("sec-fetch-site");
  return request.count("sec-fetch-site") > 0 && site != "same-origin";
}

bool offers_protocol(const http::Request& request) {
  const std::string offered = request.header("sec-websocket-protocol").value_or("");
  return offered == kProtocol;
}

const char* words_of(Sessions::Problem problem) {
  switch (problem) {
    case Sessions::Problem::Used:
      return "used";
    case Sessions::Problem::Expired:
      return "expired";
    case Sessions::Problem::TooMany:
      return "wait";
    case Sessions::Problem::Unknown:
      break;
  }
  return "unknown";
}

std::string json_text(const boost::json::object& object) {
  return boost::json::serialize(object);
}

}  // namespace

Site::Site(io::Loop& loop, Sessions& sessions, int port, client::Options daemon, std::string metrics_token)
    : loop_(loop),
      sessions_(sessions),
      port_(std::to_string(port)),
      cookie_name_("ttyward-panel-" + port_),
      daemon_(std::move(daemon)),
      metrics_token_(std::move(metrics_token)) {
  admission_.port = port;
  admission_.origins = http::Admission::Origins::Same;
}

std::string Site::link_address(Role role) {
  return "http://127.0.0.1:" + port_ + "/#t=" + sessions_.make_link(role);
}

void Site::answer(const Given& exchange, int status, std::string_view type, std::string_view body,
                  http::Headers more) {
  more.insert(more.end(), {{"Content-Type", std::string(type)},
                           {"X-Frame-Options", "DENY"},
                           {"Referrer-Policy", "no-referrer"},
                           {"Cross-Origin-Opener-Policy", "same-origin"},
                           {"Cross-Origin-Resource-Policy", "same-origin"}});
  exchange->respond(status, more, body);
}

void Site::handle(const Given& exchange) {
  const http::Request& request = exchange->request;
  if (const http::Refusal refusal = http::check(request, admission_); refusal.status != 0)
    return answer(exchange, refusal.status, kText, refusal.text);
  const std::string_view path =
      std::string_view(request.target).substr(0, request.target.find_first_of("?#"));
  if (path == "/ws") return open_page(exchange);
  if (path == "/api/session") return begin_session(exchange);
  if (path == "/metrics" && !metrics_token_.empty()) return serve_metrics(exchange);
  const bool exists = is_view(path) || find_asset(path) != nullptr;
  if (!exists || request.is_upgrade) return answer(exchange, 404, kText, "there is nothing here\n");
  if (request.method != "GET")
    return answer(exchange, 405, kText, "this can only be read\n", {{"Allow", "GET"}});
  is_view(path) ? serve_page(exchange) : serve_asset(exchange, path);
}

// The terminal in the page makes style elements; they carry the nonce of this answer. Colours of 24 bits are
// style attributes. No script but our own files ever runs.
void Site::serve_page(const Given& exchange) {
  const std::string host = exchange->request.header("host").value_or("");
  const std::string nonce = base::random_nonce();
  const std::string policy =
      "default-src 'none'; script-src 'self'; style-src-elem 'self' 'nonce-" + nonce +
      "'; style-src-attr 'unsafe-inline'; connect-src 'self' ws://" + host +
      "; img-src 'self' data:; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'; require-trusted-types-for 'script'";
  constexpr std::string_view kPlace = "{{nonce}}";
  std::string page(page_template());
  for (size_t at = page.find(kPlace); at != std::string::npos; at = page.find(kPlace, at))
    page.replace(at, kPlace.size(), nonce);
  answer(exchange, 200, "text/html; charset=utf-8", page, {{"Content-Security-Policy", policy}});
}

void Site::serve_asset(const Given& exchange, std::string_view path) {
  const Asset& asset = *find_asset(path);
  const std::string etag = "\"" + std::string(asset.etag) + "\"";
  const bool named_by_content = path.starts_with("/assets/");
  http::Headers headers = {
      {"ETag", etag},
      {"Cache-Control", named_by_content ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Vary", "Accept-Encoding"}};
  if (exchange->request.header("if-none-match") == etag)
    return answer(exchange, 304, asset.type, "", std::move(headers));
  const std::string accepted = exchange->request.header("accept-encoding").value_or("");
  if (accepted.find("gzip") == std::string::npos)
    return answer(exchange, 406, kText, "files are sent as gzip: send Accept-Encoding: gzip\n");
  headers.emplace_back("Content-Encoding", "gzip");
  answer(exchange, 200, asset.type, asset.bytes, std::move(headers));
}

void Site::begin_session(const Given& exchange) {
  const http::Request& request = exchange->request;
  if (request.is_upgrade || (request.method != "POST" && request.method != "GET"))
    return answer(exchange, 405, kText, "send the token with POST\n", {{"Allow", "GET, POST"}});
  // For a page that is not let in: whether that is for want of a session.
  if (request.method == "GET") {
    const auto cookie = request.cookie(cookie_name_);
    return answer(exchange, 200, kJson, json_text({{"signed_in", cookie && sessions_.has_cookie(*cookie)}}));
  }
  const std::string type = request.header("content-type").value_or("");
  // A page of another origin cannot send either without asking first, and nobody answers that question.
  const bool plain = !http::same_name(std::string_view(type).substr(0, type.find(';')), kJson) ||
                     request.header("x-ttyward-panel") != "1";
  if (plain) return answer(exchange, 415, kText, "send JSON, as the page does\n");
  if (comes_from_elsewhere(request))
    return answer(exchange, 403, kText, "requests from other origins are not allowed\n");
  boost::system::error_code error;
  const auto body =
      boost::json::parse(boost::json::string_view(request.body.data(), request.body.size()), error);
  const std::string token =
      !error && body.is_object() ? rpc::text_or(body.get_object(), "token") : std::string();
  const auto made = sessions_.redeem(token);
  if (!made) {
    const bool wait = made.error() == Sessions::Problem::TooMany;
    return answer(exchange, wait ? 429 : 403, kJson, json_text({{"problem", words_of(made.error())}}),
                  wait ? http::Headers{{"Retry-After", "60"}} : http::Headers{});
  }
  const std::string cookie =
      cookie_name_ + "=" + made->cookie +
      "; HttpOnly; SameSite=Strict; Path=/; Max-Age=" + std::to_string(Sessions::kSessionLife / 1000);
  answer(exchange, 200, kJson, json_text({{"key", made->key}, {"role", role_name(made->role)}}),
         {{"Set-Cookie", cookie}});
}

void Site::open_page(const Given& exchange) {
  const http::Request& request = exchange->request;
  if (!request.is_upgrade || !offers_protocol(request))
    return answer(exchange, 426, kText, "this is a WebSocket of the panel's page\n",
                  {{"Upgrade", "websocket"}});
  if (comes_from_elsewhere(request))
    return answer(exchange, 403, kText, "requests from other origins are not allowed\n");
  const std::string cookie = request.cookie(cookie_name_).value_or("");
  const bool guessing = sessions_.is_guessing();
  if (!sessions_.knows_cookie(cookie)) {
    if (guessing) return answer(exchange, 429, kText, "too many wrong secrets\n", {{"Retry-After", "60"}});
    return answer(exchange, 401, kText,
                  "this browser is not signed in: open a link that ttyward panel printed\n");
  }
  if (pages_.size() >= kMostPages)
    return answer(exchange, 503, kText, "too many pages are open: close some\n", {{"Retry-After", "10"}});
  const auto socket = exchange->accept_web_socket({{"Sec-WebSocket-Protocol", std::string(kProtocol)}});
  if (!socket) return;
  const uint64_t number = ++last_page_;
  client::Options daemon = daemon_;
  daemon.client += " " + std::to_string(number);  // who has the keyboard is told by it
  daemon.reader = daemon.client;
  Page::Ties ties;
  ties.admit = [this, cookie](std::string_view key) { return sessions_.admit(cookie, key); };
  ties.make_link = [this](Role role) { return link_address(role); };
  ties.closed = [this, number] { pages_.erase(number); };
  pages_[number] = std::make_unique<Page>(loop_, socket, std::move(daemon), std::move(ties));
}

// For programs: the token is all they have, so a browser's cookie counts for nothing here.
void Site::serve_metrics(const Given& exchange) {
  const http::Request& request = exchange->request;
  if (request.method != "GET" || request.is_upgrade)
    return answer(exchange, 405, kText, "this can only be read\n", {{"Allow", "GET"}});
  const bool guessing = sessions_.is_guessing();
  if (!http::has_token(request, metrics_token_)) {
    if (guessing) return answer(exchange, 429, kText, "too many wrong secrets\n", {{"Retry-After", "60"}});
    sessions_.count_wrong();
    return answer(exchange, 401, kText,
                  "send the token in the file of --metrics-token, as Authorization: Bearer TOKEN\n",
                  {{"WWW-Authenticate", "Bearer"}});
  }
  if (scrapes_.size() >= kMostScrapes)
    return answer(exchange, 503, kText, "too many readers at once\n", {{"Retry-After", "1"}});
  const uint64_t number = ++last_scrape_;
  scrapes_[number] = std::make_unique<Scrape>(loop_, daemon_, [this, number, exchange](const auto& came) {
    came ? answer(exchange, 200, came->content_type, came->text)
         : answer(exchange, 503, kText, came.error() + "\n");
    loop_.post([this, number] { scrapes_.erase(number); });
  });
}

}  // namespace ttyward::panel
