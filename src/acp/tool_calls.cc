#include "acp/tool_calls.h"

#include <algorithm>

namespace ttyward::acp {
namespace {

// Of what only is shown, and of a command that can be judged: an agent may send 32 MiB, and does so in vain.
constexpr size_t kLongestText = 4 << 10;
constexpr size_t kLongestCommand = 128 << 10;

void take_text(const json::object& from, std::string_view name, std::string& to) {
  if (auto text = rpc::text_at(from, name)) to = text->size() <= kLongestText ? std::move(*text) : "";
}

void take_command(const json::object& input, ToolCall& call) {
  call.command.clear();
  call.argv.clear();
  for (const std::string_view name : {"command", "cmd", "script"}) {
    if (auto line = rpc::text_at(input, name)) {
      if (line->size() <= kLongestCommand) call.command = std::move(*line);
      break;
    }
    if (const json::array* words = rpc::array_at(input, name)) {
      std::vector<std::string> argv;
      size_t size = 0;
      for (const json::value& word : *words) {
        if (!word.is_string()) continue;
        argv.emplace_back(rpc::view(word.get_string()));
        size += argv.back().size() + 1;
      }
      if (argv.size() != words->size() || argv.empty()) continue;
      if (size <= kLongestCommand) call.argv = std::move(argv);
      break;
    }
  }
  for (const std::string_view name : {"cwd", "workdir", "directory"}) {
    auto folder = rpc::text_at(input, name);
    if (folder && folder->starts_with('/') && folder->size() <= kLongestText) call.cwd = std::move(*folder);
  }
}

}  // namespace

bool ToolCall::calls_us(const Profile* profile) const {
  if (profile == nullptr) return false;
  return names_our_tool(*profile, title) || names_our_tool(*profile, name) ||
         std::any_of(profile->our_calls.begin(), profile->our_calls.end(),
                     [this](const std::string& begin) { return id.starts_with(begin); });
}

std::string ToolCall::shown() const {
  if (!command.empty()) return command;
  std::string out;
  for (const std::string& word : argv) out += (out.empty() ? "" : " ") + word;
  return out.empty() ? title : out;
}

void ToolCall::take(const json::object& update) {
  take_text(update, "title", title);
  take_text(update, "name", name);
  // Where the title of a permission request is something else, one agent names the tool here.
  if (const json::object* meta = rpc::object_at(update, "_meta")) take_text(*meta, "toolName", name);
  take_text(update, "kind", kind);
  take_text(update, "status", status);
  if (const json::object* input = rpc::object_at(update, "rawInput")) take_command(*input, *this);
  if (const json::array* content = rpc::array_at(update, "content")) {
    for (const json::value& each : *content) {
      const json::object* item = each.if_object();
      has_terminal = has_terminal || (item != nullptr && rpc::text_or(*item, "type") == "terminal");
    }
  }
}

const ToolCall* ToolCalls::note(const json::object& update) {
  const auto id = rpc::text_at(update, "toolCallId");
  if (!id || id->size() > kLongestText) return nullptr;
  if (calls_.size() >= kMost && !calls_.contains(*id)) calls_.clear();
  ToolCall& call = calls_[*id];
  if (rpc::text_or(update, "sessionUpdate") == "tool_call") call = ToolCall();
  call.id = *id;
  call.take(update);
  return &call;
}

ToolCall* ToolCalls::find(const std::string& id) {
  const auto found = calls_.find(id);
  return found != calls_.end() ? &found->second : nullptr;
}

std::string ToolCalls::only_waiting() const {
  std::string found;
  for (const auto& [id, call] : calls_) {
    const bool waits = call.status.empty() || call.status == "pending" || call.status == "in_progress";
    if (call.kind != "execute" || !waits || call.has_terminal) continue;
    if (!found.empty()) return {};
    found = id;
  }
  return found;
}

}  // namespace ttyward::acp
