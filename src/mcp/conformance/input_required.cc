// Tools that end with questions and are called again with the answers (modern era).
#include "mcp/conformance/fixtures.h"
#include "mcp/content.h"
#include "rpc/message.h"

namespace ttyward::mcp::conformance {
namespace {

json::object name_question() {
  return input_request(
      "elicitation/create",
      form_question("What is your name?", {{"name", json::object{{"type", "string"}}}}, {"name"}));
}

json::object sampling_question(const char* text, int most) {
  json::object message{{"role", "user"}, {"content", text_content(text)}};
  return input_request("sampling/createMessage",
                       {{"messages", json::array{std::move(message)}}, {"maxTokens", most}});
}

json::object confirm_question() {
  return input_request("elicitation/create",
                       form_question("Please confirm", {{"ok", json::object{{"type", "boolean"}}}}, {"ok"}));
}

// The text a person gave for `field`; null if the answer is missing or of another shape.
std::optional<std::string> given(const RequestPtr& request, const char* key, const char* field) {
  const json::object* answer = request->input_response(key);
  const json::object* content = answer != nullptr ? object_at(*answer, "content") : nullptr;
  return content != nullptr ? text_at(*content, field) : std::nullopt;
}

void ask_name(const RequestPtr& request, const json::object&) {
  const auto name = given(request, "user_name", "name");
  if (!name) return request->need_input({{"user_name", name_question()}}, "");
  request->reply(text_result("Hello, " + *name + "!"));
}

void ask_model(const RequestPtr& request, const json::object&) {
  const json::object* answer = request->input_response("capital_question");
  const json::object* content = answer != nullptr ? object_at(*answer, "content") : nullptr;
  if (content == nullptr)
    return request->need_input(
        {{"capital_question", sampling_question("What is the capital of France?", 100)}}, "");
  request->reply(text_result("The model said: " + text_or(*content, "text")));
}

void ask_roots(const RequestPtr& request, const json::object&) {
  const json::object* answer = request->input_response("client_roots");
  const json::array* roots = answer != nullptr ? array_at(*answer, "roots") : nullptr;
  if (roots == nullptr) return request->need_input({{"client_roots", input_request("roots/list", {})}}, "");
  request->reply(text_result("Roots: " + json::serialize(*roots)));
}

void ask_what_is_possible(const RequestPtr& request, const json::object&) {
  json::object questions;
  if (request->can_elicit_form()) questions["user_name"] = name_question();
  if (request->can("sampling"))
    questions["capital_question"] = sampling_question("What is the capital of France?", 100);
  if (request->can("roots")) questions["client_roots"] = input_request("roots/list", {});
  if (questions.empty() || request->params.contains("inputResponses"))
    return request->reply(text_result("Nothing to ask, or all answered."));
  request->need_input(std::move(questions), "");
}

}  // namespace

void Fixtures::add_input_required() {
  add("test_input_required_result_elicitation", "Asks a person", ask_name);
  add("test_streaming_elicitation", "Asks a person, after a word on its progress",
      [](const RequestPtr& request, const json::object& arguments) {
        request->progress(1, 2, "");
        ask_name(request, arguments);
      });
  add("test_input_required_result_sampling", "Asks a model", ask_model);
  add("test_input_required_result_list_roots", "Asks for roots", ask_roots);
  add("test_input_required_result_capabilities", "Asks what the client can answer", ask_what_is_possible);
  const auto ask = [this](const RequestPtr& request, json::object questions, int round) {
    const std::string state = states_.keep(*request, questions, {{"round", round}});
    request->need_input(std::move(questions), state);
  };
  const auto with_state = [this, ask](const RequestPtr& request, const json::object&) {
    if (!request->params.contains("requestState")) return ask(request, {{"confirm", confirm_question()}}, 1);
    if (!states_.take(*request))
      return request->fail(rpc::kInvalidParams, "requestState was not made here, or was used before");
    request->reply(text_result("state-ok"));
  };
  add("test_input_required_result_request_state", "Keeps a state", with_state);
  add("test_input_required_result_tampered_state", "Keeps a state that cannot be changed", with_state);
  add("test_input_required_result_multiple_inputs", "Asks three at once",
      [this, ask](const RequestPtr& request, const json::object&) {
        const bool all = request->input_response("user_name") != nullptr &&
                         request->input_response("greeting") != nullptr &&
                         request->input_response("client_roots") != nullptr;
        if (all && states_.take(*request)) return request->reply(text_result("All three were answered."));
        ask(request,
            {{"user_name", name_question()},
             {"greeting", sampling_question("Generate a greeting", 50)},
             {"client_roots", input_request("roots/list", {})}},
            1);
      });
  add("test_input_required_result_multi_round", "Asks twice",
      [this, ask](const RequestPtr& request, const json::object&) {
        const auto state = states_.take(*request);
        const int64_t round = state ? integer_at(*state, "round").value_or(0) : 0;
        if (request->params.contains("requestState") && !state)
          return request->fail(rpc::kInvalidParams, "requestState was not made here, or was used before");
        if (round == 2 && given(request, "step2", "color"))
          return request->reply(text_result("Both rounds are over."));
        if (round == 1 && given(request, "step1", "name")) {
          json::object question = form_question("Step 2: What is your favorite color?",
                                                {{"color", json::object{{"type", "string"}}}}, {"color"});
          return ask(request, {{"step2", input_request("elicitation/create", std::move(question))}}, 2);
        }
        json::object question = form_question("Step 1: What is your name?",
                                              {{"name", json::object{{"type", "string"}}}}, {"name"});
        ask(request, {{"step1", input_request("elicitation/create", std::move(question))}}, 1);
      });
}

}  // namespace ttyward::mcp::conformance
