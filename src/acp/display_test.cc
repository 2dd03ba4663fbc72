#include "acp/display.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "client/caller.h"
#include "io/loop.h"

namespace ttyward::acp {
namespace {

constexpr size_t kMostShown = 1024;

// The daemon: commands print `output`, and nothing else is known of them.
class Daemon final : public client::Caller {
 public:
  using client::Caller::call;
  uint64_t call(std::string name, json::object args, OnPart, OnDone done) override {
    EXPECT_EQ(name, "read");
    const json::object* const raw = rpc::object_at(args, "raw");
    const auto offset = static_cast<size_t>(rpc::integer_at(*raw, "offset").value_or(0));
    const std::string rest = output.substr(std::min(offset, output.size()));
    json::object answer;
    answer["text"] = "";
    answer["base64"] = base::to_base64(rest);
    answer["next_offset"] = output.size();
    answer["total_bytes"] = output.size();
    done(std::move(answer));
    return 1;
  }
  void cancel(uint64_t) override {}
  void on_event(OnEvent) override {}
  void on_connected(std::function<void()>) override {}
  void close() override {}

  std::string output;
};

class Editor final : public Sides {
 public:
  explicit Editor(io::Loop& loop) : loop_(loop) {}
  io::Loop& loop() override { return loop_; }
  void answer_agent(const AgentId&, json::value) override {}
  void refuse_agent(const AgentId&, int, std::string_view, json::object) override {}
  void tell_editor(std::string_view, json::object params) override { told.push_back(std::move(params)); }
  uint64_t ask_editor(std::string_view, json::object, rpc::OnAnswer) override { return 1; }
  void withdraw(uint64_t) override {}
  bool agent_is_behind() const override { return false; }
  void log(const std::string& text) override { logged.push_back(text); }

  std::vector<json::object> told;
  std::vector<std::string> logged;

 private:
  io::Loop& loop_;
};

class DisplayTest : public ::testing::Test {
 protected:
  DisplayTest() : loop(std::move(io::Loop::create().value())), editor(*loop) {}

  std::unique_ptr<Display> display(EditorView view) {
    auto made = std::make_unique<Display>(editor, view, "/ttyward", [](const Told&) {});
    made->set_session("s1");
    return made;
  }
  // A terminal whose command has ended.
  std::shared_ptr<Terminal> add(Display& to, const std::string& id) {
    auto made = std::make_shared<Terminal>(*loop, daemon, there, "c" + id, 1 << 20);
    bool may_embed = false;
    to.add(id, made, [&] { may_embed = true; });
    EXPECT_TRUE(may_embed);
    wire::CommandResult ended;
    ended.state = "exited";
    ended.exit_code = 0;
    made->end(ended);
    EXPECT_TRUE(made->ended());
    return made;
  }
  void tell(Display& to, const std::string& call, const json::object& meta) {
    json::object update = {{"sessionUpdate", "tool_call_update"}, {"toolCallId", call}, {"_meta", meta}};
    to.pass("{}", update, calls);
  }
  static size_t alive(const std::vector<std::weak_ptr<Terminal>>& all) {
    size_t count = 0;
    for (const auto& each : all) count += each.expired() ? 0 : 1;
    return count;
  }

  std::unique_ptr<io::Loop> loop;
  Editor editor;
  Daemon daemon;
  ToolCalls calls;
  std::shared_ptr<bool> there = std::make_shared<bool>(true);
};

TEST_F(DisplayTest, ReleasedTerminalsThatWereNeverShownAreForgotten) {
  for (const EditorView view : {EditorView::Meta, EditorView::Text}) {
    const auto shown = display(view);
    std::vector<std::weak_ptr<Terminal>> all;
    for (size_t i = 0; i < 3 * kMostShown; i++) {
      const std::string id = std::to_string(i);
      all.push_back(add(*shown, id));
      shown->release(id);
    }
    EXPECT_LE(alive(all), kMostShown);
    EXPECT_FALSE(all.back().expired());
  }
}

TEST_F(DisplayTest, TerminalsInUseAreKeptAndMoreAreNotShown) {
  const auto shown = display(EditorView::Meta);
  std::vector<std::weak_ptr<Terminal>> all;
  for (size_t i = 0; i < kMostShown + 3; i++) all.push_back(add(*shown, std::to_string(i)));
  EXPECT_EQ(alive(all), kMostShown);
  EXPECT_FALSE(all.front().expired());
  ASSERT_EQ(editor.logged.size(), 3u);
  EXPECT_NE(editor.logged.front().find("is not shown"), std::string::npos);
}

TEST_F(DisplayTest, WhatAnAgentTellsAndNeverEndsGivesWay) {
  const auto shown = display(EditorView::Meta);
  for (size_t i = 0; i < 2 * kMostShown; i++)
    tell(*shown, "call", {{"terminal_info", json::object{{"terminal_id", "told" + std::to_string(i)}}}});
  std::weak_ptr<Terminal> ours = add(*shown, "ours");
  EXPECT_FALSE(ours.expired());
  EXPECT_TRUE(editor.logged.empty());
}

TEST_F(DisplayTest, OfAReleasedTerminalTheEndIsKept) {
  daemon.output = std::string(200 << 10, 'x') + "the end";
  for (const bool released : {false, true}) {
    const auto shown = display(EditorView::Meta);
    add(*shown, "t");
    if (released) shown->release("t");
    editor.told.clear();
    const json::object update = {
        {"sessionUpdate", "tool_call_update"},
        {"toolCallId", "call"},
        {"content", json::array{json::object{{"type", "terminal"}, {"terminalId", "t"}}}}};
    shown->pass(R"({"params":{"update":{}}})", update, calls);
    loop->post([this] { loop->stop(); });
    loop->run();
    std::string text;
    for (const json::object& each : editor.told) {
      const json::object& meta = each.at("update").at("_meta").as_object();
      if (const json::object* output = rpc::object_at(meta, "terminal_output"))
        text += rpc::text_or(*output, "data");
    }
    EXPECT_EQ(text.size(), released ? Display::kShownText : daemon.output.size());
    EXPECT_TRUE(text.ends_with("the end"));
  }
}

}  // namespace
}  // namespace ttyward::acp
