#include "engine/dialogue.h"

#include <re2/re2.h>
#include <string.h>

#include <utility>

#include "engine/agent_input.h"
#include "vt/input_encoder.h"

namespace ttyward::engine {
namespace {

using End = DialogueOutcome::End;

// Uses that are told one by one; all are counted.
constexpr size_t kMostTold = 1000;
// A program may print its prompt before it turns the echo off.
constexpr std::chrono::milliseconds kEchoGrace{2000};
constexpr std::chrono::milliseconds kEchoPause{50};

base::Result<void> check(const Reply& reply, size_t index) {
  const std::string which = "reply " + std::to_string(index + 1);
  if (reply.when.empty()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      which + " has no pattern: name the question it answers");
  }
  if (reply.kind == Reply::Kind::Keys) {
    if (auto keys = vt::encode_keys(reply.value, {}); !keys) {
      return base::fail(base::ErrorCode::InvalidArgument, which + ": " + keys.error().message);
    }
  }
  return {};
}

}  // namespace

const char* dialogue_end_name(End end) {
  switch (end) {
    case End::CommandEnded:
      return "command_ended";
    case End::Timeout:
      return "timeout";
    case End::Failed:
      return "failed";
    case End::Closed:
      return "closed";
  }
  return "closed";
}

base::Result<std::unique_ptr<Dialogue>> Dialogue::start(io::Loop& loop, Terminal& terminal, DialogueSpec spec,
                                                        Done done) {
  if (terminal.find(spec.command_id) == nullptr) {
    return base::fail(base::ErrorCode::NotFound,
                      "terminal " + terminal.id() + " has no command " + spec.command_id);
  }
  if (spec.replies.empty()) {
    return base::fail(base::ErrorCode::InvalidArgument, "a dialogue needs at least one reply");
  }
  std::vector<Rule> rules;
  for (Reply& reply : spec.replies) {
    if (auto checked = check(reply, rules.size()); !checked) return tl::unexpected(checked.error());
    auto when = compile_pattern(reply.when);
    if (!when) return tl::unexpected(when.error());
    if (re2::RE2::PartialMatch("", **when)) {
      return base::fail(base::ErrorCode::InvalidArgument,
                        "'" + reply.when + "' also matches empty text; name the question it answers");
    }
    rules.push_back({std::move(reply), std::move(*when), false});
  }
  std::unique_ptr<Dialogue> made(
      new Dialogue(loop, terminal, std::move(spec.command_id), spec.by, std::move(rules), std::move(done)));
  if (spec.timeout.count() > 0) {
    made->deadline_ = loop.after(spec.timeout, [d = made.get(), time = spec.timeout] {
      d->deadline_ = 0;
      d->end(End::Timeout, "the dialogue did not end within " + std::to_string(time.count()) +
                               " ms; the command is still running");
    });
  }
  made->go_on_after(terminal.find(made->command_id_)->given_replies);
  loop.post([d = made.get(), alive = made->alive_] {
    if (*alive) d->look();
  });
  return made;
}

Dialogue::Dialogue(io::Loop& loop, Terminal& terminal, std::string command_id, Owner by,
                   std::vector<Rule> rules, Done done)
    : loop_(loop),
      terminal_(&terminal),
      command_id_(std::move(command_id)),
      by_(by),
      rules_(std::move(rules)),
      done_(std::move(done)) {
  terminal.watch(*this);
}

void Dialogue::go_on_after(const std::vector<GivenReply>& given) {
  if (given.empty()) return;
  for (const GivenReply& one : given) {
    if (one.reply < rules_.size()) rules_[one.reply].used = true;
    outcome_.used_count++;
    if (outcome_.used.size() < kMostTold) outcome_.used.push_back({one.reply, one.line, one.asked});
  }
  Command* command = terminal_->find(command_id_);
  if (given.back().line != 0) {
    scan_.mark_place({given.back().line, given.back().asked});
  } else if (terminal_->spec().temporary() || command->started_seen) {
    scan_.mark_all(terminal_->spec().temporary() ? terminal_->output() : terminal_->output_of(*command),
                   LineScan::Finished::No);
  }
}

void Dialogue::note(size_t rule) {
  Command* command = terminal_->find(command_id_);
  if (command == nullptr || std::exchange(noted_, true)) return;
  next_.reply = rule;
  terminal_->note_reply(*command, next_);
}

Dialogue::~Dialogue() {
  *alive_ = false;
  stop_looking();
  leave();
}

void Dialogue::stop_looking() {
  loop_.cancel(deadline_);
  loop_.cancel(retry_);
  for (Rule& rule : rules_) {
    if (rule.reply.kind == Reply::Kind::Secret)
      ::explicit_bzero(rule.reply.value.data(), rule.reply.value.size());
  }
  rules_.clear();
}

void Dialogue::leave() {
  if (terminal_ != nullptr) terminal_->unwatch(*this);
  terminal_ = nullptr;
}

void Dialogue::end(End how, std::string reason) {
  if (ended_) return;
  ended_ = true;
  stop_looking();
  outcome_.end = how;
  outcome_.reason = std::move(reason);
  // Watched until then: a terminal that ended is kept as long as somebody has to be told.
  loop_.post([this, alive = alive_, outcome = std::move(outcome_), done = std::move(done_)] {
    if (!*alive) return;
    leave();
    done(outcome);
  });
}

