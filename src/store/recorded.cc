#include "store/recorded.h"

#include <utility>

namespace ttyward::store {

bool Recorded::open() {
  if (find_) return true;
  auto database = Database::open_to_look(path_);
  if (!database) return false;
  auto find = database->prepare("SELECT 1 FROM commands WHERE id = ?");
  if (!find) return false;
  database_.emplace(std::move(*database));
  find_.emplace(std::move(*find));
  return true;
}

bool Recorded::has(std::string_view command_id) {
  if (!open()) return false;
  const auto found = find_->text(1, command_id).step();
  find_->again();
  if (found) return *found;
  find_.reset();
  database_.reset();
  return false;
}

}  // namespace ttyward::store
