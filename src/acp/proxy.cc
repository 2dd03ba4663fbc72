#include "acp/proxy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/ids.h"
#include "rpc/message.h"
#include "wire/types/daemon_calls.h"

namespace ttyward::acp {
namespace {

constexpr const char* kUsualName = "ttyward";  // of our MCP server, where a person has set it up
constexpr size_t kMostPending = 4096;

json::object object_of(std::string_view text) {
  json::parse_options options;
  options.max_depth = kDeepest;
  json::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  return !error && value.is_object() ? std::move(value.get_object()) : json::object();
}

bool makes_session(const std::string& method) {
  return method == "session/new" || method == "session/load" || method == "session/resume" ||
         method == "session/fork";
}

// Adds what is in `more` to `to`: objects are joined, lists get what they lack, the rest is replaced.
void merge(json::value& to, const json::value& more) {
  if (to.is_object() && more.is_object()) {
    for (const auto& [name, value] : more.get_object()) merge(to.get_object()[name], value);
  } else if (to.is_array() && more.is_array()) {
    for (const json::value& each : more.get_array()) {
      if (std::find(to.get_array().begin(), to.get_array().end(), each) == to.get_array().end())
        to.get_array().push_back(each);
    }
  } else {
    to = more;
  }
}

}  // namespace

Proxy::Proxy(io::Loop& loop, ProxyOptions options, Outputs outputs)
    : loop_(loop),
      options_(std::move(options)),
      outputs_(std::move(outputs)),
      own_ids_("ttyward-" + base::random_nonce() + "-"),
      profile_(options_.started_with) {}

Proxy::~Proxy() {
  *alive_ = false;
  // Whoever owns the descriptors may be gone already.
  outputs_ = {[](std::string_view) {}, [](std::string_view) {}, [](const std::string&) {},
              [] { return false; }};
  asked_.clear();
}

// ---- reading

std::optional<Proxy::Line> Proxy::read(std::string_view text, bool by_agent) {
  auto outline = Outline::of(text);
  if (!outline) {
    unreadable(by_agent, "this is not one JSON object, or has a member twice");
    return std::nullopt;
  }
  Line line{text, outline->text("method").value_or(std::string()),
            std::string(outline->value("id").value_or(std::string_view())), std::move(*outline)};
  const auto method = line.outline.value("method");
  const bool is_answer = line.outline.value("result") || line.outline.value("error");
  const bool good_id = line.id.empty() || line.id.front() == '"' || line.id.front() == '-' ||
                       (line.id.front() >= '0' && line.id.front() <= '9') || (!method && line.id == "null");
  const bool wrong = !good_id || (method && line.method.empty()) ||
                     (!method && (line.id.empty() || !is_answer)) || (method && is_answer);
  if (!wrong) return line;
  unreadable(by_agent, "this is not a request, a notification or an answer");
  return std::nullopt;
}

void Proxy::unreadable(bool by_agent, std::string_view why) {
  // Of a flood of them, fewer and fewer are worth a line of the log.
  if (std::has_single_bit(++dropped_))
    log(std::string("a line of the ") + (by_agent ? "agent" : "editor") + " was dropped: " +
        std::string(why) + (dropped_ > 1 ? " (" + std::to_string(dropped_) + " so far)" : ""));
  json::object answer;
  answer["jsonrpc"] = "2.0";
  answer["id"] = nullptr;
  answer["error"] = rpc::error_object(rpc::kParseError, why);
  (by_agent ? outputs_.agent : outputs_.editor)(json::serialize(answer));
}

// ---- the editor's lines

void Proxy::from_editor(std::string_view text) {
  const auto line = read(text, false);
  if (!line) return;
  if (!line->method.empty()) return line->id.empty() ? editor_notification(*line) : editor_request(*line);
  // An answer: to a request of ours, or of the agent.
  const auto id = string_of(line->id);
  if (!id || !id->starts_with(own_ids_))
    return passed_.erase(MessageId(line->id)) > 0 ? outputs_.agent(line->text) : drop_answer(false);
  uint64_t number = 0;
  std::from_chars(id->data() + own_ids_.size(), id->data() + id->size(), number);
  const auto found = asked_.find(number);
  if (found == asked_.end()) return;  // withdrawn meanwhile
  const rpc::OnAnswer done = std::move(found->second);
  asked_.erase(found);
  json::object message = object_of(line->text);
  rpc::Answer answer;
  if (json::value* result = message.if_contains("result")) {
    answer.result = std::move(*result);
  } else if (const json::object* error = rpc::object_at(message, "error")) {
    answer.code = static_cast<int>(rpc::integer_at(*error, "code").value_or(rpc::kInternalError));
    answer.error = rpc::text_or(*error, "message", "the editor answered with an error");
  }
  done(std::move(answer));
}

void Proxy::editor_request(const Line& line) {
  const std::string params(line.outline.value("params").value_or("{}"));
  const MessageId id(line.id);
  if (pending_.contains(id) || pending_.size() >= kMostPending) {
    json::object refused;
    refused["jsonrpc"] = "2.0";
    refused["id"] = json::parse(line.id);
    refused["error"] = rpc::error_object(
        rpc::kInvalidRequest, "this id belongs to a request that is not answered yet, or there are too many");
    return outputs_.editor(json::serialize(refused));
  }
  Pending pending;
  pending.method = line.method;
  if (const auto outline = Outline::of(params)) pending.session = outline->text("sessionId").value_or("");
  std::string out(line.text);
  Session* session = nullptr;
  if (line.method == "initialize") {
    out = with_terminals(line);
  } else if (makes_session(line.method)) {
    out = with_our_server(line, pending);
    const auto known = sessions_.find(pending.session);
    session = pending.new_session        ? pending.new_session.get()
              : known != sessions_.end() ? known->second.get()
                                         : nullptr;
  }
  pending_[id] = std::move(pending);
  if (session == nullptr) return outputs_.agent(out);
  session->when_ready([this, alive = alive_, out] {
    if (*alive) outputs_.agent(out);
  });
}

void Proxy::editor_notification(const Line& line) {
  if (line.method == "session/cancel") {
    if (Session* session = session_of(object_of(line.outline.value("params").value_or("{}"))))
      session->cancel_turn();
  }
  outputs_.agent(line.text);
}

// The editor's own abilities are remembered; the agent is told ours.
std::string Proxy::with_terminals(const Line& line) {
  const json::object params = object_of(line.outline.value("params").value_or("{}"));
  const int64_t wanted = rpc::integer_at(params, "protocolVersion").value_or(1);
  const json::object* const abilities = rpc::object_at(params, "clientCapabilities");
  const json::object* const meta = abilities != nullptr ? rpc::object_at(*abilities, "_meta") : nullptr;
  if (meta != nullptr && rpc::flag_at(*meta, "terminal_output")) {
    view_ = EditorView::Meta;
  } else if (abilities != nullptr && rpc::flag_at(*abilities, "terminal")) {
    view_ = EditorView::Terminals;
  }
  std::string out(line.text);
  const auto set = [&out](std::initializer_list<std::string_view> path, std::string_view value) {
    if (auto changed = with_value(out, path, value)) out = std::move(*changed);
  };
  // The agent answers with the version both speak.
  if (wanted > options_.protocol) set({"params", "protocolVersion"}, std::to_string(options_.protocol));
  if (wanted >= 2 && options_.protocol >= 2) return out;  // there, clients have no terminals
  set({"params", "clientCapabilities", "terminal"}, "true");
  set({"params", "clientCapabilities", "_meta", "terminal_output"}, "true");
  return out;
}

std::optional<std::string> Proxy::mcp_servers(std::string_view given, const std::string& session) const {
  json::error_code error;
  const json::value list = json::parse(json::string_view(given.data(), given.size()), error);
  if (error || !list.is_array()) return std::nullopt;  // the agent will say what is wrong with it
  for (const json::value& each : list.get_array()) {
    const json::object* server = each.if_object();
    const std::string name = server != nullptr ? rpc::text_or(*server, "name") : "";
    if (name == kUsualName || name == options_.server) return std::nullopt;
  }
  json::object server;
  server["name"] = options_.server;
  if (version_ >= 2) server["type"] = "stdio";
  server["command"] = options_.program;
  json::array arguments = {"mcp", "--session", session};
  if (!options_.sandbox.empty()) {
    arguments.push_back("--sandbox");
    arguments.push_back(json::string(options_.sandbox));
  }
  server["args"] = std::move(arguments);
  json::array variables;
  // An agent may start servers with an environment of its own making.
  for (const char* name : {"TTYWARD_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"}) {
    if (const char* value = std::getenv(name))
      variables.push_back(json::object{{"name", name}, {"value", value}});
  }
  server["env"] = std::move(variables);
  const std::string text = json::serialize(server);
  // In front of the closing bracket: what is there stays as it is written.
  const size_t end = given.rfind(']');
  if (list.get_array().empty() || end == std::string_view::npos) return "[" + text + "]";
  return std::string(given.substr(0, end)) + "," + text + std::string(given.substr(end));
}

std::string Proxy::with_our_server(const Line& line, Pending& pending) {
  const std::string params(line.outline.value("params").value_or("{}"));
  const json::object values = object_of(params);
  // One that is loaded or resumed may be open already, and may speak before the answer.
  const bool has_id =
      (line.method == "session/load" || line.method == "session/resume") && !pending.session.empty();
  Session* session = nullptr;
  if (has_id && sessions_.contains(pending.session)) {
    session = sessions_.at(pending.session).get();
  } else {
    auto made = Session::open(
        *this, options_.folders,
        {view_, options_.program, rpc::text_or(values, "cwd", "/"), options_.sandbox, version_});
    if (!made) {
      log("this session is not served: " + made.error().message);
      return std::string(line.text);
    }
    session = made->get();
    if (has_id) {
      session->set_id(pending.session);
      sessions_[pending.session] = std::move(*made);
      pending.opens_session = true;
    } else {
      pending.new_session = std::move(*made);
    }
  }
  std::string out(line.text);
  const auto set = [&out](std::initializer_list<std::string_view> path, std::string_view value) {
    if (auto changed = with_value(out, path, value)) out = std::move(*changed);
  };
  if (options_.inject_mcp) {
    const auto outline = Outline::of(params);
    const auto given = outline ? outline->value("mcpServers") : std::nullopt;
    const auto servers = mcp_servers(given.value_or("[]"), session->name());
    if (servers) set({"params", "mcpServers"}, *servers);
    session->set_has_our_server(servers.has_value());
  }
  if (profile_ != nullptr && !profile_->session_meta.empty()) {
    json::value meta = json::object();
    if (const json::object* given = rpc::object_at(values, "_meta")) meta = *given;
    merge(meta, object_of(profile_->session_meta));
    set({"params", "_meta"}, json::serialize(meta));
  }
  return out;
}

// ---- the agent's lines

void Proxy::from_agent(std::string_view text) {
  const auto line = read(text, true);
  if (!line) return;
  if (line->method.empty()) return agent_answer(*line);
  line->id.empty() ? agent_notification(*line) : agent_request(*line);
}

Session* Proxy::session_of(const json::object& params) {
  const auto found = sessions_.find(rpc::text_or(params, "sessionId"));
  return found != sessions_.end() ? found->second.get() : nullptr;
}

void Proxy::agent_request(const Line& line) {
  const bool terminal = line.method.starts_with("terminal/");
  const bool permission = line.method == "session/request_permission";
  if (!terminal && !permission) return pass_request(line);
  const MessageId id(line.id);
  json::object params = object_of(line.outline.value("params").value_or("{}"));
  Session* const session = session_of(params);
  if (session == nullptr) {
    return refuse_agent(id, kNotFound,
                        "there is no session " + rpc::text_or(params, "sessionId") +
                            ": name one that session/new answered with",
                        {});
  }
  if (permission) {
    Governed governed;
    governed.our_tools = session->has_our_server();
    governed.terminals = profile_ != nullptr && profile_->shell == Profile::Shell::Terminals &&
                         version_ < 2 && !has_own_shell_;
    return session->permissions().request(id, std::move(params), profile_, governed);
  }
  if (session->terminals().handle(line.method, id, params)) return;
  refuse_agent(id, rpc::kMethodNotFound, "there is no method " + line.method, {});
}

void Proxy::pass_request(const Line& line) {
  const MessageId id(line.id);
  if (passed_.contains(id) || passed_.size() >= kMostPending) {
    return refuse_agent(
        id, rpc::kInvalidRequest,
        "this id belongs to a request that is not answered yet, or there are too many: wait for answers", {});
  }
  passed_.insert(id);
  outputs_.editor(line.text);
}

void Proxy::agent_notification(const Line& line) {
  const std::string_view params = line.outline.value("params").value_or("{}");
  if (line.method == "$/cancel_request") {
    const auto outline = Outline::of(params);
    const MessageId id(std::string(outline ? outline->value("requestId").value_or("") : ""));
    for (const auto& [name, session] : sessions_) {
      if (session->cancel(id)) return;
    }
    // Of any other request the editor knows nothing, or it has answered it.
    if (passed_.contains(id)) outputs_.editor(line.text);
    return;
  }
  // Most updates carry text; those that are about tools and terminals say so.
  const bool about_tools = line.method == "session/update" && (params.find("tool_call") != params.npos ||
                                                               params.find("terminal_") != params.npos);
  if (about_tools) {
    const json::object values = object_of(params);
    Session* const session = session_of(values);
    const json::object* const update = rpc::object_at(values, "update");
    if (session != nullptr && update != nullptr) {
      outputs_.editor(session->pass_update(std::string(line.text), *update));
      return watch_shell(session->call(rpc::text_or(*update, "toolCallId")));
    }
  }
  outputs_.editor(line.text);
}

void Proxy::agent_answer(const Line& line) {
  const auto found = pending_.find(MessageId(line.id));
  if (found == pending_.end()) return drop_answer(true);
  Pending pending = std::move(found->second);
  pending_.erase(found);
  const auto result = line.outline.value("result");
  if (result && pending.method == "initialize") {
    initialized(object_of(*result));
  } else if (result && makes_session(pending.method)) {
    const json::object values = object_of(*result);
    outputs_.editor(line.text);
    return session_opened(std::move(pending), values);
  } else if (result && (pending.method == "session/close" || pending.method == "session/delete")) {
    close_session(pending.session);
  } else if (!result && pending.opens_session) {
    session_failed(pending);
  }
  outputs_.editor(line.text);
}

void Proxy::initialized(const json::object& result) {
  version_ = static_cast<int>(rpc::integer_at(result, "protocolVersion").value_or(1));
  const json::object* about = rpc::object_at(result, "agentInfo");
  if (about == nullptr) about = rpc::object_at(result, "info");
  if (about != nullptr) {
    agent_name_ = rpc::text_or(*about, "name");
    agent_version_ = rpc::text_or(*about, "version");
  }
  if (const Profile* named = profile_named(options_.profiles, agent_name_)) profile_ = named;
  announce();
}

// The daemon's log and `ttyward top` say whether this agent's commands are governed.
void Proxy::announce() {
  wire::AgentRequest request;
  request.name = agent_name_.empty() ? "an agent without a name" : agent_name_;
  request.version = agent_version_;
  // What had to be set before the agent began was set only for the profile it was started with.
  const bool begun = profile_ != nullptr && (profile_ == options_.started_with || !prepares_start(*profile_));
  Profile::Shell shell = profile_ != nullptr ? profile_->shell : Profile::Shell::NotGoverned;
  if (shell == Profile::Shell::Mcp && (!begun || !options_.inject_mcp)) shell = Profile::Shell::NotGoverned;
  if (shell == Profile::Shell::Terminals && version_ >= 2) shell = Profile::Shell::NotGoverned;
  if (has_own_shell_) shell = Profile::Shell::NotGoverned;
  request.shell = shell_word(shell);
  if (has_own_shell_) {
    request.note =
        "it ran a command with a shell of its own, which was thought to be off: this is not governed";
  } else if (shell == Profile::Shell::NotGoverned) {
    request.note = profile_ != nullptr && !profile_->note.empty()
                       ? profile_->note
                       : "its own shell is not governed: ttyward sees only what it runs through ttyward";
  }
  log("agent " + request.name + (request.version.empty() ? "" : " " + request.version) + ": " +
      (request.note.empty() ? "its commands run in ttyward (" + request.shell + ")" : request.note));
  client::Options options;
  options.folders = options_.folders;
  options.role = "agent";
  options.client = "ttyward acp";
  status_ = std::make_unique<client::Client>(loop_, std::move(options), client::Client::Presence::Kept);
  status_->on_connected(
      [this, request] { status_->call<wire::AgentRequest>(request, {}, [](const auto&) {}); });
  status_->connect();
}

void Proxy::watch_shell(const ToolCall* call) {
  if (call == nullptr || profile_ == nullptr || has_own_shell_ || call->kind != "execute") return;
  const bool used = call->status == "in_progress" || call->status == "completed";
  const bool by_itself = profile_->shell == Profile::Shell::Mcp
                             ? used && !call->calls_us(profile_)
                             : profile_->shell == Profile::Shell::Terminals && call->status == "completed" &&
                                   !call->has_terminal && !call->calls_us(profile_);
  if (!by_itself) return;
  has_own_shell_ = true;
  announce();
}

void Proxy::session_opened(Pending pending, const json::object& result) {
  if (!pending.new_session) return;
  const std::string id = rpc::text_or(result, "sessionId");
  if (id.empty()) return;
  if (sessions_.contains(id)) return log("the agent gave a session the id of another one; it is not served");
  pending.new_session->set_id(id);
  log("session " + id + " is session " + pending.new_session->name() + " of the daemon");
  sessions_[id] = std::move(pending.new_session);
}

// It was not loaded. A second request for it, if there is one, may still succeed.
void Proxy::session_failed(const Pending& failed) {
  for (auto& [id, pending] : pending_) {
    if (pending.session != failed.session ||
        (pending.method != "session/load" && pending.method != "session/resume"))
      continue;
    pending.opens_session = true;
    return;
  }
  close_session(failed.session);
}

void Proxy::close_session(const std::string& id) {
  auto found = sessions_.extract(id);
  if (found.empty()) return;
  const uint64_t number = ++last_closing_;
  Session& session = *found.mapped();
  closing_[number].session = std::move(found.mapped());
  const std::shared_ptr<void> ended(nullptr, [this, alive = alive_, number](void*) {
    if (!*alive) return;
    loop_.post([this, alive, number] {
      if (*alive) closing_.erase(number);
    });
  });
  session.release_all(ended);
}

void Proxy::drop_answer(bool by_agent) {
  if (!std::has_single_bit(++unasked_)) return;
  log(std::string("the ") + (by_agent ? "agent" : "editor") +
      " answered a request that nobody made, or twice; the answer was dropped" +
      (unasked_ > 1 ? " (" + std::to_string(unasked_) + " so far)" : ""));
}

// ---- the ends

void Proxy::agent_ended(const std::string& why) {
  for (const auto& [id, pending] : std::exchange(pending_, {})) {
    json::object answer;
    answer["jsonrpc"] = "2.0";
    answer["id"] = json::parse(id.text());
    answer["error"] = rpc::error_object(rpc::kInternalError,
                                        why + " before it answered " + pending.method + "; start it again");
    outputs_.editor(json::serialize(answer));
  }
  // Nobody waits for an answer to a question any more. Commands and what they printed stay.
  for (const auto& [id, session] : sessions_) session->cancel_turn();
}

void Proxy::editor_ended(std::function<void()> done) {
  const std::shared_ptr<void> all(nullptr, [this, alive = alive_, done = std::move(done)](void*) {
    if (*alive) loop_.post(done);
  });
  for (const auto& [id, session] : sessions_) session->release_all(all);
  for (auto& [number, closing] : closing_) closing.waiting.push_back(all);
  asked_.clear();
}

// ---- Sides

void Proxy::answer_agent(const AgentId& id, json::value result) {
  std::string line =
      R"({"jsonrpc":"2.0","id":)" + id.text() + R"(,"result":)" + json::serialize(result) + "}";
  outputs_.agent(line);
}

void Proxy::refuse_agent(const AgentId& id, int code, std::string_view message, json::object data) {
  const std::string error = json::serialize(rpc::error_object(code, message, std::move(data)));
  outputs_.agent(R"({"jsonrpc":"2.0","id":)" + id.text() + R"(,"error":)" + error + "}");
}

void Proxy::tell_editor(std::string_view method, json::object params) {
  outputs_.editor(json::serialize(rpc::notification(method, std::move(params))));
}

uint64_t Proxy::ask_editor(std::string_view method, json::object params, rpc::OnAnswer done) {
  const uint64_t number = ++last_asked_;
  asked_[number] = std::move(done);
  json::object message;
  message["jsonrpc"] = "2.0";
  message["id"] = own_ids_ + std::to_string(number);
  message["method"] = method;
  message["params"] = std::move(params);
  outputs_.editor(json::serialize(message));
  return number;
}

void Proxy::withdraw(uint64_t asked) {
  if (asked_.erase(asked) == 0) return;
  tell_editor("$/cancel_request", {{"requestId", own_ids_ + std::to_string(asked)}});
}

}  // namespace ttyward::acp
