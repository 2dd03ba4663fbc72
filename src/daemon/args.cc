#include "daemon/args.h"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace ttyward::daemon {

namespace json = boost::json;

const json::value* Args::get(const char* name) {
  known_.insert(name);
  const json::value* value = object_.if_contains(name);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

void Args::wrong(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

bool Args::has(const char* name) {
  return get(name) != nullptr;
}

std::optional<json::value> Args::any(const char* name) {
  const json::value* value = get(name);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return *value;
}

bool Args::is_number(const char* name) {
  const json::value* value = get(name);
  return value != nullptr && value->is_number();
}

std::string Args::text(const char* name, std::string otherwise) {
  const json::value* value = get(name);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) {
    wrong(std::string("'") + name + "' must be a string");
    return otherwise;
  }
  return {value->get_string().data(), value->get_string().size()};
}

std::string Args::required_text(const char* name) {
  std::string given = text(name);
  if (given.empty()) wrong(std::string("'") + name + "' is missing or empty");
  return given;
}

std::optional<int64_t> Args::maybe_number(const char* name, int64_t least, int64_t most) {
  const json::value* value = get(name);
  if (value == nullptr) return std::nullopt;
  std::optional<int64_t> number;
  if (value->is_int64()) number = value->get_int64();
  if (value->is_double() &&
      value->get_double() == static_cast<double>(static_cast<int64_t>(value->get_double()))) {
    number = static_cast<int64_t>(value->get_double());
  }
  if (!number || *number < least || *number > most) {
    wrong(std::string("'") + name + "' must be a whole number from " + std::to_string(least) + " to " +
          std::to_string(most));
    return std::nullopt;
  }
  return number;
}

int64_t Args::number(const char* name, int64_t otherwise, int64_t least, int64_t most) {
  return maybe_number(name, least, most).value_or(otherwise);
}

std::chrono::milliseconds Args::duration(const char* name, std::chrono::milliseconds otherwise) {
  constexpr int64_t kLongest = int64_t{1000} * 3600 * 24 * 365;
  return std::chrono::milliseconds(number(name, otherwise.count(), 0, kLongest));
}

bool Args::flag(const char* name, bool otherwise) {
  const json::value* value = get(name);
  if (value == nullptr) return otherwise;
  if (!value->is_bool()) {
    wrong(std::string("'") + name + "' must be true or false");
    return otherwise;
  }
  return value->get_bool();
}

std::vector<std::string> Args::texts(const char* name) {
  std::vector<std::string> list;
  const json::value* value = get(name);
  if (value == nullptr) return list;
  if (!value->is_array()) {
    wrong(std::string("'") + name + "' must be a list of strings");
    return list;
  }
  for (const json::value& item : value->get_array()) {
    if (!item.is_string()) {
      wrong(std::string("'") + name + "' must be a list of strings");
      return list;
    }
    list.emplace_back(item.get_string().data(), item.get_string().size());
  }
  return list;
}

std::vector<int64_t> Args::numbers(const char* name) {
  std::vector<int64_t> list;
  const json::value* value = get(name);
  if (value == nullptr) return list;
  if (!value->is_array()) wrong(std::string("'") + name + "' must be a list of whole numbers");
  if (value->is_array()) {
    for (const json::value& item : value->get_array()) {
      if (!item.is_int64()) wrong(std::string("'") + name + "' must be a list of whole numbers");
      list.push_back(item.is_int64() ? item.get_int64() : 0);
    }
  }
  return list;
}

std::vector<std::string> Args::environment(const char* name) {
  std::vector<std::string> list;
  const auto variables = object(name);
  if (!variables) return list;
  for (const auto& [key, value] : *variables) {
    if (!value.is_string()) {
      wrong(std::string("'") + name + "' must map names to strings");
      return list;
    }
    list.push_back(std::string(key.data(), key.size()) + "=" +
                   std::string(value.get_string().data(), value.get_string().size()));
  }
  return list;
}

std::optional<json::object> Args::object(const char* name) {
  const json::value* value = get(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) {
    wrong(std::string("'") + name + "' must be an object");
    return std::nullopt;
  }
  return value->get_object();
}

std::vector<json::object> Args::objects(const char* name) {
  std::vector<json::object> list;
  const json::value* value = get(name);
  if (value == nullptr) return list;
  if (!value->is_array()) {
    wrong(std::string("'") + name + "' must be a list of objects");
    return list;
  }
  for (const json::value& item : value->get_array()) {
    if (!item.is_object()) {
      wrong(std::string("'") + name + "' must be a list of objects");
      return list;
    }
    list.push_back(item.get_object());
  }
  return list;
}

std::string Args::choice(const char* name, const std::vector<const char*>& choices) {
  std::string given = text(name, choices.front());
  std::string all;
  for (const char* one : choices) {
    if (given == one) return given;
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  wrong(std::string("'") + name + "' must be one of " + all);
  return choices.front();
}

bool Args::refused(const Responder& responder) {
  for (const auto& [key, value] : object_) {
    const std::string name(key.data(), key.size());
    if (!known_.contains(name)) wrong("there is no argument '" + name + "'");
  }
  if (error_.empty()) return false;
  responder.fail({wire::Code::InvalidArgument, error_});
  return true;
}

}  // namespace ttyward::daemon
