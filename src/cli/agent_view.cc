#include "cli/agent_view.h"

#include <fmt/format.h>

#include <utility>

#include "cli/shown_text.h"
#include "rpc/json.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr size_t kKeptOutput = 1 << 20;
constexpr size_t kWidestTitle = 100;

// Text of a model: lines stay lines, everything else that acts on a terminal is left out.
std::string visible(std::string_view text) {
  acp::PlainText plain(kKeptOutput);
  plain.feed(text);
  plain.settle();
  return plain.take();
}

std::string seconds(AgentView::Clock::duration time) {
  return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count());
}

}  // namespace

std::string AgentView::end_text() {
  return std::exchange(in_text_, false) ? "\n" : "";
}

std::string AgentView::update(const json::object& update, Clock::time_point now) {
  const std::string kind = rpc::text_or(update, "sessionUpdate");
  if (kind == "agent_message_chunk") {
    const json::object* const content = rpc::object_at(update, "content");
    const std::string text = content != nullptr ? visible(rpc::text_or(*content, "text")) : "";
    if (!text.empty()) in_text_ = text.back() != '\n';
    return text;
  }
  if (kind == "plan") return end_text() + plan(update);
  if (kind == "tool_call" || kind == "tool_call_update") return tool_call(update, now);
  return {};
}

std::string AgentView::plan(const json::object& update) const {
  std::string out = paint_(Colour::Bold, "Plan") + "\n";
  const json::array* const entries = rpc::array_at(update, "entries");
  if (entries == nullptr) return {};
  for (const json::value& each : *entries) {
    const json::object* entry = each.if_object();
    if (entry == nullptr) continue;
    const std::string status = rpc::text_or(*entry, "status");
    const char* const mark = status == "completed" ? "[x]" : status == "in_progress" ? "[>]" : "[ ]";
    out += fmt::format("  {} {}\n", mark, one_line(rpc::text_or(*entry, "content")));
  }
  return out;
}

std::string AgentView::tool_call(const json::object& update, Clock::time_point now) {
  const std::string id = rpc::text_or(update, "toolCallId");
  Tool& tool = tools_[id];
  if (tool.since == Clock::time_point()) tool.since = now;
  if (const auto title = rpc::text_at(update, "title")) tool.title = cut_to(one_line(*title), kWidestTitle);
  if (const auto status = rpc::text_at(update, "status")) tool.status = *status;
  if (const json::object* input = rpc::object_at(update, "rawInput")) {
    if (const auto command = rpc::text_at(*input, "command"))
      tool.title = cut_to(one_line(*command), kWidestTitle);
  }
  std::string out;
  const bool runs = tool.status == "in_progress" || rpc::object_at(update, "_meta") != nullptr;
  if (!tool.announced && !tool.over && runs) {
    tool.announced = true;
    out += end_text() + paint_(Colour::Blue, "Running " + tool.title + "…") + "\n";
  }
  if (const json::object* meta = rpc::object_at(update, "_meta")) out += terminal(*meta, tool);
  const bool over = tool.status == "completed" || tool.status == "failed" || tool.status == "cancelled";
  if (over && !tool.over) {
    tool.over = true;
    std::string how = tool.exit.empty() ? tool.status : tool.exit;
    const Colour colour = tool.status == "completed" ? Colour::Green : Colour::Red;
    out += end_text() +
           paint_(colour, fmt::format("Executed {} ({}, {})", tool.title, how, seconds(now - tool.since))) +
           "\n";
  }
  return out;
}

std::string AgentView::terminal(const json::object& meta, Tool& tool) {
  std::string out;
  if (const json::object* printed = rpc::object_at(meta, "terminal_output")) {
    auto& text = outputs_[rpc::text_or(*printed, "terminal_id")];
    if (!text) text = std::make_unique<acp::PlainText>(kKeptOutput);
    text->feed(rpc::text_or(*printed, "data"));
    text->settle();
    out = text->take();
    if (!out.empty()) in_text_ = out.back() != '\n';
  }
  if (const json::object* exit = rpc::object_at(meta, "terminal_exit")) {
    if (const auto code = rpc::integer_at(*exit, "exit_code")) tool.exit = fmt::format("exit {}", *code);
    if (const auto signal = rpc::text_at(*exit, "signal")) tool.exit = one_line(*signal);
  }
  return out;
}

std::string AgentView::question(const json::object& params) {
  const json::object* tool = rpc::object_at(params, "toolCall");
  std::string out = end_text();
  std::string about = tool != nullptr ? rpc::text_or(*tool, "title") : "";
  if (tool != nullptr) {
    if (const json::object* input = rpc::object_at(*tool, "rawInput")) {
      if (const auto command = rpc::text_at(*input, "command")) about = *command;
    }
    if (about.empty()) about = tools_[rpc::text_or(*tool, "toolCallId")].title;
  }
  out += paint_(Colour::Yellow, "Permission: ") + one_line(about) + "\n";
  if (const json::array* options = rpc::array_at(params, "options")) {
    size_t number = 0;
    for (const json::value& each : *options) {
      const json::object* option = each.if_object();
      if (option == nullptr) continue;
      out += fmt::format("  {}) {}\n", ++number, one_line(rpc::text_or(*option, "name")));
    }
  }
  return out;
}

}  // namespace ttyward::cli
