// The one file that includes Boost.Beast: it is slow to compile.
#include "mcp/http/message.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace ttyward::mcp::http {

namespace beast = boost::beast;

struct RequestReader::Parser {
  beast::http::request_parser<beast::http::string_body> parser;
};

namespace {

int status_of(const boost::system::error_code& error) {
  if (error == beast::http::error::body_limit) return 413;
  if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) return 431;
  return 400;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool same_header_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : headers) {
    if (!same_header_name(key, name)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

size_t HttpRequest::count(std::string_view name) const {
  size_t found = 0;
  for (const auto& [key, value] : headers) found += same_header_name(key, name) ? 1 : 0;
  return found;
}

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {
  parser_->parser.eager(true);
  parser_->parser.header_limit(kMaxHeaders);
  parser_->parser.body_limit(kMaxBody);
}

RequestReader::~RequestReader() = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

RequestReader::State RequestReader::feed(std::string& bytes) {
  while (!bytes.empty() && !parser_->parser.is_done()) {
    started_ = true;
    boost::system::error_code error;
    const size_t used = parser_->parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    bytes.erase(0, used);
    if (error == beast::http::error::need_more) {
      if (bytes.size() > kMaxHeaders && !parser_->parser.is_header_done()) {
        bad_status_ = 431;
        return State::Bad;
      }
      return State::More;
    }
    if (error) {
      bad_status_ = status_of(error);
      return State::Bad;
    }
    if (used == 0) break;
  }
  return parser_->parser.is_done() ? State::Done : State::More;
}

bool RequestReader::wants_continue() {
  if (continued_ || !parser_->parser.is_header_done() || parser_->parser.is_done()) return false;
  const auto& fields = parser_->parser.get();
  const auto expect = fields[beast::http::field::expect];
  if (!same_header_name(std::string_view(expect.data(), expect.size()), "100-continue")) return false;
  continued_ = true;
  return true;
}

HttpRequest RequestReader::take() {
  auto message = parser_->parser.release();
  HttpRequest request;
  const auto method = message.method_string();
  const auto target = message.target();
  request.method.assign(method.data(), method.size());
  request.target.assign(target.data(), target.size());
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    request.headers.emplace_back(std::string(name.data(), name.size()),
                                 std::string(trimmed(std::string_view(value.data(), value.size()))));
  }
  request.keep_alive = message.keep_alive();
  request.body = std::move(message.body());
  *this = RequestReader();
  return request;
}

}  // namespace ttyward::mcp::http
