#include "cli/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/fields.h"
#include "cli/shown_text.h"
#include "cli/terminal_table.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr size_t kHeader = 2;        // headline and titles
constexpr size_t kFooter = 1;        // keys or message
constexpr size_t kLeastPreview = 4;  // rows; with less there is none

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(one_line(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!lines.empty() && lines.back().find_first_not_of(' ') == std::string::npos) lines.pop_back();
  return lines;
}

}  // namespace

void TopView::set_terminals(const json::object& answer) {
  const std::string before = selected_id();
  terminals_.clear();
  for (const json::object* each : objects_in(answer, "terminals")) terminals_.push_back(*each);
  for (size_t i = 0; i < terminals_.size(); ++i) {
    if (text_in(terminals_[i].get_object(), "id") == before) selected_ = i;
  }
  selected_ = terminals_.empty() ? 0 : std::min(selected_, terminals_.size() - 1);
}

void TopView::set_preview(const std::string& terminal, std::string text) {
  preview_of_ = terminal;
  preview_ = std::move(text);
}

void TopView::move(int by) {
  if (terminals_.empty()) return;
  const auto last = static_cast<int64_t>(terminals_.size()) - 1;
  selected_ = static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(selected_) + by, 0, last));
}

void TopView::select_first() {
  selected_ = 0;
}

void TopView::select_last() {
  selected_ = terminals_.empty() ? 0 : terminals_.size() - 1;
}

const json::object* TopView::selected() const {
  return selected_ < terminals_.size() ? &terminals_[selected_].get_object() : nullptr;
}

std::string TopView::selected_id() const {
  return selected() != nullptr ? text_in(*selected(), "id") : "";
}

std::string TopView::selected_name() const {
  if (selected() == nullptr) return "";
  const std::string name = text_in(*selected(), "name");
  return one_line(name.empty() ? selected_id() : name);
}

std::vector<const json::object*> TopView::terminals() const {
  std::vector<const json::object*> all;
  all.reserve(terminals_.size());
  for (const json::value& each : terminals_) all.push_back(&each.get_object());
  return all;
}

std::string TopView::headline() const {
  size_t busy = 0;
  size_t asking = 0;
  for (const json::object* each : terminals()) {
    const std::string state = text_in(*each, "state");
    busy += state == "busy" ? 1 : 0;
    asking += state == "awaiting_input" ? 1 : 0;
  }
  return fmt::format("ttyward: {} terminal{}, {} busy, {} waiting for input", terminals_.size(),
                     terminals_.size() == 1 ? "" : "s", busy, asking);
}

TopView::Window TopView::window(int rows) const {
  const auto height = static_cast<size_t>(std::max(rows, 0));
  const size_t body = height > kHeader + kFooter ? height - kHeader - kFooter : 0;
  // At most half of it, if a look at the selected one is to fit below.
  const bool split = body >= 2 * kLeastPreview;
  const size_t count = std::min(terminals_.size(), split ? body / 2 : body);
  const size_t first = selected_ >= count && count > 0 ? selected_ - count + 1 : 0;
  return {first, count};
}

std::vector<std::string> TopView::rows(int cols, int rows, int64_t now_ms) const {
  const auto width = static_cast<size_t>(std::max(cols, 1));
  const auto height = static_cast<size_t>(std::max(rows, 0));
  std::vector<std::string> out{cut_to(headline(), width)};
  const std::vector<std::string> table = terminal_lines(terminals(), Ids::Short, width, now_ms);
  out.push_back(table.front());
  const auto [first, count] = window(rows);
  for (size_t i = first; i < first + count; ++i) out.push_back(table[i + 1]);
  if (terminals_.empty()) out.emplace_back(cut_to("there are none; ttyward open makes one", width));

  const size_t used = out.size() + kFooter;
  if (height >= used + kLeastPreview && selected() != nullptr) {
    out.push_back("-- " + cut_to(selected_name(), width > 6 ? width - 6 : 1) + " --");
    const std::vector<std::string> lines =
        preview_of_ == selected_id() ? lines_of(preview_) : std::vector<std::string>();
    const size_t room = height - out.size() - kFooter;
    for (size_t i = lines.size() > room ? lines.size() - room : 0; i < lines.size(); ++i)
      out.push_back(cut_to(lines[i], width));
  }
  out.resize(height > kFooter ? height - kFooter : 0);
  if (height > 0) out.push_back(cut_to(message_.empty() ? kTopKeys : message_, width));
  return out;
}

std::string TopView::paint(int cols, int rows, int64_t now_ms) const {
  const std::vector<std::string> all = this->rows(cols, rows, now_ms);
  const size_t marked = terminals_.empty() ? all.size() : kHeader + selected_ - window(rows).first;
  std::string out = "\033[?2026h\033[?25l";
  for (size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("\033[{};1H\033[0m", i + 1);
    if (i == 0 || i + 1 == all.size()) out += "\033[1m";
    const bool mark = i == marked && i + kFooter < all.size();
    if (mark) out += "\033[7m" + pad_to(all[i], static_cast<size_t>(std::max(cols, 1)));
    if (!mark) out += all[i];
    out +=
        mark || shown_width(all[i]) >= static_cast<size_t>(std::max(cols, 1)) ? "\033[0m" : "\033[0m\033[K";
  }
  return out + "\033[?2026l";
}

}  // namespace ttyward::cli
