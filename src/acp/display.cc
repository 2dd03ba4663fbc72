#include "acp/display.h"

#include <algorithm>
#include <utility>

#include "acp/json_edit.h"
#include "base/utf8.h"

namespace ttyward::acp {
namespace {

constexpr size_t kLargestContent = 256 << 10;  // Text: kept of what an agent shows beside a terminal
constexpr size_t kToldText = 64 << 10;         // kept of what an agent tells
constexpr size_t kUnsent = 256 << 10;          // Meta: kept of what was printed before it is embedded
constexpr size_t kLargestChunk = 64 << 10;

// Bytes as UTF-8 that JSON can carry. An unfinished character at the end stays in `bytes`, unless it is the
// end of all.
std::string take_text(std::string& bytes, bool last) {
  size_t keep = 0;
  if (!last) {
    for (size_t back = 1; back <= std::min<size_t>(3, bytes.size()); back++) {
      const auto byte = static_cast<uint8_t>(bytes[bytes.size() - back]);
      if ((byte & 0xC0) == 0x80) continue;
      if (base::utf8_lead(byte).following >= back) keep = back;
      break;
    }
  }
  const std::string_view whole = std::string_view(bytes).substr(0, bytes.size() - keep);
  std::string out;
  for (size_t at = 0; at < whole.size();) base::append_utf8(out, base::decode_utf8(whole, at));
  bytes.erase(0, whole.size());
  return out;
}

// What encloses a text that is shown as it is: longer than anything like it inside.
std::string fence_for(std::string_view text) {
  size_t longest = 2;
  for (size_t at = text.find('`'); at != std::string_view::npos; at = text.find('`', at)) {
    const size_t end = std::min(text.find_first_not_of('`', at), text.size());
    longest = std::max(longest, end - at);
    at = end;
  }
  return std::string(longest + 1, '`');
}

std::string_view tail(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t begin = text.size() - most;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) begin++;
  return text.substr(begin);
}

}  // namespace

Display::~Display() {
  *alive_ = false;
  for (auto& [id, shown] : shown_) {
    sides_.loop().cancel(shown.timer);
    if (shown.terminal) shown.terminal->on_bytes({});
  }
}

void Display::add(const std::string& id, const std::shared_ptr<Terminal>& terminal,
                  std::function<void()> then) {
  if (!make_room()) {
    sides_.log("terminal " + id + " is not shown in the editor: too many are shown already");
    return then();
  }
  Shown& shown = shown_[id];
  shown.terminal = terminal;
  terminal->when_ended([this, alive = alive_, id] {
    if (*alive) look(id);
  });
  if (view_ == EditorView::Meta) {
    terminal->on_bytes([this, id](std::string_view bytes) {
      const auto found = shown_.find(id);
      if (found == shown_.end()) return;
      Shown& to = found->second;
      to.unsent += bytes;
      const size_t most = to.released && to.calls.empty() ? kShownText : kUnsent;
      if (to.unsent.size() > 2 * most) to.keep_unsent(most);
    });
  }
  if (view_ != EditorView::Terminals) return then();
  json::object params;
  params["sessionId"] = session_;
  params["command"] = program_;
  params["args"] = json::array{"attach", "--read-only", terminal->terminal_id};
  if (!terminal->cwd.empty()) params["cwd"] = terminal->cwd;
  sides_.ask_editor(
      "terminal/create", std::move(params),
      [this, alive = alive_, id, then = std::move(then)](const rpc::Answer& answer) {
        if (!*alive) return;
        const json::object* made = answer.object();
        const auto found = shown_.find(id);
        if (found != shown_.end() && made != nullptr) {
          found->second.viewer = rpc::text_or(*made, "terminalId");
          release_viewer(found->second.viewer);
        } else {
          sides_.log("the editor could not open a terminal to show " + id + ": " + answer.error);
        }
        then();
      });
}

