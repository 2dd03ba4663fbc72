// Events: which subscriber gets which, and how often.
#include <algorithm>
#include <utility>

#include "app/objects.h"
#include "app/watching.h"
#include "terminal/output_view.h"

namespace ttyward::app {

using engine::Terminal;

namespace {

constexpr size_t kMostSubscriptions = 64;  // of one connection
constexpr std::chrono::milliseconds kOutputEvery{100};
constexpr uint64_t kMostEventText = 16'000;  // characters; what is left out of the middle is counted

}  // namespace

Outcome<wire::Subscribed> Watching::subscribe(const Caller& caller, const wire::SubscribeRequest& request) {
  if (request.text && request.terminal.empty())
    return refuse(wire::Code::InvalidArgument, "'text' needs 'terminal'");
  auto made = std::make_unique<Subscription>();
  made->caller = caller;
  made->text = request.text;
  made->kinds.insert(request.kinds.begin(), request.kinds.end());
  if (!request.terminal.empty()) {
    const auto found = find_terminal(core_, caller, Use::Read, request.terminal);
    if (!found) return tl::unexpected(found.error());
    made->terminal = found->terminal->id();
    if (made->text) {
      const auto source = engine::OutputSource::find(*found->terminal, "");
      source->with_lines([&](const engine::OutputSource::Lines& lines) {
        made->output[made->terminal].told = lines.complete;
      });
    }
  }
  const auto mine = std::count_if(subscriptions_.begin(), subscriptions_.end(), [&](const auto& one) {
    return one.second->caller.connection == caller.connection;
  });
  if (static_cast<size_t>(mine) >= kMostSubscriptions)
    return refuse(wire::Code::Exhausted, "this connection has too many subscriptions; end one first");
  wire::Subscribed answer;
  answer.subscription = ++last_key_;
  for (Terminal* terminal : core_.engine->terminals()) {
    if (core_.may(caller, *terminal, Use::Read) && terminal->live() &&
        (made->terminal.empty() || made->terminal == terminal->id())) {
      answer.terminals.push_back(terminal_object(*core_.engine, *terminal));
    }
  }
  made->answers = caller.role == Role::Person && made->kinds.contains("approval_opened");
  subscriptions_.emplace(answer.subscription, std::move(made));
  count_listeners();
  return answer;
}

Outcome<wire::Nothing> Watching::unsubscribe(const Caller& caller, const wire::UnsubscribeRequest& request) {
  const auto found = subscriptions_.find(request.subscription);
  if (found == subscriptions_.end() || found->second->caller.connection != caller.connection) {
    return refuse(wire::Code::NotFound, "there is no subscription " + std::to_string(request.subscription));
  }
  subscriptions_.erase(found);
  count_listeners();
  return wire::Nothing{};
}

void Watching::count_listeners() {
  core_.gate->set_listeners(static_cast<size_t>(std::count_if(
      subscriptions_.begin(), subscriptions_.end(), [](const auto& one) { return one.second->answers; })));
}

wire::OutputCame Watching::output_event(Subscription& subscription, Terminal& terminal) {
  wire::OutputCame event;
  event.id = terminal.id();
  event.lines = terminal.output().transcript().size();
  if (!subscription.text) return event;
  const auto source = engine::OutputSource::find(terminal, "");
  if (!source || source->binary()) return event;
  terminal::LineNumber& told = subscription.output[terminal.id()].told;
  source->with_lines([&](const engine::OutputSource::Lines& lines) {
    terminal::ViewLimits limits;
    limits.lines = 0;
    limits.chars = kMostEventText;
    if (told > lines.complete) told = lines.complete;  // a program has drawn over what it had printed
    event.first_line = told + 1;
    event.text =
        told < lines.complete ? make_view(lines.all, limits, told + 1, lines.complete).text : std::string();
    told = lines.complete;
  });
  return event;
}

bool Watching::hears(const Caller& caller, const std::string& terminal_id, const wire::AnyEvent& event) {
  if (caller.person) return true;
  if (const auto* opened = std::get_if<wire::ApprovalOpened>(&event))
    return core_.may_see(caller, opened->approval.session);
  if (const auto* closed = std::get_if<wire::ApprovalClosed>(&event))
    return core_.may_see(caller, closed->approval.session);
  const auto found = core_.engine->find(terminal_id);
  return found && core_.may(caller, **found, Use::Read);
}

// At most every 100 ms for each terminal; the last one is never left out.
bool Watching::throttled(uint64_t key, Subscription& subscription, const std::string& terminal_id) {
  Throttle& throttle = subscription.output[terminal_id];
  const auto now = std::chrono::steady_clock::now();
  if (now - throttle.sent >= kOutputEvery) {
    throttle.sent = now;
    return false;
  }
  if (std::exchange(throttle.due, true)) return true;
  core_.loop.after(kOutputEvery, [this, alive = core_.alive, terminal_id, key] {
    if (!*alive) return;
    const auto still = subscriptions_.find(key);
    if (still == subscriptions_.end()) return;
    Subscription& listener = *still->second;
    const auto again = listener.output.find(terminal_id);
    const auto found = core_.engine->find(terminal_id);
    if (again == listener.output.end() || !found) return;
    again->second.due = false;
    again->second.sent = std::chrono::steady_clock::now();
    // A loan may have ended since the output came.
    if (!listener.caller.person && !core_.may(listener.caller, **found, Use::Read)) return;
    sink_.event(listener.caller.connection, key, output_event(listener, **found));
  });
  return true;
}

void Watching::tell(const wire::AnyEvent& event, const std::string& terminal_id) {
  const std::string name(wire::event_name(event));
  for (const auto& [key, subscription] : subscriptions_) {
    if (!subscription->terminal.empty() && subscription->terminal != terminal_id) continue;
    if (!subscription->kinds.empty() && !subscription->kinds.contains(name)) continue;
    if (!hears(subscription->caller, terminal_id, event)) continue;
    const uint64_t connection = subscription->caller.connection;
    if (sink_.must_pause(connection)) {
      subscription->missed++;
      continue;
    }
    const bool output = std::holds_alternative<wire::OutputCame>(event);
    if (output && throttled(key, *subscription, terminal_id)) continue;
    if (subscription->missed > 0)
      sink_.event(connection, key, wire::Lagged{std::exchange(subscription->missed, 0)});
    const auto terminal =
        output && subscription->text ? core_.engine->find(terminal_id) : base::Result<Terminal*>(nullptr);
    if (terminal && *terminal != nullptr) {
      sink_.event(connection, key, output_event(*subscription, **terminal));
    } else {
      sink_.event(connection, key, event);
    }
  }
}

void Watching::terminal_changed(Terminal& terminal, uint32_t changes) {
  if (!anybody()) return;
  const std::string& id = terminal.id();
  if ((changes & (engine::kMeta | engine::kReady)) != 0 && (changes & engine::kClosed) == 0)
    tell(wire::TerminalChanged{terminal_object(*core_.engine, terminal)}, id);
  if ((changes & engine::kCommandStarted) != 0 && terminal.current() != nullptr)
    tell(wire::CommandStarted{result_object(terminal.facts(*terminal.current()))}, id);
  if ((changes & engine::kCommandState) != 0 && terminal.current() != nullptr) {
    wire::CommandResult facts = result_object(terminal.facts(*terminal.current()));
    tell(wire::CommandStateChanged{facts.command_id, facts.state, std::move(facts.waiting)}, id);
  }
  if ((changes & engine::kCommandFinished) != 0 && terminal.last() != nullptr)
    tell(wire::CommandFinished{result_object(terminal.facts(*terminal.last()))}, id);
  if ((changes & engine::kOutput) != 0)
    tell(wire::OutputCame{id, terminal.output().transcript().size(), {}, {}}, id);
  if ((changes & engine::kClosed) != 0) {
    wire::Terminal object = terminal_object(*core_.engine, terminal);
    tell(wire::TerminalClosed{id, object.exit_code, std::move(object.signal)}, id);
  }
}

void Watching::terminal_forgotten(const Terminal& terminal) {
  core_.readers.forget(terminal.id());
  for (const auto& command : terminal.commands()) core_.readers.forget(command->facts.command_id);
  std::vector<uint64_t> gone;
  for (const auto& [key, attachment] : attachments_) {
    if (attachment->terminal == terminal.id()) gone.push_back(key);
  }
  for (const uint64_t key : gone) end_attachment(key, "the terminal has ended");
  for (const auto& [key, subscription] : subscriptions_) subscription->output.erase(terminal.id());
}

void Watching::connection_closed(uint64_t connection) {
  std::vector<uint64_t> gone;
  for (const auto& [key, attachment] : attachments_) {
    if (attachment->connection == connection) gone.push_back(key);
  }
  for (const uint64_t key : gone) end_attachment(key, "");
  std::erase_if(subscriptions_,
                [&](const auto& entry) { return entry.second->caller.connection == connection; });
  count_listeners();
}

}  // namespace ttyward::app
