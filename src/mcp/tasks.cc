#include "mcp/tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/ids.h"
#include "mcp/error_codes.h"
#include "mcp/notices.h"
#include "rpc/message.h"

namespace ttyward::mcp {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

constexpr size_t kMaxTasks = 512;             // running and finished; more is an error
constexpr milliseconds kDefaultTtl{600'000};  // how long a finished task can be asked about
constexpr milliseconds kMaxTtl{3'600'000};    // what a client may ask for
constexpr int kPollIntervalMs = 500;
constexpr const char* kRelatedTask = "io.modelcontextprotocol/related-task";

std::string iso(Clock::time_point when) {
  const auto ms = std::chrono::duration_cast<milliseconds>(when.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, ms % 1000);
}

bool is_final(std::string_view status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

json::object related(const std::string& task) {
  return json::object{{kRelatedTask, json::object{{"taskId", task}}}};
}

}  // namespace

struct Tasks::Record {
  std::string id;
  std::string owner;
  Era era = Era::Legacy;
  std::string tool;
  json::object arguments;
  std::string status = "working";
  std::string message;
  Clock::time_point created = Clock::now();
  Clock::time_point updated = created;
  milliseconds ttl = kDefaultTtl;
  bool announced = false;  // the client knows of it; before that, its answer is the call's own answer
  RequestPtr call;         // whose place the task took
  RequestPtr inner;        // the tool's call
  json::object response;   // the JSON-RPC answer, once there is one
  json::object questions;  // open ones, key → request
  json::object answers;    // given ones
  std::string state;
  std::vector<RequestPtr> waiting;  // tasks/result
};

Tasks::Tasks(io::Loop& loop, Catalog& catalog, Notices& notices)
    : loop_(loop), catalog_(catalog), notices_(notices) {}

Tasks::~Tasks() {
  const auto records = std::exchange(records_, {});
  for (const auto& [id, record] : records) {
    if (record->inner) record->inner->cancel();
    record->inner = nullptr;
    record->call = nullptr;
  }
}

json::object Tasks::describe(const Record& record) const {
  const bool modern = record.era == Era::Modern;
  json::object task;
  task["taskId"] = record.id;
  task["status"] = record.status;
  if (!record.message.empty()) task["statusMessage"] = record.message;
  task["createdAt"] = iso(record.created);
  task["lastUpdatedAt"] = iso(record.updated);
  task[modern ? "ttlMs" : "ttl"] = record.ttl.count();
  task[modern ? "pollIntervalMs" : "pollInterval"] = kPollIntervalMs;
  return task;
}

void Tasks::set_status(const RecordPtr& record, const char* status, std::string message) {
  record->status = status;
  record->message = std::move(message);
  record->updated = Clock::now();
  if (!record->announced) return;
  if (record->era == Era::Modern) return notices_.task_changed(record->id, describe(*record));
  if (record->call)
    record->call->carrier.notify(rpc::notification("notifications/tasks/status", describe(*record)));
}

bool Tasks::make_room() {
  const auto now = Clock::now();
  std::erase_if(records_, [&](const auto& entry) {
    return is_final(entry.second->status) && now - entry.second->updated > entry.second->ttl;
  });
  if (records_.size() < kMaxTasks) return true;
  auto oldest = records_.end();
  for (auto it = records_.begin(); it != records_.end(); ++it) {
    if (is_final(it->second->status) &&
        (oldest == records_.end() || it->second->updated < oldest->second->updated))
      oldest = it;
  }
  if (oldest == records_.end()) return false;
  records_.erase(oldest);
  return true;
}

Tasks::RecordPtr Tasks::make_record(const RequestPtr& request, const std::string& tool,
                                    const json::object& arguments) {
  auto record = std::make_shared<Record>();
  record->id = base::random_nonce();
  record->owner = request->owner;
  record->era = request->era;
  record->tool = tool;
  record->arguments = arguments;
  record->call = request;
  if (request->as_task) {
    if (const auto ttl = integer_at(*request->as_task, "ttl"); ttl && *ttl > 0)
      record->ttl = std::min(milliseconds(*ttl), kMaxTtl);
  }
  return record;
}

void Tasks::start(const RequestPtr& request, const std::string& tool, const json::object& arguments) {
  if (!make_room())
    return request->fail(rpc::kInternalError, "too many tasks are running: wait for one, or cancel one");
  const RecordPtr record = make_record(request, tool, arguments);
  records_[record->id] = record;
  const auto announce = [this, weak = std::weak_ptr<Record>(record)] {
    const RecordPtr task = weak.lock();
    if (!task || task->announced || task->call->done() || task->call->cancelled()) return;
    task->announced = true;
    json::object created = describe(*task);
    if (task->era == Era::Modern) {
      created["resultType"] = "task";
      return task->call->reply(std::move(created));
    }
    task->call->reply(json::object{{"task", std::move(created)}});
  };
  const milliseconds delay = catalog_.task_delay(tool);
  const bool at_once = request->era == Era::Legacy || delay.count() == 0;
  if (at_once) {
    announce();
  } else {
    request->on_cancel([this, weak = std::weak_ptr<Record>(record)] {
      const RecordPtr task = weak.lock();
      if (!task) return;
      records_.erase(task->id);
      if (task->inner) task->inner->cancel();
    });
    loop_.after(delay, announce);
  }
  run(record);
}

void Tasks::run(const RecordPtr& record) {
  const Request& call = *record->call;
  auto inner = std::make_shared<Request>();
  inner->id = call.id;
  inner->method = call.method;
  inner->params = call.params;
  inner->era = call.era;
  inner->version = call.version;
  inner->client_capabilities = call.client_capabilities;
  inner->client_name = call.client_name;
  inner->log_level = call.log_level;
  inner->server_info = call.server_info;
  inner->owner = call.owner;
  inner->loop = &loop_;
  if (!record->answers.empty()) inner->params["inputResponses"] = record->answers;
  if (!record->state.empty()) inner->params["requestState"] = record->state;
  const std::weak_ptr<Record> weak = record;
  inner->carrier.finish = [this, weak](json::object response) {
    if (const RecordPtr task = weak.lock()) finished(task, std::move(response));
  };
  inner->carrier.notify = [weak](json::object note) {
    const RecordPtr task = weak.lock();
    const bool open = task && (task->era == Era::Legacy || !task->announced);
    if (open) task->call->carrier.notify(std::move(note));
  };
  if (call.carrier.ask) {
    inner->carrier.ask = [this, weak](std::string method, json::object params,
                                      const std::function<void(Answer)>& done) -> Withdraw {
      const RecordPtr task = weak.lock();
      if (!task) {
        done(Answer::failed("the task no longer exists"));
        return [] {};
      }
      params["_meta"] = related(task->id);
      set_status(task, "input_required", "waiting for an answer to a question");
      const auto go_on = [this, weak] {
        if (const RecordPtr now = weak.lock(); now && !is_final(now->status)) set_status(now, "working", "");
      };
      const Withdraw withdraw =
          task->call->carrier.ask(std::move(method), std::move(params), [go_on, done](Answer answer) {
            go_on();
            done(std::move(answer));
          });
      return [go_on, withdraw] {
        go_on();
        withdraw();
      };
    };
  }
  inner->settled = [this, weak] {
    const RecordPtr task = weak.lock();
    if (!task || task->status != "input_required") return;
    task->questions.clear();
    set_status(task, "working", "");
    run(task);
  };
  record->inner = inner;
  catalog_.call_tool(inner, record->tool, record->arguments);
}

void Tasks::finished(const RecordPtr& record, json::object response) {
  if (is_final(record->status)) return;
  if (!record->announced) {  // quick enough to be an answer of its own
    records_.erase(record->id);
    return record->call->finish(std::move(response));
  }
  json::object* result = response.contains("result") ? response["result"].if_object() : nullptr;
  if (result != nullptr && text_or(*result, "resultType") == "input_required") {
    const json::object* questions = object_at(*result, "inputRequests");
    record->questions = questions != nullptr ? *questions : json::object();
    record->state = text_or(*result, "requestState");
    return set_status(record, "input_required", "waiting for an answer to a question");
  }
  const bool failed = result == nullptr;
  record->response = std::move(response);
  set_status(record, failed ? "failed" : "completed", "");
  answer_waiting(record);
}

void Tasks::answer_waiting(const RecordPtr& record) {
  for (const RequestPtr& request : std::exchange(record->waiting, {})) {
    if (record->status == "cancelled") {
      request->fail(rpc::kInvalidParams, "the task was cancelled");
    } else if (const json::object* error = object_at(record->response, "error")) {
      request->fail(static_cast<int>(integer_at(*error, "code").value_or(rpc::kInternalError)),
                    text_or(*error, "message"));
    } else {
      const json::object* found = object_at(record->response, "result");
      json::object result = found != nullptr ? *found : json::object();
      result["_meta"] = related(record->id);
      request->reply(std::move(result));
    }
  }
}

bool Tasks::dispatch(const RequestPtr& request) {
  const std::string& method = request->method;
  const bool modern = request->era == Era::Modern;
  const bool known = method == "tasks/get" || method == "tasks/cancel" ||
                     (modern ? method == "tasks/update" : method == "tasks/result" || method == "tasks/list");
  if (!known) return false;
  if (!modern && request->version != "2025-11-25") return false;  // there are no tasks before
  if (modern && !request->has_extension(kTasksExtension)) {
    request->fail(
        kMissingCapability, std::string("declare the extension ") + kTasksExtension,
        json::object{{"requiredCapabilities",
                      json::object{{"extensions", json::object{{kTasksExtension, json::object()}}}}}});
    return true;
  }
  if (method == "tasks/get") get(request);
  if (method == "tasks/result") result(request);
  if (method == "tasks/list") list(request);
  if (method == "tasks/update") update(request);
  if (method == "tasks/cancel") cancel(request);
  return true;
}

Tasks::RecordPtr Tasks::find(const RequestPtr& request) {
  const auto found = records_.find(text_or(request->params, "taskId"));
  if (found != records_.end() && found->second->owner == request->owner && found->second->era == request->era)
    return found->second;
  request->fail(rpc::kInvalidParams, "there is no such task: it never existed, or it has expired");
  return nullptr;
}

void Tasks::get(const RequestPtr& request) {
  const RecordPtr record = find(request);
  if (!record) return;
  json::object task = describe(*record);
  if (record->era == Era::Modern) {
    if (record->status == "input_required") task["inputRequests"] = record->questions;
    if (const json::object* result = object_at(record->response, "result")) task["result"] = *result;
    if (const json::object* error = object_at(record->response, "error")) task["error"] = *error;
  }
  request->reply(std::move(task));
}

void Tasks::result(const RequestPtr& request) {
  const RecordPtr record = find(request);
  if (!record) return;
  record->waiting.push_back(request);
  if (is_final(record->status)) answer_waiting(record);
}

void Tasks::list(const RequestPtr& request) {
  json::array tasks;
  for (const auto& [id, record] : records_) {
    if (record->owner == request->owner && record->era == request->era) tasks.push_back(describe(*record));
  }
  request->reply(json::object{{"tasks", std::move(tasks)}});
}

void Tasks::update(const RequestPtr& request) {
  const RecordPtr record = find(request);
  if (!record) return;
  const json::object* answers = object_at(request->params, "inputResponses");
  if (answers == nullptr) return request->fail(rpc::kInvalidParams, "tasks/update needs \"inputResponses\"");
  if (record->status == "input_required") {
    for (const auto& [key, answer] : *answers) {
      if (!record->questions.contains(key)) continue;
      record->questions.erase(key);
      record->answers[key] = answer;
    }
  }
  request->reply({});
  if (record->status != "input_required" || !record->questions.empty()) return;
  set_status(record, "working", "");
  run(record);
}

void Tasks::cancel(const RequestPtr& request) {
  const RecordPtr record = find(request);
  if (!record) return;
  const bool over = is_final(record->status);
  if (over && record->era == Era::Legacy)
    return request->fail(rpc::kInvalidParams, "the task has already ended: " + record->status);
  if (!over) {
    set_status(record, "cancelled", "cancelled by the client");
    if (record->inner) record->inner->cancel();
    answer_waiting(record);
  }
  request->reply(record->era == Era::Modern ? json::object() : describe(*record));
}

void Tasks::forget(const std::string& owner) {
  for (auto it = records_.begin(); it != records_.end();) {
    const RecordPtr record = it->second;
    if (record->owner != owner || owner.empty()) {
      ++it;
      continue;
    }
    it = records_.erase(it);
    if (!is_final(record->status) && record->inner) record->inner->cancel();
  }
}

void declare_tasks(json::object& capabilities, Era era) {
  if (era == Era::Modern) {
    capabilities["extensions"] = json::object{{kTasksExtension, json::object()}};
    return;
  }
  capabilities["tasks"] =
      json::object{{"list", json::object()},
                   {"cancel", json::object()},
                   {"requests", json::object{{"tools", json::object{{"call", json::object()}}}}}};
}

}  // namespace ttyward::mcp
