// The gate: every command passes it before it runs, and it remembers why it let it.
//
// Flow at a glance
//   ask()     policy decides at once; or a question is opened and `later` is told
//             what came of it
//   answer()  a person's word: allow, deny or skip; "always" stores the rules that
//             the question showed, or what the person made of them
//   withdraw(), connection_closed(), expiry: the question ends, nothing runs
//   keep()    the question stays when its client leaves
//
// A question holds for the exact bytes, standard input, folder, environment and
// terminal it was asked about, and for one run. Policy is asked again when the answer is yes: what
// was not shown is not approved. Questions do not outlive the gate: after a
// restart none is open, and what was asked has not run.
//
// Every decision goes to the AuditSink, a question when it opens (as not allowed)
// and again when it closes.
//
// Thread rule: the loop's. Callbacks run inside the call that causes them, after
// everything of the gate's own is done, and may call the gate.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/approval.h"
#include "gate/audit.h"
#include "gate/judge.h"
#include "gate/rule_book.h"
#include "gate/session_rules.h"
#include "io/loop.h"
#include "policy/evaluate.h"

namespace ttyward::gate {

// Whether it makes sense to open a question.
enum class Asking : uint8_t {
  Wait,            // a person may come and answer from another terminal until it expires
  WhenSomebodyIs,  // only while somebody who can answer is connected
  Never,           // non-interactive: what would ask is refused
};

struct GateSettings {
  JudgeSettings judge;
  Asking asking = Asking::Wait;
  std::chrono::milliseconds approval_expiry{300'000};  // 0: never
  size_t most_open_per_connection = 32;                // one more is refused: nobody reads a flood
  size_t most_open = 1024;
  size_t closed_kept = 256;  // questions that are over, for list(all)
  std::string rules_file;    // the person's rules.toml
};

struct GateRequest {
  std::string command;
  std::string cwd;
  std::string workspace;                         // what the task was given to work on; empty: cwd
  std::vector<std::string> environment_changes;  // NAME=value
  Language language = Language::Bash;            // of the shell that will read it
  std::optional<policy::ShellReading>
      shell;  // what that shell has that changes the reading, where it is known
  std::string terminal_id;
  std::string task;
  std::string session;
  std::string asked_by;
  uint64_t connection = 0;
  Role role = Role::Agent;
  std::optional<policy::Mode> mode;  // an agent can only ask for a stricter one than its session has
  // What the project's settings make stricter.
  bool ask_about_safe = false;
  bool confirm_dangerous = false;
  std::optional<std::vector<std::string>> allowed_roots{};
  std::string command_id;
  std::string action = "run";  // or "open", "type", "permit"
  policy::Confinable confinable = policy::Confinable::No;
  std::string typed_to;  // the program that would run the text; empty: it is a command line
  std::shared_ptr<const std::string> input{};  // its whole standard input; none: the terminal
};

// Whether an approval of `asked` covers `now`.
bool same_action(const GateRequest& asked, const GateRequest& now);

struct GateDecision {
  enum class Kind : uint8_t { Allowed, Denied, Skipped, Pending };
  Kind kind = Kind::Denied;
  policy::Verdict verdict;
  std::string reason;  // one an agent can act on
  std::string approval_id;
};

enum class Answer : uint8_t { Allow, Deny, Skip };
enum class Always : uint8_t { No, Session, Global };

// What a yes leaves behind.
struct Remember {
  Always scope = Always::No;
  bool wider = false;   // the offer that is one step wider
  std::string rules{};  // what a person made of the offer, as a rule file; empty: as it was offered
};

struct Answerer {
  uint64_t connection = 0;
  Role role = Role::Viewer;
  std::string name;
};

struct ListedRule {
  policy::Rule rule;
  std::string text;
  std::string source;  // a file, or "session"
};

struct RuleList {
  std::vector<ListedRule> rules;
  std::vector<std::string> errors;
  std::vector<UnconfirmedRule> unconfirmed;
};

class GateObserver {
 public:
  virtual ~GateObserver() = default;
  virtual void on_opened(const Approval& approval) = 0;
  virtual void on_closed(const Approval& approval) = 0;
  // What Gate::unconfirmed_notice() says changed. Must not call the gate.
  virtual void on_unconfirmed_changed(const std::string& notice) = 0;
};

class Gate final {
 public:
  using Later = std::function<void(const GateDecision&)>;

