#include "acp/agent_client.h"

#include <utility>

#include "rpc/message.h"

namespace ttyward::acp {
namespace {

const json::object* ability(const json::object& abilities, std::string_view group, std::string_view name) {
  const json::object* const found = rpc::object_at(abilities, group);
  return found != nullptr ? rpc::object_at(*found, name) : nullptr;
}

}  // namespace

base::Result<std::unique_ptr<AgentClient>> AgentClient::start(io::Loop& loop,
                                                              const std::vector<std::string>& argv,
                                                              std::vector<std::string> environment,
                                                              Events events) {
  std::unique_ptr<AgentClient> made(new AgentClient(loop, std::move(events)));
  AgentClient* const self = made.get();
  auto process = AgentProcess::start(loop, argv, std::move(environment), [self] {
    self->loop_.post([self] { self->finish(self->process_->how_it_ended()); });
  });
  if (!process) return tl::unexpected(process.error());
  made->process_ = std::move(*process);
  auto stdio = rpc::Stdio::start(
      loop, made->process_->out(), made->process_->in(),
      [self](std::shared_ptr<rpc::Outlet> out) {
        const rpc::Dialect dialect{"$/cancel_request", rpc::Dialect::Cancelled::IsAnswered};
        self->peer_ = std::make_shared<rpc::Peer>(self->loop_, dialect, *self, std::move(out));
        return self->peer_;
      },
      [] {});
  if (!stdio) return tl::unexpected(stdio.error());
  made->stdio_ = std::move(*stdio);
  return made;
}

AgentClient::~AgentClient() {
  events_ = {};
  questions_.clear();
  stdio_.reset();
}

void AgentClient::finish(const std::string& why) {
  if (const auto told = std::exchange(events_.ended, nullptr)) told(why);
}

void AgentClient::close() {
  stdio_.reset();
  process_->close_stdin();
  loop_.after(AgentProcess::kGrace * 4, [this] { process_->end(); });
}

void AgentClient::initialize(rpc::OnAnswer done) {
  json::object abilities;
  abilities["fs"] = json::object{{"readTextFile", false}, {"writeTextFile", false}};
  abilities["terminal"] = false;
  abilities["_meta"] = json::object{{"terminal_output", true}};
  json::object params;
  params["protocolVersion"] = 1;
  params["clientCapabilities"] = std::move(abilities);
  params["clientInfo"] =
      json::object{{"name", "ttyward"}, {"title", "ttyward"}, {"version", TTYWARD_VERSION}};
  peer_->call("initialize", std::move(params), [this, done = std::move(done)](rpc::Answer answer) {
    if (const json::object* result = answer.object()) {
      if (const json::object* told = rpc::object_at(*result, "agentCapabilities")) abilities_ = *told;
      if (const json::object* about = rpc::object_at(*result, "agentInfo"))
        agent_name_ = rpc::text_or(*about, "title", rpc::text_or(*about, "name"));
    }
    done(std::move(answer));
  });
}

void AgentClient::new_session(const std::string& cwd, rpc::OnAnswer done) {
  peer_->call("session/new", {{"cwd", cwd}, {"mcpServers", json::array()}},
              [this, done = std::move(done)](rpc::Answer answer) {
                if (const json::object* result = answer.object())
                  session_ = rpc::text_or(*result, "sessionId");
                done(std::move(answer));
              });
}

void AgentClient::resume_session(const std::string& id, const std::string& cwd, rpc::OnAnswer done) {
  const bool resumes = ability(abilities_, "sessionCapabilities", "resume") != nullptr;
  if (!resumes && !rpc::flag_at(abilities_, "loadSession"))
    return done(rpc::Answer::failed("this agent can neither resume nor load a session; start a new one"));
  session_ = id;
  peer_->call(resumes ? "session/resume" : "session/load",
              {{"sessionId", id}, {"cwd", cwd}, {"mcpServers", json::array()}}, std::move(done));
}

void AgentClient::list_sessions(const std::string& cwd, rpc::OnAnswer done) {
  if (ability(abilities_, "sessionCapabilities", "list") == nullptr)
    return done(rpc::Answer::failed("this agent does not list its sessions"));
  list_page({{"cwd", cwd}}, json::array(), std::move(done));
}

void AgentClient::list_page(json::object params, json::array before, rpc::OnAnswer done) {
  peer_->call("session/list", params,
              [this, params, before = std::move(before), done = std::move(done)](rpc::Answer answer) mutable {
                const json::object* const page = answer.object();
                if (page == nullptr) return done(std::move(answer));
                const json::array* const sessions = rpc::array_at(*page, "sessions");
                const bool more = sessions != nullptr && !sessions->empty();
                if (more) before.insert(before.end(), sessions->begin(), sessions->end());
                const auto next = rpc::text_at(*page, "nextCursor");
                // An agent that never comes to an end is not followed forever.
                if (more && next && !next->empty() && before.size() < kMostSessions) {
                  params["cursor"] = *next;
                  return list_page(std::move(params), std::move(before), std::move(done));
                }
                answer.result = json::object{{"sessions", std::move(before)}};
                done(std::move(answer));
              });
}

void AgentClient::prompt(const std::string& text, rpc::OnAnswer done) {
  json::object params;
  params["sessionId"] = session_;
  params["prompt"] = json::array{json::object{{"type", "text"}, {"text", text}}};
  peer_->call("session/prompt", std::move(params), std::move(done));
}

void AgentClient::cancel_turn() {
  peer_->notify("session/cancel", {{"sessionId", session_}});
  for (const auto& [number, request] : std::exchange(questions_, {}))
    request->reply(json::object{{"outcome", json::object{{"outcome", "cancelled"}}}});
}

void AgentClient::answer(uint64_t question, const std::string& option) {
  const auto found = questions_.find(question);
  if (found == questions_.end()) return;
  const rpc::RequestPtr request = found->second;
  questions_.erase(found);
  json::object outcome = option.empty() ? json::object{{"outcome", "cancelled"}}
                                        : json::object{{"outcome", "selected"}, {"optionId", option}};
  request->reply(json::object{{"outcome", std::move(outcome)}});
}

void AgentClient::on_request(const rpc::RequestPtr& request) {
  if (request->method != "session/request_permission") {
    return request->fail(rpc::kMethodNotFound, "this client does not have " + request->method);
  }
  const uint64_t number = ++last_question_;
  questions_[number] = request;
  request->on_cancel([this, number] {
    if (questions_.erase(number) > 0 && events_.withdrawn) events_.withdrawn(number);
  });
  if (events_.permission) events_.permission(number, request->params);
}

void AgentClient::on_notification(const rpc::Message& message) {
  if (message.method != "session/update") return;  // others are allowed, and mean nothing to us
  const json::object* const update = rpc::object_at(message.params, "update");
  if (update != nullptr && rpc::text_or(message.params, "sessionId") == session_ && events_.update)
    events_.update(*update);
}

}  // namespace ttyward::acp
