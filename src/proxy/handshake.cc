#include "proxy/handshake.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace ttyward::proxy {
namespace {

constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kTokenMarks.find(c) != std::string_view::npos;
  });
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

struct Header {
  std::string_view name;
  std::string_view value;
};

tl::unexpected<Refusal> refuse(int status, std::string why) {
  return tl::unexpected(Refusal{status, std::move(why)});
}

// The lines after the first. They end with CR LF, and nothing else in them is a CR, an LF or a NUL.
tl::expected<std::vector<Header>, Refusal> read_headers(std::string_view text) {
  std::vector<Header> headers;
  while (!text.empty()) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return refuse(400, "a header line is malformed");
    headers.push_back({line.substr(0, colon), trimmed(line.substr(colon + 1))});
  }
  return headers;
}

// Headers that concern the connection to us, or that we write ourselves.
bool is_ours(const Header& header, const std::vector<std::string_view>& named_by_connection) {
  constexpr std::array<std::string_view, 9> kHopByHop = {"connection",
                                                         "proxy-connection",
                                                         "proxy-authorization",
                                                         "proxy-authenticate",
                                                         "keep-alive",
                                                         "te",
                                                         "trailer",
                                                         "upgrade",
                                                         "host"};
  const auto is = [&](std::string_view name) { return same_word(header.name, name); };
  return std::any_of(kHopByHop.begin(), kHopByHop.end(), is) ||
         std::any_of(named_by_connection.begin(), named_by_connection.end(), is);
}

// Why the body has no one length that all programs agree on; empty: it has, or there is none.
std::string wrong_with_body(const std::vector<Header>& headers) {
  std::optional<std::string_view> length;
  bool chunked = false;
  for (const Header& header : headers) {
    if (same_word(header.name, "content-length")) {
      const bool number = !header.value.empty() && header.value.size() < 19 &&
                          header.value.find_first_not_of("0123456789") == std::string_view::npos;
      if (!number || length) return "its length is malformed or given twice";
      length = header.value;
    }
    if (same_word(header.name, "transfer-encoding")) {
      if (chunked || !same_word(header.value, "chunked")) return "its transfer encoding is not understood";
      chunked = true;
    }
  }
  return chunked && length ? "it has a length and a transfer encoding" : "";
}

std::vector<std::string_view> words_of_connection(const std::vector<Header>& headers) {
  std::vector<std::string_view> words;
  for (const Header& header : headers) {
    if (!same_word(header.name, "connection") && !same_word(header.name, "proxy-connection")) continue;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view word = trimmed(rest.substr(0, comma));
      // How the body is framed is not up to this header.
      if (!word.empty() && !same_word(word, "content-length") && !same_word(word, "transfer-encoding"))
        words.push_back(word);
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    }
  }
  return words;
}

tl::expected<HttpRequest, Refusal> read_connect(std::string_view target, size_t used) {
  auto wanted = parse_host_port(target, 0);
  if (!wanted) return refuse(400, wanted.error().message);
  HttpRequest made;
  made.wanted = std::move(*wanted);
  made.connect = true;
  made.host_text = target;
  made.used = used;
  return made;
}

tl::expected<HttpRequest, Refusal> read_absolute(std::string_view method, std::string_view target,
                                                 std::string_view version, const std::vector<Header>& headers,
                                                 size_t used) {
  constexpr std::string_view kScheme = "http://";
  if (!same_word(target.substr(0, kScheme.size()), kScheme))
    return refuse(400, "this is a proxy: ask for http://HOST/PATH, or CONNECT to HOST:443 for https");
  target.remove_prefix(kScheme.size());
  const size_t end = target.find_first_of("/?#");
  const std::string_view authority = target.substr(0, end);
  std::string path = end == std::string_view::npos ? "/" : std::string(target.substr(end));
  if (path.front() != '/') path.insert(0, "/");
  if (path.find('#') != std::string::npos) return refuse(400, "a request has no fragment (#)");
  if (authority.find('@') != std::string_view::npos)
    return refuse(400, "a user name in the URL is not passed on; send an Authorization header");
  auto wanted = parse_host_port(authority, 80);
  if (!wanted) return refuse(400, wanted.error().message);
  if (std::string wrong = wrong_with_body(headers); !wrong.empty()) return refuse(400, std::move(wrong));

  HttpRequest made;
  made.wanted = std::move(*wanted);
  made.host_text = authority;
  made.used = used;
  const std::string host = made.wanted.port == 80 ? made.wanted.host.text() : made.wanted.text();
  made.head = std::string(method) + " " + path + " " + std::string(version) + "\r\nHost: " + host + "\r\n";
  const auto words = words_of_connection(headers);
  for (const Header& header : headers) {
    if (is_ours(header, words)) continue;
    made.head += std::string(header.name) + ": " + std::string(header.value) + "\r\n";
  }
  // One request per connection: the next one may be for another host.
  made.head += "Connection: close\r\n\r\n";
  return made;
}

}  // namespace

