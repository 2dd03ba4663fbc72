// ttyward approvals: the questions that wait for a person, and the answers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "cli/ask_person.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/editor.h"
#include "cli/verbs/verbs.h"
#include "policy/escaped_view.h"
#include "policy/rule_words.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

using base::ErrorCode;
using base::fail;
using base::Result;

struct Arguments {
  bool all = false;
  std::vector<std::string> ids;
  std::string reason;
  std::string scope;  // empty: once
  bool wider = false;
  bool edit = false;
};

std::vector<std::string> texts_of(const json::object& object, std::string_view name) {
  std::vector<std::string> out;
  const json::value* list = object.if_contains(name);
  if (list == nullptr || !list->is_array()) return out;
  for (const json::value& text : list->get_array()) {
    if (text.is_string()) out.emplace_back(text.get_string());
  }
  return out;
}

std::string indented(const std::string& text, const char* with) {
  std::string out = with;
  for (const char c : text) out += c == '\n' ? std::string("\n") + with : std::string(1, c);
  return out;
}

// Everything the daemon sends is escaped already; once more costs nothing and trusts nobody.
std::string shown(const std::string& text) {
  return policy::escape_text(text, true);
}

std::string described(const json::object& approval) {
  std::string out = fmt::format("{} ({})", shown(text_of(approval, "id")), shown(text_of(approval, "state")));
  if (text_of(approval, "state") == "open") {
    const auto end = number_of(approval, "expires_at") / 1000;
    const auto left = std::max<int64_t>(end - static_cast<int64_t>(std::time(nullptr)), 0);
    out += end == 0 ? ", until somebody answers" : fmt::format(", {} s left", left);
  }
  if (!text_of(approval, "asked_by").empty()) out += ", asked by " + shown(text_of(approval, "asked_by"));
  if (!text_of(approval, "answered_by").empty())
    out += ", answered by " + shown(text_of(approval, "answered_by"));
  out += "\n" + indented(shown(text_of(approval, "shown")), "  ") + "\n";
  out += "  in " + shown(text_of(approval, "cwd")) + "\n";
  const json::value* changes = approval.if_contains("environment");
  if (changes != nullptr && changes->is_array()) {
    for (const json::value& change : changes->get_array()) {
      if (change.is_string()) out += "  with " + shown(std::string(change.get_string())) + "\n";
    }
  }
  const json::value* verdict = approval.if_contains("verdict");
  if (verdict == nullptr || !verdict->is_object()) return out;
  out += fmt::format("  risk {}\n", shown(text_of(verdict->get_object(), "risk")));
  const json::value* reasons = verdict->get_object().if_contains("reasons");
  if (reasons == nullptr || !reasons->is_array()) return out;
  for (const json::value& reason : reasons->get_array()) {
    if (!reason.is_object()) continue;
    out += fmt::format("    {:<8} {}\n", shown(text_of(reason.get_object(), "risk")),
                       shown(text_of(reason.get_object(), "text")));
  }
  return out;
}

class Approvals {
 public:
  Approvals(client::Session daemon, bool as_json) : daemon_(std::move(daemon)), json_(as_json) {}

  Result<std::vector<json::object>> fetch(bool all) {
    auto answer = daemon_.call("approvals", {{"all", all}});
    if (!answer) return fail(ErrorCode::Unavailable, answer.error().message);
    std::vector<json::object> out;
    const json::value* list = answer->if_contains("approvals");
    if (list == nullptr || !list->is_array()) return out;
    for (const json::value& approval : list->get_array()) {
      if (approval.is_object()) out.push_back(approval.get_object());
    }
    return out;
  }

  int list(bool all) {
    auto approvals = fetch(all);
    if (!approvals) return complain("approvals", approvals.error().message, kExitFailure);
    for (const json::object& approval : *approvals) print(approval);
    if (approvals->empty() && !json_) fmt::print("nothing waits for an answer\n");
    return 0;
  }

  // The open question whose id begins so; it has to be the only one.
  Result<json::object> find(const std::string& id) {
    auto approvals = fetch(false);
    if (!approvals) return tl::unexpected(approvals.error());
    std::vector<json::object> found;
    for (json::object& approval : *approvals) {
      if (text_of(approval, "id") == id) return std::move(approval);
      if (text_of(approval, "id").starts_with(id)) found.push_back(std::move(approval));
    }
    if (found.empty()) return fail(ErrorCode::NotFound, "no open question is called " + id);
    if (found.size() > 1) return fail(ErrorCode::InvalidArgument, "several questions begin with " + id);
    return std::move(found.front());
  }