void Display::Shown::keep_unsent(size_t most) {
  unsent.erase(0, unsent.size() - tail(unsent, most).size());
  unsent.shrink_to_fit();
}

void Display::release(const std::string& id) {
  const auto found = shown_.find(id);
  if (found == shown_.end()) return;
  found->second.released = true;
  // An agent shows a terminal before it releases it. If it comes to that later, the end is enough.
  if (found->second.calls.empty()) found->second.keep_unsent(kShownText);
}

Display::Entry Display::forget(Entry entry) {
  sides_.loop().cancel(entry->second.timer);
  if (entry->second.terminal) entry->second.terminal->on_bytes({});
  return shown_.erase(entry);
}

void Display::forget_finished() {
  for (auto each = shown_.begin(); each != shown_.end();)
    each = each->second.over() ? forget(each) : std::next(each);
}

bool Display::make_room() {
  if (shown_.size() >= kMostShown) forget_finished();
  if (shown_.size() < kMostShown) return true;
  // Terminals that an agent tells of, and whose end it never tells, give way to ours.
  auto oldest = shown_.end();
  for (auto each = shown_.begin(); each != shown_.end(); ++each) {
    if (each->second.terminal) continue;
    if (oldest == shown_.end() || each->second.since < oldest->second.since) oldest = each;
  }
  if (oldest == shown_.end()) return false;
  forget(oldest);
  return true;
}

// When it has shown everything, it ends by itself, and the editor keeps what it drew.
void Display::release_viewer(const std::string& viewer) {
  if (viewer.empty()) return;
  const json::object params = {{"sessionId", session_}, {"terminalId", viewer}};
  sides_.ask_editor("terminal/wait_for_exit", params, [this, alive = alive_, params](const rpc::Answer&) {
    if (*alive) sides_.ask_editor("terminal/release", params, [](const rpc::Answer&) {});
  });
}

Display::Shown& Display::told_terminal(const std::string& id) {
  Shown& shown = shown_[id];
  if (!shown.terminal && !shown.text) shown.text = std::make_unique<PlainText>(kToldText);
  return shown;
}

// What the agent tells of terminals that it owns.
void Display::hear(const json::object& update, ToolCalls& calls) {
  const json::object* const meta = rpc::object_at(update, "_meta");
  if (meta == nullptr) return;
  const auto about = [&](std::string_view name) -> Shown* {
    const json::object* told = rpc::object_at(*meta, name);
    const auto id = told != nullptr ? rpc::text_at(*told, "terminal_id") : std::nullopt;
    if (!id) return nullptr;
    if (shown_.size() >= kMostShown && !shown_.contains(*id)) {
      forget_finished();
      if (shown_.size() >= kMostShown) return nullptr;
    }
    Shown& shown = told_terminal(*id);
    return shown.terminal || shown.told_ended ? nullptr : &shown;  // ours are not the agent's to tell of
  };
  const ToolCall* const call = calls.find(rpc::text_or(update, "toolCallId"));
  if (Shown* shown = about("terminal_info")) {
    shown->told.cwd = rpc::text_or(*rpc::object_at(*meta, "terminal_info"), "cwd");
  }
  if (Shown* shown = about("terminal_output")) {
    const std::string data = rpc::text_or(*rpc::object_at(*meta, "terminal_output"), "data");
    shown->text->feed(data);
    shown->told.bytes += data.size();
    const std::string id = rpc::text_or(*rpc::object_at(*meta, "terminal_output"), "terminal_id");
    if (view_ != EditorView::Meta) look_later(id);
  }
  if (Shown* shown = about("terminal_exit")) {
    const json::object& exit = *rpc::object_at(*meta, "terminal_exit");
    shown->text->settle();
    shown->told_ended = true;
    shown->told.exit_code = rpc::integer_at(exit, "exit_code");
    shown->told.signal = rpc::text_or(exit, "signal");
    shown->told.lines = shown->text->lines();
    shown->told.duration_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - shown->since)
            .count();
    if (call != nullptr) {
      shown->told.command = call->shown();
      shown->told.title = call->title;
      if (shown->told.cwd.empty()) shown->told.cwd = call->cwd;
    }
    if (shown->told.command.empty()) shown->told.command = rpc::text_or(exit, "terminal_id");
    told_(shown->told);
    if (view_ != EditorView::Meta) look(rpc::text_or(exit, "terminal_id"));
  }
}

