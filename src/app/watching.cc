#include "app/watching.h"

#include <utility>

#include "app/default_view.h"
#include "app/objects.h"
#include "engine/environment_details.h"

namespace ttyward::app {

using engine::Command;
using engine::Terminal;

namespace {

engine::WaitSpec spec_of(const wire::WaitRequest& request) {
  engine::WaitSpec spec;
  spec.exit = request.exit;
  spec.pattern = request.pattern;
  if (request.port) spec.port = static_cast<uint16_t>(*request.port);
  spec.file = request.file;
  spec.quiet = request.quiet;
  spec.stable = request.stable;
  spec.input = request.input;
  spec.prompt = request.prompt;
  spec.from_start = request.from == wire::WaitFrom::Start;
  if (request.from_place)
    spec.from = {static_cast<terminal::LineNumber>(request.from_place->line), request.from_place->text};
  spec.timeout = request.timeout;
  return spec;
}

// What "now" and "the running command" mean, for a client that has to ask the next daemon.
wire::StreamPart beginning_of(const engine::Wait& wait, const std::string& command_id) {
  wire::Again again;
  again.command = command_id;
  if (const auto& from = wait.begins_at())
    again.from_place = wire::OutputPosition{static_cast<int64_t>(from->line), from->text};
  wire::StreamPart part;
  part.again = std::move(again);
  return part;
}

// Why the arguments do not go together; empty: they do.
std::string wrong_with(const wire::ReadRequest& request) {
  const int kinds = int{request.range.has_value()} + int{request.tail.has_value()} +
                    int{request.grep.has_value()} + int{request.only_new} + int{request.raw.has_value()};
  if (kinds > 1) return "give one of 'range', 'tail', 'grep', 'new' and 'raw'";
  if (request.ansi && (request.raw || request.grep)) return "'ansi' cannot be combined with 'grep' or 'raw'";
  if (request.columns && !request.range) return "'columns' needs 'range'";
  return {};
}

wire::ReadAnswer read_answer(const Terminal& terminal, const Command* command,
                             const engine::ReadResult& came) {
  wire::ReadAnswer answer;
  answer.text = came.text;
  answer.first_line = came.first_line;
  answer.last_line = came.last_line;
  answer.total_lines = came.total_lines;
  answer.total_bytes = came.total_bytes;
  answer.more = came.more;
  answer.binary = came.binary;
  if (came.omitted) answer.omitted = omitted_object(*came.omitted);
  if (came.next_offset) answer.base64 = wire::Bytes{came.bytes};
  answer.next_offset = came.next_offset;
  answer.terminal_id = terminal.id();
  if (command != nullptr) answer.command_id = command->facts.command_id;
  answer.state = command != nullptr ? terminal::command_state_name(command->facts.state)
                                    : Terminal::state_name(terminal.state());
  for (const auto& match : came.matches) answer.matches.push_back({match.line, match.text, match.repeat});
  answer.longest_line = came.longest_line;
  return answer;
}

wire::CommandResult news_object(const engine::CommandNews& news) {
  wire::CommandResult made = result_object(news.facts);
  made.output = news.output.text;
  const bool any = news.output.last_line >= news.output.first_line && news.output.first_line > 0;
  made.new_lines = any ? news.output.last_line - news.output.first_line + 1 : 0;
  return made;
}

std::vector<wire::TerminalNews> news_objects(const std::vector<engine::TerminalNews>& list) {
  std::vector<wire::TerminalNews> made;
  for (const engine::TerminalNews& news : list) {
    wire::TerminalNews one;
    one.id = news.id;
    one.name = news.name;
    one.cwd = news.cwd;
    one.hot = news.hot;
    if (news.running) one.running = news_object(*news.running);
    for (const engine::CommandNews& each : news.finished) one.finished.push_back(news_object(each));
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace

void Watching::wait(const Caller& caller, const wire::WaitRequest& request,
                    const Reply<wire::WaitOutcome>& reply) {
  if (!request.approval.empty()) return wait_for_approval(caller, request.approval, request.timeout, reply);
  // A command that waits for a person is waited for through its question.
  if (const PendingCommand* pending = gatekeeper_.find(request.command)) {
    if (!core_.may_see(caller, pending->session)) return reply.fail(not_yours(request.command));
    if (pending->facts.state == terminal::CommandState::PendingApproval)
      return wait_for_approval(caller, pending->facts.approval, request.timeout, reply);
    wire::WaitOutcome refused;
    refused.condition = "exit";
    refused.result = result_object(pending->facts);
    return reply.ok(refused);
  }
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal, request.command);
  if (!found) return reply.fail(found.error());
  Terminal& terminal = *found->terminal;
  engine::WaitSpec spec = spec_of(request);
  if (found->command != nullptr) {
    spec.command_id = found->command->facts.command_id;
  } else if (terminal.current() != nullptr && !terminal.current()->over() &&
             (spec.exit || !spec.pattern.empty() || spec.input)) {
    spec.command_id = terminal.current()->facts.command_id;  // the one that runs is meant
  }
  // Where a pattern is looked for, the lines have to be there.
  std::vector<std::string> searched;
  if (!spec.pattern.empty() && !spec.command_id.empty()) searched.push_back(spec.command_id);
  when_readable(searched, [this, caller, request, spec, id = terminal.id(), reply] {
    if (reply.open()) start_wait(caller, request, spec, id, reply);
  });
}

void Watching::start_wait(const Caller& caller, const wire::WaitRequest& request, engine::WaitSpec spec,
                          const std::string& terminal_id, const Reply<wire::WaitOutcome>& reply) {
  const auto terminal = core_.engine->find(terminal_id);
  if (!terminal) return reply.fail(terminal.error());
  const std::string command_id = spec.command_id;
  const uint64_t key = core_.calls.add(reply);
  auto wait = engine::Wait::start(
      core_.loop, **terminal, std::move(spec),
      [this, key, terminal_id, command_id, request, caller, reply](const engine::WaitOutcome& came) {
        core_.calls.end(key);
        std::vector<std::string> told;
        const auto found = core_.engine->find(terminal_id);
        const Command* about = !found               ? nullptr
                               : command_id.empty() ? (*found)->last()
                                                    : (*found)->find(command_id);
        if (about != nullptr &&
            !(request.only_new && core_.readers.has_all(caller.reader, about->facts.command_id)))
          told.push_back(about->facts.command_id);
        const auto answer = [=, this] {
          if (reply.open()) reply.ok(wait_outcome(came, terminal_id, command_id, request, caller));
        };
        if (told.empty()) return answer();
        when_viewable(told.front(), view_of(request.view, core_.settings().output),
                      request.only_new ? caller.reader : "", answer);
      });
  if (!wait) {
    reply.fail(wait.error());
    return core_.calls.end(key);
  }
  if (request.stream) reply.part(beginning_of(**wait, command_id));
  core_.calls.find(key)->wait = std::move(*wait);
}

void Watching::when_readable(const std::vector<std::string>& command_ids, std::function<void()> then) {
  if (command_ids.empty()) return then();
  const std::vector<std::string> rest(command_ids.begin() + 1, command_ids.end());
  const auto go_on = [this, alive = core_.alive, rest, then = std::move(then)] {
    if (!*alive) return;
    if (rest.empty()) return then();
    // Each may have taken a moment: many of them are not for one turn.
    core_.engine->slices().add([this, alive, rest, then](engine::Slices::Clock::time_point) {
      if (*alive) when_readable(rest, then);
      return true;
    });
  };
  const auto found = core_.engine->find_command(command_ids.front());
  if (!found) return go_on();
  found->terminal->when_output_ready(*found->command, go_on);
}

struct Watching::LongDigest {
  std::string command_id;
  terminal::ViewLimits view;
  terminal::DigestReader lines;
};

namespace {

// A digest of so many bytes is made within a turn of the loop.
constexpr uint64_t kBytesAtOnce = 32 * 1024;
// The view is made elsewhere.
const terminal::ViewLimits kNoOutput{.lines = 1, .chars = 1};

}  // namespace

Watching::LongDigest* Watching::long_digest_of(const std::string& command_id) const {
  return long_digest_ != nullptr && long_digest_->command_id == command_id ? long_digest_ : nullptr;
}

void Watching::make_digest(const std::shared_ptr<LongDigest>& digest, const std::function<void()>& then) {
  auto ready = [this, alive = core_.alive, digest, then] {
    if (!*alive) return;
    long_digest_ = digest.get();
    then();
    if (*alive) long_digest_ = nullptr;
  };
  const auto found = core_.engine->find_command(digest->command_id);
  const auto source = found ? engine::OutputSource::find(*found->terminal, digest->command_id)
                            : base::Result<engine::OutputSource>(tl::unexpected(found.error()));
  // A command that goes on prints more meanwhile: its digest is made where it is sent.
  if (!source || source->binary() || !found->command->over()) return ready();
  source->with_lines(
      [&](const engine::OutputSource::Lines& lines) { digest->lines.read(lines.all, lines.all.size()); });
  const auto posted =
      background_.post([&loop = core_.loop, digest, ready, subject = source->subject()]() mutable {
        digest->lines.make(subject);
        loop.post(std::move(ready));
      });
  if (!posted) ready();  // then it is made on the loop
}

bool Watching::read_on(LongDigest& digest, engine::Slices::Clock::time_point until) {
  const auto found = core_.engine->find_command(digest.command_id);
  if (!found) return true;
  const auto source = engine::OutputSource::find(*found->terminal, digest.command_id);
  if (!source || source->binary()) return true;
  bool all = true;
  source->with_lines([&](const engine::OutputSource::Lines& lines) {
    all = digest.lines.read(lines.all, lines.complete, [&] { return engine::Slices::Clock::now() >= until; });
  });
  return all;
}

void Watching::when_viewable(const std::string& command_id, const terminal::ViewLimits& view,
                             const std::string& reader, std::function<void()> then) {
  when_readable({command_id}, [=, this, then = std::move(then)] {
    const auto found = core_.engine->find_command(command_id);
    const auto source = found ? engine::OutputSource::find(*found->terminal, command_id)
                              : base::Result<engine::OutputSource>(tl::unexpected(found.error()));
    if (view.form != terminal::ViewLimits::Form::Digest || !source || source->total_bytes() <= kBytesAtOnce)
      return then();
    terminal::LineNumber first = 1;
    if (!reader.empty()) {
      const uint64_t unread = core_.readers.unread_lines(reader, *source);
      source->with_lines(
          [&](const engine::OutputSource::Lines& lines) { first = lines.complete - unread + 1; });
    }
    const auto digest =
        std::make_shared<LongDigest>(LongDigest{command_id, view, terminal::DigestReader(view, first)});
    core_.engine->slices().add(
        [this, alive = core_.alive, digest, then](engine::Slices::Clock::time_point until) {
          if (!*alive) return true;
          if (!read_on(*digest, until)) return false;
          make_digest(digest, then);
          return true;
        });
  });
}

wire::WaitOutcome Watching::wait_outcome(const engine::WaitOutcome& came, const std::string& terminal_id,
                                         const std::string& command_id, const wire::WaitRequest& request,
                                         const Caller& caller) {
  using Condition = engine::WaitOutcome::Condition;
  wire::WaitOutcome answer;
  answer.condition = engine::condition_name(came.condition);
  answer.match.emplace();
  answer.port.emplace();
  answer.file.emplace();
  answer.terminal.emplace();
  if (came.condition == Condition::Pattern) answer.match->emplace(wire::Match{came.line, came.text, {}});
  if (came.condition == Condition::Port) answer.port->emplace(came.port);
  if (came.condition == Condition::File) answer.file->emplace(came.text);
  if (const auto found = core_.engine->find(terminal_id)) {
    Terminal& terminal = **found;
    answer.terminal->emplace(terminal_object(*core_.engine, terminal));
    const Command* about = command_id.empty() ? terminal.last() : terminal.find(command_id);
    if (about != nullptr) {
      answer.result = result_for(terminal, *about, caller.reader,
                                 view_of(request.view, core_.settings().output), request.only_new);
    }
  }
  return answer;
}

wire::CommandResult Watching::result_for(Terminal& terminal, const Command& command,
                                         const std::string& reader, const terminal::ViewLimits& view,
                                         bool only_new) {
  const auto source = engine::OutputSource::find(terminal, command.facts.command_id);
  LongDigest* digest = long_digest_of(command.facts.command_id);
  const bool made = digest != nullptr && !only_new && source && !source->binary();
  terminal::CommandResult result =
      only_new ? terminal.facts(command) : terminal.result(command, made ? kNoOutput : view);
  if (made) {
    source->with_lines([&](const engine::OutputSource::Lines& lines) {
      digest->lines.read(lines.all, lines.all.size());
      result.output = digest->lines.finish(source->subject());
    });
  }
  if (only_new && source && (command.started_seen || terminal.spec().temporary())) {
    engine::ReadResult read =
        core_.readers.read_new(reader, *source, view, digest != nullptr ? &digest->lines : nullptr);
    result.output = {std::move(read.text), read.omitted};
    result.total_lines = read.total_lines;
    result.binary = read.binary;
  }
  if (!core_.settings().output.suggestions) result.output.facts.suggestions.clear();
  if (view.since_last && !only_new && command.over() && !result.binary) {
    result.output.text = memory_.since_last(
        reader, result.command, result.cwd,
        {result.command_id, result.output.text, result.output.fingerprint, result.output.exact});
  }
  wire::CommandResult answer = result_object(result);
  complete(answer);
  // What this reader has been given it need not be told again.
  if (source && command.started_seen && !only_new) core_.readers.skip_all(reader, *source);
  return answer;
}

void Watching::wait_for_approval(const Caller& caller, const std::string& id,
                                 std::chrono::milliseconds timeout, const Reply<wire::WaitOutcome>& reply) {
  const gate::Approval* approval = core_.gate->find(id);
  if (approval == nullptr) {
    return reply.fail(wire::Code::NotFound,
                      "there is no question " + id + ": it ended too long ago, or never existed");
  }
  if (!core_.may_see(caller, approval->session)) {
    return reply.fail(wire::Code::PermissionDenied, "question " + id + " is about another agent's command");
  }
  const auto answer = [this, id, reply](const char* condition) {
    const gate::Approval* now = core_.gate->find(id);
    wire::WaitOutcome outcome;
    outcome.condition = condition;
    outcome.approval.emplace();
    if (now != nullptr) outcome.approval->emplace(approval_object(*now));
    reply.ok(outcome);
  };
  if (approval->state != gate::ApprovalState::Open) return answer("approval");
  const uint64_t key = core_.calls.add(reply);
  gatekeeper_.when_answered(id, [this, key, answer] {
    if (core_.calls.find(key) == nullptr) return;
    answer("approval");
    core_.calls.end(key);
  });
  if (timeout.count() == 0) return;
  core_.calls.after(key, timeout, [this, key, answer] {
    answer("timeout");
    core_.calls.end(key);
  });
}

void Watching::read(const Caller& caller, const wire::ReadRequest& request,
                    const Reply<wire::ReadAnswer>& reply) {
  if (std::string wrong = wrong_with(request); !wrong.empty())
    return reply.fail(wire::Code::InvalidArgument, std::move(wrong));
  const auto found = find_terminal(core_, caller, Use::Read, request.terminal, request.command);
  if (!found) return reply.fail(found.error());
  const ReadFrom from{found->terminal->id(),
                      found->command != nullptr ? found->command->facts.command_id : ""};
  const std::string reader = request.reader.value_or(caller.reader);
  // What is not in memory, or wanted with colours, is made from the journal first.
  const auto go_on = [this, alive = core_.alive, reader, request, from,
                      reply](std::shared_ptr<terminal::Output> styled) {
    if (*alive && reply.open()) read_lines(reader, request, from, std::move(styled), reply);
  };
  if (request.ansi) {
    const auto source = source_of(from);
    if (!source) return reply.fail(source.error());
    if (auto checked = source->check_styled(); !checked) return reply.fail(checked.error());
    return found->terminal->styled_output(found->command, go_on);
  }
  std::vector<std::string> needed;
  const bool seen = request.only_new && core_.readers.has_all(reader, from.command);
  if (found->command != nullptr && !request.raw && !seen) needed.push_back(from.command);
  const bool whole = !request.range && !request.tail && !request.grep && !request.only_new;
  if (!needed.empty() && (whole || request.only_new)) {
    return when_viewable(from.command, view_of(request.view, core_.settings().output),
                         request.only_new ? reader : "", [go_on] { go_on(nullptr); });
  }
  when_readable(needed, [go_on] { go_on(nullptr); });
}

base::Result<engine::OutputSource> Watching::source_of(const ReadFrom& from) {
  const auto terminal = core_.engine->find(from.terminal);
  if (!terminal) return tl::unexpected(terminal.error());
  return engine::OutputSource::find(**terminal, from.command);
}

void Watching::read_lines(const std::string& reader, const wire::ReadRequest& request, const ReadFrom& from,
                          std::shared_ptr<terminal::Output> styled, const Reply<wire::ReadAnswer>& reply) {
  auto source = source_of(from);
  if (!source) return reply.fail(source.error());
  const terminal::ViewLimits view = view_of(request.view, core_.settings().output);
  const auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
  if (request.grep && !request.grep->empty()) {
    return search({*request.grep, number(request.context), static_cast<size_t>(request.most)}, view, from,
                  styled, reply);
  }
  if (styled) source = source->with(std::move(styled));
  base::Result<engine::ReadResult> came = engine::ReadResult{};
  if (request.columns) {
    came = engine::read_columns(*source, number((*request.range)[0]), number((*request.range)[1]),
                                number((*request.columns)[0]), number((*request.columns)[1]), view);
  } else if (request.range) {
    came = engine::read_range(*source, number((*request.range)[0]), number((*request.range)[1]), view);
  } else if (request.only_new) {
    LongDigest* digest = long_digest_of(from.command);
    came = core_.readers.read_new(reader, *source, view, digest != nullptr ? &digest->lines : nullptr);
  } else if (request.raw) {
    came = engine::read_raw(*source, number(request.raw->offset), static_cast<size_t>(request.raw->bytes));
  } else if (LongDigest* digest = request.tail ? nullptr : long_digest_of(from.command)) {
    came = engine::read_all(*source, digest->lines);
  } else {
    came = engine::read_tail(*source, request.tail ? number(*request.tail) : UINT64_MAX, view);
  }
  if (!came) return reply.fail(came.error());
  reply.ok(read_answer(source->terminal(), source->command(), *came));
}

void Watching::search(engine::Grep grep, const terminal::ViewLimits& view, const ReadFrom& from,
                      const std::shared_ptr<terminal::Output>& styled, const Reply<wire::ReadAnswer>& reply) {
  auto begun = engine::GrepSearch::begin(std::move(grep), view);
  if (!begun) return reply.fail(begun.error());
  auto search = std::make_shared<engine::GrepSearch>(std::move(*begun));
  core_.engine->slices().add(
      [this, alive = core_.alive, search, from, styled, reply](engine::Slices::Clock::time_point until) {
        if (!*alive || !reply.open()) return true;  // nobody waits for it any more
        auto source = source_of(from);
        if (source && styled) source = source->with(styled);
        if (!source) {
          reply.fail(source.error());
          return true;
        }
        if (!search->step(*source, until - engine::Slices::Clock::now())) return false;
        reply.ok(read_answer(source->terminal(), source->command(), search->take_result()));
        return true;
      });
}

void Watching::environment(const Caller& caller, const wire::EnvironmentRequest& request,
                           const Reply<wire::EnvironmentNews>& reply) {
  // Terminals of the task, and terminals without a task.
  const auto concerned = [this, task = request.task, caller] {
    std::vector<Terminal*> list;
    for (Terminal* terminal : core_.engine->terminals()) {
      const std::string& of = terminal->spec().task;
      if (!core_.may(caller, *terminal, Use::Read)) continue;
      if (task.empty() || of.empty() || of == task) list.push_back(terminal);
    }
    return list;
  };
  const uint64_t key = core_.calls.add(reply);
  core_.calls.find(key)->parts.push_back(std::make_shared<engine::CoolDown>(
      core_.loop, concerned, request.edited, request.cool_down.value_or(core_.settings().times.cool_down),
      [this, key, caller, concerned, reader = request.reader.value_or(caller.reader),
       view = view_of(request.view, core_.settings().output), reply] {
        core_.calls.end(key);
        when_readable(engine::unread_commands(concerned(), core_.readers, reader), [=, this] {
          if (!reply.open()) return;
          const engine::EnvironmentDetails details =
              engine::describe_environment(concerned(), core_.readers, reader, view);
          wire::EnvironmentNews news;
          news.text = details.text;
          news.active = news_objects(details.active);
          news.inactive = news_objects(details.inactive);
          add_person(caller, news);
          reply.ok(news);
        });
      }));
}

}  // namespace ttyward::app
