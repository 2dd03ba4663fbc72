// A WHERE clause and its values, put together from what a query asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/database.h"

namespace ttyward::store {

class Where {
 public:
  // `condition` has one `?`, or none.
  void add(std::string_view condition) {
    clause_ += std::string(clause_.empty() ? " WHERE " : " AND ").append(condition);
  }
  void add(std::string_view condition, std::variant<std::string, int64_t> value) {
    add(condition);
    values_.push_back(std::move(value));
  }

  void equals(const char* column, const std::string& value) {
    if (!value.empty()) add(std::string(column) + " = ?", value);
  }
  void contains(const char* column, const std::string& text) {
    if (!text.empty()) add(std::string("instr(lower(") + column + "), lower(?)) > 0", text);
  }
  // The folder itself or anything below it.
  void is_under(const char* column, std::string folder) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folder.empty() || folder == "/") return;
    add(std::string("substr(") + column + " || '/', 1, length(?)) = ?", folder + "/");
    values_.push_back(values_.back());
  }
  void between(const char* column, const std::optional<int64_t>& since, const std::optional<int64_t>& until) {
    if (since) add(std::string(column) + " >= ?", *since);
    if (until) add(std::string(column) + " < ?", *until);
  }

  const std::string& clause() const { return clause_; }
  // Binds from parameter 1 on; returns the next free one.
  int bind(Statement& statement) const {
    int parameter = 1;
    for (const auto& value : values_) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        statement.text(parameter++, *text);
      } else {
        statement.number(parameter++, std::get<int64_t>(value));
      }
    }
    return parameter;
  }

 private:
  std::string clause_;
  std::vector<std::variant<std::string, int64_t>> values_;
};

}  // namespace ttyward::store