void Dialogue::on_destroyed() {
  terminal_ = nullptr;
  end(End::Closed, "the terminal is gone");
}

void Dialogue::on_change(Terminal&, uint32_t) {
  look();
}

void Dialogue::look() {
  if (ended_) return;
  Command* command = terminal_->find(command_id_);
  // A record that is not there any more is of a command that ended long ago.
  if (command == nullptr || command->over()) return end(End::CommandEnded, "");
  const bool own = terminal_->spec().temporary();
  if (!own && !command->started_seen) return;
  while (!ended_ && !sending_ &&
         answer_one(own ? terminal_->output() : terminal_->output_of(*command), LineScan::Finished::No)) {
  }
}

// The first match in what is new; of several in one line the one that ends first.
bool Dialogue::answer_one(const terminal::Output& output, LineScan::Finished finished) {
  std::optional<size_t> chosen;
  std::string asked;
  scan_.scan(output, finished, [&](const LineScan::Line& line) {
    size_t end = 0;
    for (size_t i = 0; i < rules_.size(); i++) {
      if (rules_[i].used && !rules_[i].reply.repeat) continue;
      const auto found = match_new(*rules_[i].when, line);
      if (!found || *found <= line.known || (chosen && *found >= end)) continue;
      chosen = i;
      end = *found;
    }
    if (!chosen) return true;
    asked = std::string(line.text);
    scan_.mark(output, line, end);
    next_ = {*chosen, line.number, asked.substr(0, end)};
    noted_ = false;
    outcome_.used_count++;
    if (outcome_.used.size() < kMostTold) outcome_.used.push_back({*chosen, line.number, asked});
    return false;
  });
  if (chosen) send(*chosen, asked);
  return chosen.has_value();
}

void Dialogue::send(size_t index, const std::string& asked) {
  Rule& rule = rules_[index];
  rule.used = true;
  const auto told = [this, alive = alive_](const base::Result<void>& result) {
    if (*alive) sent(result);
  };
  const auto type = [&](const std::string& bytes) {
    if (by_ == Owner::User) {
      note(index);
      return terminal_->input(bytes, Owner::User, told);
    }
    sending_ = true;
    send_when_read(index, asked, bytes, Clock::now() + kEchoGrace);
  };
  switch (rule.reply.kind) {
    case Reply::Kind::Text:
      return type(rule.reply.value + "\r");
    case Reply::Kind::Keys: {
      auto bytes = vt::encode_keys(rule.reply.value, terminal_->output().screen().keyboard());
      if (!bytes) return end(End::Failed, bytes.error().message);
      return type(*bytes);
    }
    case Reply::Kind::Secret:
      if (by_ == Owner::Agent && rule.reply.value.find_first_of(kEndsReading) != std::string::npos) {
        return end(End::Failed, "a secret is one line without control characters");
      }
      sending_ = true;
      return send_secret(index, asked, Clock::now() + kEchoGrace);
  }
}

void Dialogue::send_when_read(size_t index, const std::string& asked, const std::string& bytes,
                              Clock::time_point give_up) {
  terminal_->look(
      [this, alive = alive_, index, asked, bytes, give_up](const base::Result<pty::RunState>& state) {
        if (!*alive || ended_) return;
        const TypedInput judged = judge_agent_input(*terminal_, state, bytes);
        if (judged.kind == TypedInput::Kind::Type) {
          sending_ = false;
          note(index);
          terminal_->input(bytes, Owner::Agent, [this, alive](const base::Result<void>& result) {
            if (*alive) sent(result);
          });
          return look();
        }
        // What a program prints before it reads is seen before it reads.
        const bool later = judged.error && judged.error->code == base::ErrorCode::Unavailable;
        if (later && Clock::now() < give_up) {
          retry_ = loop_.after(kEchoPause, [this, index, asked, bytes, give_up] {
            retry_ = 0;
            send_when_read(index, asked, bytes, give_up);
          });
          return;
        }
        take_back_use();
        end(End::Failed,
            "the reply to '" + asked + "' was not typed: " +
                (judged.error ? judged.error->message
                              : judged.program + " runs its input as commands, so a person may have to allow "
                                                 "it: send the answer when it asks (send, send_input)"));
      });
}

void Dialogue::take_back_use() {
  outcome_.used_count--;
  if (outcome_.used.size() > outcome_.used_count) outcome_.used.pop_back();
}

void Dialogue::send_secret(size_t index, const std::string& asked, Clock::time_point give_up) {
  note(index);
  terminal_->secret(rules_[index].reply.value, [this, alive = alive_, index, asked,
                                                give_up](const base::Result<void>& result) {
    if (!*alive || ended_) return;
    if (result) {
      sending_ = false;
      return look();
    }
    if (Clock::now() < give_up) {
      retry_ = loop_.after(kEchoPause, [this, index, asked, give_up] {
        retry_ = 0;
        send_secret(index, asked, give_up);
      });
      return;
    }
    take_back_use();
    end(End::Failed, "'" + asked + "' is not a password prompt (" + result.error().message + ")");
  });
}

void Dialogue::sent(const base::Result<void>& result) {
  if (result || ended_) return;
  // A command that is over takes nothing: its end is what counts.
  look();
  if (!ended_) end(End::Failed, "a reply could not be sent: " + result.error().message);
}

}  // namespace ttyward::engine
