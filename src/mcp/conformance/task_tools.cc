// Tools that run as tasks.
#include <algorithm>

#include "mcp/conformance/fixtures.h"
#include "mcp/content.h"
#include "mcp/request.h"
#include "rpc/message.h"

namespace ttyward::mcp::conformance {
namespace {

Detached slow(RequestPtr request, int64_t seconds, std::string label) {
  if (seconds > 0) co_await request->sleep(std::chrono::seconds(std::min<int64_t>(seconds, 600)));
  request->reply(text_result("Computed " + label));
}

Detached failing(RequestPtr request) {
  co_await request->sleep(std::chrono::seconds(1));
  request->reply(error_result("The job failed, as it should."));
}

Detached breaking(RequestPtr request) {
  co_await request->sleep(std::chrono::milliseconds(200));
  request->fail(rpc::kInternalError, "The job broke, as it should.");
}

json::object yes_question(const char* message) {
  return input_request("elicitation/create",
                       form_question(message, {{"confirm", json::object{{"type", "boolean"}}}}, {"confirm"}));
}

}  // namespace

void Fixtures::add_tasks() {
  add("greet", "Greets",
      [](const RequestPtr& request, const json::object& arguments) {
        request->reply(text_result("Hello, " + text_or(arguments, "name") + "!"));
      },
      {{"name", json::object{{"type", "string"}}}});
  add(
      "slow_compute", "Sleeps, then answers",
      [](const RequestPtr& request, const json::object& arguments) {
        slow(request, integer_at(arguments, "seconds").value_or(0), text_or(arguments, "label"));
      },
      {{"seconds", json::object{{"type", "integer"}}}, {"label", json::object{{"type", "string"}}}},
      TaskSupport::Optional);
  add(
      "test_tool_with_task", "Asks, then sleeps, then answers",
      [](const RequestPtr& request, const json::object&) {
        const json::object* answer = request->input_response("user_name");
        const json::object* content = answer != nullptr ? object_at(*answer, "content") : nullptr;
        if (content != nullptr) {
          slow(request, 1, text_or(*content, "name"));
          return;
        }
        json::object question =
            form_question("What is your name?", {{"name", json::object{{"type", "string"}}}}, {"name"});
        request->need_input({{"user_name", input_request("elicitation/create", std::move(question))}}, "");
      },
      {}, TaskSupport::Required);
  add(
      "failing_job", "Fails after a second",
      [](const RequestPtr& request, const json::object&) { failing(request); }, {}, TaskSupport::Required);
  add(
      "protocol_error_job", "Breaks",
      [](const RequestPtr& request, const json::object&) { breaking(request); }, {}, TaskSupport::Optional);
  add(
      "confirm_delete", "Asks once",
      [](const RequestPtr& request, const json::object&) {
        if (request->input_response("confirm") == nullptr)
          return request->need_input({{"confirm", yes_question("Delete it?")}}, "");
        request->reply(text_result("Answered."));
      },
      {}, TaskSupport::Optional);
  add(
      "multi_input", "Asks two at once",
      [](const RequestPtr& request, const json::object&) {
        if (request->input_response("first") == nullptr || request->input_response("second") == nullptr)
          return request->need_input({{"first", yes_question("First?")}, {"second", yes_question("Second?")}},
                                     "");
        request->reply(text_result("Both answered."));
      },
      {}, TaskSupport::Optional);
}

}  // namespace ttyward::mcp::conformance