  int answer_all(const Arguments& args, const char* decision) {
    int status = 0;
    for (const std::string& id : args.ids) {
      auto approval = find(id);
      if (!approval) {
        const bool our_fault = approval.error().code == ErrorCode::Unavailable;
        status = complain("approvals", approval.error().message, our_fault ? kExitFailure : kExitUsage);
        continue;
      }
      status = std::max(status, answer(*approval, decision, args));
    }
    return status;
  }

  int answer(const json::object& approval, const char* decision, const Arguments& args) {
    json::object call = {{"approval", text_of(approval, "id")}, {"decision", decision}};
    if (!args.scope.empty()) {
      call["always"] = args.scope;
      if (args.wider) call["wider"] = true;
      std::string rules;
      for (const std::string& text : texts_of(approval, args.wider ? "wider" : "always"))
        rules += text + "\n";
      if (args.edit && !rules.empty()) {
        auto edited = edit_text(rules);
        if (!edited) return complain("approvals", edited.error().message, kExitFailure);
        rules = *edited;
        call["rules"] = rules;
      }
      if (!agrees_to_rules(approval, args, rules))
        return complain("approvals", "you did not say yes, so nothing was stored or answered", kExitFailure);
    }
    if (!args.reason.empty()) call["reason"] = args.reason;
    auto answered = daemon_.call("answer", std::move(call));
    if (!answered) return complain("approvals", answered.error().message, kExitFailure);
    const json::value* closed = answered->if_contains("approval");
    if (closed == nullptr || !closed->is_object()) return 0;
    told_.push_back(text_of(approval, "id"));
    if (json_) {
      print(closed->get_object());
    } else {
      fmt::print("{} {}\n", shown(text_of(closed->get_object(), "id")),
                 shown(text_of(closed->get_object(), "state")));
    }
    // A yes that came too late is a no: what would run is no longer what was shown.
    const bool wanted =
        std::string_view(decision) != "allow" || text_of(closed->get_object(), "state") == "allowed";
    return wanted ? 0 : complain("approvals", shown(text_of(closed->get_object(), "reason")), kExitFailure);
  }

  // Shows questions as they come and, at a terminal, asks about each.
  int watch() {
    asks_ = !json_ && ::isatty(STDOUT_FILENO) != 0 && can_ask_person();
    if (const auto begun = subscribe(); !begun)
      return complain("approvals", begun.error().message, kExitFailure);
    for (;;) {
      auto message = daemon_.next(std::chrono::milliseconds(-1));
      if (!message) return complain("approvals", message.error().message, kExitFailure);
      if (!*message) continue;
      if (const auto* event = std::get_if<client::Event>(&**message)) take_event(event->event);
      if (!std::holds_alternative<client::Reconnected>(**message)) continue;
      complain("approvals", "the daemon was replaced; what agents still want they ask anew", 0);
      // One that dies meanwhile, too, is followed by another Reconnected.
      const auto again = subscribe();
      if (!again && daemon_.stopped()) return complain("approvals", again.error().message, kExitFailure);
    }
  }

 private:
  // From now on, and what is open already.
  Result<void> subscribe() {
    json::array kinds = {"approval_opened", "approval_closed", "notice"};
    auto subscribed = daemon_.call("subscribe", {{"terminal", nullptr}, {"kinds", std::move(kinds)}});
    if (!subscribed) return fail(ErrorCode::Unavailable, subscribed.error().message);
    auto open = fetch(false);
    if (!open) return tl::unexpected(open.error());
    for (const json::object& approval : *open) meet(approval);
    return {};
  }

  void take_event(const json::object& event) {
    if (text_of(event, "event") == "notice") {
      complain("approvals", shown(text_of(event, "text")), 0);
      return;
    }
    const json::value* approval = event.if_contains("approval");
    if (approval == nullptr || !approval->is_object()) return;
    const json::object& object = approval->get_object();
    const std::string id = text_of(object, "id");
    if (text_of(event, "event") == "approval_opened") return meet(object);
    std::erase(met_, id);
    if (std::erase(told_, id) != 0) return;  // our own answer, which was shown
    if (json_) {
      print(object);
    } else {
      fmt::print("{} {}\n", shown(id), shown(text_of(object, "state")));
    }
    std::fflush(stdout);
  }

  void print(const json::object& approval) const {
    fmt::print("{}", json_ ? json::serialize(approval) + "\n" : described(approval));
  }

