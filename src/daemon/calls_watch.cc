// Waiting, reading, watching, attaching.
#include <boost/json/array.hpp>

#include "base/base64.h"
#include "daemon/attachment.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "engine/environment_details.h"
#include "engine/time.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::Command;
using engine::Terminal;

void EngineApplication::wait(const Caller& caller, Args& args, const Responder& responder) {
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
  if (const auto place = args.object("from_place")) {
    Args part(*place);
    spec.from = {static_cast<terminal::LineNumber>(part.number("line", 1, 1, INT64_MAX)), part.text("text")};
    if (part.refused(responder)) return;
  }
  const bool stream = args.flag("stream");
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
  if (stream) {
    // What "now" and "the one that runs" mean, for whoever has to ask another daemon.
    json::object again;
    if (!spec.command_id.empty()) again["command"] = spec.command_id;
    if (const auto& from = (*wait)->begins_at())
      again["from_place"] = json::object{{"line", from->line}, {"text", from->text}};
    responder.part({{"again", std::move(again)}});
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
  approval_waiters_[id].emplace_back([this, key, answer] {
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

void EngineApplication::read(const Caller& caller, Args& args, const Responder& responder) {
  const int kinds = int{args.has("range")} + int{args.has("tail")} + int{args.has("grep")} +
                    int{args.flag("new")} + int{args.has("raw")};
  if (kinds > 1) args.wrong("give one of 'range', 'tail', 'grep', 'new' and 'raw'");
  const auto range = args.numbers("range");
  const auto tail = args.maybe_number("tail", 0, INT64_MAX);
  const std::string grep = args.text("grep");
  const bool only_new = args.flag("new");
  const auto raw = args.object("raw");
  const bool ansi = args.flag("ansi");
  if (ansi && (raw || !grep.empty())) args.wrong("'ansi' does not go with 'grep' and 'raw'");
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
  auto source = engine::OutputSource::find(*terminal, command != nullptr ? command->facts.command_id : "");
  if (source && ansi) source = source->styled();
  if (!source) return responder.fail(wire::call_error(source.error()));
  base::Result<engine::ReadResult> came = engine::ReadResult{};
  if (!range.empty()) {
    came =
        engine::read_range(*source, static_cast<uint64_t>(range[0]), static_cast<uint64_t>(range[1]), view);
  } else if (!grep.empty()) {
    auto begun = engine::GrepSearch::begin(std::move(search), view);
    if (!begun) return responder.fail(wire::call_error(begun.error()));
    const uint64_t key = add_call(caller, responder);
    return search_on(key, std::make_shared<engine::GrepSearch>(std::move(*begun)), terminal->id(),
                     command != nullptr ? command->facts.command_id : "", responder);
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
  answer_read(*terminal, command, *came, responder);
}

// A slice of a search, and the next one when others had their turn.
void EngineApplication::search_on(uint64_t key, const std::shared_ptr<engine::GrepSearch>& search,
                                  const std::string& terminal_id, const std::string& command_id,
                                  const Responder& responder) {
  constexpr std::chrono::milliseconds kSlice{5};
  if (open_call(key) == nullptr) return;  // nobody waits for it any more
  const auto terminal = engine_->find(terminal_id);
  const auto source = terminal ? engine::OutputSource::find(**terminal, command_id)
                               : base::Result<engine::OutputSource>(tl::unexpected(terminal.error()));
  if (!source) {
    responder.fail(wire::call_error(source.error()));
    return end_call(key);
  }
  if (!search->step(*source, kSlice)) {
    return loop_->post([this, alive = alive_, key, search, terminal_id, command_id, responder] {
      if (*alive) search_on(key, search, terminal_id, command_id, responder);
    });
  }
  answer_read(**terminal, command_id.empty() ? nullptr : (*terminal)->find(command_id), search->take_result(),
              responder);
  end_call(key);
}

void EngineApplication::answer_read(const Terminal& terminal, const Command* command,
                                    const engine::ReadResult& came, const Responder& responder) {
  json::object answer{
      {"text", came.text},
      {"first_line", came.first_line},
      {"last_line", came.last_line},
      {"total_lines", came.total_lines},
      {"total_bytes", came.total_bytes},
      {"more", came.more},
      {"binary", came.binary},
      {"omitted", nullptr},
      {"base64", nullptr},
      {"next_offset", nullptr},
      {"terminal_id", terminal.id()},
      {"command_id", command != nullptr ? json::value(command->facts.command_id) : json::value(nullptr)},
      {"state", command != nullptr ? terminal::command_state_name(command->facts.state)
                                   : Terminal::state_name(terminal.state())}};
  json::array matches;
  for (const auto& match : came.matches) {
    matches.push_back(json::object{{"line", match.line}, {"text", match.text}, {"repeat", match.repeat}});
  }
  answer["matches"] = std::move(matches);
  if (came.omitted) {
    answer["omitted"] = json::object{{"bytes", came.omitted->bytes},
                                     {"lines", came.omitted->lines},
                                     {"first_line", came.omitted->first_line},
                                     {"last_line", came.omitted->last_line}};
  }
  if (came.next_offset) answer["base64"] = base::to_base64(came.bytes);
  if (came.next_offset) answer["next_offset"] = *came.next_offset;
  responder.ok(answer);
}

void EngineApplication::subscribe(const Caller& caller, Args& args, const Responder& responder) {
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
  made->answers = caller.role == Role::Person && made->kinds.contains("approval_opened");
  subscriptions_.emplace(key, std::move(made));
  count_listeners();
  responder.ok({{"subscription", key}, {"terminals", std::move(list)}});
}

void EngineApplication::unsubscribe(const Caller& caller, Args& args, const Responder& responder) {
  const auto key = static_cast<uint64_t>(args.number("subscription", 0, 0, INT64_MAX));
  if (args.refused(responder)) return;
  const auto found = subscriptions_.find(key);
  if (found == subscriptions_.end() || found->second->connection != caller.connection) {
    return responder.fail({wire::Code::NotFound, "there is no subscription " + std::to_string(key)});
  }
  subscriptions_.erase(found);
  count_listeners();
  responder.ok({});
}

void EngineApplication::count_listeners() {
  gate_->set_listeners(static_cast<size_t>(std::count_if(
      subscriptions_.begin(), subscriptions_.end(), [](const auto& one) { return one.second->answers; })));
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

void EngineApplication::attach(const Caller& caller, Args& args, const Responder& responder) {
  bool read_only = args.flag("read_only") || caller.role != Role::Person;
  const bool take = args.flag("take");
  int cols = 0;
  int rows = 0;
  if (const auto size = args.object("size")) {
    Args part(*size);
    cols = static_cast<int>(part.number("cols", 80, 1, 1000));
    rows = static_cast<int>(part.number("rows", 24, 1, 1000));
    if (part.refused(responder)) return;
  }
  Terminal* terminal = terminal_of(args, responder);
  if (terminal == nullptr) return;
  if (!terminal->live()) {
    return responder.fail({wire::Code::Unavailable,
                           "terminal " + terminal->id() + " has ended; `ttyward read` shows its output"});
  }
  if (!read_only && terminal->lease() && terminal->lease()->connection != caller.connection) {
    if (!take) {
      return responder.fail({wire::Code::Busy, terminal->lease()->by + " has the keyboard of terminal " +
                                                   terminal->id() +
                                                   "; watch with --read-only, or take it with --take"});
    }
    // Who had it goes on watching.
    for (const auto& [key, other] : attachments_) {
      if (other->terminal != terminal->id() || !other->writable) continue;
      other->writable = false;
      other->viewer->start_over();
      server_->send_event(other->connection, {{"event", "attach_reset"},
                                              {"subscription", key},
                                              {"screen", base::to_base64(other->viewer->take_frame())},
                                              {"cols", terminal->spec().size.columns},
                                              {"rows", terminal->spec().size.rows},
                                              {"writable", false}});
    }
  }
  const uint64_t key = ++last_key_;
  auto made = std::make_unique<Attachment>();
  made->connection = caller.connection;
  made->terminal = terminal->id();
  made->writable = !read_only;
  if (cols == 0) {
    cols = terminal->spec().size.columns;
    rows = terminal->spec().size.rows;
  }
  if (!read_only) {
    terminal->set_lease(Terminal::Lease{caller.connection, caller.client, engine::unix_ms()});
    const pty::WindowSize size{static_cast<uint16_t>(cols), static_cast<uint16_t>(rows), 0, 0};
    if (!(size == terminal->spec().size)) terminal->resize(size, [](const auto&) {});
  }
  made->viewer =
      std::make_unique<engine::Viewer>(*loop_, *terminal, cols, rows, [this, key] { send_frame(key); });
  Attachment& attachment = *made;
  attachments_.emplace(key, std::move(made));
  attachment.viewer->start_over();
  const std::string screen = attachment.viewer->take_frame();
  responder.ok({{"subscription", key},
                {"screen", base::to_base64(screen)},
                {"cols", cols},
                {"rows", rows},
                {"writable", attachment.writable},
                {"terminal", terminal_object(*engine_, *terminal)}});
}

void EngineApplication::send_frame(uint64_t key) {
  const auto found = attachments_.find(key);
  if (found == attachments_.end()) return;
  Attachment& attachment = *found->second;
  if (attachment.viewer->closed()) return end_attachment(key, "the terminal has ended");
  if (attachment.paused) return;
  if (server_->must_pause(attachment.connection)) {
    attachment.paused = true;
    server_->on_drained(attachment.connection, [this, alive = alive_, key] {
      if (!*alive) return;
      const auto again = attachments_.find(key);
      if (again == attachments_.end()) return;
      again->second->paused = false;
      again->second->viewer->start_over();
      send_frame(key);
    });
    return;
  }
  const std::string frame = attachment.viewer->take_frame();
  if (frame.empty()) return;
  server_->send_event(
      attachment.connection,
      {{"event", "attach_output"}, {"subscription", key}, {"base64", base::to_base64(frame)}});
}

void EngineApplication::end_attachment(uint64_t key, const std::string& reason) {
  const auto found = attachments_.find(key);
  if (found == attachments_.end()) return;
  std::shared_ptr<Attachment> gone = std::move(found->second);
  attachments_.erase(found);
  if (gone->writable) {
    const auto terminal = engine_->find(gone->terminal);
    if (terminal && (*terminal)->lease() && (*terminal)->lease()->connection == gone->connection) {
      (*terminal)->set_lease(std::nullopt);
    }
  }
  if (!reason.empty()) {
    const std::string last = gone->viewer->take_frame() + gone->viewer->leave();
    server_->send_event(
        gone->connection,
        {{"event", "attach_output"}, {"subscription", key}, {"base64", base::to_base64(last)}});
    server_->send_event(gone->connection,
                        {{"event", "attach_closed"}, {"subscription", key}, {"reason", reason}});
  }
  loop_->post([gone] {});  // its viewer may be the one who told us
}

void EngineApplication::attach_input(const Caller& caller, Args& args, const Responder& responder) {
  const auto key = static_cast<uint64_t>(args.number("subscription", 0, 0, INT64_MAX));
  const auto bytes = base::from_base64(args.text("base64"));
  if (!bytes) args.wrong("'base64' is not base64");
  if (args.refused(responder)) return;
  const auto found = attachments_.find(key);
  if (found == attachments_.end() || found->second->connection != caller.connection) {
    return responder.fail({wire::Code::NotFound, "you are not attached any more"});
  }
  if (!found->second->writable) {
    return responder.fail(
        {wire::Code::PermissionDenied, "you only watch this terminal; somebody else has the keyboard"});
  }
  const auto terminal = engine_->find(found->second->terminal);
  if (!terminal) return responder.fail(wire::call_error(terminal.error()));
  type(**terminal, *bytes, engine::Owner::User, responder);
}

void EngineApplication::attach_resize(const Caller& caller, Args& args, const Responder& responder) {
  const auto key = static_cast<uint64_t>(args.number("subscription", 0, 0, INT64_MAX));
  const auto cols = static_cast<uint16_t>(args.number("cols", 80, 1, 1000));
  const auto rows = static_cast<uint16_t>(args.number("rows", 24, 1, 1000));
  if (args.refused(responder)) return;
  const auto found = attachments_.find(key);
  if (found == attachments_.end() || found->second->connection != caller.connection) {
    return responder.fail({wire::Code::NotFound, "you are not attached any more"});
  }
  found->second->viewer->resize(cols, rows);
  const auto terminal = engine_->find(found->second->terminal);
  if (terminal && found->second->writable) (*terminal)->resize({cols, rows, 0, 0}, [](const auto&) {});
  send_frame(key);
  responder.ok({});
}

void EngineApplication::detach(const Caller& caller, Args& args, const Responder& responder) {
  const auto key = static_cast<uint64_t>(args.number("subscription", 0, 0, INT64_MAX));
  if (args.refused(responder)) return;
  const auto found = attachments_.find(key);
  if (found == attachments_.end() || found->second->connection != caller.connection) {
    return responder.fail({wire::Code::NotFound, "you are not attached any more"});
  }
  const std::string leave = found->second->viewer->leave();
  end_attachment(key, "");
  responder.ok({{"leave", base::to_base64(leave)}});
}

namespace {

json::object news_object(const engine::CommandNews& news) {
  json::object made = result_object(news.facts);
  made["output"] = news.output.text;
  made["new_lines"] = news.output.last_line >= news.output.first_line && news.output.first_line > 0
                          ? news.output.last_line - news.output.first_line + 1
                          : 0;
  return made;
}

json::array news_array(const std::vector<engine::TerminalNews>& list) {
  json::array made;
  for (const engine::TerminalNews& news : list) {
    json::array finished;
    for (const engine::CommandNews& one : news.finished) finished.push_back(news_object(one));
    made.push_back(json::object{
        {"id", news.id},
        {"name", text_or_null(news.name)},
        {"cwd", text_or_null(news.cwd)},
        {"hot", news.hot},
        {"running", news.running ? json::value(news_object(*news.running)) : json::value(nullptr)},
        {"finished", std::move(finished)}});
  }
  return made;
}

}  // namespace

void EngineApplication::environment(const Caller& caller, Args& args, const Responder& responder) {
  const std::string task = args.text("task");
  const std::string reader = args.text("reader", caller.reader);
  const bool edited = args.flag("edited");
  const auto most = args.duration("cool_down_ms", config_.settings.times.cool_down);
  const terminal::ViewLimits view = view_of(args);
  if (args.refused(responder)) return;
  // Those of the task, and those nobody is bound to.
  const auto concerned = [this, task] {
    std::vector<Terminal*> list;
    for (Terminal* terminal : engine_->terminals()) {
      const std::string& of = terminal->spec().task;
      if (task.empty() || of.empty() || of == task) list.push_back(terminal);
    }
    return list;
  };
  const uint64_t key = add_call(caller, responder);
  open_call(key)->parts.push_back(std::make_shared<engine::CoolDown>(
      *loop_, concerned, edited, most, [this, key, concerned, reader, view, responder] {
        const engine::EnvironmentDetails details =
            engine::describe_environment(concerned(), *readers_, reader, view);
        responder.ok({{"text", details.text},
                      {"active", news_array(details.active)},
                      {"inactive", news_array(details.inactive)}});
        end_call(key);
      }));
}

}  // namespace ttyward::daemon
