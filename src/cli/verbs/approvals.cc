// ttyward approvals: the questions that wait for a person, and the answers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/approval_watch.h"
#include "cli/ask_person.h"
#include "cli/colour.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/editor.h"
#include "cli/verbs/verbs.h"
#include "policy/escaped_view.h"
#include "policy/rule_words.h"
#include "wire/types/policy_calls.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using wire::AnswerWord;

struct Arguments {
  bool all = false;
  std::vector<std::string> ids;
  std::string reason;
  std::string scope;  // empty: once
  bool wider = false;
  bool edit = false;
};

std::string indented(const std::string& text, const char* with) {
  std::string out = with;
  for (const char c : text) out += c == '\n' ? std::string("\n") + with : std::string(1, c);
  return out;
}

// Everything the daemon sends is escaped already; once more costs nothing and trusts nobody.
std::string shown(const std::string& text) {
  return policy::escape_text(text, true);
}

std::string described(const wire::Approval& approval) {
  const Paint paint = Paint::for_stdout();
  std::string out = fmt::format("{} ({})", paint(Colour::Bold, shown(approval.id)), shown(approval.state));
  if (approval.state == "open") {
    const int64_t end = approval.expires_at ? approval.expires_at->ms / 1000 : 0;
    const auto left = std::max<int64_t>(end - static_cast<int64_t>(std::time(nullptr)), 0);
    out += end == 0 ? ", until somebody answers" : fmt::format(", {} s left", left);
  }
  if (!approval.asked_by.empty()) out += ", asked by " + shown(approval.asked_by);
  if (!approval.answered_by.empty()) out += ", answered by " + shown(approval.answered_by);
  out += "\n" + indented(shown(approval.shown), "  ") + "\n";
  out += "  in " + shown(approval.cwd) + "\n";
  for (const std::string& change : approval.environment) out += "  with " + shown(change) + "\n";
  const auto verdict = wire::decode(approval.verdict);
  if (!verdict) return out;
  const std::string risk = shown(verdict->risk);
  out += fmt::format("  risk {}\n", paint(colour_of_risk(risk), risk));
  for (const wire::VerdictReason& reason : verdict->reasons)
    out += fmt::format("    {:<8} {}\n", shown(reason.risk), shown(reason.text));
  return out;
}

class Approvals {
 public:
  Approvals(client::Session daemon, bool as_json) : daemon_(std::move(daemon)), json_(as_json) {}

  Result<std::vector<wire::Approval>> fetch(bool all) {
    auto answer = daemon_.call(wire::ApprovalsRequest{all});
    if (!answer) return fail(ErrorCode::Unavailable, answer.error().message);
    return std::move(answer->approvals);
  }

  int list(bool all) {
    auto approvals = fetch(all);
    if (!approvals) return complain("approvals", approvals.error().message, kExitFailure);
    if (json_) return print_answer("approvals", wire::ApprovalList{std::move(*approvals)});
    for (const wire::Approval& approval : *approvals) print(approval);
    if (approvals->empty()) fmt::print("there are no open questions\n");
    return 0;
  }

  // The open question whose id begins so; it has to be the only one.
  Result<wire::Approval> find(const std::string& id) {
    auto approvals = fetch(false);
    if (!approvals) return tl::unexpected(approvals.error());
    std::vector<wire::Approval> found;
    for (wire::Approval& approval : *approvals) {
      if (approval.id == id) return std::move(approval);
      if (approval.id.starts_with(id)) found.push_back(std::move(approval));
    }
    if (found.empty()) return fail(ErrorCode::NotFound, "there is no open question " + id);
    if (found.size() > 1) return fail(ErrorCode::InvalidArgument, "several questions begin with " + id);
    return std::move(found.front());
  }