  void meet(const json::object& approval) {
    // One that opened while we subscribed comes twice.
    const std::string id = text_of(approval, "id");
    if (std::find(met_.begin(), met_.end(), id) != met_.end()) return;
    met_.push_back(id);
    print(approval);
    std::fflush(stdout);
    if (!asks_) return;
    // Somebody else may have been faster; then the daemon says so.
    answer(approval, ask_person("Run it?") ? "allow" : "deny", {});
  }

  // What "always" stores is seen first, in words and as it will be written.
  bool agrees_to_rules(const json::object& approval, const Arguments& args, const std::string& rules) const {
    if (rules.empty()) return true;  // the daemon will say that it cannot be allowed always, and why
    const std::string cwd = text_of(approval, "cwd");
    std::string words;
    if (auto parsed = policy::parse_rules(rules, policy::RuleLevel::Session, "your rules", cwd)) {
      for (const policy::Rule& rule : *parsed) {
        policy::Rule plain = rule;
        plain.level = policy::RuleLevel::Global;  // the question says for how long
        words += "  - it " + shown(policy::in_words(plain)) + "\n";
      }
    }
    std::string question = described(approval);
    if (text_of(approval, "always_scope") == "session")
      question += "\nWARNING: this is critical. It would run again without a question in this session.\n";
    question += fmt::format("\nAlways, {}, by {}:\n{}\n{}\n",
                            args.scope == "session" ? "in this session" : "for good",
                            texts_of(approval, "always").size() == 1 ? "this rule" : "these rules", words,
                            indented(shown(rules), "  "));
    const std::vector<std::string> wider = texts_of(approval, "wider_words");
    if (!args.wider && !args.edit && !wider.empty()) {
      question += "One step wider (--wider) would be:\n";
      for (const std::string& each : wider) question += "  - it " + shown(each) + "\n";
      question += "\n";
    }
    return ask_person(question + "Store this and run it?");
  }

  client::Session daemon_;
  bool json_;
  bool asks_ = false;
  std::vector<std::string> met_;   // open questions that were shown
  std::vector<std::string> told_;  // what was answered here
};

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  CLI::App* listing = app.add_subcommand("list", "What waits for an answer (what happens without a word)");
  listing->add_flag("--all", args->all, "Those that are over, too");
  const auto answering = [&](const char* name, const char* what) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->add_option("ID", args->ids, "The question, or the beginning of its id")->required();
    sub->add_option("--reason", args->reason, "Words for whoever asked");
    return sub;
  };
  CLI::App* allow = answering("allow", "Let it run, once");
  CLI::App* deny = answering("deny", "Refuse it");
  CLI::App* skip = answering("skip", "Do not run it, and call that no failure");
  CLI::App* always = answering("always", "Let it run, and the same from now on; shows the rule first");
  auto scope = std::make_shared<std::string>("session");
  always
      ->add_option("--scope", *scope,
                   "session: until the agent's session ends; global: for good, in rules.toml")
      ->check(CLI::IsMember({"session", "global"}))
      ->capture_default_str();
  always->add_flag("--wider", args->wider, "Store the rule that is one step wider");
  always->add_flag("--edit", args->edit, "Change the rule in $EDITOR first");
  CLI::App* watching =
      app.add_subcommand("watch", "Show questions as they come; at a terminal, ask about each");
  app.require_subcommand(0, 1);
  return [args, scope, &globals, allow, deny, skip, always, watching] {
    if (always->parsed()) args->scope = *scope;
    // Who watches may be there before the first agent; for everything else there has to be a question
    // already.
    auto daemon =
        client::Session::open(watching->parsed() ? client_options("approvals") : daemon_options("approvals"));
    if (!daemon) {
      const bool answers = allow->parsed() || deny->parsed() || skip->parsed() || always->parsed();
      const bool fine = daemon.error().code == ErrorCode::NotFound && !answers && !watching->parsed();
      return complain("approvals", daemon.error().message, fine ? 0 : kExitFailure);
    }
    show_notices(daemon->welcome());
    Approvals approvals(std::move(*daemon), globals.json);
    if (allow->parsed() || always->parsed()) return approvals.answer_all(*args, "allow");
    if (deny->parsed()) return approvals.answer_all(*args, "deny");
    if (skip->parsed()) return approvals.answer_all(*args, "skip");
    if (watching->parsed()) return approvals.watch();
    return approvals.list(args->all);
  };
}

}  // namespace

const Verb kApprovals = {"approvals", "Answer what waits for a person's consent", &declare};

}  // namespace ttyward::cli
