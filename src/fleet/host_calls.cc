#include "fleet/host_calls.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include <boost/json/serialize.hpp>

#include "fleet/names.h"
#include "wire/messages.h"
#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"

namespace ttyward::fleet {

namespace json = boost::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPatience{5000};
constexpr size_t kLongestAnswer = 900 << 10;  // servers take messages of 1 MiB
constexpr std::array<std::string_view, 8> kCalls = {"result", "read",    "screen",    "list",
                                                    "show",   "history", "interrupt", "kill"};

std::string error_text(std::string_view code, const std::string& message) {
  return json::serialize(json::object{{"error", {{"code", std::string(code)}, {"message", message}}}});
}

std::string_view last_token(std::string_view subject) {
  return subject.substr(subject.rfind('.') + 1);
}

}  // namespace

HostCalls::HostCalls(Host& host) : host_(host), agent_(host.as_agent, host.stop_fd), tunnels_(host) {
  if (host.as_person) person_.emplace(*host.as_person, host.stop_fd);
}

base::Result<void> HostCalls::start() {
  auto calls = host_.bus.subscribe(request_subject(host_.name, "*"), [this](const Incoming& came) {
    if (came.reply.empty()) return;
    static_cast<void>(host_.bus.send(came.reply, answer_call(last_token(came.subject), came.text)));
  });
  if (!calls) return tl::unexpected(calls.error());
  subscriptions_.push_back(std::move(*calls));
  auto answers = host_.bus.subscribe(answer_subject(host_.name, "*"), [this](const Incoming& came) {
    const AnswerOutcome outcome = answer_question(std::string(last_token(came.subject)), came.text);
    if (!came.reply.empty()) static_cast<void>(host_.bus.send(came.reply, text_of(outcome)));
  });
  if (!answers) return tl::unexpected(answers.error());
  subscriptions_.push_back(std::move(*answers));
  auto tunnels = host_.bus.subscribe(tunnel_in_subject(host_.name, "*"), [this](const Incoming& came) {
    tunnels_.receive(std::string(last_token(came.subject)), came.text);
  });
  if (!tunnels) return tl::unexpected(tunnels.error());
  subscriptions_.push_back(std::move(*tunnels));
  return {};
}

void HostCalls::stop() {
  subscriptions_.clear();
  tunnels_.close_all();
}

std::string HostCalls::answer_call(std::string_view call, std::string_view text) {
  if (call == "claim") return answer_claim(text);
  if (call == "nonce") return json::serialize(json::object{{"ok", {{"nonce", tunnels_.new_nonce()}}}});
  if (call == "tunnel") return tunnels_.open(text);
  if (std::find(kCalls.begin(), kCalls.end(), call) == kCalls.end())
    return error_text("unsupported", "there is no call '" + std::string(call) + "' over the bus");
  auto args = wire::parse_object(text.empty() ? "{}" : text);
  if (!args) return error_text("invalid_argument", args.error());
  const auto answer = agent_.call(call, std::move(*args), kPatience);
  if (!answer) return error_text(wire::code_name(answer.error().code), answer.error().message);
  std::string whole = R"({"ok":)" + wire::object_text(*answer) + "}";
  if (whole.size() > kLongestAnswer)
    return error_text("exhausted", "the answer is too long for one message: ask for a smaller range");
  return whole;
}

std::string HostCalls::answer_claim(std::string_view text) {
  const auto job = read_as<wire::ResultRequest>(text);
  if (!job) return error_text("invalid_argument", job.error().message);
  if (host_.claims.has(job->command)) return R"({"ok":{"state":"in_hand"}})";
  wire::ResultRequest ask;
  ask.command = job->command;
  ask.view = record_view();
  const auto known = agent_.call(ask, kPatience);
  if (!known && is_passing(known.error()))
    return error_text(wire::code_name(known.error().code), known.error().message);
  auto entry = host_.bus.get(kJobBucket, job->command);
  auto record = entry ? read_as<JobRecord>(entry->value) : tl::unexpected(entry.error());
  if (!record || record->host_id != host_.id) return R"({"ok":{"state":"not_mine"}})";
  if (is_final(record->state) && (record->state != "lost" || !known)) return R"({"ok":{"state":"reported"}})";
  record->state = known ? known->state : "lost";
  record->reason = known ? known->reason : "the host does not know the command any more";
  if (known) record->result = bounded(*known);
  static_cast<void>(host_.bus.put(kJobBucket, job->command, text_of(*record), entry->revision));
  return R"({"ok":{"state":"reported"}})";
}

AnswerOutcome HostCalls::answer_question(const std::string& approval, std::string_view text) {
  AnswerOutcome outcome;
  const auto refuse = [&](std::string why) {
    outcome.error = std::move(why);
    return outcome;
  };
  const auto message = read_as<AnswerMessage>(text);
  if (!message) return refuse(message.error().message);
  const auto word = wire::word_named<wire::AnswerWord>(message->decision);
  if (!word) return refuse("the answer must be allow, deny or skip");
  if (!person_)
    return refuse(
        "host " + host_.name +
        " has no person's token; make one there with `ttyward person token`, and start its worker again");
  if (std::string doubt = host_.people.doubt(message->proof, answer_text(host_.name, approval, *message));
      !doubt.empty())
    return refuse(std::move(doubt));
  const auto find = [&]() -> std::string {
    const auto list = person_->call(wire::ApprovalsRequest{.all = true}, kPatience);
    if (!list) return list.error().message;
    for (const wire::Approval& each : list->approvals) {
      if (each.id == approval) outcome.approval = each;
    }
    return outcome.approval ? "" : "there is no question " + approval + " on host " + host_.name;
  };
  if (std::string why = find(); !why.empty()) return refuse(std::move(why));
  if (shown_hash(*outcome.approval) != message->shown)
    return refuse("the question is not the one that was shown; look at it again");
  const auto already = [&] {
    return "it is " + outcome.approval->state + " already" +
           (outcome.approval->answered_by.empty() ? "" : ", by " + outcome.approval->answered_by);
  };
  if (outcome.approval->state != "open") return refuse(already());
  wire::AnswerRequest answer;
  answer.approval = approval;
  answer.decision = *word;
  answer.reason = message->reason;
  const auto given = person_->call(answer, kPatience);
  if (given) {
    outcome.answered = true;
    outcome.approval = given->approval;
    return outcome;
  }
  // Somebody was faster, perhaps on the host itself.
  if (find().empty() && outcome.approval->state != "open") return refuse(already());
  return refuse(given.error().message);
}

client::CallResult call_host(Bus& bus, const std::string& host, std::string_view call,
                             std::string_view args) {
  client::CallFailure failure;
  auto text = bus.request(request_subject(host, call), args, kPatience + milliseconds(1000));
  if (!text) {
    failure.code = wire::call_error(text.error()).code;
    failure.message = text.error().message;
    return tl::unexpected(failure);
  }
  auto whole = wire::parse_object(*text);
  failure.code = wire::Code::Corrupt;
  failure.message = "host " + host + " sent an answer that cannot be read";
  if (!whole) return tl::unexpected(failure);
  if (json::value* ok = whole->if_contains("ok"); ok != nullptr && ok->is_object()) return ok->get_object();
  const json::value* error = whole->if_contains("error");
  if (error == nullptr || !error->is_object()) return tl::unexpected(failure);
  const auto word = [&](const char* name) -> std::string {
    const json::value* value = error->get_object().if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
  };
  failure.code = wire::code_named(word("code")).value_or(wire::Code::Io);
  failure.message = "host " + host + ": " + word("message");
  return tl::unexpected(failure);
}

}  // namespace ttyward::fleet