  int answer_all(const Arguments& args, AnswerWord decision) {
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

  int answer(const wire::Approval& approval, AnswerWord decision, const Arguments& args) {
    wire::AnswerRequest request;
    request.approval = approval.id;
    request.decision = decision;
    if (!args.scope.empty()) {
      request.always = wire::word_named<wire::Always>(args.scope).value_or(wire::Always::No);
      request.wider = args.wider;
      std::string rules;
      for (const std::string& text : args.wider ? approval.wider : approval.always) rules += text + "\n";
      if (args.edit && !rules.empty()) {
        auto edited = edit_text(rules);
        if (!edited) return complain("approvals", edited.error().message, kExitFailure);
        rules = *edited;
        request.rules = rules;
      }
      if (!agrees_to_rules(approval, args, rules))
        return complain("approvals", "nothing was stored or answered, because you did not answer yes",
                        kExitFailure);
    }
    request.reason = args.reason;
    auto answered = daemon_.call(request);
    if (!answered) return complain("approvals", answered.error().message, kExitFailure);
    const wire::Approval& closed = answered->approval;
    if (json_) {
      print(closed);
    } else {
      fmt::print("{} {}\n", shown(closed.id), shown(closed.state));
    }
    // A yes that came too late is a no: what would run is no longer what was shown.
    const bool wanted = decision != AnswerWord::Allow || closed.state == "allowed";
    return wanted ? 0 : complain("approvals", shown(closed.reason), kExitFailure);
  }

  // Shows questions as they come and, at a terminal, asks about each.
  int watch(ApprovalWatch::Until until) {
    const bool asks = !json_ && ::isatty(STDOUT_FILENO) != 0 && can_ask_person();
    std::optional<SingleKeys> keys;
    if (asks) keys.emplace();
    ApprovalWatch::Actions actions;
    actions.print = [this](const wire::Approval& approval) { print(approval); };
    actions.print_closed = [this](const std::string& id, const wire::Approval& approval) {
      if (json_) {
        print(approval);
      } else {
        fmt::print("{} {}\n", shown(id), shown(approval.state));
      }
      std::fflush(stdout);
    };
    actions.answer = [this](const wire::Approval& approval, AnswerWord decision, const std::string& scope,
                            const std::string& reason) {
      Arguments how;
      how.scope = scope;
      how.reason = reason;
      return answer(approval, decision, how);
    };
    ApprovalWatch watch(daemon_, std::move(actions), keys ? &*keys : nullptr,
                        Notifier(load_here().settings.notify), until);
    const auto ended = watch.run();
    return ended ? *ended : complain("approvals", ended.error().message, kExitFailure);
  }

 private:
  void print(const wire::Approval& approval) const {
    fmt::print("{}", json_ ? wire::json_text(approval) + "\n" : described(approval));
  }

  // What "always" stores is seen first, in words and as it will be written.
  bool agrees_to_rules(const wire::Approval& approval, const Arguments& args,
                       const std::string& rules) const {
    if (rules.empty()) return true;  // the daemon will say that it cannot be allowed always, and why
    std::string words;
    if (auto parsed = policy::parse_rules(rules, policy::RuleLevel::Session, "your rules", approval.cwd)) {
      for (const policy::Rule& rule : *parsed) {
        policy::Rule plain = rule;
        plain.level = policy::RuleLevel::Global;  // the question says for how long
        words += "  - it " + shown(policy::in_words(plain)) + "\n";
      }
    }
    std::string question = described(approval);
    if (approval.always_scope == "session")
      question += "\nWARNING: this is critical. It would run again in this session without asking.\n";
    question += fmt::format(
        "\nAlways, {}, by {}:\n{}\n{}\n", args.scope == "session" ? "in this session" : "for good",
        approval.always.size() == 1 ? "this rule" : "these rules", words, indented(shown(rules), "  "));
    if (!args.wider && !args.edit && !approval.wider_words.empty()) {
      question += "One step wider (--wider) would be:\n";
      for (const std::string& each : approval.wider_words) question += "  - it " + shown(each) + "\n";
      question += "\n";
    }
    return ask_person(question + "Store this and run it?");
  }

  client::Session daemon_;
  bool json_;
};

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  CLI::App* listing = app.add_subcommand("list", "List the open questions (the default)");
  listing->add_flag("--all", args->all, "Include closed questions");
  const auto answering = [&](const char* name, const char* what) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->add_option("ID", args->ids, "The question's id; its first characters are enough")->required();
    sub->add_option("--reason", args->reason, "A reason for the agent");
    return sub;
  };
  CLI::App* allow = answering("allow", "Run it once");
  CLI::App* deny = answering("deny", "Refuse it");
  CLI::App* skip = answering("skip", "Skip it: do not run it, and do not report a failure");
  CLI::App* always = answering("always", "Run it, and always allow the same; shows the rule first");
  auto scope = std::make_shared<std::string>("session");
  always
      ->add_option("--scope", *scope,
                   "session: until the agent's session ends; global: permanently, in rules.toml")
      ->check(CLI::IsMember({"session", "global"}))
      ->capture_default_str();
  always->add_flag("--wider", args->wider, "Store the rule that is one step wider");
  always->add_flag("--edit", args->edit, "Change the rule in $EDITOR first");
  CLI::App* watching =
      app.add_subcommand("watch", "Show questions as they arrive; at a terminal, answer each with a key");
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
      const int code = complain("approvals", daemon.error().message, fine ? 0 : kExitFailure);
      return fine && globals.json ? print_answer("approvals", wire::ApprovalList{}) : code;
    }
    show_notices(daemon->welcome());
    Approvals approvals(std::move(*daemon), globals.json);
    if (allow->parsed() || always->parsed()) return approvals.answer_all(*args, AnswerWord::Allow);
    if (deny->parsed()) return approvals.answer_all(*args, AnswerWord::Deny);
    if (skip->parsed()) return approvals.answer_all(*args, AnswerWord::Skip);
    if (watching->parsed()) return approvals.watch(ApprovalWatch::Until::Stopped);
    return approvals.list(args->all);
  };
}

}  // namespace

base::Result<int> answer_open_approvals() {
  auto daemon = client::Session::open(daemon_options("approvals"));
  if (!daemon) return tl::unexpected(daemon.error());
  return Approvals(std::move(*daemon), false).watch(ApprovalWatch::Until::NoneOpen);
}

const Verb kApprovals = {"approvals",
                         "List and answer questions about commands that need a person's approval", &declare};

}  // namespace ttyward::cli
