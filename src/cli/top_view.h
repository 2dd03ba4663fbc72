// What `top` shows, as a value: terminals, which one is selected, a look at its screen; and how that is
// drawn. Nothing here reads or writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace ttyward::cli {

class TopView {
 public:
  // The answer of `list`. What was selected stays so, or its neighbour is.
  void set_terminals(const boost::json::object& answer);
  // What the selected terminal shows, as text.
  void set_preview(const std::string& terminal, std::string text);
  void set_message(std::string text) { message_ = std::move(text); }

  void move(int by);
  void select_first();
  void select_last();

  // null: there is none
  const boost::json::object* selected() const;
  std::string selected_id() const;
  std::string selected_name() const;

  // Exactly `rows` rows; none is wider than `cols`.
  std::vector<std::string> rows(int cols, int rows, int64_t now_ms) const;
  // The same as bytes for a terminal, the selected row inverted.
  std::string paint(int cols, int rows, int64_t now_ms) const;

 private:
  std::vector<const boost::json::object*> terminals() const;
  std::string headline() const;
  // Which rows of the list are shown: `first` and how many.
  struct Window {
    size_t first;
    size_t count;
  };
  Window window(int rows) const;

  boost::json::array terminals_;
  size_t selected_ = 0;
  std::string preview_of_;
  std::string preview_;
  std::string message_;
};

inline constexpr const char* kTopKeys = "up/down select  Enter attach  w watch  i interrupt  k kill  q quit";

}  // namespace ttyward::cli
