// For tests: a daemon made of answers, and a client that remembers what it was sent.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/loop.h"
#include "mcp/backend.h"
#include "mcp/notices.h"
#include "mcp/peer.h"
#include "mcp/server.h"
#include "mcp/tools/terminals.h"
#include "rpc/outlet.h"

namespace ttyward::mcp::testing {

inline json::object parse(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size())).as_object();
}

// Answers each call by what `on` was told; calls nobody was told about stay open.
class ScriptedBackend final : public Backend {
 public:
  struct Call {
    uint64_t number;
    std::string name;
    json::object args;
    OnPart on_part;
    OnDone on_done;
  };

  uint64_t call(std::string name, json::object args, OnPart on_part, OnDone on_done) override {
    const uint64_t number = ++last_;
    const auto open = std::make_shared<Call>(
        Call{number, std::move(name), std::move(args), std::move(on_part), std::move(on_done)});
    calls.push_back(open);
    const auto found = answers_.find(open->name);
    if (found != answers_.end()) finish(*open, found->second(open->args));
    return number;
  }
  void cancel(uint64_t number) override {
    cancelled.push_back(number);
    for (const auto& open : calls) {
      if (open->number == number)
        finish(*open, tl::unexpected(call_failure(wire::Code::Cancelled, "cancelled")));
    }
  }
  void on_event(OnEvent handler) override { event_ = std::move(handler); }
  void on_connected(std::function<void()> handler) override { connected_ = std::move(handler); }
  void close() override {
    for (size_t i = 0; i < calls.size(); i++)
      finish(*calls[i], tl::unexpected(call_failure(wire::Code::Cancelled, "closed")));
  }

  void on(const std::string& name, std::function<CallReply(const json::object&)> answer) {
    answers_[name] = std::move(answer);
  }
  void on(const std::string& name, const std::string& reply) {
    on(name, [reply](const json::object&) { return CallReply(parse(reply)); });
  }
  void event(const json::object& event) { event_(event); }
  void connect() { connected_(); }
  static void finish(Call& call, CallReply reply) {
    if (const OnDone done = std::exchange(call.on_done, nullptr)) done(std::move(reply));
  }
  const json::object& last_args(const std::string& name) const {
    static const json::object kNone;
    for (auto it = calls.rbegin(); it != calls.rend(); ++it) {
      if ((*it)->name == name) return (*it)->args;
    }
    ADD_FAILURE() << "no call " << name;
    return kNone;
  }
  size_t count(const std::string& name) const {
    size_t n = 0;
    for (const auto& each : calls) n += each->name == name ? 1 : 0;
    return n;
  }

  std::vector<std::shared_ptr<Call>> calls;
  std::vector<uint64_t> cancelled;

 private:
  std::map<std::string, std::function<CallReply(const json::object&)>> answers_;
  OnEvent event_;
  std::function<void()> connected_;
  uint64_t last_ = 0;
};

class RecordingOutlet final : public Outlet {
 public:
  void send(const json::object& message, Last last) override {
    messages.push_back(message);
    if (last == Last::Yes) answers++;
  }
  void close() override { closed = true; }
  std::vector<json::object> messages;
  size_t answers = 0;
  bool closed = false;
};

// A client of a server with the real tools.
class Client {
 public:
  Client()
      : loop(std::move(io::Loop::create().value())),
        catalog(*loop, {agent, person}, notices, tools::Roots::open({}).value(), "session"),
        server(*loop, catalog, notices),
        out(std::make_shared<RecordingOutlet>()),
        peer(std::make_shared<Peer>(server, "test", out)) {}

  void send(const json::object& message) { peer->receive(rpc::parse(json::serialize(message)), out); }
  void notify(const char* method, json::object params) { send(rpc::notification(method, std::move(params))); }

  int64_t start(const std::string& method, json::object params) {
    const int64_t id = ++last_id;
    json::object message{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
    message["params"] = std::move(params);
    send(message);
    return id;
  }
  // The whole response.
  json::object answer(int64_t id) {
    for (int turns = 0; turns < 10'000; turns++) {
      for (const json::object& message : out->messages) {
        const json::value* found = message.if_contains("id");
        if (found != nullptr && *found == json::value(id) && !message.contains("method")) return message;
      }
      loop->turn(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no answer to " << id;
    return {};
  }
  json::object call(const std::string& method, json::object params) {
    return answer(start(method, std::move(params)));
  }
  json::object initialize(const char* version = "2025-11-25", json::object capabilities = {}) {
    return call("initialize", {{"protocolVersion", version},
                               {"capabilities", std::move(capabilities)},
                               {"clientInfo", json::object{{"name", "test"}, {"version", "1"}}}});
  }
  static json::object modern(json::object params, json::object capabilities = {}) {
    params["_meta"] = json::object{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                                   {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}};
    return params;
  }
  static json::object tool(const char* name, json::object arguments) {
    return {{"name", name}, {"arguments", std::move(arguments)}};
  }
  // What is in `result` of a response.
  static const json::object& result(const json::object& response) {
    static const json::object kNone;
    const json::object* found = object_at(response, "result");
    if (found == nullptr) ADD_FAILURE() << json::serialize(response);
    return found != nullptr ? *found : kNone;
  }
  static std::string text(const json::object& response) {
    const json::array* content = array_at(result(response), "content");
    return content != nullptr && !content->empty() ? text_or(content->front().as_object(), "text") : "";
  }
  static int64_t error(const json::object& response) {
    const json::object* found = object_at(response, "error");
    return found != nullptr ? integer_at(*found, "code").value_or(0) : 0;
  }
  std::vector<json::object> notifications(std::string_view method) const {
    std::vector<json::object> found;
    for (const json::object& message : out->messages) {
      if (text_or(message, "method") == method) found.push_back(message);
    }
    return found;
  }

  std::unique_ptr<io::Loop> loop;
  ScriptedBackend agent;
  ScriptedBackend person;
  Notices notices;
  tools::Terminals catalog;
  Server server;
  std::shared_ptr<RecordingOutlet> out;
  std::shared_ptr<Peer> peer;
  int64_t last_id = 0;
};

}  // namespace ttyward::mcp::testing
