#include "mcp/server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "mcp/error_codes.h"
#include "rpc/message.h"

namespace ttyward::mcp {
namespace {

constexpr std::array kLegacyVersions = {"2024-11-05", "2025-03-26", "2025-06-18", kNewestLegacyVersion};
// How long a client may keep a list: they change only when another ttyward is installed.
constexpr int kListTtlMs = 60'000;

bool first_page(const RequestPtr& request) {
  if (!request->params.contains("cursor")) return true;
  request->fail(rpc::kInvalidParams, "this list has one page: leave \"cursor\" out");
  return false;
}

const json::object& arguments_of(const json::object& params) {
  static const json::object kNone;
  const json::object* arguments = object_at(params, "arguments");
  return arguments != nullptr ? *arguments : kNone;
}

}  // namespace

bool is_legacy_version(std::string_view version) {
  return std::find(kLegacyVersions.begin(), kLegacyVersions.end(), version) != kLegacyVersions.end();
}

Server::Server(io::Loop& loop, Catalog& catalog, Notices& notices)
    : loop_(loop), catalog_(catalog), notices_(notices), tasks_(loop, catalog, notices) {
  info_["name"] = "ttyward";
  info_["title"] = "ttyward terminals";
  info_["version"] = TTYWARD_VERSION;
}

json::object Server::discovery() const {
  json::object result;
  result["supportedVersions"] = json::array{kModernVersion};
  result["capabilities"] = catalog_.capabilities(Era::Modern);
  result["instructions"] = catalog_.instructions();
  return result;
}

void Server::reply_cacheable(const RequestPtr& request, json::object result) {
  if (request->era == Era::Modern) {
    result["ttlMs"] = kListTtlMs;
    result["cacheScope"] = "private";
  }
  request->reply(std::move(result));
}

void Server::dispatch(const RequestPtr& request) {
  const std::string& method = request->method;
  if (method == "server/discover" && request->era == Era::Modern)
    return reply_cacheable(request, discovery());
  if (method == "tools/list") return list_tools(request);
  if (method == "tools/call") return call_tool(request);
  if (method == "resources/list") {
    if (first_page(request)) catalog_.list_resources(request);
    return;
  }
  if (method == "resources/templates/list") return list_templates(request);
  if (method == "resources/read") return read_resource(request);
  if (method == "prompts/list") return list_prompts(request);
  if (method == "prompts/get") return get_prompt(request);
  if (method == "completion/complete") return catalog_.complete(request);
  if (tasks_.dispatch(request)) return;
  request->fail(rpc::kMethodNotFound, "there is no method " + method);
}

void Server::list_tools(const RequestPtr& request) {
  if (!first_page(request)) return;
  json::object result;
  result["tools"] = catalog_.tools(request->era);
  reply_cacheable(request, std::move(result));
}

void Server::list_prompts(const RequestPtr& request) {
  if (!first_page(request)) return;
  json::object result;
  result["prompts"] = catalog_.prompts();
  reply_cacheable(request, std::move(result));
}

void Server::list_templates(const RequestPtr& request) {
  if (!first_page(request)) return;
  json::object result;
  result["resourceTemplates"] = catalog_.resource_templates();
  reply_cacheable(request, std::move(result));
}

void Server::read_resource(const RequestPtr& request) {
  const auto uri = text_at(request->params, "uri");
  if (!uri) return request->fail(rpc::kInvalidParams, "resources/read needs \"uri\", a string");
  catalog_.read_resource(request, *uri);
}

void Server::get_prompt(const RequestPtr& request) {
  const auto name = text_at(request->params, "name");
  if (!name || !catalog_.has_prompt(*name))
    return request->fail(rpc::kInvalidParams, "there is no such prompt: see prompts/list");
  catalog_.get_prompt(request, *name, arguments_of(request->params));
}

void Server::call_tool(const RequestPtr& request) {
  const auto name = text_at(request->params, "name");
  if (!name) return request->fail(rpc::kInvalidParams, "tools/call needs \"name\", a string");
  if (!catalog_.has_tool(*name))
    return request->fail(rpc::kInvalidParams, "there is no tool " + *name + ": see tools/list");
  const json::value* arguments = member(request->params, "arguments");
  if (arguments != nullptr && !arguments->is_object() && !arguments->is_null())
    return request->fail(rpc::kInvalidParams, "\"arguments\" must be an object");
  const TaskSupport support = catalog_.task_support(*name);
  const bool wants_task =
      request->era == Era::Modern ? request->has_extension(kTasksExtension) : request->as_task.has_value();
  if (support == TaskSupport::Required && !wants_task) {
    if (request->era == Era::Modern) {
      return request->fail(
          kMissingCapability, *name + " runs as a task: declare the extension " + kTasksExtension,
          json::object{{"requiredCapabilities",
                        json::object{{"extensions", json::object{{kTasksExtension, json::object()}}}}}});
    }
    return request->fail(rpc::kMethodNotFound, *name + " runs as a task: call it with \"task\"");
  }
  if (support == TaskSupport::Never && request->as_task)
    return request->fail(rpc::kMethodNotFound, *name + " does not run as a task: call it without \"task\"");
  if (support != TaskSupport::Never && wants_task)
    return tasks_.start(request, *name, arguments_of(request->params));
  catalog_.call_tool(request, *name, arguments_of(request->params));
}

}  // namespace ttyward::mcp
