#include "mcp/conformance/fixtures.h"

#include <utility>

#include "mcp/content.h"
#include "mcp/error_codes.h"
#include "mcp/tasks.h"
#include "rpc/message.h"

namespace ttyward::mcp::conformance {

json::object form_question(std::string_view message, json::object properties, json::array required) {
  json::object schema;
  schema["type"] = "object";
  schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  json::object params;
  params["mode"] = "form";
  params["message"] = message;
  params["requestedSchema"] = std::move(schema);
  return params;
}

json::object input_request(std::string_view method, json::object params) {
  json::object request;
  request["method"] = method;
  request["params"] = std::move(params);
  return request;
}

Fixtures::Fixtures(Notices& notices) : notices_(notices) {
  add_contents();
  add_dialogues();
  add_input_required();
  add_tasks();
}

void Fixtures::add(const char* name, const char* description, Run run, json::object properties,
                   TaskSupport tasks) {
  json::object schema;
  schema["type"] = "object";
  json::array required;
  for (const auto& [key, value] : properties) required.emplace_back(key);
  if (!properties.empty()) schema["properties"] = std::move(properties);
  if (!required.empty() && tasks == TaskSupport::Never) schema["required"] = std::move(required);
  tools_[name] = Tool{description, std::move(schema), std::move(run), tasks};
}

json::object Fixtures::capabilities(Era era) const {
  json::object out;
  out["tools"] = json::object{{"listChanged", true}};
  out["prompts"] = json::object{{"listChanged", true}};
  out["resources"] = json::object{{"subscribe", true}, {"listChanged", true}};
  out["completions"] = json::object();
  out["logging"] = json::object();
  declare_tasks(out, era);
  return out;
}

json::array Fixtures::tools(Era era) const {
  json::array list;
  for (const auto& [name, tool] : tools_) {
    json::object entry;
    entry["name"] = name;
    entry["description"] = tool.description;
    entry["inputSchema"] = tool.schema;
    if (era == Era::Legacy && tool.tasks != TaskSupport::Never)
      entry["execution"] =
          json::object{{"taskSupport", tool.tasks == TaskSupport::Required ? "required" : "optional"}};
    list.push_back(std::move(entry));
  }
  return list;
}

TaskSupport Fixtures::task_support(std::string_view name) const {
  return tools_.at(std::string(name)).tasks;
}

void Fixtures::call_tool(RequestPtr request, std::string name, json::object arguments) {
  tools_.at(name).run(request, arguments);
}

std::map<std::string, std::string> Fixtures::mirrored_arguments(std::string_view tool) const {
  if (tool == "test_mirrored_argument") return {{"Region", "region"}};
  return {};
}

void Fixtures::list_resources(RequestPtr request) {
  const auto entry = [](const char* uri, const char* name, const char* type) {
    return json::object{{"uri", uri}, {"name", name}, {"description", name}, {"mimeType", type}};
  };
  json::object result;
  result["resources"] = json::array{entry("test://static-text", "Static text", "text/plain"),
                                    entry("test://static-binary", "Static binary", "image/png"),
                                    entry("test://watched-resource", "Watched resource", "text/plain")};
  if (request->era == Era::Modern) {
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  request->reply(std::move(result));
}

json::array Fixtures::resource_templates() const {
  return json::array{json::object{{"uriTemplate", "test://template/{id}/data"},
                                  {"name", "Template"},
                                  {"description", "A resource with a parameter"},
                                  {"mimeType", "application/json"}}};
}

void Fixtures::read_resource(RequestPtr request, std::string uri) {
  constexpr std::string_view kBegin = "test://template/";
  constexpr std::string_view kEnd = "/data";
  json::object contents;
  contents["uri"] = uri;
  contents["mimeType"] = "text/plain";
  if (uri == "test://static-text") {
    contents["text"] = "This is the content of the static text resource.";
  } else if (uri == "test://watched-resource") {
    contents["text"] = "Watched.";
  } else if (uri == "test://static-binary") {
    contents["mimeType"] = "image/png";
    contents["blob"] = kPng;
  } else if (uri.starts_with(kBegin) && uri.ends_with(kEnd) && uri.size() > kBegin.size() + kEnd.size()) {
    const std::string id = uri.substr(kBegin.size(), uri.size() - kBegin.size() - kEnd.size());
    contents["mimeType"] = "application/json";
    contents["text"] =
        json::serialize(json::object{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}});
  } else {
    const int code = request->era == Era::Modern ? rpc::kInvalidParams : kResourceNotFound;
    return request->fail(code, "Resource not found", json::object{{"uri", uri}});
  }
  json::object result;
  result["contents"] = json::array{std::move(contents)};
  if (request->era == Era::Modern) {
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  request->reply(std::move(result));
}

json::array Fixtures::prompts() const {
  const auto argument = [](const char* name) {
    return json::object{{"name", name}, {"description", name}, {"required", true}};
  };
  const auto prompt = [](const char* name, json::array arguments) {
    return json::object{{"name", name}, {"description", name}, {"arguments", std::move(arguments)}};
  };
  return json::array{prompt("test_simple_prompt", {}),
                     prompt("test_prompt_with_arguments", {argument("arg1"), argument("arg2")}),
                     prompt("test_prompt_with_embedded_resource", {argument("resourceUri")}),
                     prompt("test_prompt_with_image", {}), prompt("test_input_required_result_prompt", {})};
}

bool Fixtures::has_prompt(std::string_view name) const {
  for (const json::value& prompt : prompts()) {
    if (text_or(prompt.get_object(), "name") == name) return true;
  }
  return false;
}

void Fixtures::get_prompt(RequestPtr request, std::string name, json::object arguments) {
  json::array messages;
  if (name == "test_simple_prompt") {
    messages.push_back(prompt_message(text_content("This is a simple prompt for testing.")));
  } else if (name == "test_prompt_with_arguments") {
    messages.push_back(
        prompt_message(text_content("Prompt with arguments: arg1='" + text_or(arguments, "arg1") +
                                    "', arg2='" + text_or(arguments, "arg2") + "'")));
  } else if (name == "test_prompt_with_embedded_resource") {
    json::object resource{{"uri", text_or(arguments, "resourceUri")},
                          {"mimeType", "text/plain"},
                          {"text", "Embedded resource content for testing."}};
    messages.push_back(prompt_message({{"type", "resource"}, {"resource", std::move(resource)}}));
    messages.push_back(prompt_message(text_content("Please process the embedded resource above.")));
  } else if (name == "test_prompt_with_image") {
    messages.push_back(prompt_message({{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}}));
    messages.push_back(prompt_message(text_content("Please analyze the image above.")));
  } else {
    const json::object* answer = request->input_response("user_context");
    const json::object* content = answer != nullptr ? object_at(*answer, "content") : nullptr;
    if (content == nullptr) {
      json::object question = form_question("What context should the prompt use?",
                                            {{"context", json::object{{"type", "string"}}}}, {"context"});
      return request->need_input({{"user_context", input_request("elicitation/create", std::move(question))}},
                                 "");
    }
    messages.push_back(prompt_message(text_content("Use this context: " + text_or(*content, "context"))));
  }
  request->reply({{"messages", std::move(messages)}});
}

void Fixtures::complete(RequestPtr request) {
  json::object completion;
  completion["values"] = json::array{"paris", "park", "party"};
  completion["total"] = 3;
  completion["hasMore"] = false;
  request->reply({{"completion", std::move(completion)}});
}

}  // namespace ttyward::mcp::conformance