  // Without `confirmations` a person's rule file counts as it is; otherwise it has to outlive the gate.
  Gate(io::Loop& loop, GateSettings settings, AuditSink& audit, Confirmations* confirmations = nullptr);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  // Questions that are open end as withdrawn; their `later` is not called any more.
  ~Gate();

  void set_observer(GateObserver* observer) { observer_ = observer; }
  // How many connections could answer now; counts for Asking::WhenSomebodyIs.
  // For what is judged and asked from now on. Open questions keep their expiry, the rules their file.
  void set_settings(GateSettings settings);
  void set_listeners(size_t count) { listeners_ = count; }

  // What policy says, without consequences.
  base::Result<policy::Verdict> check(const GateRequest& request);
  // The decision; or Pending, and then `later` is called exactly once with what came of it.
  GateDecision ask(GateRequest request, Later later);

  base::Result<Approval> answer(const std::string& id, const Answerer& by, Answer answer,
                                const Remember& remember, const std::string& reason);
  base::Result<Approval> withdraw(const std::string& id, uint64_t connection);
  void connection_closed(uint64_t connection);
  // The client was told that its command runs once a person allows it, and may leave: the question stays
  // open until it is answered or expires.
  void keep(const std::string& id);

  // Oldest first; open ones, or those that are over as well.
  std::vector<Approval> list(bool all) const;
  const Approval* find(const std::string& id) const;

  policy::Mode mode(const std::string& session) const;
  base::Result<void> set_mode(const std::string& session, policy::Mode mode, Role role);

  // Rules that hold in `cwd` for `session`, and what is wrong with the files.
  RuleList rules(const std::string& session, const std::string& cwd);
  // Of a session (not empty) or of the person's file. Returns how many there were.
  base::Result<size_t> remove_rule(const std::string& session, const std::string& name, const Answerer& by);
  // Adds the rules of `text`, a rule file, to the person's. `replaces` names the rules that go for them;
  // empty: none. Returns the names of those that are there now.
  base::Result<std::vector<std::string>> add_rules(const std::string& text, const std::string& replaces,
                                                   const Answerer& by);
  const std::string& rules_file() const { return book_.own_file(); }
  // What was changed in the person's file without us, in one sentence; empty: nothing.
  std::string unconfirmed_notice();
  // What the store kept from before.
  base::Result<void> restore_session_rule(const std::string& session, const std::string& text);

 private:
  struct Open {
    Approval approval;
    GateRequest request;
    std::vector<std::pair<std::string, std::string>> scripts;  // as they were when it was asked
    Later later;
    io::Loop::TimerId expiry = 0;
    uint64_t order = 0;
    bool kept = false;
  };

  base::Result<Judgement> judge_request(const GateRequest& request,
                                        const std::vector<policy::Rule>& more = {});
  policy::Mode mode_of(const GateRequest& request) const;
  // Makes a change to the confirmed copy of the person's rules; a change of ours is confirmed.
  base::Result<void> confirm_change(
      const std::function<base::Result<std::string>(const std::string&)>& change, const std::string& by);
  void look_for_unconfirmed(const RulesAt& files);
  std::string refusal_to_ask(const GateRequest& request) const;
  GateDecision open(GateRequest request, Judgement judgement, Later later);
  void expire(const std::string& id);
  base::Result<void> store_always(const Open& question, const Remember& remember, const std::string& by);
  // The texts to store, one rule each.
  base::Result<std::vector<std::string>> rules_to_store(const Open& question, const Remember& remember);
  // Why a yes cannot be carried out any more; empty if it can.
  std::string what_changed(const Open& question);
  Approval close(std::map<std::string, Open>::iterator at, ApprovalState state, const std::string& by,
                 const std::string& reason, GateDecision::Kind kind, const std::string& told);
  AuditRow audit_row(const GateRequest& request, const policy::Verdict& verdict) const;

  // Constant after construction.
  io::Loop& loop_;
  GateSettings settings_;
  AuditSink& audit_;

  Confirmations* confirmations_;
  GateObserver* observer_ = nullptr;
  std::string notice_;  // what unconfirmed_notice() said last
  size_t listeners_ = 0;
  RuleBook book_;
  SessionRules sessions_;
  std::map<std::string, Open> open_;
  uint64_t opened_ = 0;  // questions so far
  std::vector<Approval> closed_;
};

}  // namespace ttyward::gate