std::string Display::pass(std::string line, const json::object& update, ToolCalls& calls) {
  calls.note(update);
  hear(update, calls);
  line = without_forgeries(std::move(line), update);
  const auto call = rpc::text_at(update, "toolCallId");
  const json::array* const content = rpc::array_at(update, "content");
  if (!call || content == nullptr) return line;
  std::vector<std::string> embedded;
  for (const json::value& each : *content) {
    const json::object* item = each.if_object();
    if (item != nullptr && rpc::text_or(*item, "type") == "terminal")
      embedded.push_back(rpc::text_or(*item, "terminalId"));
  }
  if (view_ == EditorView::Text || view_ == EditorView::Terminals) contents_.erase(*call);
  if (embedded.empty()) return line;
  for (const std::string& id : embedded) {
    if (shown_.contains(id)) embed(id, *call);
  }
  if (view_ == EditorView::Meta) {
    // The editor makes a terminal of its own for an id when it is told of it here.
    const auto ours = std::find_if(embedded.begin(), embedded.end(), [this](const std::string& id) {
      const auto found = shown_.find(id);
      return found != shown_.end() && found->second.terminal != nullptr;
    });
    if (ours == embedded.end()) return line;
    json::object info = {{"terminal_id", *ours}};
    if (const std::string& cwd = shown_.at(*ours).terminal->cwd; !cwd.empty()) info["cwd"] = cwd;
    return with_value(line, {"params", "update", "_meta", "terminal_info"}, json::serialize(info))
        .value_or(line);
  }
  if (const auto other = shown_content(*call, *content)) {
    if (contents_.size() >= kMostShown) contents_.clear();
    const std::string now = json::serialize(*other);
    if (now.size() <= kLargestContent) contents_[*call] = *content;
    return with_value(line, {"params", "update", "content"}, now).value_or(line);
  }
  return line;
}

// What our terminals print and how they end is ours to say.
std::string Display::without_forgeries(std::string line, const json::object& update) const {
  const json::object* const meta = rpc::object_at(update, "_meta");
  if (meta == nullptr) return line;
  for (const std::string_view name : {"terminal_info", "terminal_output", "terminal_exit"}) {
    const json::object* const told = rpc::object_at(*meta, name);
    const auto found = told != nullptr ? shown_.find(rpc::text_or(*told, "terminal_id")) : shown_.end();
    if (found == shown_.end() || !found->second.terminal) continue;
    if (auto changed = with_value(line, {"params", "update", "_meta", name}, "null"))
      line = std::move(*changed);
  }
  return line;
}

json::value Display::text_item(const Shown& shown) {
  const std::string_view end = tail(shown.text_now(), kShownText);
  const std::string fence = fence_for(end);
  std::string text = fence + "\n";
  const bool cut = shown.terminal ? shown.terminal->text().truncated() : shown.text->truncated();
  if (cut || end.size() < shown.text_now().size()) text += "…\n";
  text += end;
  if (!end.empty() && end.back() != '\n') text += '\n';
  text += fence;
  return json::object{{"type", "content"}, {"content", json::object{{"type", "text"}, {"text", text}}}};
}

