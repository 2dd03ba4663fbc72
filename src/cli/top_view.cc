#include "cli/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/shown_text.h"
#include "cli/terminal_table.h"

namespace ttyward::cli {
namespace {

constexpr size_t kFooter = 1;         // keys or message
constexpr size_t kLeastPreview = 4;   // rows; with less there is none
constexpr size_t kMostApprovals = 5;  // the others are counted

constexpr std::array<const char*, 11> kHelp = {
    "up, down, j   select a terminal; PageUp, PageDown, Home and End go further",
    "Enter         attach to it: your keys are its keyboard",
    "w             watch it without a keyboard",
    "i             interrupt what runs there, as Ctrl-C does",
    "k             end it and everything in it; asks first",
    "a             answer the open questions, one after the other",
    "/             show only terminals with this text; Enter keeps it, Esc forgets it",
    "CPU           share of one processor in the last second; above 100% means several",
    "PORTS         TCP ports its processes listen on",
    "?             show or hide this",
    "q             leave; everything keeps running",
};

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

std::string lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool has_id(const std::vector<wire::Approval>& list, const std::string& id) {
  return std::any_of(list.begin(), list.end(), [&](const wire::Approval& each) { return each.id == id; });
}

std::string plural(size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

void TopView::set_terminals(std::vector<wire::Terminal> terminals) {
  const std::string before = selected_id();
  terminals_ = std::move(terminals);
  const auto all = shown();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->id == before) selected_ = i;
  }
  selected_ = all.empty() ? 0 : std::min(selected_, all.size() - 1);
}

bool TopView::set_approvals(std::vector<wire::Approval> approvals) {
  const std::vector<wire::Approval> before = std::exchange(approvals_, std::move(approvals));
  return std::any_of(approvals_.begin(), approvals_.end(),
                     [&](const wire::Approval& each) { return !has_id(before, each.id); });
}

void TopView::set_preview(const std::string& terminal, std::string text) {
  preview_of_ = terminal;
  preview_ = std::move(text);
}

void TopView::set_filter(std::string text) {
  const std::string before = selected_id();
  filter_ = std::move(text);
  const auto all = shown();
  selected_ = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->id == before) selected_ = i;
  }
}

void TopView::move(int by) {
  const size_t count = shown().size();
  if (count == 0) return;
  const auto last = static_cast<int64_t>(count) - 1;
  selected_ = static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(selected_) + by, 0, last));
}

void TopView::select_first() {
  selected_ = 0;
}

void TopView::select_last() {
  const size_t count = shown().size();
  selected_ = count == 0 ? 0 : count - 1;
}

const wire::Terminal* TopView::selected() const {
  const auto all = shown();
  return selected_ < all.size() ? all[selected_] : nullptr;
}

std::string TopView::selected_id() const {
  return selected() != nullptr ? selected()->id : "";
}

std::string TopView::selected_name() const {
  if (selected() == nullptr) return "";
  return one_line(selected()->name.empty() ? selected_id() : selected()->name);
}

bool TopView::matches(const wire::Terminal& terminal) const {
  if (filter_.empty()) return true;
  const std::string wanted = lowered(filter_);
  std::string all = command_of(terminal);
  for (const std::string* member :
       {&terminal.id, &terminal.name, &terminal.task, &terminal.owner, &terminal.state, &terminal.cwd})
    all += '\n' + *member;
  return lowered(std::move(all)).find(wanted) != std::string::npos;
}

std::vector<const wire::Terminal*> TopView::shown() const {
  std::vector<const wire::Terminal*> all;
  for (const wire::Terminal& each : terminals_) {
    if (matches(each)) all.push_back(&each);
  }
  return all;
}

std::string TopView::headline() const {
  size_t busy = 0;
  size_t asking = 0;
  for (const wire::Terminal& each : terminals_) {
    busy += each.state == "busy" ? 1 : 0;
    asking += each.state == "awaiting_input" ? 1 : 0;
  }
  std::string out = "ttyward: ";
  if (!approvals_.empty())
    out += plural(approvals_.size(), "question waits for your answer (a), ",
                  "questions wait for your answer (a), ");
  out += fmt::format("{}, {} busy, {} waiting for input", plural(terminals_.size(), "terminal", "terminals"),
                     busy, asking);
  if (!filter_.empty()) out += fmt::format(", {} shown with '{}'", shown().size(), one_line(filter_));
  return out;
}

std::string TopView::footer() const {
  return message_.empty() ? kTopKeys : message_;
}

