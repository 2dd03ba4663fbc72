// Tools that ask the client while they work (legacy era).
#include "mcp/conformance/fixtures.h"
#include "mcp/content.h"
#include "mcp/request.h"

namespace ttyward::mcp::conformance {
namespace {

json::object typed(const char* type, json::value fallback) {
  return {{"type", type}, {"description", type}, {"default", std::move(fallback)}};
}

Detached sampling(RequestPtr request, std::string prompt) {
  if (!request->can("sampling")) {
    request->reply(error_result("The client cannot sample."));
    co_return;
  }
  json::object message{{"role", "user"}, {"content", text_content(prompt)}};
  json::object params{{"messages", json::array{std::move(message)}}, {"maxTokens", 100}};
  const Answer answer = co_await request->ask("sampling/createMessage", std::move(params));
  const json::object* content = answer.object() != nullptr ? object_at(*answer.object(), "content") : nullptr;
  if (content == nullptr) {
    request->reply(error_result("No answer: " + answer.error));
    co_return;
  }
  request->reply(text_result("LLM response: " + text_or(*content, "text")));
}

Detached elicitation(RequestPtr request, json::object question, std::string begin) {
  if (!request->can_elicit_form()) {
    request->reply(error_result("The client cannot ask people."));
    co_return;
  }
  const Answer answer = co_await request->ask("elicitation/create", std::move(question));
  if (answer.object() == nullptr) {
    request->reply(error_result("No answer: " + answer.error));
    co_return;
  }
  const json::object* content = object_at(*answer.object(), "content");
  request->reply(text_result(begin + "action=" + text_or(*answer.object(), "action") +
                             ", content=" + json::serialize(content != nullptr ? *content : json::object())));
}

json::object defaults_question() {
  json::object status = typed("string", "active");
  status["enum"] = json::array{"active", "inactive", "pending"};
  return form_question("Please check these values",
                       {{"name", typed("string", "John Doe")},
                        {"age", typed("integer", 30)},
                        {"score", typed("number", 95.5)},
                        {"status", std::move(status)},
                        {"verified", typed("boolean", true)}},
                       {});
}

json::object enums_question() {
  return form_question("Please choose",
                       json::parse(R"({
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "First Option"},
      {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
      "enumNames": ["Option One", "Option Two", "Option Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {"type": "array", "items": {"anyOf": [{"const": "value1", "title": "First Choice"},
      {"const": "value2", "title": "Second Choice"}, {"const": "value3", "title": "Third Choice"}]}}})")
                           .get_object(),
                       {});
}

}  // namespace

void Fixtures::add_dialogues() {
  add("test_sampling", "Asks the client's model",
      [](const RequestPtr& request, const json::object& arguments) {
        sampling(request, text_or(arguments, "prompt"));
      },
      {{"prompt", json::object{{"type", "string"}}}});
  add("test_elicitation", "Asks a person",
      [](const RequestPtr& request, const json::object& arguments) {
        elicitation(
            request,
            form_question(
                text_or(arguments, "message"),
                {{"username", json::object{{"type", "string"}, {"description", "User's response"}}},
                 {"email", json::object{{"type", "string"}, {"description", "User's email address"}}}},
                {"username", "email"}),
            "User response: ");
      },
      {{"message", json::object{{"type", "string"}}}});
  add("test_elicitation_sep1034_defaults", "Asks with defaults",
      [](const RequestPtr& request, const json::object&) {
        elicitation(request, defaults_question(), "Elicitation completed: ");
      });
  add("test_elicitation_sep1330_enums", "Asks with choices",
      [](const RequestPtr& request, const json::object&) {
        elicitation(request, enums_question(), "Elicitation completed: ");
      });
}

}  // namespace ttyward::mcp::conformance