std::optional<json::array> Display::shown_content(const std::string&, const json::array& content) {
  json::array out;
  bool changed = false;
  for (const json::value& each : content) {
    const json::object* item = each.if_object();
    const auto found = item != nullptr && rpc::text_or(*item, "type") == "terminal"
                           ? shown_.find(rpc::text_or(*item, "terminalId"))
                           : shown_.end();
    if (found == shown_.end()) {
      out.push_back(each);
    } else if (!found->second.viewer.empty()) {
      json::object viewed = *item;
      viewed["terminalId"] = found->second.viewer;
      out.push_back(std::move(viewed));
      changed = true;
    } else {
      out.push_back(text_item(found->second));
      changed = true;
    }
  }
  if (!changed) return std::nullopt;
  return out;
}

void Display::embed(const std::string& id, const std::string& call) {
  Shown& shown = shown_.at(id);
  shown.calls.insert(call);
  if (!shown.terminal || !shown.viewer.empty() || shown.finished) return;
  if (!shown.ended()) return look_later(id);
  // At once, but behind the update that embeds it.
  sides_.loop().post([this, alive = alive_, id] {
    if (*alive) look(id);
  });
}

void Display::look_later(const std::string& id) {
  Shown& shown = shown_.at(id);
  if (shown.timer != 0) return;
  shown.timer = sides_.loop().after(shown.pause, [this, id] {
    const auto found = shown_.find(id);
    if (found == shown_.end()) return;
    found->second.timer = 0;
    look(id);
  });
}

void Display::look(const std::string& id) {
  const auto found = shown_.find(id);
  if (found == shown_.end() || found->second.finished) return;
  sides_.loop().cancel(found->second.timer);
  if (!found->second.terminal) return draw(id);
  found->second.terminal->refresh([this, alive = alive_, id] {
    if (*alive && shown_.contains(id)) draw(id);
  });
}

void Display::draw(const std::string& id) {
  Shown& shown = shown_.at(id);
  const bool ended = shown.ended();
  if (shown.calls.empty()) return;  // nobody shows it yet
  bool something = false;
  if (view_ == EditorView::Meta && shown.terminal) {
    something = send_output(id, shown);
  } else if (shown.viewer.empty()) {
    something = draw_text(shown);
  }
  if (ended) {
    shown.finished = true;
    return;
  }
  // A command that prints nothing is looked at less and less often.
  shown.pause = something ? kPause : std::min(shown.pause * 2, kLongestPause);
  if (shown.terminal) look_later(id);
}

bool Display::draw_text(Shown& shown) {
  const std::string now(tail(shown.text_now(), kShownText));
  if (now == shown.drawn) return false;
  shown.drawn = now;
  for (const std::string& call : shown.calls) {
    const auto wanted = contents_.find(call);
    if (wanted == contents_.end()) continue;  // the agent shows something else there by now
    if (auto content = shown_content(call, wanted->second))
      update_call(call, {{"content", std::move(*content)}});
  }
  return true;
}

bool Display::send_output(const std::string& id, Shown& shown) {
  const std::string& call = *shown.calls.begin();
  const bool ended = shown.terminal->ended();
  const std::string text = take_text(shown.unsent, ended);
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.size(), at + kLargestChunk);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
    update_call(
        call,
        {{"_meta", json::object{{"terminal_output",
                                 json::object{{"terminal_id", id}, {"data", text.substr(at, end - at)}}}}}});
    at = end;
  }
  if (!ended) return !text.empty();
  const json::object status = shown.terminal->exit_status();
  json::object exit = {{"terminal_id", id}};
  exit["exit_code"] = status.at("exitCode");
  exit["signal"] = status.at("signal");
  update_call(call, {{"_meta", json::object{{"terminal_exit", std::move(exit)}}}});
  return true;
}

void Display::update_call(const std::string& call, json::object fields) {
  json::object update;
  update["sessionUpdate"] = "tool_call_update";
  update["toolCallId"] = call;
  for (auto& [name, value] : fields) update[name] = std::move(value);
  sides_.tell_editor("session/update", {{"sessionId", session_}, {"update", std::move(update)}});
}

}  // namespace ttyward::acp