std::optional<tl::expected<HttpRequest, Refusal>> read_http(std::string_view bytes) {
  const std::string_view seen = bytes.substr(0, kLongestHead);
  const size_t end = seen.find("\r\n\r\n");
  const std::string_view head = seen.substr(0, end);
  // What can never become a request is refused at once, whatever else comes.
  for (size_t i = 0; i < head.size(); i++) {
    const auto byte = static_cast<unsigned char>(head[i]);
    const bool cr_of_line = byte == '\r' && (i + 1 == head.size() || head[i + 1] == '\n');
    const bool lf_of_line = byte == '\n' && i > 0 && head[i - 1] == '\r';
    if (byte == 0x7f || (byte < 0x20 && byte != '\t' && !cr_of_line && !lf_of_line))
      return refuse(400, "the request has control characters");
  }
  if (end == std::string_view::npos) {
    if (bytes.size() < kLongestHead) return std::nullopt;
    return refuse(431, "the head of the request is too long");
  }
  const size_t line_end = std::min(head.find("\r\n"), head.size());
  const std::string_view line = head.substr(0, line_end);
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || line.find(' ', second + 1) != std::string_view::npos)
    return refuse(400, "the request line is malformed");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_token(method) || target.empty() || target.find('\t') != std::string_view::npos)
    return refuse(400, "the request line is malformed");
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(505, "only HTTP/1.0 and HTTP/1.1 are understood");
  auto headers = read_headers(head.substr(std::min(line_end + 2, head.size())));
  if (!headers) return tl::unexpected(headers.error());
  const size_t used = end + 4;
  if (method == "CONNECT") return read_connect(target, used);
  return read_absolute(method, target, version, *headers, used);
}

std::optional<tl::expected<SocksGreeting, Refusal>> read_socks_greeting(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const auto count = static_cast<uint8_t>(bytes[1]);
  if (bytes.size() < size_t{2} + count) return std::nullopt;
  SocksGreeting made;
  made.no_authentication = bytes.substr(2, count).find('\0') != std::string_view::npos;
  made.used = size_t{2} + count;
  return made;
}

std::optional<tl::expected<SocksRequest, SocksRefusal>> read_socks_request(std::string_view bytes) {
  const auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  const auto refuse_socks = [](SocksCode code, std::string why, std::string_view host = {}) {
    return tl::unexpected(SocksRefusal{code, std::move(why), std::string(host)});
  };
  if (bytes.size() < 4) return std::nullopt;
  if (byte(0) != 5 || byte(2) != 0) return refuse_socks(SocksCode::Failed, "the request is malformed");
  if (byte(1) != 1) return refuse_socks(SocksCode::BadCommand, "only connections are passed on");
  SocksRequest made;
  size_t at = 4;
  Host host;
  switch (byte(3)) {
    case 1:
    case 4: {
      const size_t length = byte(3) == 1 ? 4 : 16;
      if (bytes.size() < at + length + 2) return std::nullopt;
      Address address;
      address.v6 = length == 16;
      for (size_t i = 0; i < length; i++) address.bytes[i] = byte(at + i);
      // By its text, so that an IPv4 address in an IPv6 one is the IPv4 address.
      auto parsed = parse_host(address.v6 ? "[" + address.text() + "]" : address.text());
      if (!parsed) return refuse_socks(SocksCode::BadAddress, parsed.error().message, address.text());
      host = std::move(*parsed);
      made.host_text = address.text();
      at += length;
      break;
    }
    case 3: {
      if (bytes.size() < at + 1) return std::nullopt;
      const size_t length = byte(at);
      if (bytes.size() < at + 1 + length + 2) return std::nullopt;
      made.host_text = bytes.substr(at + 1, length);
      auto parsed = parse_host(made.host_text);
      if (!parsed) return refuse_socks(SocksCode::NotAllowed, parsed.error().message, made.host_text);
      host = std::move(*parsed);
      at += 1 + length;
      break;
    }
    default:
      return refuse_socks(SocksCode::BadAddress, "the kind of address is not understood");
  }
  const auto port = static_cast<uint16_t>(byte(at) << 8 | byte(at + 1));
  if (port == 0) return refuse_socks(SocksCode::Failed, "port 0 cannot be reached", made.host_text);
  made.wanted = {std::move(host), port};
  made.used = at + 2;
  return made;
}

std::string http_answer(int status, std::string_view text) {
  std::string_view reason = "Bad Request";
  if (status == 403) reason = "Forbidden";
  if (status == 431) reason = "Request Header Fields Too Large";
  if (status == 502) reason = "Bad Gateway";
  if (status == 504) reason = "Gateway Timeout";
  if (status == 505) reason = "HTTP Version Not Supported";
  const std::string body = "ttyward sandbox: " + std::string(text) + "\n";
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) +
         "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string socks_answer(SocksCode code) {
  std::string out = {'\x05', static_cast<char>(code), '\0', '\x01'};
  return out + std::string(6, '\0');  // the address we connected from is nobody's business
}

}  // namespace ttyward::proxy
