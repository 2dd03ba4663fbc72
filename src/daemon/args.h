// The arguments of a call: each read by name and kind, once; what is wrong or not
// known is named in one error.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "daemon/responder.h"
#include "wire/call_error.h"

namespace ttyward::daemon {

class Args {
 public:
  explicit Args(boost::json::object object) : object_(std::move(object)) {}

  bool has(const char* name);  // there, and not null
  std::optional<boost::json::value> any(const char* name);
  bool is_number(const char* name);
  std::string text(const char* name, std::string otherwise = {});
  std::string required_text(const char* name);
  int64_t number(const char* name, int64_t otherwise, int64_t least, int64_t most);
  std::optional<int64_t> maybe_number(const char* name, int64_t least, int64_t most);
  std::chrono::milliseconds duration(const char* name, std::chrono::milliseconds otherwise);
  bool flag(const char* name, bool otherwise = false);
  std::vector<std::string> texts(const char* name);
  std::vector<int64_t> numbers(const char* name);
  // {"NAME": "value"} as NAME=value.
  std::vector<std::string> environment(const char* name);
  std::optional<boost::json::object> object(const char* name);
  std::vector<boost::json::object> objects(const char* name);
  // One of `choices`; the first is the default.
  std::string choice(const char* name, const std::vector<const char*>& choices);
  void wrong(std::string message);

  // After everything was read: answers the call with what is wrong, if anything is.
  bool refused(const Responder& responder);

 private:
  const boost::json::value* get(const char* name);

  boost::json::object object_;
  std::set<std::string> known_;
  std::string error_;
};

}  // namespace ttyward::daemon
