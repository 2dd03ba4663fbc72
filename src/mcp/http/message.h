// An HTTP request as bytes become one. Bounded: what is larger than the limits is refused with the right
// status.
//
// Pure: no socket. The library that reads HTTP stays inside message.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttyward::mcp::http {

inline constexpr size_t kMaxBody = 4u << 20;      // a larger request: 413
inline constexpr size_t kMaxHeaders = 16u << 10;  // longer headers: 431

struct HttpRequest {
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool keep_alive = true;

  // By name, any case, without space around it. Null if it is missing or there more than once.
  std::optional<std::string> header(std::string_view name) const;
  size_t count(std::string_view name) const;
};

class RequestReader {
 public:
  enum class State { More, Done, Bad };

  RequestReader();
  ~RequestReader();
  RequestReader& operator=(RequestReader&&) noexcept;

  // Takes what it needs from the front of `bytes`.
  State feed(std::string& bytes);
  // True once, when the client waits for "100 Continue".
  bool wants_continue();
  bool started() const { return started_; }
  // After Done; the next request begins.
  HttpRequest take();
  int bad_status() const { return bad_status_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  bool started_ = false;
  bool continued_ = false;
  int bad_status_ = 400;
};

bool same_header_name(std::string_view a, std::string_view b);

}  // namespace ttyward::mcp::http
