// Waiting, reading, watching, attaching.
#include <boost/json/array.hpp>

#include "base/base64.h"
#include "daemon/attachment.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/time.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Command;
using engine::Terminal;

void EngineApplication::wait(const Caller& caller, Args& args, Responder responder) {
  engine::WaitSpec spec;
  spec.exit = args.flag("exit");
  spec.pattern = args.text("pattern");
  if (const auto port = args.maybe_number("port", 0, 65535)) spec.port = static_cast<uint16_t>(*port);
  spec.file = args.text("file");
  spec.quiet = args.duration("quiet_ms", std::chrono::milliseconds(0));
  spec.stable = args.duration("stable_ms", std::chrono::milliseconds(0));
  spec.input = args.flag("input");
  spec.prompt = args.flag("prompt");
  spec.from_start = args.choice("from", {"now", "start"}) == "start";
  spec.timeout = args.duration("timeout_ms", std::chrono::milliseconds(30'000));
  const terminal::ViewLimits view = view_of(args);
  const std::string approval = args.text("approval");
  const std::string command_id = args.text("command");
  if (!approval.empty()) {
    if (args.refused(responder)) return;
    return wait_for_approval(caller, approval, spec.timeout, responder);
  }
  // A command that waits for a person is waited for through its question.
  if (const auto pending = pending_.find(command_id); pending != pending_.end()) {
    if (args.refused(responder)) return;
    if (pending->second.facts.state != terminal::CommandState::PendingApproval) {
      return responder.ok({{"condition", "exit"}, {"result", result_object(pending->second.facts)}});
    }
    return wait_for_approval(caller, pending->second.approval, spec.timeout, responder);
  }
  Command* command = nullptr;
  Terminal* terminal = terminal_of(args, responder, &command);
  if (terminal == nullptr) return;
  if (command != nullptr) {
    spec.command_id = command->facts.command_id;
  } else if (terminal->current() != nullptr && !terminal->current()->over &&
             (spec.exit || !spec.pattern.empty() || spec.input)) {
    spec.command_id = terminal->current()->facts.command_id;  // the one that runs is meant
  }
  const uint64_t key = add_call(caller, responder);
  auto wait = engine::Wait::start(
      *loop_, *terminal, spec,
      [this, key, id = terminal->id(), spec, view, responder](const engine::WaitOutcome& came) {
        end_call(key);
        if (!responder.open()) return;
        using Condition = engine::WaitOutcome::Condition;
        json::object answer{{"condition", engine::condition_name(came.condition)},
                            {"match", nullptr},
                            {"port", nullptr},
                            {"file", nullptr},
                            {"result", nullptr},
                            {"terminal", nullptr}};
        if (came.condition == Condition::Pattern)
          answer["match"] = json::object{{"line", came.line}, {"text", came.text}};
        if (came.condition == Condition::Port) answer["port"] = came.port;
        if (came.condition == Condition::File) answer["file"] = came.text;
        if (const auto found = engine_->find(id)) {
          Terminal& t = **found;
          answer["terminal"] = terminal_object(*engine_, t);
          const Command* about = spec.command_id.empty() ? t.last() : t.find(spec.command_id);
          if (about != nullptr) answer["result"] = result_object(t.result(*about, view));
        }
        responder.ok(answer);
      });
  if (!wait) {
    responder.fail(wire::call_error(wait.error()));
    return end_call(key);
  }
  open_call(key)->wait = std::move(*wait);
}

void EngineApplication::wait_for_approval(const Caller& caller, const std::string& id,
                                          std::chrono::milliseconds timeout, const Responder& responder) {
  const engine::Approval* approval = gate_->find(id);
  if (approval == nullptr) {
    return responder.fail(
        {wire::Code::NotFound, "there is no question " + id + ": it is over since long, or never was"});
  }
  const auto answer = [this, id, responder](const char* condition) {
    const engine::Approval* now = gate_->find(id);
    json::object object{{"condition", condition}, {"result", nullptr}};
    object["approval"] = now != nullptr ? json::value(parsed(now->to_json())) : json::value(nullptr);
    responder.ok(object);
  };
  if (approval->state != engine::ApprovalState::Open) return answer("approval");
  const uint64_t key = add_call(caller, responder);
  approval_waiters_[id].push_back([this, key, answer] {
    if (open_call(key) == nullptr) return;
    answer("approval");
    end_call(key);
  });
  if (timeout.count() > 0) {
    open_call(key)->timer = loop_->after(timeout, [this, key, answer] {
      if (OpenCall* open = open_call(key)) open->timer = 0;
      answer("timeout");
      end_call(key);
    });
  }
}

void EngineApplication::read(const Caller& caller, Args& args, Responder responder) {
  const int kinds = int{args.has("range")} + int{args.has("tail")} + int{args.has("grep")} +
                    int{args.flag("new")} + int{args.has("raw")};
  if (kinds > 1) args.wrong("give one of 'range', 'tail', 'grep', 'new' and 'raw'");
  const auto range = args.numbers("range");
  const auto tail = args.maybe_number("tail", 0, INT64_MAX);
  const std::string grep = args.text("grep");
  const bool only_new = args.flag("new");
  const auto raw = args.object("raw");
  engine::Grep search;
  search.pattern = grep;
  search.context = static_cast<uint64_t>(args.number("context", 0, 0, 1000));
  search.most = static_cast<size_t>(args.number("most", 100, 1, 100'000));
  const std::string reader = args.text("reader", caller.reader);
  const terminal::ViewLimits view = view_of(args);
  if (!range.empty() && (range.size() != 2 || range[0] < 1 || range[1] < range[0])) {
    args.wrong("'range' must be two line numbers, the first at least 1 and not above the second");
  }
  Command* command = nullptr;
  Terminal* terminal = terminal_of(args, responder, &command);
  if (terminal == nullptr) return;
  const auto source =
      engine::OutputSource::find(*terminal, command != nullptr ? command->facts.command_id : "");
  if (!source) return responder.fail(wire::call_error(source.error()));
  base::Result<engine::ReadResult> came = engine::ReadResult{};
  if (!range.empty()) {
    came =
        engine::read_range(*source, static_cast<uint64_t>(range[0]), static_cast<uint64_t>(range[1]), view);
  } else if (!grep.empty()) {
    came = engine::read_grep(*source, search, view);
  } else if (only_new) {
    came = readers_->read_new(reader, *source, view);
  } else if (raw) {
    Args part(*raw);
    const auto offset = static_cast<uint64_t>(part.number("offset", 0, 0, INT64_MAX));
    const auto bytes = static_cast<size_t>(part.number("bytes", 65536, 1, engine::kMostRawBytes));
    if (part.refused(responder)) return;
    came = engine::read_raw(*source, offset, bytes);
  } else {
    came = engine::read_tail(*source, tail ? static_cast<uint64_t>(*tail) : UINT64_MAX, view);
  }
  if (!came) return responder.fail(wire::call_error(came.error()));
  json::object answer{
      {"text", came->text},
      {"first_line", came->first_line},
      {"last_line", came->last_line},
      {"total_lines", came->total_lines},
      {"total_bytes", came->total_bytes},
      {"more", came->more},
      {"binary", came->binary},
      {"omitted", nullptr},
      {"base64", nullptr},
      {"next_offset", nullptr},
      {"terminal_id", terminal->id()},
      {"command_id", command != nullptr ? json::value(command->facts.command_id) : json::value(nullptr)},
      {"state", command != nullptr ? terminal::command_state_name(command->facts.state)
                                   : Terminal::state_name(terminal->state())}};
  json::array matches;
  for (const auto& match : came->matches) {
    matches.push_back(json::object{{"line", match.line}, {"text", match.text}, {"repeat", match.repeat}});
  }
  answer["matches"] = std::move(matches);
  if (came->omitted) {
    answer["omitted"] = json::object{{"bytes", came->omitted->bytes},
                                     {"lines", came->omitted->lines},
                                     {"first_line", came->omitted->first_line},
                                     {"last_line", came->omitted->last_line}};
  }
  if (raw) answer["base64"] = base::to_base64(came->bytes);
  if (came->next_offset) answer["next_offset"] = *came->next_offset;
  responder.ok(answer);
}

void EngineApplication::subscribe(const Caller& caller, Args& args, Responder responder) {
  auto made = std::make_unique<Subscription>();
  made->connection = caller.connection;
  const std::string name = args.text("terminal");
  for (const std::string& kind : args.texts("kinds")) made->kinds.insert(kind);
  if (args.refused(responder)) return;
  if (!name.empty()) {
    const auto found = engine_->find(name);
    if (!found) return responder.fail(wire::call_error(found.error()));
    made->terminal = (*found)->id();
  }
  size_t mine = 0;
  for (const auto& [key, one] : subscriptions_) mine += one->connection == caller.connection ? 1 : 0;
  if (mine >= kMostSubscriptions) {
    return responder.fail({wire::Code::Exhausted, "this connection has too many subscriptions: end one"});
  }
  const uint64_t key = ++last_key_;
  json::array list;
  for (Terminal* terminal : engine_->terminals()) {
    if (terminal->live() && (made->terminal.empty() || made->terminal == terminal->id())) {
      list.push_back(terminal_object(*engine_, *terminal));
    }
  }
  subscriptions_.emplace(key, std::move(made));
  responder.ok({{"subscription", key}, {"terminals", std::move(list)}});
}

void EngineApplication::unsubscribe(const Caller& caller, Args& args, Responder responder) {
  const auto key = static_cast<uint64_t>(args.number("subscription", 0, 0, INT64_MAX));
  if (args.refused(responder)) return;
  const auto found = subscriptions_.find(key);
  if (found == subscriptions_.end() || found->second->connection != caller.connection) {
    return responder.fail({wire::Code::NotFound, "there is no subscription " + std::to_string(key)});
  }
  subscriptions_.erase(found);
  responder.ok({});
}

void EngineApplication::tell(const char* kind, const std::string& terminal_id, const json::object& event) {
  for (const auto& [key, subscription] : subscriptions_) {
    if (!subscription->terminal.empty() && subscription->terminal != terminal_id) continue;
    if (!subscription->kinds.empty() && !subscription->kinds.contains(kind)) continue;
    if (server_->must_pause(subscription->connection)) {
      subscription->missed++;
      continue;
    }
    if (std::string_view(kind) == "output") {
      // At most every 100 ms for each terminal; the last one is never left out.
      Subscription::Throttle& throttle = subscription->output[terminal_id];
      const auto now = std::chrono::steady_clock::now();
      if (now - throttle.sent < kOutputEvery) {
        if (!throttle.due) {
          throttle.due = true;
          loop_->after(kOutputEvery, [this, alive = alive_, terminal_id, number = key] {
            if (!*alive) return;
            const auto still = subscriptions_.find(number);
            if (still == subscriptions_.end()) return;
            Subscription::Throttle& again = still->second->output[terminal_id];
            again.due = false;
            again.sent = std::chrono::steady_clock::now();
            const auto found = engine_->find(terminal_id);
            if (!found) return;
            server_->send_event(still->second->connection,
                                {{"event", "output"},
                                 {"subscription", number},
                                 {"id", terminal_id},
                                 {"lines", (*found)->output().transcript().size()}});
          });
        }
        continue;
      }
      throttle.sent = now;
    }
    if (subscription->missed > 0) {
      server_->send_event(subscription->connection,
                          {{"event", "lagged"}, {"subscription", key}, {"count", subscription->missed}});
      subscription->missed = 0;
    }
    json::object made = event;
    made["event"] = kind;
    made["subscription"] = key;
    server_->send_event(subscription->connection, made);
  }
}

void EngineApplication::send_frame(uint64_t) {}
void EngineApplication::end_attachment(uint64_t key, const std::string&) {
  attachments_.erase(key);
}

}  // namespace ttyward::daemon