void TopView::add_approvals(std::vector<Line>& out, size_t width, size_t height, int64_t now_ms) const {
  // At most a third of the screen is theirs.
  const size_t room = std::min(kMostApprovals, height / 3);
  if (approvals_.empty() || room == 0) return;
  auto all = pointers_to(approvals_);
  const size_t more = all.size() - std::min(all.size(), room);
  all.resize(all.size() - more);
  const auto plain = approval_lines(all, width, now_ms);
  const auto painted = approval_lines(all, width, now_ms, paint_);
  for (size_t i = 0; i < plain.size(); ++i) out.push_back({plain[i], painted[i]});
  if (more > 0) out.push_back({cut_to(fmt::format("and {} more", more), width), ""});
}

void TopView::add_agents(std::vector<Line>& out, size_t width, size_t height) const {
  constexpr size_t kMostAgents = 3;
  size_t shown = 0;
  for (const wire::ServedAgent& agent : agents_) {
    if (agent.shell != "not_governed" || shown >= std::min(kMostAgents, height / 6)) continue;
    shown++;
    const std::string text = cut_to("agent " + one_line(agent.name) + ": " + one_line(agent.note), width);
    out.push_back({text, paint_(Colour::Yellow, text)});
  }
}

void TopView::add_terminals(std::vector<Line>& out, size_t width, size_t height, int64_t now_ms) const {
  const auto all = shown();
  const auto plain = terminal_lines(all, uses_, Ids::Short, width, now_ms);
  const auto painted = terminal_lines(all, uses_, Ids::Short, width, now_ms, paint_);
  out.push_back({plain.front(), painted.front()});
  const size_t used = out.size() + kFooter;
  const size_t body = height > used ? height - used : 0;
  // At most half of it, if a look at the selected one is to fit below.
  const bool split = body >= 2 * kLeastPreview;
  const size_t count = std::min(all.size(), split ? body / 2 : body);
  const size_t first = selected_ >= count && count > 0 ? selected_ - count + 1 : 0;
  for (size_t i = first; i < first + count; ++i)
    out.push_back({plain[i + 1], painted[i + 1], i == selected_});
  if (!all.empty()) return;
  const char* const none = terminals_.empty() ? "there are no terminals; ttyward open opens one"
                                              : "no terminal matches; / changes the filter";
  out.push_back({cut_to(none, width), ""});
}

void TopView::add_below(std::vector<Line>& out, size_t width, size_t height) const {
  if (height < out.size() + kFooter + kLeastPreview) return;
  const auto titled = [&](const std::string& title) {
    out.push_back({"-- " + cut_to(title, width > 6 ? width - 6 : 1) + " --", ""});
  };
  if (help_) {
    titled("keys");
    for (const char* line : kHelp) out.push_back({cut_to(line, width), ""});
    return;
  }
  if (selected() == nullptr) return;
  titled(selected_name());
  const std::vector<std::string> lines =
      preview_of_ == selected_id() ? lines_of(preview_) : std::vector<std::string>();
  const size_t room = height - out.size() - kFooter;
  for (size_t i = lines.size() > room ? lines.size() - room : 0; i < lines.size(); ++i)
    out.push_back({cut_to(lines[i], width), ""});
}

std::vector<TopView::Line> TopView::lines(int cols, int rows, int64_t now_ms) const {
  const auto width = static_cast<size_t>(std::max(cols, 1));
  const auto height = static_cast<size_t>(std::max(rows, 0));
  const std::string head = cut_to(headline(), width);
  std::vector<Line> out{{head, paint_(Colour::Bold, head)}};
  add_approvals(out, width, height, now_ms);
  add_agents(out, width, height);
  add_terminals(out, width, height, now_ms);
  add_below(out, width, height);
  out.resize(height > kFooter ? height - kFooter : 0);
  const std::string foot = cut_to(footer(), width);
  if (height > 0) out.push_back({foot, paint_(Colour::Bold, foot)});
  return out;
}

std::vector<std::string> TopView::rows(int cols, int rows, int64_t now_ms) const {
  std::vector<std::string> out;
  for (Line& line : lines(cols, rows, now_ms)) out.push_back(std::move(line.text));
  return out;
}

std::string TopView::paint(int cols, int rows, int64_t now_ms) const {
  const auto width = static_cast<size_t>(std::max(cols, 1));
  std::string out = "\033[?2026h\033[?25l";
  size_t row = 0;
  for (const Line& line : lines(cols, rows, now_ms)) {
    out += fmt::format("\033[{};1H\033[0m", ++row);
    if (line.marked) {
      out += "\033[7m" + pad_to(line.text, width) + "\033[0m";
      continue;
    }
    out += line.painted.empty() ? line.text : line.painted;
    out += shown_width(line.text) >= width ? "\033[0m" : "\033[0m\033[K";
  }
  return out + "\033[?2026l";
}

}  // namespace ttyward::cli
