// What an agent's commands show in the editor.
//
// An agent embeds a terminal by its id, which the editor does not know: the terminal is ours. How it is shown
// depends on what the editor can do:
//   Meta       the editor draws terminals from `_meta`: it gets the output as it comes
//   Terminals  the editor has terminals of its own: one of them runs `ttyward attach --read-only`
//   Text       neither: the end of the output stands there as text, drawn again as it grows
// Some agents show terminals that they own themselves, through `_meta`. Those are passed on, or shown as
// text, and noted in the history as told by the agent.
//
// What was shown stays after the agent released the terminal. Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "acp/plain_text.h"
#include "acp/sides.h"
#include "acp/terminal.h"
#include "acp/tool_calls.h"

namespace ttyward::acp {

enum class EditorView { Meta, Terminals, Text };

// A command that an agent ran with its own tools.
struct Told {
  std::string command;
  std::string cwd;
  std::string title;
  std::optional<int64_t> exit_code;
  std::string signal;
  int64_t duration_ms = 0;
  uint64_t bytes = 0;
  uint64_t lines = 0;
};

class Display {
 public:
  static constexpr size_t kShownText = 8 << 10;  // Text: of the end of the output

  // `session` is the agent's; it is set before anything is shown. `program` is the ttyward that attaches.
  Display(Sides& sides, EditorView view, std::string program, std::function<void(const Told&)> told)
      : sides_(sides), view_(view), program_(std::move(program)), told_(std::move(told)) {}
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  ~Display();

  void set_session(std::string id) { session_ = std::move(id); }
  // A terminal of ours. `then` is called when the agent may embed it.
  void add(const std::string& id, const std::shared_ptr<Terminal>& terminal, std::function<void()> then);
  // The agent does not need it any more. What is shown stays.
  void release(const std::string& id);
  // An update of a tool call on its way to the editor: the line, or what is sent instead.
  std::string pass(std::string line, const json::object& update, ToolCalls& calls);

 private:
  static constexpr std::chrono::milliseconds kPause{200};  // at most five updates a second
  static constexpr std::chrono::milliseconds kLongestPause{1000};
  static constexpr size_t kMostShown = 1024;

  // A terminal that can be embedded: ours, or one that the agent tells of.
  struct Shown {
    std::shared_ptr<Terminal> terminal;  // null: told by the agent
    std::string viewer;                  // the editor's terminal that attaches; empty: none
    std::string unsent;                  // Meta: bytes that were not sent yet
    std::unique_ptr<PlainText> text;     // of one that is told
    Told told;
    bool told_ended = false;
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    std::set<std::string> calls;  // tool calls that embed it
    std::string drawn;            // Text: what stands there
    bool finished = false;        // nothing more comes
    bool released = false;        // by the agent
    std::chrono::milliseconds pause = kPause;
    io::Loop::TimerId timer = 0;

    std::string_view text_now() const { return terminal ? terminal->text().text() : text->text(); }
    bool ended() const { return terminal ? terminal->ended() : told_ended; }
    // Nobody misses it: it is shown as it will stay, or was released without having been shown.
    bool over() const {
      return finished || told_ended || (released && ended() && (calls.empty() || !viewer.empty()));
    }
    void keep_unsent(size_t most);
  };
  using Entry = std::map<std::string, Shown>::iterator;

  void hear(const json::object& update, ToolCalls& calls);
  Shown& told_terminal(const std::string& id);
  Entry forget(Entry entry);
  void forget_finished();
  // False: everything that is there is in use.
  bool make_room();
  std::string without_forgeries(std::string line, const json::object& update) const;
  // The content as the editor can show it; nullopt: as it is.
  std::optional<json::array> shown_content(const std::string& call, const json::array& content);
  void embed(const std::string& id, const std::string& call);
  void look_later(const std::string& id);
  void look(const std::string& id);
  void draw(const std::string& id);
  // Both return whether there was something new.
  bool draw_text(Shown& shown);
  bool send_output(const std::string& id, Shown& shown);
  void update_call(const std::string& call, json::object fields);
  void release_viewer(const std::string& viewer);
  static json::value text_item(const Shown& shown);

  Sides& sides_;
  const EditorView view_;
  const std::string program_;
  const std::function<void(const Told&)> told_;
  std::string session_;
  std::map<std::string, Shown> shown_;           // by the terminal's id
  std::map<std::string, json::array> contents_;  // Text: by tool call, what the agent wants to show
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
